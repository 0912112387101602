"""What a person must know about how numbers and dates of a table are written."""

from collections.abc import Iterable, Iterator

from gpupanel.domain.problem import Fix, Problem, ProblemError, Severity
from gpupanel.domain.table_data import ORDER_OF_SETTING, ColumnNames, TableData
from gpupanel.domain.visible_text import visible_beginning, visible_line
from gpupanel.domain.written_dates import dates_in
from gpupanel.domain.written_numbers import meanings_of
from gpupanel.trainer.datasets.tables.empty_cells import taken_as_empty
from gpupanel.trainer.datasets.tables.overview import TableOverview
from gpupanel.trainer.datasets.tables.values import read_as
from gpupanel.trainer.datasets.tables.written_columns import ColumnLook

_MOST_NAMED = 5


def check_written(data: TableData | None, overview: TableOverview, used: Iterable[str]) -> None:
    """Refuse columns whose numbers or dates may mean two things, where no cell shows which.

    Args:
        data: What was chosen; ``None``: the table is of texts.
        overview: Of the table.
        used: The columns that are learned from, or predicted.

    Raises:
        ProblemError: With a fix for each meaning.
    """
    unclear = {name: look for name in used if (look := overview.looks.get(name)) and look.unclear}
    for name, look in unclear.items():
        ask = _dates_unclear if look.kind == "date" else _numbers_unclear
        raise ProblemError(ask(data, overview, name, look))


def written_notes(
    data: TableData, overview: TableOverview, targets: ColumnNames
) -> Iterator[Problem]:
    """How cells are read that are written otherwise than programs do, and which are not read."""
    left_out = (*data.ignore, *((data.group,) if data.group else ()))
    looks = {name: look for name, look in overview.looks.items() if name not in left_out}
    lines = [
        f'"{visible_line(name)}": {said}' for name, look in looks.items() if (said := said_of(look))
    ]
    if lines:
        more = (
            f"; and {len(lines) - _MOST_NAMED:,} more columns" if len(lines) > _MOST_NAMED else ""
        )
        yield Problem(
            code="table_cells_read",
            severity=Severity.HINT,
            field="data.path",
            message="Numbers and dates are written otherwise than programs write them. In column "
            f"{'; '.join(lines[:_MOST_NAMED])}{more}.",
            hint="Nothing, if that is what they mean; else set data.decimal or data.date_order, or "
            "name the column in data.categories.",
        )
    for name, look in looks.items():
        if look.seems and name not in (data.categories or ()):
            yield _seems(data, overview, name, look, is_target=name in targets)


def said_of(look: ColumnLook) -> str:
    """How a cell is read; empty where all are as programs write them."""
    if look.kind not in ("number", "class", "date") or not look.example:
        return ""
    shown = read_as(look.example, look.kind, look.written)
    return f'"{visible_beginning(look.example)}" is read as {shown}' if shown else ""


def _numbers_unclear(
    data: TableData | None, overview: TableOverview, name: str, look: ColumnLook
) -> Problem:
    by_mark = meanings_of(look.unclear)
    fixes = [
        Fix.of(f"Read it as {number}", "data.decimal", mark)
        for mark, number in sorted(by_mark.items(), key=lambda each: len(each[1]))
    ]
    numbers = " or ".join(sorted(by_mark.values(), key=len))
    return Problem(
        code="table_numbers_unclear",
        field="data.decimal",
        message=f'Column "{visible_line(name)}" of {overview.path} holds '
        f'"{visible_beginning(look.unclear)}", which may be {numbers}: no cell of it shows which.',
        hint="Set data.decimal to the character before decimals.",
        fix=fixes[0],
        alternatives=(*fixes[1:], *_leave_out(data, name)),
    )


def _dates_unclear(
    data: TableData | None, overview: TableOverview, name: str, look: ColumnLook
) -> Problem:
    days = dates_in(look.unclear) or {}
    fixes = [
        Fix.of(f"Read it as {shown}", "data.date_order", setting)
        for setting, order in ORDER_OF_SETTING.items()
        if order in days
        and (
            shown := read_as(
                look.unclear, "date", look.written.model_copy(update={"date_order": order})
            )
        )
    ]
    return Problem(
        code="table_dates_unclear",
        field="data.date_order",
        message=f'Column "{visible_line(name)}" of {overview.path} holds '
        f'"{visible_beginning(look.unclear)}", and no cell of it shows whether the day or the '
        "month comes first.",
        hint="Say it in data.date_order.",
        fix=fixes[0],
        alternatives=(*fixes[1:], *_leave_out(data, name)),
    )


def _seems(
    data: TableData, overview: TableOverview, name: str, look: ColumnLook, *, is_target: bool
) -> Problem:
    key = "numbers" if look.seems == "number" else "dates"
    chosen = getattr(data, key) or ()
    what = "numbers" if look.seems == "number" else "dates"
    becomes = "classes" if is_target else "categories, or left out where they are too many"
    shown = f', such as "{visible_beginning(look.example)}"' if look.example else ""
    column = visible_line(name)
    fixes = [
        Fix.of(
            f'Take "{column}" as categories', "data.categories", [*(data.categories or ()), name]
        ),
        Fix.of(f'Take "{column}" as {what}', f"data.{key}", [*chosen, name]),
        *(() if is_target else _leave_out(data, name)),
    ]
    may_be_line = look.word_rows == 1 and any(map(str.isalpha, look.word))
    if look.word and (may_be_line or look.word == name):
        fixes.insert(0, fixes.pop(1))  # a line of totals, units or names, which reading says
    elif look.word:  # what is predicted may be classes, of which it is one
        fixes.insert(int(is_target), taken_as_empty(look.word, overview.empty))
    odd = f' ("{visible_beginning(look.word)}" can not)' if look.word else ""
    why = f"looks like {what}{shown}, but not all of its cells can be read as such{odd}"
    hint = f"Write all of them alike, without units, and name the column in data.{key}"
    if look.are_saved_as_texts:
        why = f"holds {what}{shown} that were saved as texts"
        hint = f"Name the column in data.{key} if that is what it holds"
    return Problem(
        code="table_column_seems",
        severity=Severity.WARNING,
        field=f"data.{key}",
        message=f'Column "{column}" {why}: its cells are {becomes}.',
        hint=f"{hint}; or in data.categories if that is meant.",
        fix=fixes[0],
        alternatives=tuple(fixes[1:]),
    )


def _leave_out(data: TableData | None, name: str) -> tuple[Fix, ...]:
    """The fix that a column is not used, where that can be chosen."""
    if data is None or name in data.targets:
        return ()
    return (Fix.of(f'Leave "{visible_line(name)}" out', "data.ignore", [*data.ignore, name]),)
