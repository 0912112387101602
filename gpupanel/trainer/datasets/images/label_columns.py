"""Which columns of a CSV say what images are: chosen, found where it is sure, or asked for."""

from collections.abc import Iterator, Sequence

from gpupanel.domain.data import Target
from gpupanel.domain.empty_words import WORDS_OF_PEOPLE, WORDS_OF_PROGRAMS
from gpupanel.domain.problem import Fix, Problem, ProblemError, Severity
from gpupanel.domain.visible_text import visible_line
from gpupanel.domain.written_numbers import is_number
from gpupanel.trainer.datasets.images.csv_lines import ImageLines, quoted, unknown_column
from gpupanel.trainer.datasets.images.csv_rows import problem_of
from gpupanel.trainer.datasets.set_names import TRAINING, meant_by

FIELD = "data.label_columns"
_USUAL_NAMES = frozenset(
    {"label", "labels", "class", "classes", "target", "targets", "category", "tag", "tags"}
)
_NAMES_OF_SETS = frozenset({"fold", "split", "set", "subset", "partition", "usage", "kfold"})
"""Columns that say which set an image is in, and not what it is."""
_MOST_OFFERED = 10
_NOTHING = frozenset(("", *WORDS_OF_PROGRAMS, *WORDS_OF_PEOPLE))


def with_labels(
    lines: ImageLines, chosen: Sequence[str], predicts: Target | None
) -> tuple[ImageLines, tuple[Problem, ...]]:
    """The lines with the columns that are predicted; and what is said of others.

    Args:
        lines: Of the training images, without a group column.
        chosen: The columns that a person chose.
        predicts: What a person said that they are.

    Raises:
        ProblemError: There is no such column, or nothing shows which it is.
    """
    if chosen:
        unknown = next((name for name in chosen if name not in lines.columns), None)
        if unknown is not None:
            raise unknown_column(lines.path, unknown, lines.columns, FIELD)
        return lines.with_columns(chosen), ()
    if len(lines.columns) == 1:
        return lines, ()
    usual = [name for name in lines.columns if name.strip().casefold() in _USUAL_NAMES]
    if len(usual) == 1:
        return lines.with_columns(usual), (_taken(lines, usual[0]),)
    if _are_all_labels(lines, predicts):
        return lines, ()
    raise ProblemError(_unclear(lines))


def with_labels_as(lines: ImageLines, training: Sequence[str]) -> ImageLines:
    """The lines of another set, with the columns that the training images have.

    Raises:
        ProblemError: It has others.
    """
    if set(training) <= set(lines.columns):
        return lines.with_columns(training)
    # Where one of the files has no header, its columns stand in the same order.
    are_numbered = any(all(map(str.isdecimal, names)) for names in (lines.columns, training))
    if len(lines.columns) != len(training) or not are_numbered:
        raise problem_of(
            "data_csv_columns_differ",
            f"{lines.path} has the columns {quoted(lines.columns, 20)} beside that of the images, "
            f"and not the labels of the training images: {quoted(training, 20)}.",
            "Give each set the same columns.",
        )
    return lines


def _are_all_labels(lines: ImageLines, predicts: Target | None) -> bool:
    """Whether all columns together are what is predicted: flags, or numbers that measure."""
    if any(_is_of_set(name) for name in lines.columns):
        return False
    once = dict(zip(lines.images, lines.cells, strict=True)).values()
    columns = [
        [row[place] for row in once if row[place] not in _NOTHING]
        for place in range(len(lines.columns))
    ]
    if not all(any(map(is_number, cells)) for cells in columns):
        return False
    are_flags = all({*cells} <= {"0", "1", "0.0", "1.0"} for cells in columns)
    are_broken = any(not all(map(is_number, cells)) for cells in columns)
    are_said = predicts in (Target.VALUES, Target.LABELS)
    return are_flags or are_broken or are_said or not any(map(_are_like_classes, columns))


def _are_like_classes(cells: Sequence[str]) -> bool:
    """Whether numbers are few whole ones that come back, as classes, folds and ages do."""
    are_whole = all(cell.lstrip("+-").isdecimal() for cell in cells)
    return are_whole and 2 * len({*cells}) <= len(cells)


def _is_of_set(name: str) -> bool:
    plain = name.strip().casefold()
    return plain in _NAMES_OF_SETS or plain.removeprefix("is_") in ("train", "val", "valid", "test")


def sets_in_a_column(lines: ImageLines, predicted: Sequence[str]) -> Iterator[Problem]:
    """A warning where a column says which set each image is in, and all are trained on.

    Args:
        lines: Of the training images, with all columns.
        predicted: Those of the labels.
    """
    for at, name in enumerate(lines.columns):
        if name in predicted:
            continue
        cells = sorted({row[at] for row in lines.cells} - _NOTHING)
        meant = {found[0] for cell in cells if (found := meant_by(cell))}
        are_sets = len(meant) > 1 and (TRAINING,) in meant and all(map(meant_by, cells))
        are_counted = _is_of_set(name) and "fold" not in name.casefold() and len(cells) in (2, 3)
        if are_sets or are_counted:
            yield Problem(
                code="data_sets_in_column",
                severity=Severity.WARNING,
                field=FIELD,
                message=f'Column "{visible_line(name)}" of {lines.path} seems to say which set '
                f"each image is in ({quoted(cells)}), and all of them are trained on here.",
                hint="Put the images of each set into a folder of its own, such as train, val and "
                "test: one CSV beside these is enough.",
            )


def _fixes(names: Sequence[str]) -> list[Fix]:
    return [Fix.of(f'Predict "{visible_line(name)}"', FIELD, name) for name in names]


def _taken(lines: ImageLines, name: str) -> Problem:
    others = [each for each in lines.columns if each != name]
    return Problem(
        code="data_label_column_taken",
        severity=Severity.HINT,
        field=FIELD,
        message=f'Column "{visible_line(name)}" of {lines.path} is predicted, by its name; '
        f"{quoted(others)} {'is' if len(others) == 1 else 'are'} not used.",
        hint="Nothing, if that is meant; else choose another column in data.label_columns.",
        fix=_fixes([name])[0],
        alternatives=tuple(_fixes(others[:_MOST_OFFERED])),
    )


def _unclear(lines: ImageLines) -> Problem:
    columns = list(lines.columns)
    cells = {name: [row[at] for row in lines.cells] for at, name in enumerate(columns)}
    are_numbers = all(all(map(is_number, each)) for each in cells.values())

    def is_unlikely(name: str) -> bool:
        """A name or number of its own for nearly each image, or which set it is in."""
        return _is_of_set(name) or 2 * len({*cells[name]}) > len(cells[name])

    fixes = _fixes(sorted(columns, key=is_unlikely)[:_MOST_OFFERED])
    if are_numbers:
        fixes.append(Fix.of("Predict all of them", FIELD, columns))
    return Problem(
        code="data_label_columns_unclear",
        field=FIELD,
        message=f"{lines.path} has {len(columns):,} columns beside "
        f'"{visible_line(lines.file_column)}", which names the images: '
        f"{quoted(columns, 20)}. Nothing shows which of them is to be predicted.",
        hint="Say it in data.label_columns.",
        fix=fixes[0],
        alternatives=tuple(fixes[1:]),
    )
