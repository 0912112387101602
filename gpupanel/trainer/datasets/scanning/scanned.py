"""What a source hands over when all of it was scanned."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from gpupanel.domain.data_source import Target
from gpupanel.domain.problem import Problem
from gpupanel.domain.scan import ScannedArray, ScannedColumn, SetName
from gpupanel.trainer.datasets.examples import Array

MOST_NAMED = 1000
"""The most entries that a report lists; the rest is counted."""

Digests = npt.NDArray[np.uint64]
"""Digests of the examples' contents, shape [examples, 2]: 128 bits of BLAKE2b."""


def example_name(index: int) -> str:
    """An example of which nothing but its place is known, counted from 1."""
    return f"example {index + 1:,}"


@dataclass(frozen=True, slots=True, eq=False)
class ExamplesOfSet:
    """The examples of a set, some thirty bytes each.

    Attributes:
        labels: As :class:`~gpupanel.trainer.datasets.examples.Examples` has them; ``None``: nobody
            knows them.
        digests: Of their contents; ``None``: they were not read yet.
        is_readable: Of each example; ``None``: all are.
        unreadable: Why some of them are not; of very many the first.
        name_of: What an example is called, by its place.
    """

    count: int
    labels: Array | None
    digests: Digests | None = None
    is_readable: npt.NDArray[np.bool_] | None = None
    unreadable: Mapping[int, str] = field(default_factory=dict)
    name_of: Callable[[int], str] = example_name


@dataclass(frozen=True, slots=True, eq=False)
class Scanned:
    """All examples of a source, and what was noticed on the way.

    Attributes:
        sets: The source's own, before any examples are held out.
        class_names: In the order of their numbers; empty where labels are arrays.
        feature_shape: Empty where examples have several inputs.
        are_arrays: The labels are, or those of several outputs in a row.
        unlabelled: Examples beside these, which nothing says anything about.
        groups: As :class:`~gpupanel.trainer.datasets.examples.DataSet` has them.
        unreadable_share: The part of the files that may be unreadable; ``None``: nothing is
            skipped.
        is_complete: Whether all examples were read.
    """

    sets: Mapping[SetName, ExamplesOfSet]
    target: Target
    class_names: tuple[str, ...] = ()
    feature_shape: tuple[int, ...] = ()
    unlabelled: int = 0
    empty_classes: tuple[str, ...] = ()
    formats: Mapping[str, int] = field(default_factory=dict)
    sizes: Mapping[str, int] = field(default_factory=dict)
    columns: tuple[ScannedColumn, ...] = ()
    arrays: tuple[ScannedArray, ...] = ()
    groups: Array | None = None
    unreadable_share: float | None = None
    are_arrays: bool = False
    is_complete: bool = True
    problems: tuple[Problem, ...] = ()


OnFirstReport = Callable[[Scanned], None]
"""Called with what is known first, before anything is read whole."""
