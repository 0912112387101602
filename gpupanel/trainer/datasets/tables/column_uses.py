"""Which columns of a table are predicted, and what those are read as that are not calculated with.

A class or the mark of a group is compared with others: it keeps every digit that stands in its
cell. Which columns those are is known before the table is imported.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from gpupanel.domain.data_source import Target
from gpupanel.domain.problem import ProblemError
from gpupanel.domain.table_data import ColumnNames, TableData
from gpupanel.trainer.datasets.data_problems import data_problem
from gpupanel.trainer.datasets.tables import problems
from gpupanel.trainer.datasets.tables.columns import Columns
from gpupanel.trainer.datasets.tables.imported import Kind
from gpupanel.trainer.datasets.tables.row_numbers import is_written_by_pandas

USUAL_TARGETS: Final = ("target", "label", "class", "y", "labels", "classes", "targets", "output")
_NAMELESS: Final = re.compile(r"column \d+")
"""Columns that the first line does not name, as they are called here."""
_FEW_DIFFERENT: Final = 20


def detected_targets(data: TableData, names: tuple[str, ...]) -> ColumnNames:
    """The columns that are predicted: those that were chosen; a usual name; else the last one.

    Args:
        data: What was chosen.
        names: Of the columns that there are.

    Raises:
        ProblemError: One that was chosen is not there, or nothing remains.
    """
    for name in data.targets:
        if name not in names:
            raise problems.unknown_column(Path(data.path), name, names, "data.target")
        if name in data.ignore:
            raise data_problem(
                "table_target_ignored",
                f'Column "{name}" is both predicted and left out.',
                "Remove it from one of the two.",
                field="data.ignore",
            )
    if data.targets:
        return data.targets
    usual = [name for name in names if name not in data.ignore]
    by_name = {name.lower(): name for name in reversed(usual)}
    named = next((by_name[word] for word in USUAL_TARGETS if word in by_name), None)
    if named is not None:
        return (named,)
    # A delimiter at the end of each line makes one more column, without a name.
    named_ones = [
        name for name in usual if not _NAMELESS.fullmatch(name) and not is_written_by_pandas(name)
    ]
    return tuple(named_ones[-1:] or usual[-1:])


def kind_of_target(
    kind: Kind, padded: int | None, predicts: Target | None, *, is_only: bool = True
) -> Kind:
    """What a column holds that is predicted, given what it seems to hold.

    Args:
        kind: What it seems to hold.
        padded: How many different ones there are of digits with zeros before them, as far as is
            seen: 007 is another name than 7; ``None``: it holds something else.
        predicts: What the target is; ``None``: that is found.
        is_only: There is no other column that is predicted.
    """
    if kind != "number" or not is_only:
        return kind
    are_classes = predicts is Target.CLASSES
    if padded is not None and (are_classes or (predicts is None and padded <= _FEW_DIFFERENT)):
        return "category"
    return "class" if are_classes else kind


def with_target(
    columns: Columns, padded: Mapping[str, int], data: TableData, known: Mapping[str, Kind]
) -> Columns:
    """The columns, those that are predicted as what they are for.

    Args:
        columns: What each seems to hold.
        padded: See :func:`kind_of_target`, by the name of a column.
        data: What was chosen.
        known: What columns held when a model was trained, by name.
    """
    if not columns:
        return columns
    try:
        targets = detected_targets(data, tuple(name for name, _ in columns))
    except ProblemError:
        return columns  # reading says it
    chosen = {*known, *(data.numbers or ())}
    return tuple(
        (
            name,
            kind_of_target(
                kind,
                None if name in chosen else padded.get(name),
                data.predicts,
                is_only=len(targets) == 1,
            )
            if name in targets and name not in known
            else kind,
        )
        for name, kind in columns
    )


def with_group(columns: Columns, group: str | None) -> Columns:
    """The columns, that of groups as the key that it is."""
    return tuple((name, "key" if name == group else kind) for name, kind in columns)


def seeming(columns: Columns) -> Columns:
    """What the columns hold, in the words that a person knows."""
    return tuple((name, "number" if kind == "class" else kind) for name, kind in columns)
