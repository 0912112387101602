"""Numbers that belong to images: columns of the CSV of labels that are a second input of a model.

They come as they are written: what scales them is the model's own.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gpupanel.domain.data import ImagesData
from gpupanel.domain.empty_words import empty_words
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.visible_text import visible_line
from gpupanel.domain.written_numbers import NumberForm
from gpupanel.trainer.datasets.checks import ArrayName, check_exact
from gpupanel.trainer.datasets.data_problems import data_problem
from gpupanel.trainer.datasets.examples import Array
from gpupanel.trainer.datasets.images.csv_lines import ImageLines, quoted
from gpupanel.trainer.datasets.images.label_problems import (
    number_notes,
    short_cell,
)
from gpupanel.trainer.datasets.images.labels import number_forms
from gpupanel.trainer.parts.cell_labels import WHOLE_CELL, numbers_in_row

FIELD = "data.numbers"


@dataclass(frozen=True, slots=True, eq=False)
class ImageNumbers:
    """The numbers that belong to some images.

    Attributes:
        array: ``float32``, shape [images, columns].
        columns: Of the CSV, in the order that they were chosen in.
        forms: How the numbers in each of these are written.
        notes: How cells are read that are written otherwise than programs write them.
    """

    array: Array
    columns: tuple[str, ...]
    forms: tuple[NumberForm, ...]
    notes: tuple[Problem, ...]


def without_numbers(
    lines: ImageLines, data: ImagesData, *, needs_others: bool = True
) -> ImageLines:
    """The lines without the columns that are an input; as they are where none is.

    Args:
        lines: Of the CSV of a set.
        data: Names the columns.
        needs_others: Refuse lines of which nothing is left that could be predicted.

    Raises:
        ProblemError: The CSV has no such column, or it is something else, too.
    """
    for name in data.numbers:
        shown = f'column "{visible_line(name)}"'
        if data.numbers.count(name) > 1:
            raise _misfit(f"{shown} is named twice")
        if name == lines.file_column:
            raise _misfit(f"{shown} of {lines.path} names the images")
        if name not in lines.columns:
            raise _misfit(f"{lines.path} has no {shown}; it has {quoted(lines.columns, 20)}")
        for others, what in (
            (data.chosen_labels, "what is predicted"),
            ((data.chosen_group,), "the group column"),
        ):
            if name in others:
                raise _misfit(f"{shown} is {what}, and is of an input, too")
    left = [name for name in lines.columns if name not in data.numbers]
    if data.numbers and needs_others and not left:
        raise _misfit(f"no other column of {lines.path} is left to be predicted")
    return lines.with_columns(left)


def numbers_of(
    lines: ImageLines, data: ImagesData, training: ImageNumbers | None
) -> ImageNumbers | None:
    """The numbers of each image; ``None`` where none are an input.

    Args:
        lines: One for each image, with all columns.
        data: Names the columns.
        training: The numbers of the training images, for those of another set.

    Raises:
        ProblemError: A cell holds no number, or one that a model does not take.
    """
    if not data.numbers:
        return None
    lines = lines.with_columns(data.numbers)
    _check_there(lines, data.empty_words)
    forms = number_forms(lines, data.decimal) if training is None else training.forms
    rows = []
    for number, row in zip(lines.numbers, lines.cells, strict=True):
        values = numbers_in_row(row, forms)
        if None in values:
            raise _no_number(lines, number, values.index(None), row)
        rows.append(values)
    with np.errstate(over="ignore"):
        array = np.array(rows, np.float64).astype(np.float32)
    for line, at in np.argwhere(~np.isfinite(array)).tolist():
        raise _no_number(lines, lines.numbers[line], at, lines.cells[line])
    for at, name in enumerate(lines.columns):
        if all(WHOLE_CELL.fullmatch(row[at]) for row in lines.cells):
            of = ArrayName(str(lines.path), visible_line(name), FIELD, "Column")
            check_exact(array[:, at], np.dtype(np.int64), of)
    notes = () if training is not None else tuple(number_notes(lines, forms))
    return ImageNumbers(array, lines.columns, forms, notes)


def _check_there(lines: ImageLines, chosen: tuple[str, ...] | None) -> None:
    """Refuse cells that hold nothing.

    Raises:
        ProblemError: There is one.
    """
    empty = {"", *empty_words(chosen).in_numbers}
    lacking = [place for place, row in enumerate(lines.cells) if not empty.isdisjoint(row)]
    if not lacking:
        return
    row = lines.cells[lacking[0]]
    at = next(at for at, cell in enumerate(row) if cell in empty)
    word = f'"{short_cell(row[at])}", which means nothing,' if row[at] else "nothing"
    more = f" Numbers lack in {len(lacking) - 1:,} more." if len(lacking) > 1 else ""
    raise data_problem(
        "data_csv_unreadable",
        f"Line {lines.numbers[lacking[0]]:,} of {lines.path} has {word} in column "
        f'"{visible_line(lines.columns[at])}", and a model takes a number for each image.{more}',
        "Fill it in; or take the line out, and its image is left out with it.",
        field=FIELD,
    )


def _no_number(lines: ImageLines, number: int, at: int, row: Sequence[str]) -> ProblemError:
    return data_problem(
        "data_csv_unreadable",
        f'Line {number:,} of {lines.path} has "{short_cell(row[at])}" in column '
        f'"{visible_line(lines.columns[at])}", which is not a number that a model takes.',
        "Correct that line. A column of names can be columns of 0 and 1, one for each name.",
        field=FIELD,
    )


def _misfit(why: str) -> ProblemError:
    return data_problem(
        "image_numbers_misfit",
        f"The numbers beside the images cannot be of these columns: {why}.",
        "Name columns of the CSV of labels that hold numbers, and nothing that is predicted.",
        field=FIELD,
    )


def numbers_without_table(what: str) -> ProblemError:
    """The problem that numbers are an input, and nothing says them.

    Args:
        what: Has none, with its verb.
    """
    return data_problem(
        "image_numbers_misfit",
        f"A model is to take numbers beside each image, and {what}.",
        "Choose the CSV that has them in data.labels_csv; or a model that takes images alone.",
        field=FIELD,
    )
