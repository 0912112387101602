"""What can be wrong with a table, as problems with stable codes."""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from gpupanel.domain.empty_words import EmptyWords
from gpupanel.domain.problem import Fix, Problem, ProblemError, Severity
from gpupanel.domain.table_data import ColumnNames, TableData
from gpupanel.domain.visible_text import visible_beginning
from gpupanel.domain.written_dates import dates_in
from gpupanel.trainer.datasets.data_problems import data_problem
from gpupanel.trainer.datasets.tables.empty_cells import is_word_for_nothing, taken_as_empty
from gpupanel.trainer.datasets.tables.imported import MisfitError

_WORD = re.compile(r"[^\W\d_]{3}")


def no_text(path: Path) -> ProblemError:
    """Bytes that no text has."""
    return data_problem(
        "table_no_text",
        f"{path} holds bytes of value 0, which no text has: it is not a CSV file, or was cut out "
        "of another one.",
        "Choose a .csv, .tsv or .parquet file; a spreadsheet has to be saved as CSV first.",
    )


def empty(path: Path) -> ProblemError:
    """A table without a row."""
    return data_problem(
        "data_empty", f"{path} has no rows.", "Choose a table with at least one row of values."
    )


def too_many_columns(path: Path, count: int, most: int) -> ProblemError:
    """More columns than are read."""
    return data_problem(
        "table_too_many_columns",
        f"{path} has {count:,} columns, and a table has {most:,} at most.",
        "Save it with rows and columns exchanged if it is transposed; or as a NumPy array.",
    )


def line_too_long(path: Path, most_bytes: int, row: int = 0) -> ProblemError:
    """A line that is longer than a row of any table."""
    where = f"after row {row:,}" if row else "at its start"
    return data_problem(
        "table_line_too_long",
        f"{path} has a line of more than {most_bytes // 2**20} MiB {where}.",
        "Check that line: a quotation mark that is never closed joins all lines that follow, and "
        "a file that is not a table may have such lines.",
    )


def wrong_encoding(path: Path, encoding: str, row: int, detail: str) -> ProblemError:
    """Bytes that are no text of that encoding."""
    others = "cp1252" if encoding == "utf-8" else "utf-8"
    return data_problem(
        "table_encoding",
        f"{path} is not {encoding} throughout: what follows row {row:,} cannot be read.",
        f'Set data.encoding to what the file was written in, such as "{others}".',
        field="data.encoding",
        detail=detail,
    )


def divided_by_spaces(path: Path, delimiter: str) -> ProblemError:
    """Cells with spaces between them, which are not read."""
    shown = "a tab" if delimiter == "\t" else f'"{delimiter}"'
    return data_problem(
        "table_spaces",
        f"Spaces seem to divide the cells of {path}, and only a comma, a semicolon, a tab or a "
        "vertical bar is read.",
        f"Write one of these between the cells; or set data.delimiter if it is {shown}.",
        field="data.delimiter",
    )


def ragged(path: Path, row: int, expected: int, actual: int) -> ProblemError:
    """A row with more or fewer cells than there are columns."""
    return data_problem(
        "table_ragged",
        f"Line {row:,} of {path} has {actual:,} cells, and there are {expected:,} columns.",
        "Correct that line: text with a delimiter in it wants quotation marks. Or choose "
        "data.delimiter.",
    )


def quote_stray(path: Path, row: int, lines: int) -> ProblemError:
    """A quotation mark that makes one cell of lines that are rows."""
    return ProblemError(
        Problem(
            code="table_quote_stray",
            field="data.quoting",
            message=f"A quotation mark in row {row:,} of {path} makes one cell of {lines:,} lines "
            "that have as many cells as a row.",
            hint="Take quotation marks as letters if it stands there by itself; or keep the lines "
            "in one cell if they are its text.",
            fix=Fix.of("Take quotation marks as letters", "data.quoting", "none"),
            alternatives=(Fix.of("Keep such lines in one cell", "data.quoting", "double"),),
        )
    )


def lines_skipped(lines: Sequence[str]) -> Problem:
    """What stands before a table, and is no part of it."""
    count = len(lines)
    what = "line is" if count == 1 else f"{count:,} lines are"
    return Problem(
        code="table_lines_skipped",
        severity=Severity.HINT,
        field="data.skip_lines",
        message=f"The first {what} before the table, and left out: "
        f"{visible_beginning(lines[0].strip())}.",
        hint="Say otherwise in data.skip_lines if it is one.",
        fix=Fix.of(f"Always leave {count:,} out", "data.skip_lines", count),
        alternatives=(Fix.of("Begin with the first line", "data.skip_lines", 0),),
    )


def header_unsure(first: Sequence[str], *, has_names: bool) -> Problem:
    """A first line that may name the columns, or be a row."""
    shown = ", ".join(f'"{visible_beginning(cell)}"' for cell in first[:5])
    fixes = [
        Fix.of("Take it as a row", "data.header", "none"),
        Fix.of("Take it as names", "data.header", "first_line"),
    ]
    taken, other = reversed(fixes) if has_names else fixes
    return Problem(
        code="table_header_unsure",
        severity=Severity.WARNING,
        field="data.header",
        message=f"The first line ({shown}) is taken "
        f"{'for the names of the columns' if has_names else 'as a row'}, and may be "
        f"{'a row' if has_names else 'their names'}.",
        hint="Say in data.header whether it names the columns.",
        fix=taken,
        alternatives=(other,),
    )


