"""A last row that holds totals of the others, as spreadsheets and reports have it."""

import re
from collections.abc import Iterator
from typing import Final

import numpy as np

from gpupanel.domain.problem import Problem, Severity
from gpupanel.domain.visible_text import visible_line
from gpupanel.trainer.datasets.tables.table_file import ImportedTable

_WORD: Final = re.compile(
    r"((grand|sub)[- ]?)?total(s|e|es)?\b.{0,20}|totaal|(gesamt|end)?summe|gesamt|insgesamt|summ?a"
    r"|sum|soma|somme|celkem|razem|toplam|average|mean|mittelwert|durchschnitt|moyenne"
    r"|итого|всего|合計|合计|総計|总计|총계|합계",
    re.IGNORECASE,
)
_MOST_EMPTY: Final = 5
"""Rows without a cell that may follow."""


def total_line(table: ImportedTable) -> Iterator[Problem]:
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
                f'the others: "{visible_line(word)}" stands in column "{visible_line(column.name)}"'
                " there alone. It is taken as an example.",
                hint="Remove that line from the file, unless it is an example.",
            )
            return
