"""What a person must know about how labels in a CSV of images are read."""

from collections.abc import Iterator, Sequence

from gpupanel.domain.empty_words import EmptyWords, empty_words
from gpupanel.domain.problem import Fix, Problem, ProblemError, Severity
from gpupanel.domain.visible_text import as_utf8, visible_line
from gpupanel.domain.written_numbers import (
    NumberForm,
    meanings_of,
    plain_number,
)
from gpupanel.trainer.datasets.images.csv_lines import ImageLines, quoted
from gpupanel.trainer.datasets.images.csv_rows import FIELD
from gpupanel.trainer.parts.cell_labels import words_for_nothing

_PREDICTS = "data.predicts"
_WORDS = "data.empty_words"
_LONGEST = 40


def without_empty(
    lines: ImageLines, chosen: Sequence[str] | None
) -> tuple[ImageLines, tuple[Problem, ...]]:
    """The lines whose labels are all there, and what is said of words that may mean nothing.

    Args:
        lines: With the columns that are predicted.
        chosen: The words that a person chose; ``None``: nobody did, and no label may lack.

    Raises:
        ProblemError: A label lacks.
    """
    words = empty_words(None if chosen is None else tuple(chosen))
    of_column = [
        words_for_nothing(column, words.in_numbers, words.in_names)
        for column in zip(*lines.cells, strict=True)
    ]
    kept = [
        place
        for place, row in enumerate(lines.cells)
        if not any(cell in empty for cell, empty in zip(row, of_column, strict=True))
    ]
    lacking = len(lines.cells) - len(kept)
    if not lacking:
        return lines, () if chosen is not None else tuple(_unsure(lines, words))
    if chosen is None or not kept:
        raise ProblemError(_lacks(lines, of_column, kept))
    left = lines.with_lines(kept)
    note = Problem(
        code="data_labels_left_out",
        severity=Severity.HINT,
        field=_WORDS,
        message=f"{lacking:,} of the {len(lines.cells):,} images in {lines.path} have no label: "
        "they are left out.",
        hint="Nothing, if that is meant; else give them one.",
    )
    return left, (note,)


def _lacks(lines: ImageLines, of_column: Sequence[frozenset[str]], kept: Sequence[int]) -> Problem:
    there, lacking = {*kept}, len(lines.cells) - len(kept)
    first = next(place for place in range(len(lines.cells)) if place not in there)
    row = lines.cells[first]
    at = next(at for at, empty in enumerate(of_column) if row[at] in empty)
    word = row[at]
    what = f'"{word}", which means nothing,' if word else "nothing"
    fixes = [Fix.of("Leave images without a label out", _WORDS, [word] if word else [])]
    if word:
        fixes.append(Fix.of(f'Keep "{word}" as a name', _WORDS, []))
    return Problem(
        code="data_csv_unreadable",
        field=FIELD,
        message=f"Line {lines.numbers[first]:,} of {lines.path} has no label: it has {what} in "
        f'column "{visible_line(lines.columns[at])}".'
        + (f" So have {lacking - 1:,} more." if lacking > 1 else ""),
        hint="Give the image a label, or choose data.empty_words to leave such images out.",
        fix=fixes[0] if kept else None,
        alternatives=tuple(fixes[1:]),
    )


def _unsure(lines: ImageLines, words: EmptyWords) -> Iterator[Problem]:
    for at, name in enumerate(lines.columns):
        cells = [row[at] for row in lines.cells if row[at] in words.unsure]
        if cells:
            found = sorted({*cells})
            yield Problem(
                code="data_words_kept",
                severity=Severity.WARNING,
                field=_WORDS,
                message=f'{quoted(found)} in {len(cells):,} lines of column "'
                f'{visible_line(name)}" of {lines.path}: taken as a name, and it may mean that '
                "these images have no label.",
                hint="Choose which words mean that a label is empty.",
                fix=Fix.of(f"Keep {quoted(found)} as a name", _WORDS, []),
                alternatives=(Fix.of(f"Leave {quoted(found)} out", _WORDS, found),),
            )


