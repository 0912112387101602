"""Several inputs an example, packed into one row of numbers: the one place that knows how.

The loop carries one array of features, whatever a model takes: shares, indices, copies on devices,
digests and what layers draw need know nothing of inputs then. The first layers of a model of
several take the row apart again (``models/scaling``).
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from gpupanel.domain.problem import ProblemError
from gpupanel.trainer.datasets.checks import rows_at_once
from gpupanel.trainer.datasets.examples import (
    Array,
    Features,
    Indices,
    PackedInput,
    chosen_features,
    read_features,
)
from gpupanel.trainer.datasets.replaced_examples import SkippingFiles
from gpupanel.trainer.datasets.skipped_files import SkippedFiles

_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
"""What TensorFlow takes within names of operations, and Keras as an argument of a saved model."""
_OWN_LAYERS: Final = ("python_model", "outputs", "probabilities", "values", "given")
_OWN_PREFIXES: Final = (
    *("pixels_", "standardise_"),
    *(f"{name}_of_" for name in ("probabilities", "values", "given")),
)
"""Layers that a saved model gets beside its inputs: names in it must differ."""


def input_misfit(name: str) -> str:
    """Why no input of a model can have that name, as the end of a sentence; empty: one can."""
    if not _NAME.fullmatch(name):
        return "is no name of an input: letters from a to z, digits, dots, hyphens and _ are"
    if name in _OWN_LAYERS or name.startswith(_OWN_PREFIXES):
        return "is the name of a layer that a saved model gets beside its inputs"
    return ""


def packed(parts: Mapping[str, Features]) -> tuple[Features, tuple[PackedInput, ...]]:
    """Inputs as one array of rows, in memory where all of them are.

    Args:
        parts: By their names: ``uint8`` or ``float32``, first axis the examples, of which each has
            as many.

    Returns:
        Shape [examples, numbers], ``uint8`` where all inputs are, else ``float32``; and where each
        input stands in a row.
    """
    inputs, start = list[PackedInput](), 0
    for name, part in parts.items():
        inputs.append(PackedInput(name, tuple(part.shape[1:]), part.dtype == np.uint8, start))
        start = inputs[-1].end
    may_skip = any(isinstance(part, SkippingFiles) for part in parts.values())
    kind = _PackedImages if may_skip else _PackedFeatures
    whole = kind(tuple(parts.values()), tuple(inputs))
    if not all(isinstance(part, np.ndarray) for part in parts.values()):
        return whole, whole.inputs
    rows = np.empty(whole.shape, whole.dtype)
    at_once = rows_at_once(whole.shape, whole.dtype)
    for first in range(0, len(rows), at_once):
        indices = np.arange(first, min(first + at_once, len(rows)), dtype=np.int32)
        rows[first : first + at_once] = whole.read(indices)
    return rows, whole.inputs


def apart(rows: Array, inputs: Sequence[PackedInput]) -> dict[str, Array]:
    """The inputs of some examples by their names, as they were before they were packed.

    Args:
        rows: Shape [examples, numbers].
        inputs: Where each stands.
    """
    return {
        each.name: rows[:, each.start : each.end]
        .reshape(len(rows), *each.shape)
        .astype(np.uint8 if each.are_pixels else np.float32, copy=False)
        for each in inputs
    }


def first_input(features: Features) -> Features:
    """What the first of several inputs is read from; of one input, what that is."""
    return features.parts[0] if isinstance(features, _PackedFeatures) else features


@dataclass(frozen=True, slots=True, eq=False)
class _PackedFeatures:
    """Features that are packed as they are read."""

    parts: tuple[Features, ...]
    inputs: tuple[PackedInput, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.parts[0].shape[0], self.inputs[-1].end)

    @property
    def dtype(self) -> np.dtype[np.generic]:
        are_pixels = all(each.are_pixels for each in self.inputs)
        return np.dtype(np.uint8 if are_pixels else np.float32)

    def read(self, indices: Indices) -> Array:
        return self._joined([read_features(part, indices) for part in self.parts], len(indices))

    def _joined(self, values: Sequence[Array], count: int) -> Array:
        rows = np.empty((count, self.inputs[-1].end), self.dtype)
        for each, of_input in zip(self.inputs, values, strict=True):
            rows[:, each.start : each.end] = of_input.reshape(count, each.end - each.start)
        return rows


class _PackedImages(_PackedFeatures):
    """Features of which some are images that may be unreadable: their whole examples are then."""

    @property
    def skipped(self) -> SkippedFiles | None:
        noted = (part.skipped for part in self.parts if isinstance(part, SkippingFiles))
        return next((each for each in noted if each is not None), None)

    def read_readable(self, indices: Indices) -> tuple[Array, Mapping[int, ProblemError]]:
        values, errors = list[Array](), dict[int, ProblemError]()
        for part in self.parts:
            if isinstance(part, SkippingFiles):
                found, unreadable = part.read_readable(indices)
                errors.update(unreadable)
            else:
                found = read_features(part, indices)
            values.append(found)
        return self._joined(values, len(indices)), errors

    def subset(self, indices: Indices) -> "_PackedImages":
        return _PackedImages(
            tuple(chosen_features(part, indices) for part in self.parts), self.inputs
        )
