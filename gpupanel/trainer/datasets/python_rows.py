"""Examples that an object of the person's own gives one by one."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from gpupanel.domain.data_source import DataCache
from gpupanel.trainer.datasets.checks import (
    NUMBER_KINDS,
    ArrayName,
    checked_features,
    checked_rows,
    stays_on_disk,
)
from gpupanel.trainer.datasets.examples import Array, Indices
from gpupanel.trainer.parts.loaded_parts import gives_rows
from gpupanel.trainer.user_code import RunCode, exits_reported


@dataclass(frozen=True, slots=True, eq=False)
class PythonRows:
    """What has ``__len__`` and ``__getitem__``, asked for an example when it is needed.

    Attributes:
        shape: Examples first, then the shape of one.
        dtype: Of what is read: ``uint8`` or ``float32``.
        example: Gives the example of a number; one thread at a time asks it.
        name: For the words.
    """

    shape: tuple[int, ...]
    dtype: np.dtype[np.generic]
    example: Callable[[int], object]
    name: ArrayName
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def read(self, indices: Indices) -> Array:
        """The features of these examples, in this order.

        Raises:
            ProblemError: One of them is no array of numbers, of another shape, or not finite.
            Exception: Whatever the person's code raises.
        """
        values = np.empty((len(indices), *self.shape[1:]), self.dtype)
        for row, index in enumerate(indices.tolist()):
            with self._lock:
                one = np.asarray(self.example(index))
            if one.shape != self.shape[1:] and (one.shape, self.shape[1:]) != ((), (1,)):
                raise self._differs(index, f"the shape {one.shape}", f"{self.shape[1:]}")
            if one.dtype.kind not in NUMBER_KINDS or (one.dtype == np.uint8) != (
                self.dtype == np.uint8
            ):
                raise self._differs(index, f"{one.dtype} values", f"{self.dtype}")
            with np.errstate(over="ignore"):
                values[row] = one
        return checked_rows(values, indices, self.name)

    def _differs(self, index: int, has: str, first: str) -> Exception:
        return self.name.problem(
            "data_examples_differ",
            f"{self.name} has {has} in example {index:,}, and {first} in the first one.",
            "Give every example the same shape and the same type of numbers.",
        )


def python_rows(
    given: object, code: RunCode, name: ArrayName, cache: DataCache
) -> PythonRows | None:
    """The examples that an object gives one by one, where they are not to be held in memory.

    Args:
        given: What stands for the examples.
        code: Where it comes from.
        name: For the words.
        cache: Where examples are to be kept.

    Returns:
        ``None`` where they are to be an array in memory.

    Raises:
        ProblemError: The first example is no array of numbers.
        Exception: Whatever the person's code raises.
    """
    if not gives_rows(given) or not len(given):
        return None
    example = exits_reported(code, given.__getitem__)
    first = checked_features(np.asarray(example(0))[np.newaxis], name)
    shape = (len(given), *first.shape[1:])
    if not stays_on_disk(shape, first.dtype, cache):
        return None
    return PythonRows(shape, first.dtype, example, name)
