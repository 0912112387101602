"""The images that a CSV has labels of, and what else it says of them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from gpupanel.domain.data import ImagesData
from gpupanel.domain.problem import Problem, ProblemError, Severity
from gpupanel.domain.visible_text import as_utf8
from gpupanel.trainer.datasets.examples import Array
from gpupanel.trainer.datasets.images.beside_numbers import (
    ImageNumbers,
    numbers_of,
    without_numbers,
)
from gpupanel.trainer.datasets.images.csv_lines import (
    ImageLines,
    once_each,
    quoted,
    without_column,
)
from gpupanel.trainer.datasets.images.csv_rows import FIELD
from gpupanel.trainer.datasets.images.label_columns import (
    sets_in_a_column,
    with_labels,
    with_labels_as,
)
from gpupanel.trainer.datasets.images.label_problems import without_empty
from gpupanel.trainer.datasets.images.labels import ImageLabels, labels_of

_MOST_NAMED = 1000


@dataclass(frozen=True, slots=True, eq=False)
class LabelledImages:
    """The images that a CSV has labels of, in the order of its lines.

    Attributes:
        paths: Of the images.
        labels: Theirs; ``None``: nobody asked for them.
        groups: Of each a number that those have in common that are held out together; ``None``:
            none are.
        notes: What is odd about them.
        places: Of the images among those of the folder.
        numbers: That belong to each of them; ``None``: none are an input.
    """

    paths: tuple[str, ...]
    labels: ImageLabels | None
    groups: Array | None
    notes: tuple[Problem, ...]
    places: tuple[int, ...] = ()
    numbers: ImageNumbers | None = None


def labelled_images(
    data: ImagesData,
    lines: ImageLines,
    images: Sequence[str],
    training: ImageLabels | None,
    known: ImageNumbers | None,
    *,
    must_differ: bool,
) -> LabelledImages:
    """The images of a set with what the lines of its CSV say.

    Args:
        data: Whose they are.
        lines: Of the CSV.
        images: Those of the folder.
        training: The labels of the training images, for those of another set.
        known: Likewise their numbers.
        must_differ: Refuse training images that are all of one class.

    Raises:
        ProblemError: Images are missing, or the labels cannot be used.
    """
    missing = _missing(lines, images, data.unreadable_share)
    try:
        found = _labelled(data, lines, images, training, known, must_differ=must_differ)
    except ProblemError as error:
        raise ProblemError(*error.problems, *missing) from error
    notes = (*missing, *_unlabelled(lines, images), *found.notes)
    return replace(found, notes=notes)


def numbered_images(
    data: ImagesData, lines: ImageLines, images: Sequence[str], known: ImageNumbers | None
) -> LabelledImages:
    """The images of a set with the numbers that belong to them, whatever their labels are.

    Args:
        data: Whose they are.
        lines: Of the CSV.
        images: Those of the folder.
        known: The numbers of the training images, for those of another set.

    Raises:
        ProblemError: Images are missing, or the numbers cannot be used.
    """
    missing = _missing(lines, images, data.unreadable_share)
    without_numbers(lines, data, needs_others=False)
    used = once_each(lines.with_columns(data.numbers))
    numbers = numbers_of(used, data, known)
    paths = tuple(images[place] for place in used.images)
    notes = (*missing, *(() if numbers is None else numbers.notes))
    return LabelledImages(paths, None, None, notes, used.images, numbers)


def _labelled(
    data: ImagesData,
    lines: ImageLines,
    images: Sequence[str],
    training: ImageLabels | None,
    known: ImageNumbers | None,
    *,
    must_differ: bool,
) -> LabelledImages:
    group, rest = data.chosen_group, without_numbers(lines, data)
    notes: tuple[Problem, ...] = ()
    if group:
        rest, _ = without_column(rest, group, must_be_there=training is None)
    if training is None:
        everything = rest
        rest, notes = with_labels(rest, data.chosen_labels, data.predicts)
        notes = (*notes, *sets_in_a_column(everything, rest.columns))
    else:
        rest = with_labels_as(rest, training.columns)
    is_grouped = group in lines.columns
    beside = [*data.numbers, *([group] if is_grouped else [])]
    used = once_each(lines.with_columns([*rest.columns, *beside]))
    labelled, said = without_empty(used.with_columns(rest.columns), data.empty_words)
    labels = labels_of(
        labelled,
        data.predicts,
        training,
        must_differ=must_differ and training is None,
        decimal=data.decimal,
    )
    groups = None
    if is_grouped:
        group_of = dict(zip(used.images, (row[-1] for row in used.cells), strict=True))
        belongs = [group_of[image] for image in labelled.images]
        # Numbers: what they are called does not matter.
        number_of = {name: number for number, name in enumerate(dict.fromkeys(belongs))}
        groups = np.array([number_of[name] for name in belongs], np.int64)
    place_of = {image: place for place, image in enumerate(used.images)}
    numbered = used.with_lines([place_of[image] for image in labelled.images])
    numbers = numbers_of(numbered, data, known)
    paths = tuple(images[place] for place in labelled.images)
    notes = (*notes, *said, *labels.notes, *(() if numbers is None else numbers.notes))
    return LabelledImages(paths, labels, groups, notes, labelled.images, numbers)


def _missing(lines: ImageLines, images: Sequence[str], share: float) -> tuple[Problem, ...]:
    """What is said of lines whose images are not there.

    Raises:
        ProblemError: They are more than may be.
    """
    if not lines.missing:
        return ()
    count, total = len(lines.missing), len(lines.missing) + len({*lines.images})
    is_much = count > share * total
    problem = Problem(
        code="data_images_missing",
        severity=Severity.ERROR if is_much else Severity.WARNING,
        field=FIELD,
        message=f"{count:,} of the {total:,} images in {lines.path} are not in the folder: "
        f"{quoted(lines.missing)}.",
        hint=f"Put them there, or allow for more in data.unreadable_share. The folder holds "
        f"{quoted([Path(path).name for path in images[:6]])}."
        if is_much
        else "They are left out.",
        detail="\n".join(lines.missing[:_MOST_NAMED]),
    )
    if is_much:
        raise ProblemError(problem)
    return (problem,)


def _unlabelled(lines: ImageLines, images: Sequence[str]) -> tuple[Problem, ...]:
    listed = set(lines.images)
    unlisted = [path for place, path in enumerate(images) if place not in listed]
    if not unlisted:
        return ()
    return (
        Problem(
            code="data_images_unlabelled",
            severity=Severity.HINT,
            field=FIELD,
            message=f"{lines.path} has no line for {len(unlisted):,} of the {len(images):,} "
            f"images in the folder: {quoted([Path(path).name for path in unlisted[:6]])}.",
            hint="They are left out; give each a line there to use them.",
            detail="\n".join(as_utf8(path) for path in unlisted[:_MOST_NAMED]),
        ),
    )
