"""Columns that number or name the rows: nothing can be learned from them."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import numpy as np

from gpupanel.domain.problem import Fix, Problem, Severity
from gpupanel.domain.table_data import ColumnNames, TableData
from gpupanel.domain.visible_text import visible_line
from gpupanel.trainer.datasets.tables.imported import ColumnFacts
from gpupanel.trainer.datasets.tables.recipe import is_learned_from
from gpupanel.trainer.datasets.tables.row_numbers import is_index_name, is_written_by_pandas
from gpupanel.trainer.datasets.tables.table_file import ImportedTable

_LEAST_DIFFERENT = 20
_MOST_ROWS = 50_000
_MOST_ALIKE = 0.05
"""Which part of large numbers may be the same in 32 bits."""
_MOST_NAMED = 5
_NAME: Final = re.compile(
    r"(?:.*[^A-Za-z])?(?i:id|uid|uuid|guid|index|idx|rowid)|.*[a-z](?:Id|ID)", re.DOTALL
)


def index_notes(
    data: TableData, table: ImportedTable, used: Sequence[ColumnFacts], targets: ColumnNames
) -> Iterator[Problem]:
    """A hint for columns that name rows; a warning where such a one was found to be the target.

    Args:
        data: What was chosen.
        table: The whole of it.
        used: The columns that are learned from.
        targets: The names of those that are predicted.
    """
    numbering = [each.name for each in used if _numbers_rows(table, each)]
    yield from _hint(
        data,
        numbering,
        "row numbers, as an index or an identifier does, in their order or another one",
    )
    others = [each for each in used if each.name not in numbering and is_learned_from(each)]
    labels = [each.name for each in others if is_written_by_pandas(each.name)]
    yield from _hint(data, labels, "the labels of the rows, as pandas writes them")
    others = [each for each in others if each.name not in labels]
    texts = [each.name for each in others if _is_different_everywhere(table, each)]
    yield from _hint(data, texts, "another text in every row, as an identifier does")
    numbers = [each.name for each in others if _is_identifier(table, each)]
    yield from _hint(data, numbers, "another number in every row, and is called an identifier")
    found = [each for each in table.columns if each.name in targets and not data.targets]
    if any(_numbers_rows(table, each) or _is_identifier(table, each) for each in found):
        (name,) = (visible_line(each.name) for each in found)
        yield Problem(
            code="table_target_row_numbers",
            severity=Severity.WARNING,
            field="data.target",
            message=f'Column "{name}" is predicted, as the last one or by its name, and holds '
            "row numbers or an identifier: nothing can be learned about them.",
            hint="Choose another target.",
        )


def _hint(data: TableData, names: Sequence[str], what: str) -> Iterator[Problem]:
    if names:
        holds = "hold" if len(names) > 1 else "holds"
        yield Problem(
            code="table_row_numbers",
            severity=Severity.HINT,
            field="data.ignore",
            message=f"{_listed(names)} {holds} {what}: nothing can be learned from it.",
            hint="Leave it out.",
            fix=Fix.of(f"Leave {_listed(names)} out", "data.ignore", [*data.ignore, *names]),
        )


def _is_different_everywhere(table: ImportedTable, column: ColumnFacts) -> bool:
    if column.kind != "category":
        return False
    return len(column.names) == table.rows - column.missing >= _LEAST_DIFFERENT


def _numbers_rows(table: ImportedTable, column: ColumnFacts) -> bool:
    if column.kind != "number":
        return False
    form = table.overview.form
    place = table.names.index(column.name)
    is_index = is_index_name(column.name, place, has_names=form is not None and form.has_names)
    return column.is_counting or column.is_permutation or (is_index and column.is_whole)


def _is_identifier(table: ImportedTable, column: ColumnFacts) -> bool:
    """Whether it is called one, and holds another whole number in each of some rows."""
    if column.kind != "number" or not column.is_whole or not _NAME.fullmatch(column.name):
        return False
    place, count = table.names.index(column.name), min(table.rows, _MOST_ROWS)
    values = table.read(np.arange(count, dtype=np.int32))[:, place]
    return count >= _LEAST_DIFFERENT and len(np.unique(values)) >= (1 - _MOST_ALIKE) * count


def _listed(names: Iterable[str]) -> str:
    several = [f'"{visible_line(name)}"' for name in names]
    return ", ".join(several[:_MOST_NAMED]) + (", ..." if len(several) > _MOST_NAMED else "")
