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

from gpupanel.trainer.datasets.checks import rows_at_once
from gpupanel.trainer.datasets.examples import (
    Array,
    Features,
    Indices,
    PackedInput,
    read_features,
)

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
    whole = _PackedFeatures(tuple(parts.values()), tuple(inputs))
    if not all(isinstance(part, np.ndarray) for part in parts.values()):
        return whole, whole.inputs
    rows = np.empty(whole.shape, whole.dtype)
    at_once = rows_at_once(whole.shape, whole.dtype)
    for first in range(0, len(rows), at_once):
        chosen = np.arange(first, min(first + at_once, len(rows)), dtype=np.int32)
        rows[first : first + at_once] = whole.read(chosen)
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
        rows = np.empty((len(indices), self.inputs[-1].end), self.dtype)
        for each, part in zip(self.inputs, self.parts, strict=True):
            wide = (len(indices), each.end - each.start)
            rows[:, each.start : each.end] = read_features(part, indices).reshape(wide)
        return rows