def no_number(lines: ImageLines, number: int, at: int, row: Sequence[str]) -> ProblemError:
    """The problem that a cell is no number where all have to be."""
    fixes: list[Fix] = []
    if len(lines.columns) > 1:
        fixes = [
            Fix.of(f'Predict "{visible_line(name)}" alone', "data.label_columns", name)
            for name in lines.columns[:10]
        ]
    return ProblemError(
        Problem(
            code="data_csv_unreadable",
            field=FIELD,
            message=f'Line {number:,} of {lines.path} has "{short_cell(row[at])}" in column '
            f'"{visible_line(lines.columns[at])}", which is not a number.',
            hint="Correct that line; or say in data.label_columns which columns are predicted."
            if fixes
            else "Correct that line; or predict classes.",
            fix=fixes[0] if fixes else Fix.of("Predict classes", _PREDICTS, "classes"),
            alternatives=tuple(fixes[1:]),
        )
    )


def numbers_unclear(lines: ImageLines, name: str, cell: str, *more: Fix) -> Problem:
    """The problem that a number may mean two, where no cell of its column shows which.

    Args:
        lines: Of the CSV.
        name: Of the column.
        cell: With that number.
        more: What may be done beside saying how it is read.
    """
    by_mark = sorted(meanings_of(cell).items(), key=lambda each: len(each[1]))
    fixes = [Fix.of(f"Read it as {number}", "data.decimal", mark) for mark, number in by_mark]
    return Problem(
        code="data_numbers_unclear",
        field="data.decimal",
        message=f'Column "{visible_line(name)}" of {lines.path} holds "{short_cell(cell)}", which '
        f"may be {' or '.join(number for _, number in by_mark)}: no cell of it shows which.",
        hint="Set data.decimal to the character before decimals.",
        fix=fixes[0],
        alternatives=(*fixes[1:], *more),
    )


def number_notes(lines: ImageLines, forms: Sequence[NumberForm]) -> Iterator[Problem]:
    """How numbers are read that are written otherwise than programs write them."""
    for at, (name, form) in enumerate(zip(lines.columns, forms, strict=True)):
        cells = (row[at] for row in lines.cells)
        odd = next((cell for cell in cells if plain_number(cell, form) != cell), None)
        if odd is not None:
            yield Problem(
                code="data_numbers_read",
                severity=Severity.HINT,
                field=FIELD,
                message=f'In column "{visible_line(name)}" of {lines.path} "{short_cell(odd)}" is '
                f"read as {plain_number(odd, form)}.",
                hint="Nothing, if that is what it means; else set data.decimal.",
            )


def seem_values(lines: ImageLines, cell: str) -> Problem:
    """A warning where classes may be amounts."""
    return Problem(
        code="data_labels_seem_values",
        severity=Severity.WARNING,
        field=_PREDICTS,
        message=f'Column "{visible_line(lines.columns[0])}" of {lines.path} looks like numbers, '
        f'such as "{short_cell(cell)}", and each different one is a class of its own.',
        hint="Predict values, or keep the classes.",
        fix=Fix.of("Predict values", _PREDICTS, "values"),
        alternatives=(Fix.of("Keep them as classes", _PREDICTS, "classes"),),
    )


def seem_several(lines: ImageLines, cell: str) -> Problem:
    """A warning where classes may be combinations of labels."""
    return Problem(
        code="data_labels_seem_several",
        severity=Severity.WARNING,
        field=_PREDICTS,
        message=f'Column "{visible_line(lines.columns[0])}" of {lines.path} seems to hold '
        f'several labels in a cell, such as "{short_cell(cell)}", and each combination is a class '
        "of its own.",
        hint="Read each as a label of its own, or keep the combinations as classes.",
        fix=Fix.of("Read them as several labels", _PREDICTS, "labels"),
        alternatives=(Fix.of("Keep them as classes", _PREDICTS, "classes"),),
    )


def short_cell(cell: str) -> str:
    """A cell as it is shown."""
    shown = visible_line(as_utf8(cell))
    return shown if len(shown) <= _LONGEST else f"{shown[: _LONGEST - 3]}..."


def not_utf8(lines: ImageLines, cells: Sequence[str]) -> Iterator[Problem]:
    """A warning where names have bytes that are no UTF-8, and are written out."""
    odd = next((cell for cell in cells if as_utf8(cell) != cell), None)
    if odd is not None:
        yield Problem(
            code="data_csv_not_utf8",
            severity=Severity.WARNING,
            field=FIELD,
            message=f"{lines.path} is not UTF-8 text: in column "
            f'"{visible_line(lines.columns[0])}" a name is "{short_cell(odd)}".',
            hint="Save the table again as CSV (UTF-8, comma separated).",
        )
