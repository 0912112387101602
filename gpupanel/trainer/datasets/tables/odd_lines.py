"""A first row that holds names or units, and a last one that holds totals of the others."""

import re
from collections.abc import Iterator
from typing import Final

import numpy as np

from gpupanel.domain.problem import Problem, Severity
from gpupanel.domain.visible_text import visible_beginning, visible_line
from gpupanel.trainer.datasets.tables.table_file import ImportedTable

_WORD: Final = re.compile(
    r"((grand|sub)[- ]?)?total(s|e|es)?\b.{0,20}|totaal|(gesamt|end)?summe|gesamt|insgesamt|summ?a"
    r"|sum|soma|somme|celkem|razem|toplam|average|mean|mittelwert|durchschnitt|moyenne"
    r"|итого|всего|合計|合计|総計|总计|총계|합계",
    re.IGNORECASE,
)
_LEAST_ROWS: Final = 20
_FEW_NAMES: Final = 20
_MOST_NAMED: Final = 3
_MOST_EMPTY: Final = 5
"""Rows without a cell that may follow."""


def odd_lines(table: ImportedTable) -> Iterator[Problem]:
    """A warning for a first and a last row that are no examples, as they seem."""
    yield from _second_names(table)
    yield from _total_line(table)


def _second_names(table: ImportedTable) -> Iterator[Problem]:
    """Where each cell of the first row is a name that no other row has."""
    if table.rows < _LEAST_ROWS or any(each.kind != "category" for each in table.columns):
        return  # among numbers it does not fit
    first = table.read(np.zeros(1, np.int32))[0]
    if len(first) < 2 or np.isnan(first).any():
        return
    cells = [
        (each.names[int(code)], each.counts[int(code)], len(each.names))
        for each, code in zip(table.columns, first, strict=True)
    ]
    if all(count == 1 and names <= _FEW_NAMES for _, count, names in cells):
        shown = ", ".join(f'"{visible_beginning(name)}"' for name, *_ in cells[:_MOST_NAMED])
        yield Problem(
            code="table_second_names",
            severity=Severity.WARNING,
            field="data.skip_lines",
            message=f"The first row ({shown}) holds names that no other row has: it may be a "
            "second line of names, or one of units. It is taken as an example.",
            hint="Remove that line from the file; or set data.skip_lines where it is the one that "
            "has the names.",
        )


def _total_line(table: ImportedTable) -> Iterator[Problem]:
    """A warning where a word for totals stands in the last row alone."""
    first = max(0, table.rows - 1 - _MOST_EMPTY)
    rows = table.read(np.arange(first, table.rows, dtype=np.int32))
    held = np.flatnonzero(~np.isnan(rows).all(axis=1))
    if table.rows < 3 or not len(held):
        return
    last = rows[held[-1]]
    for column, code in zip(table.columns, last, strict=True):
        if column.kind != "category" or not column.names or np.isnan(code):
            continue
        word = column.names[int(code)]
        if column.counts[int(code)] == 1 and _WORD.fullmatch(word.strip().rstrip(":")):
            yield Problem(
                code="table_total_line",
                severity=Severity.WARNING,
                field="data.path",
                message=f"Row {first + int(held[-1]) + 1:,}, the last one, seems to hold totals of "
                f'the others: "{visible_beginning(word)}" stands in column '
                f'"{visible_line(column.name)}" there alone. It is taken as an example.',
                hint="Remove that line from the file, unless it is an example.",
            )
            return
