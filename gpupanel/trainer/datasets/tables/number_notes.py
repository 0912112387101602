"""What is odd about columns of numbers that can be learned from."""

from collections.abc import Iterable, Iterator

import numpy as np

from gpupanel.domain.problem import Fix, Problem, Severity
from gpupanel.domain.table_data import ColumnNames, TableData
from gpupanel.domain.visible_text import visible_beginning, visible_line
from gpupanel.trainer.datasets.tables.empty_cells import taken_as_empty
from gpupanel.trainer.datasets.tables.imported import ColumnFacts
from gpupanel.trainer.datasets.tables.recipe import FeatureColumn
from gpupanel.trainer.datasets.tables.table_file import ImportedTable
from gpupanel.trainer.datasets.tables.values import shown_day


def number_notes(
    data: TableData, table: ImportedTable, columns: Iterable[ColumnFacts], targets: ColumnNames
) -> Iterator[Problem]:
    """What these columns hold that is no number, as it seems, or more digits than are kept.

    Args:
        data: What was chosen: of a column that is named in ``data.numbers`` nothing is asked.
        table: The whole of it.
        columns: Those that are used.
        targets: The names of those that are predicted.
    """
    chosen = (*(data.numbers or ()), *(data.categories or ()), *(data.dates or ()))
    for each in columns:
        if each.infinite:
            yield _infinite(each)
        if each.name in chosen or each.is_constant:
            continue
        is_target = each.name in targets
        if each.name in table.overview.ambiguous and each.kind in ("number", "class"):
            yield _ambiguous(data, each, table.overview.ambiguous[each.name])
        if each.far is not None:
            yield _far(data, table, each)
        are_codes = each.kind == "number" and each.name in table.overview.padded
        if are_codes or (each.is_padded and each.is_whole):
            if not is_target:
                yield _leading_zeros(data, each.name)
        elif each.are_days and not is_target:
            yield _days(data, each.name)
        elif each.is_rounded:
            yield _rounded(data, each.name, is_target=is_target)


def _infinite(column: ColumnFacts) -> Problem:
    rows = f"{column.infinite:,} {'row' if column.infinite == 1 else 'rows'}"
    return Problem(
        code="table_infinite",
        severity=Severity.HINT,
        field="data.missing",
        message=f'Column "{visible_line(column.name)}" holds an infinite number, or one that 32 '
        f"bits cannot hold, in {rows}: it is taken as an empty cell.",
        hint="Nothing, if that is meant; else correct these cells.",
    )


def _ambiguous(data: TableData, column: ColumnFacts, pair: tuple[str, str]) -> Problem:
    shown, (first, second) = visible_line(column.name), map(visible_beginning, pair)
    are_classes = column.kind == "class"
    return Problem(
        code="table_one_number_twice",
        severity=Severity.WARNING if are_classes else Severity.HINT,
        field="data.categories",
        message=f'Column "{shown}" holds "{first}" and "{second}", which are one number: '
        f"{'one class is made of them' if are_classes else 'versions and codes would be two'}.",
        hint="Say which they are.",
        fix=_as_categories(data, column.name),
        alternatives=(_as_numbers(data, column.name),),
    )


def numbers_for_missing(
    table: ImportedTable, features: Iterable[FeatureColumn]
) -> Iterator[Problem]:
    """Numbers of a table that a model is given, and that stand for missing values as it seems.

    Args:
        table: The whole of it.
        features: The columns that the model takes.
    """
    for feature in features:
        place = table.column(feature.name)
        column = None if place is None else table.columns[place]
        if column is not None and column.far is not None and feature.kind != "category":
            yield _far(None, table, column).model_copy(update={"severity": Severity.HINT})


def _far(data: TableData | None, table: ImportedTable, column: ColumnFacts) -> Problem:
    """What is said of it; of a table of which nothing is chosen its fixes are none.

    A day has no fix: it has to be named as it is written.
    """
    assert column.far is not None
    value, rows = column.far
    is_day = column.kind == "date"
    shown = shown_day(value) if is_day else np.format_float_positional(value, trim="-")
    has_fix = data is not None and not is_day
    fix = taken_as_empty(shown, table.overview.empty) if has_fix else None
    return Problem(
        code="table_number_for_missing",
        severity=Severity.WARNING,
        field="data.empty_words",
        message=f'Column "{visible_line(column.name)}" holds {shown} in {rows:,} rows, far from '
        f"all its other {'days' if is_day else 'numbers'}, as one does that stands for a missing "
        "value. It is taken as it is.",
        hint="Name it in data.empty_words, as it is written, if it means that a cell is empty: "
        "else it moves the mean and the spread of the column.",
        fix=fix,
        alternatives=(_as_numbers(data, column.name),) if data and has_fix else (),
    )


def _days(data: TableData, name: str) -> Problem:
    shown = visible_line(name)
    return Problem(
        code="table_days_as_numbers",
        severity=Severity.WARNING,
        field="data.dates",
        message=f'Every number of column "{shown}" is a day as 20260131 is, and is read as that '
        "number: from one month to the next it rises by 70, and its last digits are not kept.",
        hint="Say which they are.",
        fix=Fix.of(f'Take "{shown}" as dates', "data.dates", [*(data.dates or ()), name]),
        alternatives=(_as_numbers(data, name),),
    )


def _rounded(data: TableData, name: str, *, is_target: bool) -> Problem:
    shown = visible_line(name)
    fixes = [_as_numbers(data, name)]
    if not is_target:
        fixes.insert(0, Fix.of(f'Leave "{shown}" out', "data.ignore", [*data.ignore, name]))
    return Problem(
        code="table_digits_lost",
        severity=Severity.WARNING,
        field="data.target" if is_target else "data.ignore",
        message=f'The numbers of column "{shown}" differ behind the seventh digit, and 32 bits '
        "keep seven: most of what distinguishes them is lost.",
        hint="Subtract what they have in common in the file, such as the first moment of a time.",
        fix=fixes[0],
        alternatives=tuple(fixes[1:]),
    )


def _leading_zeros(data: TableData, name: str) -> Problem:
    shown = visible_line(name)
    return Problem(
        code="table_leading_zeros",
        severity=Severity.WARNING,
        field="data.categories",
        message=f'Column "{shown}" holds digits with zeros before them, as postcodes and other '
        "codes do, and is read as numbers.",
        hint="Say which they are: of a code the size means nothing.",
        fix=_as_categories(data, name),
        alternatives=(_as_numbers(data, name),),
    )


def _as_categories(data: TableData, name: str) -> Fix:
    names = [*(data.categories or ()), name]
    return Fix.of(f'Take "{visible_line(name)}" as categories', "data.categories", names)


def _as_numbers(data: TableData, name: str) -> Fix:
    names = [*(data.numbers or ()), name]
    return Fix.of(f'Take "{visible_line(name)}" as numbers', "data.numbers", names)
