"""What a CSV says of images, as it is trained on."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from typing_extensions import override

from gpupanel.domain.data import MOST_CLASSES, Target
from gpupanel.domain.problem import Fix, Problem, ProblemError
from gpupanel.domain.written_numbers import (
    NumberForm,
    all_numbers,
    detected_forms,
    parts_of_number,
)
from gpupanel.domain.written_tags import are_combined, tag_separator, tags_in
from gpupanel.trainer.datasets.checks import ArrayName
from gpupanel.trainer.datasets.examples import Array
from gpupanel.trainer.datasets.images.csv_lines import ImageLines
from gpupanel.trainer.datasets.images.csv_rows import FIELD, problem_of, problem_of_line
from gpupanel.trainer.datasets.images.label_problems import (
    no_number,
    not_utf8,
    number_notes,
    numbers_unclear,
    seem_several,
    seem_values,
)
from gpupanel.trainer.datasets.labels import checked_labels
from gpupanel.trainer.parts.cell_labels import (
    WHOLE_CELL,
    class_names_in,
    numbers_in_row,
    numbers_of_classes,
    ordered_classes,
    rows_of_tags,
    tags_of_each,
)

_MOST_WHOLE_CLASSES = 20
"""More whole numbers than these, of which most occur once, may be amounts."""
_MANY_FIT = 0.8
"""Text of which so many cells are numbers may be amounts with typing errors."""
_AS_CLASSES = Fix.of("Predict classes", "data.predicts", "classes")


@dataclass(frozen=True, slots=True, eq=False)
class ImageLabels:
    """What the images are.

    Attributes:
        array: As :class:`~gpupanel.trainer.datasets.examples.Examples` has labels.
        target: What they are.
        names: Of the classes or labels; empty where values are predicted.
        columns: The columns of a CSV that say it.
        forms: How the numbers in each of these are written; empty where they hold none.
        separator: What stands between several labels in a cell; ``None``: each has a column.
        notes: How cells are read that may mean something else.
    """

    array: Array
    target: Target
    names: tuple[str, ...]
    columns: tuple[str, ...] = ()
    forms: tuple[NumberForm, ...] = ()
    separator: str | None = None
    notes: tuple[Problem, ...] = ()


def labels_of(
    lines: ImageLines,
    predicts: Target | None,
    training: ImageLabels | None = None,
    *,
    must_differ: bool = True,
    decimal: str | None = None,
) -> ImageLabels:
    """What the lines say, as it is trained on.

    One column of text or whole numbers holds classes; numbers in it that are not whole are values.
    Of several columns, see :func:`~gpupanel.trainer.datasets.labels.detected_target`.

    Args:
        lines: At least one, with the columns that are predicted; no cell is empty.
        predicts: What the labels are; ``None``: found.
        training: The labels of the training images, for those of another set.
        must_differ: Refuse images that are all of one class.
        decimal: What stands before the decimals of numbers; ``None``: found.

    Raises:
        ProblemError: They are no labels of that kind, or none of those classes.
    """
    cells = [row[0] for row in lines.cells]
    is_one = len(lines.columns) == 1
    notes: tuple[Problem, ...] = ()
    if training is not None:
        predicts = training.target
    else:
        doubts = _doubts(lines, cells) if predicts is None and is_one else ()
        notes = (*not_utf8(lines, cells), *doubts)
    separator = _separator(cells, predicts, training) if is_one else None
    if separator is not None:
        return replace(_several(lines, cells, separator, training), notes=notes)
    if is_one and predicts in (Target.CLASSES, None) and (predicts or not _are_values(cells)):
        names = None if training is None else training.names
        found = _classes(lines, cells, names, must_differ=must_differ)
        return replace(found, notes=notes)
    name = _Column(str(lines.path), ", ".join(lines.columns[:5]), FIELD)
    known = None if training is None else training.forms
    forms = known or number_forms(lines, decimal, _AS_CLASSES)
    numbers = _matrix(lines, forms)
    checked = checked_labels(numbers, name, predicts, must_differ=must_differ)
    titles = () if checked.target is Target.VALUES else lines.columns
    if training is None:
        notes = (*notes, *number_notes(lines, forms))
    return ImageLabels(checked.array, checked.target, titles, lines.columns, forms, None, notes)


class _Column(ArrayName):
    @override
    def __str__(self) -> str:
        return f'Column "{self.name}" of {self.source}'


def _are_values(cells: Sequence[str]) -> bool:
    """Whether all are numbers that are not just counted: with decimals, a unit or groups."""
    (found,) = detected_forms([cells])
    return not found.misfits and all_numbers(cells) and not all(map(WHOLE_CELL.fullmatch, cells))


def _doubts(lines: ImageLines, cells: Sequence[str]) -> Iterator[Problem]:
    """What classes may be instead."""
    if _are_values(cells):
        return
    numbers = [cell for cell in cells if parts_of_number(cell) is not None]
    different = {*cells}
    are_whole = all(map(WHOLE_CELL.fullmatch, cells))
    are_many = len(different) > _MOST_WHOLE_CLASSES and 2 * len(different) > len(cells)
    are_broken = len(numbers) >= _MANY_FIT * len(cells) and (
        are_many or not all(map(WHOLE_CELL.fullmatch, numbers))
    )
    if (are_many and are_whole) or (are_broken and not are_whole):
        yield seem_values(lines, numbers[0])
    elif are_combined(different):
        yield seem_several(lines, next(filter(_holds_several(different), cells)))


def _holds_several(different: set[str]) -> Callable[[str], bool]:
    separator = tag_separator(different)
    return lambda cell: len(tags_in(cell, separator)) > 1


def _separator(
    cells: Sequence[str], predicts: Target | None, training: ImageLabels | None
) -> str | None:
    """What stands between several labels in a cell; ``None``: each cell holds something else."""
    if training is not None:
        return training.separator
    if predicts is not Target.LABELS:
        return None
    found = tag_separator(cells)
    return None if not found and all_numbers(cells) else found


def number_forms(lines: ImageLines, decimal: str | None, *more: Fix) -> tuple[NumberForm, ...]:
    """How each column writes its numbers.

    Args:
        lines: With these columns.
        decimal: What stands before decimals; ``None``: found.
        more: What may be done where nothing shows it, beside saying it.

    Raises:
        ProblemError: Nothing shows how a number is meant.
    """
    columns = [[row[at] for row in lines.cells] for at in range(len(lines.columns))]
    found = detected_forms(columns, decimal)
    for name, each in zip(lines.columns, found, strict=True):
        if not each.is_sure:
            raise ProblemError(numbers_unclear(lines, name, each.example, *more))
    return tuple(each.form for each in found)


def _several(
    lines: ImageLines, cells: Sequence[str], separator: str, training: ImageLabels | None
) -> ImageLabels:
    """Labels of which each cell holds several, shape [images, labels]."""
    tags = tags_of_each(cells, separator)
    names = tuple(sorted({tag for each in tags for tag in each}))
    if training is not None:
        names = training.names
    if len(names) > MOST_CLASSES:
        raise _too_many(lines, names)
    try:
        array = rows_of_tags(tags, names)
    except KeyError as error:
        (tag,) = error.args
        line = next(line for line, each in zip(lines.numbers, tags, strict=True) if tag in each)
        raise problem_of_line(
            lines.path, line, f'says "{tag}", which is not a label of the training images'
        ) from error
    return ImageLabels(array, Target.LABELS, names, lines.columns, (), separator)


def _too_many(lines: ImageLines, names: Sequence[str]) -> ProblemError:
    return problem_of(
        "data_too_many_classes",
        f"{lines.path} names {len(names):,} classes, and {MOST_CLASSES:,} can be distinguished "
        "at most.",
        "Choose the column of the class in data.label_columns; or predict values.",
    )


def _classes(
    lines: ImageLines,
    cells: Sequence[str],
    names: tuple[str, ...] | None,
    *,
    must_differ: bool,
) -> ImageLabels:
    texts = class_names_in(cells)
    names = ordered_classes(texts) if names is None else names
    if len(names) > MOST_CLASSES:
        raise _too_many(lines, names)
    try:
        numbers = numbers_of_classes(texts, names)
    except KeyError as error:
        (text,) = error.args
        raise problem_of_line(
            lines.path,
            lines.numbers[texts.index(text)],
            f'says "{text}", which is not a class of the training images',
        ) from error
    if must_differ and len(names) < 2:
        raise problem_of(
            "data_one_class",
            f'{lines.path} has one class only ("{names[0]}"), so there is nothing to distinguish.',
            "Use images of two classes or more.",
        )
    return ImageLabels(np.array(numbers, np.int32), Target.CLASSES, names, lines.columns)


def _matrix(lines: ImageLines, forms: Sequence[NumberForm]) -> Array:
    """The cells as numbers, shape [images, columns]."""
    rows = []
    for number, row in zip(lines.numbers, lines.cells, strict=True):
        values = numbers_in_row(row, forms)
        if None in values:
            raise no_number(lines, number, values.index(None), row)
        rows.append(values)
    return np.array(rows, np.float64)
