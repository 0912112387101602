"""What is odd about names of classes and categories of a table."""

import unicodedata
from collections.abc import Iterator, Sequence

from gpupanel.domain.problem import Problem, Severity
from gpupanel.domain.table_data import ColumnNames
from gpupanel.domain.visible_text import visible_beginning, visible_line
from gpupanel.trainer.datasets.tables.imported import ColumnFacts

_MOST_NAMED = 3


def name_notes(columns: Sequence[ColumnFacts], targets: ColumnNames) -> Iterator[Problem]:
    """Names that are one written in several ways, and lines of names among the rows.

    Args:
        columns: Those that are used.
        targets: The names of those that are predicted.
    """
    named = [each for each in columns if each.kind == "category" and each.names]
    for column in named:
        alike = _alike(column.names)
        if alike:
            is_target = column.name in targets
            what = "classes" if is_target else "categories"
            shown = "; ".join(" and ".join(map(_quoted, names)) for names in alike[:_MOST_NAMED])
            yield Problem(
                code="table_names_alike",
                severity=Severity.WARNING if is_target else Severity.HINT,
                field="data.target" if is_target else "data.path",
                message=f'Column "{visible_line(column.name)}" holds names that differ only in '
                f"case or spaces, and are {what} of their own: {shown}.",
                hint="Write them alike in the file if they mean the same.",
            )
    again = [each for each in named if each.name in each.names]
    rows = {each.counts[each.names.index(each.name)] for each in again}
    if len(again) > 1 and len(rows) == 1:
        count, shown = rows.pop(), ", ".join(_quoted(each.name) for each in again[:_MOST_NAMED])
        yield Problem(
            code="table_names_again",
            severity=Severity.WARNING,
            field="data.path",
            message=f"{count:,} {'row seems' if count == 1 else 'rows seem'} to be the line of "
            f"names again, as where files were joined: {shown}.",
            hint="Remove these lines from the file.",
        )


def _alike(names: Sequence[str]) -> list[list[str]]:
    spelt: dict[str, list[str]] = {}
    for name in sorted(names):
        # What is not seen, such as a space of no width, is of the category Cf.
        seen = "".join(each for each in name if unicodedata.category(each) != "Cf")
        spelt.setdefault(" ".join(seen.casefold().split()), []).append(name)
    return [each for each in spelt.values() if len(each) > 1]


def _quoted(name: str) -> str:
    return f'"{visible_beginning(name)}"'
