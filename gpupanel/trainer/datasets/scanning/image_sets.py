"""The sets of a folder of images, also where a training would refuse some of what is there."""

from collections.abc import Sequence
from dataclasses import dataclass

from gpupanel.domain.images_data import ImagesData
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.trainer.datasets.images.set_folders import with_detected_sets
from gpupanel.trainer.datasets.images.sets import ImageSet, list_sets

_ALL = 0.9999
"""The fraction of files that may be missing: they are reported, and the others read."""
_LEAVE_OUT = ("data", "leave_out")


@dataclass(frozen=True, slots=True, eq=False)
class ImageSets:
    """The images of each set.

    Attributes:
        sets: By ``training``, ``validation`` and ``test``.
        empty_classes: Class folders without images.
        problems: Why a training would refuse it; and what is odd.
    """

    sets: dict[str, ImageSet]
    empty_classes: tuple[str, ...]
    problems: tuple[Problem, ...]


def list_all_sets(data: ImagesData, *, must_differ: bool, needs_labels: bool) -> ImageSets:
    """The sets, listed as a training lists them; what it would refuse is left out and reported.

    Args:
        data: Where they are.
        must_differ: Report images of one class.
        needs_labels: Report images that nothing says anything about.

    Raises:
        ProblemError: There is nothing that could be listed.
    """
    data = with_detected_sets(data)
    left_out = set(data.leave_out)
    refused: list[Problem] = []
    # Each time less is asked for; there are three sets, and what is left out is so at once.
    while True:
        try:
            sets = list_sets(
                data,
                must_differ=must_differ and not refused,
                needs_labels=needs_labels and not refused,
            )
            break
        except ProblemError as error:
            refused += [each for each in error.problems if each not in refused]
            lenient = _lenient(data, error.problems)
            if lenient == data:
                raise ProblemError(*refused) from error
            data = lenient
    notes = [note for each in sets.values() for note in each.notes if not _is_said(note, refused)]
    empty = tuple(name for name in data.leave_out if name not in left_out)
    return ImageSets(sets, empty, (*refused, *notes))


def _lenient(data: ImagesData, problems: Sequence[Problem]) -> ImagesData:
    """The settings under which what was refused is passed over."""
    changes: dict[str, object] = {"unreadable_share": _ALL}
    for problem in problems:
        for change in problem.fix.changes if problem.fix is not None else ():
            if change.path == _LEAVE_OUT:
                changes["leave_out"] = tuple(change.value)
        if problem.field in ("data.validation_path", "data.test_path"):
            changes[problem.field.removeprefix("data.")] = ""
    return data.model_copy(update=changes)


def _is_said(note: Problem, refused: Sequence[Problem]) -> bool:
    return any(note.code == each.code for each in refused)
