"""Arrays whose axes come in another order than examples first and channels last."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from gpupanel.domain.data import Axes
from gpupanel.domain.problem import Fix, ProblemError
from gpupanel.trainer.datasets.arrays.npy_rows import NpyRows
from gpupanel.trainer.datasets.checks import ArrayName
from gpupanel.trainer.datasets.examples import Array, Indices

_LEAST_AXES: Final = {Axes.CHANNELS_FIRST: 3, Axes.EXAMPLES_LAST: 2}


@dataclass(frozen=True, slots=True, eq=False)
class ChannelsMoved:
    """Examples that stay on disk, each with its channels moved to the end when it is read.

    Attributes:
        kept: As they are stored: examples, channels, and other axes.
    """

    kept: NpyRows

    @property
    def shape(self) -> tuple[int, ...]:
        """Examples, other axes, channels."""
        examples, channels, *others = self.kept.shape
        return (examples, *others, channels)

    @property
    def dtype(self) -> np.dtype[np.generic]:
        """The type of the stored numbers."""
        return self.kept.dtype

    def read(self, indices: Indices) -> Array:
        """These examples, in this order.

        Raises:
            ProblemError: One of them cannot be used.
        """
        return np.ascontiguousarray(np.moveaxis(self.kept.read(indices), 1, -1))


def in_usual_order(array: Array, axes: Axes | None, name: ArrayName) -> Array:
    """The array with its examples first and its channels last.

    Args:
        array: As the file has it.
        axes: What a person said of its axes; ``None``: nothing.
        name: For the words.

    Raises:
        ProblemError: It has too few axes for that.
    """
    check_axes(array.shape, axes, name)
    if axes is Axes.CHANNELS_FIRST:
        return np.ascontiguousarray(np.moveaxis(array, 1, -1))
    if axes is Axes.EXAMPLES_LAST:
        return np.ascontiguousarray(np.moveaxis(array, -1, 0))
    return array


def check_axes(shape: tuple[int, ...], axes: Axes | None, name: ArrayName) -> None:
    """Refuse an order of axes that an array does not have.

    Raises:
        ProblemError: It has too few axes for it.
    """
    least = 0 if axes is None else _LEAST_AXES.get(axes, 0)
    if len(shape) < least:
        raise name.problem(
            "data_axes_misfit",
            f"{name} has the shape {shape}, and data.axes speaks of {least} axes or more.",
            "Choose the automatic order of axes.",
            Fix.of("Use the automatic order", "data.axes"),
        )


def examples_last(name: ArrayName) -> ProblemError:
    """The problem of an array that has as many labels as its last axis is long."""
    return name.problem(
        "data_lengths_differ",
        f"The first axis of {name} does not count the labels, and its last one does.",
        "Say that its examples come last, or save both arrays from the same examples.",
        Fix.of("Take the last axis for that of the examples", "data.axes", "examples_last"),
    )
