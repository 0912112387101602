"""Scans the examples of any source, as it gives them to a training."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from gpupanel.domain.problem import Problem, ProblemError, Severity
from gpupanel.domain.scan import ScannedColumn, SetName
from gpupanel.trainer.datasets.examples import Array, DataSet, Examples, Indices
from gpupanel.trainer.datasets.progress import OnProgress
from gpupanel.trainer.datasets.scanning.digests import digests_of_rows
from gpupanel.trainer.datasets.scanning.numbers import (
    NumberFacts,
    NumberScan,
    sampled_indices,
    scanned_column,
    values_far_outside,
)
from gpupanel.trainer.datasets.scanning.scanned import (
    MOST_NAMED,
    Digests,
    ExamplesOfSet,
    OnFirstReport,
    Scanned,
    example_name,
)

_CHUNK_BYTES = 8 * 2**20
_MOST_ROWS = 16_384
MOST_COLUMNS = 200
"""The most columns that are listed."""
_WIDEST = 50_000
"""A row of more numbers is not read column by column."""
_DOING = "scanning examples"

NameOf = Callable[[SetName, int], str]
DigestsOf = Callable[[Examples, Indices, Array], Digests]
"""Computes digests of examples from their set, their indices in it and their features."""


def _example_name(of_set: SetName, index: int) -> str:
    del of_set
    return example_name(index)


def _digests_of_features(part: Examples, indices: Indices, features: Array) -> Digests:
    del part, indices
    return digests_of_rows(features)


def scan_examples(
    found: DataSet,
    on_progress: OnProgress,
    on_first_report: OnFirstReport,
    name_of: NameOf = _example_name,
    digests_of: DigestsOf = _digests_of_features,
    *,
    has_columns: bool = True,
) -> Scanned:
    """Every example once, some MiB at a time.

    Args:
        found: The data; what is not in memory is read piece by piece.
        on_progress: Called with how many examples are done.
        on_first_report: Called once before.
        name_of: What an example of a set is called.
        digests_of: What makes two examples the same: their features, where these show all of it.
        has_columns: Report examples that are rows of numbers column by column.
    """
    parts: dict[SetName, Examples] = {"training": found.training}
    if found.validation is not None:
        parts["validation"] = found.validation
    if found.test is not None:
        parts["test"] = found.test
    are_arrays, named = found.arrays_of is not None, _columns_of(found, has_columns=has_columns)
    first = Scanned(
        sets={name: _listed(name, part, name_of) for name, part in parts.items()},
        target=found.target,
        class_names=() if are_arrays else found.class_names,
        feature_shape=() if found.inputs else found.training.feature_shape,
        formats={str(found.training.features.dtype): sum(map(len, parts.values()))},
        groups=found.groups,
        are_arrays=are_arrays,
        is_complete=False,
        problems=found.notes,
    )
    on_first_report(first)
    total, done = sum(map(len, parts.values())), 0
    sets: dict[SetName, ExamplesOfSet] = {}
    columns: tuple[ScannedColumn, ...] = ()
    problems = list(found.notes)
    for name, part in parts.items():
        scan = _SetScan(part, first.sets[name], on_progress, digests_of, done, total)
        sets[name] = scan.scanned(list(named.values()))
        done += len(part)
        facts = dict(zip(named, scan.numbers.facts(), strict=True)) if scan.numbers else {}
        if name == "training" and facts:
            columns = tuple(scanned_column(*each) for each in list(facts.items())[:MOST_COLUMNS])
            problems += _constant(facts)
        problems += values_far_outside(facts.items(), first.sets[name].name_of)
        if not found.class_names and not are_arrays:
            problems += _odd_values(part.labels, first.sets[name])
    return replace(first, sets=sets, columns=columns, is_complete=True, problems=tuple(problems))


def _columns_of(found: DataSet, *, has_columns: bool) -> dict[str, int]:
    """The numbers of an example that are scanned as columns: their names and places in its row."""
    shape = found.training.feature_shape
    if not has_columns or len(shape) != 1 or shape[0] > _WIDEST:
        return {}
    if found.inputs:
        return {
            f"{each.name} {place - each.start + 1:,}": place
            for each in found.inputs
            if len(each.shape) == 1 and not each.are_pixels
            for place in range(each.start, each.end)
        }
    if found.training.features.dtype == np.uint8:
        return {}
    return {f"feature {place + 1:,}": place for place in range(shape[0])}


def _listed(name: SetName, part: Examples, name_of: NameOf) -> ExamplesOfSet:
    return ExamplesOfSet(len(part), part.labels, name_of=lambda index: name_of(name, index))


@dataclass(slots=True)
class _SetScan:
    """Scans one set."""

    part: Examples
    listed: ExamplesOfSet
    on_progress: OnProgress
    digests_of: DigestsOf
    done_before: int
    total: int
    numbers: NumberScan | None = None

    def scanned(self, columns: list[int]) -> ExamplesOfSet:
        """All of its examples.

        Args:
            columns: The numbers of a row that are scanned, too.
        """
        part, count = self.part, len(self.part)
        digests = np.zeros((count, 2), np.uint64)
        is_readable = np.ones(count, np.bool_)
        unreadable: dict[int, str] = {}
        if columns and count:
            sample = self._read(sampled_indices(count))[0]
            self.numbers = NumberScan(sample[:, columns])
        step = max(1, min(_MOST_ROWS, _CHUNK_BYTES // max(1, part.example_bytes)))
        for first in range(0, count, step):
            indices = np.arange(first, min(count, first + step), dtype=np.int32)
            self.on_progress(_DOING, self.done_before + first, self.total)
            rows, errors = self._read(indices)
            kept = np.ones(len(indices), np.bool_)
            for place, why in errors.items():
                kept[place] = is_readable[indices[place]] = False
                if len(unreadable) < MOST_NAMED:
                    unreadable[int(indices[place])] = why
            digests[indices[kept]] = self.digests_of(part, indices[kept], rows)
            if self.numbers is not None and len(rows):
                self.numbers.take(rows[:, columns], indices[kept])
        self.on_progress(_DOING, self.done_before + count, self.total)
        return replace(self.listed, digests=digests, is_readable=is_readable, unreadable=unreadable)

    def _read(self, indices: Array) -> tuple[Array, dict[int, str]]:
        """The rows that can be read, and why the others cannot, by their places."""
        chosen = indices.astype(np.int32)
        try:
            return self.part.read(chosen), {}
        except ProblemError:
            pass
        rows, errors = [], {}
        for place in range(len(chosen)):
            try:
                rows.append(self.part.read(chosen[place : place + 1]))
            except ProblemError as error:
                errors[place] = str(error)
        empty = np.empty((0, *self.part.feature_shape), self.part.features.dtype)
        return np.concatenate(rows) if rows else empty, errors


def _constant(facts: Mapping[str, NumberFacts]) -> list[Problem]:
    same = [name for name, each in facts.items() if each.is_constant]
    if not same:
        return []
    shown = ", ".join(same[:5]) + (", ..." if len(same) > 5 else "")
    return [
        Problem(
            code="scan_constant_columns",
            severity=Severity.HINT,
            field="data",
            message=f"{len(same):,} of {len(facts):,} features hold the same number in every "
            f"example: {shown}.",
            hint="Nothing can be learned from them; leave them out when you save the array.",
        )
    ]


def _odd_values(labels: Array, listed: ExamplesOfSet) -> tuple[Problem, ...]:
    """Values to be predicted that lie far outside."""
    if not len(labels):
        return ()
    values = labels.reshape(len(labels), -1)
    scan = NumberScan(values[sampled_indices(len(values))])
    for first in range(0, len(values), _MOST_ROWS):
        end = min(len(values), first + _MOST_ROWS)
        scan.take(values[first:end], np.arange(first, end, dtype=np.int32))
    facts = scan.facts()
    titles = [f"value {place + 1:,}" for place in range(len(facts))]
    if len(facts) == 1:
        titles = ["What is predicted"]
    return values_far_outside(zip(titles, facts, strict=True), listed.name_of)
