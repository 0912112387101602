"""Builds the report of a scan: sets as a run has them, findings in order."""

from collections import Counter
from collections.abc import Iterable, Mapping

import numpy as np

from gpupanel.domain.data_source import Target
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.scan import (
    DataScan,
    SameExamples,
    ScannedSet,
    ScanRequest,
    SetName,
    Tally,
    UnreadableExample,
)
from gpupanel.trainer.datasets.scanning.findings import findings
from gpupanel.trainer.datasets.scanning.labels_text import class_counts, example_of
from gpupanel.trainer.datasets.scanning.same_examples import (
    SETS,
    PartOfSet,
    SameContents,
    same_contents,
)
from gpupanel.trainer.datasets.scanning.scanned import MOST_NAMED, Scanned
from gpupanel.trainer.datasets.split import divide

_MOST_GROUPS = 200
_MOST_OF_GROUP = 20
_MOST_TALLIES = 20
_MOST_ARRAYS = 200


def report_of(scanned: Scanned, request: ScanRequest, problems: Iterable[Problem] = ()) -> DataScan:
    """What a scan reports of the data to people and scripts.

    Args:
        scanned: The data, scanned or only listed.
        request: What was asked for.
        problems: Why it could not be read as a training does.
    """
    parts, others = _parts(scanned, request)
    found = [*problems, *others]
    same = None
    if scanned.is_complete and parts:
        same = same_contents(parts)
    # What is found twice is said once.
    ordered = {
        (each.code, each.message): each for each in findings(scanned, request, parts, same, found)
    }
    unreadable_count = sum(int((~part.is_readable).sum()) for part in parts)
    return DataScan(
        is_complete=scanned.is_complete,
        described=request.data.described,
        target=scanned.target,
        feature_shape=scanned.feature_shape,
        sets=tuple(_set(part, scanned) for part in parts),
        unlabelled=scanned.unlabelled,
        empty_classes=scanned.empty_classes[:MOST_NAMED],
        formats=_tallies(scanned.formats),
        sizes=_tallies(scanned.sizes),
        columns=scanned.columns,
        arrays=scanned.arrays[:_MOST_ARRAYS],
        leaked=0 if same is None else len(same.leaked),
        copies=0 if same is None else same.copies,
        same=() if same is None else tuple(_same(same, scanned)),
        unreadable_count=unreadable_count,
        unreadable=tuple(_unreadable(parts)),
        problems=tuple(ordered.values()),
    )


def _parts(
    scanned: Scanned, request: ScanRequest
) -> tuple[tuple[PartOfSet, ...], tuple[Problem, ...]]:
    """The sets as a run has them, and why it could not."""
    whole = {name: PartOfSet(name, each) for name, each in scanned.sets.items()}
    data = request.data
    if request.task != "train" or "training" not in whole:
        return tuple(whole.values()), ()
    if "validation" in whole:
        return _in_order(whole), ()
    if data.may_validate_on_test_set and "test" in whole:
        test = whole.pop("test")
        whole["validation"] = PartOfSet("validation", test.whole)
        return _in_order(whole), ()
    training = whole["training"].whole
    is_of_classes = scanned.target is Target.CLASSES and not scanned.are_arrays
    classes = training.labels if is_of_classes else None
    try:
        kept, held = divide(training.count, data, request.seed, classes, scanned.groups)
    except ProblemError as error:
        return _in_order(whole), error.problems
    if len(held):
        whole["training"] = PartOfSet("training", training, kept)
        whole["validation"] = PartOfSet("validation", training, held)
    return _in_order(whole), ()


def _in_order(parts: Mapping[SetName, PartOfSet]) -> tuple[PartOfSet, ...]:
    return tuple(parts[name] for name in SETS if name in parts)


def _set(part: PartOfSet, scanned: Scanned) -> ScannedSet:
    labels = part.labels
    return ScannedSet(
        name=part.name,
        examples=len(part),
        labelled=0 if labels is None else len(part),
        class_counts=class_counts(part, scanned),
    )


def _tallies(counts: Mapping[str, int]) -> tuple[Tally, ...]:
    """The most frequent ones, and the others together."""
    frequent = Counter(counts).most_common()
    shown = [Tally(name=name, count=count) for name, count in frequent[:_MOST_TALLIES]]
    others = frequent[_MOST_TALLIES:]
    if others:
        count = sum(number for _, number in others)
        shown.append(Tally(name=f"{len(others):,} others", count=count))
    return tuple(shown)


def _same(same: SameContents, scanned: Scanned) -> Iterable[SameExamples]:
    sizes = same.sizes
    for number, group in enumerate(same.groups()):
        if number == _MOST_GROUPS:
            return
        named = (same.part_of(each) for each in same.members(group, _MOST_OF_GROUP))
        yield SameExamples(
            count=int(sizes[group]),
            examples=tuple(example_of(part, place, scanned) for part, place in named),
            are_labelled_alike=bool(same.is_alike[group]),
        )


def _unreadable(parts: Iterable[PartOfSet]) -> list[UnreadableExample]:
    found: list[UnreadableExample] = []
    for part in parts:
        for place in np.flatnonzero(~part.is_readable)[:MOST_NAMED].tolist():
            why = part.whole.unreadable.get(part.index(place), "")
            found.append(UnreadableExample(set=part.name, name=part.name_of(place), why=why))
    return found[:MOST_NAMED]