def beside_choices(problem: Problem, data: TableData, targets: ColumnNames) -> Problem:
    """The same, whose fixes add columns to those that were chosen, and leave no target out.

    Args:
        problem: Its fixes name columns as if nothing had been chosen before.
        data: What was chosen.
        targets: The columns that are predicted.
    """
    kept = []
    for fix in filter(None, (problem.fix, *problem.alternatives)):
        (change,) = fix.changes
        *_, key = change.path
        named = change.value if isinstance(change.value, Iterable) else ()
        names = [name for name in named if key != "ignore" or name not in targets]
        if names:
            chosen = getattr(data, str(key)) or ()
            kept.append(Fix.of(fix.label, f"data.{key}", list(dict.fromkeys((*chosen, *names)))))
    if problem.fix is None:
        return problem.model_copy(update={"alternatives": tuple(kept)})
    return problem.model_copy(update={"fix": kept[0], "alternatives": tuple(kept[1:])})


def as_trained(problem: Problem) -> Problem:
    """A cell that does not fit as training read its column: that is not chosen any more."""
    hint = (
        "Training read that column so: correct the cell, or write it as the rows were written that "
        "were trained on."
    )
    if problem.fix is None:
        return problem.model_copy(update={"hint": f"{hint} {problem.hint}"})
    *_, key = problem.fix.changes[0].path
    fix = problem.fix if key == "empty_words" else None
    return problem.model_copy(update={"hint": hint, "fix": fix, "alternatives": ()})


def does_not_fit(path: Path, misfit: MisfitError, empty: EmptyWords) -> ProblemError:
    """A cell that is not what its column was seen to hold; its fixes know no choices before them.

    Args:
        path: Of the table, for the words.
        misfit: The cell.
        empty: Words that mean that a cell holds nothing: what has no digit may be one more.
    """
    row, column, text = misfit.row + 1, misfit.column, misfit.text.strip()
    what = f"which is not a {misfit.kind} as the others are"
    if misfit.kind == "date" and dates_in(text) == {}:
        what = "and there is no such day or time"
    has_letters = any(map(str.isalpha, text))
    fixes = (
        Fix.of(f'Take "{column}" as a category', "data.categories", [column]),
        Fix.of(f'Leave "{column}" out', "data.ignore", [column]),
    )
    fix: Fix | None
    fix, *others = fixes
    hint = "Correct or empty that cell; or take the column as a category, or leave it out."
    if text and re.fullmatch(rf"{re.escape(text)}( \(\d+\))?", column):
        hint = (
            "It is the name of the column, as where files were joined: remove the lines of names "
            "that follow the first one."
        )
        fix, others = None, []
    elif row == 1 and has_letters:
        hint = (
            "The line may be a second one of names, or one of units: remove it; or set "
            "data.skip_lines where it is the one that has the names."
        )
        fix, others = None, []
    elif misfit.is_last and _WORD.match(text):
        hint = (
            "It is the last row, which may hold totals or a note: remove it unless it is an "
            "example; or take the word as empty."
        )
        fix, others = None, [taken_as_empty(text, empty)]
    elif is_word_for_nothing(text):
        fix, others = taken_as_empty(text, empty), [*fixes]
        hint = "Take it as empty if it means that; or correct that cell."
    return ProblemError(
        Problem(
            code="table_cell_misfit",
            field="data.path",
            message=f'Row {row:,} of {path} holds "{visible_beginning(text)}" in column '
            f'"{column}", {what}.',
            hint=hint,
            fix=fix,
            alternatives=tuple(others),
        )
    )


def unknown_column(path: Path, name: str, names: tuple[str, ...], key: str) -> ProblemError:
    """A column that was named and is not there."""
    there = ", ".join(f'"{other}"' for other in names[:20]) + (", ..." if len(names) > 20 else "")
    return data_problem(
        "table_column_missing",
        f'{path} has no column "{name}"; its columns: {there}.',
        f"Set {key} to names of columns that are there.",
        field=key,
    )


def target_is_feature(name: str) -> ProblemError:
    """What is to be predicted is among what a saved model takes."""
    return data_problem(
        "target_is_feature",
        f'The saved model takes the column "{name}" as a feature: to predict that column from '
        "itself teaches it nothing.",
        "Choose another target, or a model that was trained without this column.",
        field="data.target",
    )


def changed_meanwhile(path: Path) -> ProblemError:
    """A file that another program writes to."""
    return data_problem(
        "table_changed",
        f"{path} was changed while it was read.",
        "Wait until the program that writes it is done, and start again.",
    )


def left_to_a_run(path: Path, size_bytes: int) -> ProblemError:
    """The hint that nothing is wrong: a preview of a large table would take minutes."""
    return ProblemError(
        Problem(
            code="table_not_imported",
            severity=Severity.HINT,
            field="data.path",
            message=f"{path} has {size_bytes / 2**30:,.1f} GiB: the first run imports it, once. "
            "After that it is shown here.",
            hint="What its columns hold is found from some rows of it. A script is written when "
            "data.predicts says what the target is.",
        )
    )


def cache_unusable(folder: Path, error: OSError) -> ProblemError:
    """Rows that cannot be kept, or not be read back."""
    return data_problem(
        "table_cache",
        f"The rows of the table cannot be kept in {folder}: {error.strerror or error}.",
        "A table is kept there as numbers of 32 bits, about as large as its CSV file: make room, "
        "or set GPUPANEL_CACHE_DIR to a folder on a disk that has some.",
        field="data",
    )
