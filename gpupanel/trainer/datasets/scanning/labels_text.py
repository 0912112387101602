"""Labels of scanned examples, counted and in words."""

import numpy as np
import numpy.typing as npt

from gpupanel.domain.data_source import Target
from gpupanel.domain.scan import ScannedExample
from gpupanel.trainer.datasets.examples import Array
from gpupanel.trainer.datasets.scanning.same_examples import PartOfSet
from gpupanel.trainer.datasets.scanning.scanned import Scanned

_SHOWN_VALUES = 4


def class_counts(part: PartOfSet, scanned: Scanned) -> tuple[tuple[str, int], ...]:
    """Each class or label with its number of examples."""
    labels, names = part.labels, scanned.class_names
    if labels is None or not names:
        return ()
    counts = counts_of(labels, scanned)
    return tuple((name, int(count)) for name, count in zip(names, counts, strict=True))


def counts_of(labels: Array, scanned: Scanned) -> npt.NDArray[np.int64]:
    """How many examples each class or label has."""
    if scanned.target is Target.LABELS:
        return np.asarray(np.count_nonzero(labels, axis=0), np.int64)
    return np.bincount(labels.astype(np.int64), minlength=len(scanned.class_names))


def example_of(part: PartOfSet, place: int, scanned: Scanned) -> ScannedExample:
    """An example by its name and label."""
    labels = part.labels
    label = "" if labels is None else label_text(labels[place], scanned)
    return ScannedExample(set=part.name, name=part.name_of(place), label=label)


def label_text(label: Array, scanned: Scanned) -> str:
    """A label as people read it."""
    names = scanned.class_names
    if scanned.are_arrays:
        return ""  # nobody reads an array
    if scanned.target is Target.CLASSES and names:
        return names[int(label)]
    if scanned.target is Target.LABELS:
        chosen = [names[place] for place in np.flatnonzero(label)]
        return ", ".join(chosen[:_SHOWN_VALUES]) or "none"
    values = np.atleast_1d(label).astype(np.float64).tolist()
    return ", ".join(f"{value:g}" for value in values[:_SHOWN_VALUES])
