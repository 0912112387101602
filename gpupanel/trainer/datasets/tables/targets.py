"""What is predicted from a table: labels made of its target's columns."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from unicodedata import normalize

import numpy as np
import numpy.typing as npt

from gpupanel.domain.data_source import Target
from gpupanel.domain.empty_words import empty_words
from gpupanel.domain.problem import ProblemError
from gpupanel.domain.written_numbers import NumberForm
from gpupanel.trainer.datasets.data_problems import data_problem
from gpupanel.trainer.datasets.examples import Array
from gpupanel.trainer.datasets.tables.imported import MOST_NAMES, ColumnFacts
from gpupanel.trainer.parts.table_cells import name_of_number

Floats = npt.NDArray[np.float32]
_MOST_FOUND_CLASSES = 20
"""Whole numbers that go further are taken for values, such as ages."""
_MOST_NUMBERED_CLASSES = 1_000
_EXACT = 2**24
"""Whole numbers below it are the same in 32 bits."""
_LEAST_OF_TWO = 20
"""Rows of which two whole numbers are two classes; of fewer they may be values."""


@dataclass(frozen=True, slots=True, eq=False)
class TargetLabels:
    """Labels of rows that have them.

    Attributes:
        array: As :class:`~gpupanel.trainer.datasets.examples.Examples` has them.
        predicts: What they are.
        class_names: In the order of the class numbers, or of the labels; none for values.
    """

    array: Array
    predicts: Target
    class_names: tuple[str, ...]


def labels_of(
    path: Path,
    raw: Floats,
    columns: Sequence[ColumnFacts],
    predicts: Target | None,
    *,
    are_amounts: bool = False,
) -> TargetLabels:
    """The labels of a table that is learned from.

    Args:
        path: Of the table, for the words.
        raw: Of the rows that have all of them, shape [rows, columns].
        columns: What is known of them.
        predicts: What they are; ``None``: as they seem.
        are_amounts: They are written with a unit, such as that of a currency or percent.

    Raises:
        ProblemError: They are no labels of that kind.
    """
    check_columns(path, columns)
    match predicts or _found(raw, columns, are_amounts=are_amounts):
        case Target.VALUES:
            _check_are_numbers(path, columns, "values")
            return TargetLabels(raw[:, 0] if raw.shape[1] == 1 else raw, Target.VALUES, ())
        case Target.LABELS:
            _check_are_numbers(path, columns, "labels")
            names = tuple(each.name for each in columns)
            return TargetLabels(_zeros_and_ones(path, raw), Target.LABELS, names)
    if len(columns) > 1:
        raise _problem(
            path,
            columns,
            f"are {len(columns):,} columns, and a class is one",
            'Choose one column; or set data.predicts to "labels" for columns of 0 and 1, and to '
            '"values" for other numbers.',
        )
    (column,), values = columns, raw[:, 0]
    is_numbered = column.kind != "category"
    names = _numbered(path, column, values) if is_numbered else tuple(sorted(column.names))
    return TargetLabels(class_numbers(path, values, column, names), Target.CLASSES, names)


def with_more_classes(values: Floats, column: ColumnFacts, names: Sequence[str]) -> tuple[str, ...]:
    """The names of classes, and after them those of more classes that rows are of.

    Args:
        values: Numbers of categories, or numbers; one a row.
        column: What is known of it.
        names: Of the classes that are known, in their order.
    """
    places = dict.fromkeys(normalize("NFC", name) for name in names)
    different = np.unique(values)
    if column.names:
        held = [column.names[int(each)] for each in different]
    else:
        held = [_shown(each) for each in different[:_MOST_NUMBERED_CLASSES]]
    return (*names, *(name for name in held if normalize("NFC", name) not in places))


def class_numbers(
    path: Path, values: Floats, column: ColumnFacts, names: Sequence[str]
) -> npt.NDArray[np.int32]:
    """The class of each row.

    Args:
        path: Of the table, for the words.
        values: Numbers of categories, or numbers; one a row.
        column: What is known of it.
        names: Of the classes, in their order.

    Raises:
        ProblemError: One of them is no class.
    """
    places = {normalize("NFC", name): place for place, name in enumerate(names)}
    if column.names:
        known = np.asarray([places.get(name, -1) for name in column.names], np.int32)
        found = known[values.astype(np.intp)]
    else:
        different, where = np.unique(values, return_inverse=True)
        known = np.asarray([places.get(_shown(each), -1) for each in different], np.int32)
        found = known[where.reshape(-1)]
    if len(found) and found.min() < 0:
        value = values[int(np.argmin(found))]
        text = column.names[int(value)] if column.names else _shown(value)
        raise data_problem(
            "table_class_unknown",
            f'Column "{column.name}" of {path} holds "{text}", which is none of the '
            f"{len(names):,} classes of the model.",
            "Name the classes as they were named in training; or give the model that is trained "
            "further a new last layer.",
            field="data.target",
        )
    return np.asarray(found, np.int32)


def check_columns(path: Path, columns: Sequence[ColumnFacts]) -> None:
    """Refuse what cannot be predicted.

    Raises:
        ProblemError: Texts of too many different values, dates, or marks of groups.
    """
    for column in columns:
        if column.kind == "text":
            raise _problem(
                path,
                [column],
                "holds too many different texts to be classes, or nothing",
                "Choose another data.target; or name it in data.numbers if it holds numbers.",
            )
        if column.kind == "key":
            raise _problem(
                path,
                [column],
                "marks groups, too: no group is held out whole then",
                "Choose another data.target or data.group.",
            )
        if column.kind == "date":
            raise _problem(
                path, [column], "holds dates", "Choose a column of numbers or of classes."
            )


def _found(raw: Floats, columns: Sequence[ColumnFacts], *, are_amounts: bool) -> Target:
    is_binary = bool(((raw == 0) | (raw == 1)).all())
    if len(columns) > 1:
        return Target.LABELS if is_binary else Target.VALUES
    if columns[0].kind == "category":
        return Target.CLASSES
    different = np.unique(raw[:, 0])
    # Whole numbers without a gap, from 0 or 1 on.
    first = different[0] if len(different) else -1.0
    counted = np.arange(len(different)) + first
    is_counted = first in (0.0, 1.0) and np.array_equal(different, counted)
    if is_counted and len(different) <= _MOST_FOUND_CLASSES:
        return Target.CLASSES
    if are_amounts or len(different) != 2 or len(raw) < _LEAST_OF_TWO:
        return Target.VALUES
    # Such as -1 and 1, or 2 and 4; of larger ones digits may be lost.
    are_whole = np.array_equal(different, np.floor(different))
    return Target.CLASSES if are_whole and np.abs(different).max() < _EXACT else Target.VALUES


def _numbered(path: Path, column: ColumnFacts, values: Floats) -> tuple[str, ...]:
    different = np.unique(values)
    are_too_many = column.kind == "class" and not column.names
    if are_too_many or len(different) > _MOST_NUMBERED_CLASSES:
        count = f"more than {MOST_NAMES:,}" if are_too_many else f"{len(different):,}"
        raise _problem(
            path,
            [column],
            f"holds {count} different numbers, and numbers are "
            f"{_MOST_NUMBERED_CLASSES:,} classes at most",
            'Set data.predicts to "values"; or name the column in data.categories.',
        )
    if column.names:  # of the rows that are learned from
        return tuple(sorted((column.names[int(each)] for each in different), key=Decimal))
    return tuple(map(_shown, different))


def _shown(value: np.generic) -> str:
    return str(value.item() if value == np.floor(value) else value).removesuffix(".0")


def is_name_of_number(name: str) -> bool:
    """Whether a class that a column of numbers holds may be called so: "7", but not "007"."""
    try:
        return name_of_number(name, NumberForm(), empty_words(None).in_numbers) == name
    except ValueError:
        return False


def _zeros_and_ones(path: Path, raw: Floats) -> Floats:
    odd = ~((raw == 0) | (raw == 1))
    if odd.any():
        raise data_problem(
            "data_labels_not_zero_or_one",
            f"The target of {path} holds other values than 0 and 1, such as "
            f"{_shown(raw[odd][0])}, but each of several labels is true or not.",
            'Choose columns of 0 and 1; or set data.predicts to "values".',
            field="data.target",
        )
    return raw


def _check_are_numbers(path: Path, columns: Sequence[ColumnFacts], what: str) -> None:
    named = [column for column in columns if column.kind != "number"]
    if named:
        raise _problem(
            path,
            named[:1],
            f"holds names, and {what} are numbers",
            'Choose columns of numbers; or set data.predicts to "classes".',
        )


def _problem(path: Path, columns: Sequence[ColumnFacts], what: str, hint: str) -> ProblemError:
    names = ", ".join(f'"{column.name}"' for column in columns[:5])
    return data_problem(
        "table_target_unfit", f"The target {names} of {path} {what}.", hint, field="data.target"
    )
