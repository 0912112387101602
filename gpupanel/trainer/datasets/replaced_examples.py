"""Replaces each example whose file cannot be read by another one with the same label.

A step has as many examples as the plan says, each with the same weight: an example that is merely
left out would change the steps of everybody after it. So the next example of the same part of the
data, with the same label, is taken twice. Which one that is depends on nothing but the files:
neither on how a batch is divided nor on what was cached, and a run that goes on goes on with it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from gpupanel.domain.problem import ProblemError
from gpupanel.trainer.datasets.examples import Array, Examples, Indices
from gpupanel.trainer.datasets.skipped_files import SkippedFiles
from gpupanel.trainer.parts.disk_images import rows_alike


@runtime_checkable
class SkippingFiles(Protocol):
    """Images that are decoded when they are asked for, of which some may be unreadable."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Images, height, width, channels."""

    @property
    def dtype(self) -> np.dtype[np.generic]:
        """The type of the pixels."""

    @property
    def skipped(self) -> SkippedFiles | None:
        """Takes note of those that are; ``None``: none may be."""

    def read_readable(self, indices: Indices) -> tuple[Array, Mapping[int, ProblemError]]:
        """The images, and why some of them could not be read, by their place."""


def with_replacements(examples: Examples) -> Examples:
    """The examples with another in the place of each that cannot be read.

    Args:
        examples: Of one part of the data: those trained on, those that validate, a test set.

    Raises:
        ProblemError: One that cannot be read has a label that no other one has.
    """
    features = examples.features
    if isinstance(features, SkippingFiles):
        if features.skipped is None:
            return examples
        return Examples(_ReplacedImages(features, examples.labels), examples.labels)
    if not examples.unreadable:
        return examples
    rows = np.arange(len(examples), dtype=np.int32)
    for row, error in examples.unreadable.items():
        rows[row] = _alike(examples, row, error)
    if isinstance(features, np.ndarray):
        bad = list(examples.unreadable)
        features[bad] = features[rows[bad]]
        return Examples(features, examples.labels)
    return Examples(examples.subset(rows).features, examples.labels)


def _alike(examples: Examples, row: int, error: ProblemError) -> int:
    for other in rows_alike(examples.labels, row):
        if other not in examples.unreadable:
            return int(other)
    raise error


@dataclass(frozen=True, slots=True, eq=False)
class _ReplacedImages:
    """Images that are decoded when they are asked for: only then it is known which cannot be."""

    files: SkippingFiles
    labels: Array

    @property
    def shape(self) -> tuple[int, ...]:
        return self.files.shape

    @property
    def dtype(self) -> np.dtype[np.generic]:
        return self.files.dtype

    def read(self, indices: Indices) -> Array:
        pixels, errors = self.files.read_readable(indices)
        for place, error in errors.items():
            pixels[place] = self._replacement(int(indices[place]), error)
        return pixels

    def _replacement(self, row: int, error: ProblemError) -> Array:
        for other in rows_alike(self.labels, row):
            pixels, errors = self.files.read_readable(other.reshape(1))
            if not errors:
                return np.asarray(pixels[0])
        raise error
