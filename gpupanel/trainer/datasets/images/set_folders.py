"""Which folders in the chosen one are sets, and not classes."""

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from gpupanel.domain.data import ImagesData
from gpupanel.domain.problem import Fix, Problem, ProblemError, Severity
from gpupanel.domain.visible_text import as_utf8
from gpupanel.trainer.datasets.class_folders import is_of_images
from gpupanel.trainer.datasets.images.label_files import are_of_other_lines, label_files
from gpupanel.trainer.datasets.images.listing import (
    Folder,
    holds_images,
    images_below,
    look_into,
)
from gpupanel.trainer.datasets.set_names import (
    TEST,
    TRAINING,
    UNLABELLED,
    VALIDATION,
    known_sets,
    meant_by,
)

_PLAIN: Mapping[str, frozenset[str]] = {
    TRAINING: frozenset({"train", "training"}),
    VALIDATION: frozenset({"val", "valid", "validation"}),
    TEST: frozenset({"test", "testing"}),
}
"""Names that are those of sets whatever stands beside them."""
_DEEPEST = 3


def with_detected_sets(data: ImagesData, *, needs_labels: bool = True) -> ImagesData:
    """The settings with the folders of the sets that stand in the chosen one.

    That is where it, or the only folder in it, holds one of training images beside one of a
    validation or a test set: ``train`` and ``val`` beside whatever else, and other spellings
    (:func:`~gpupanel.trainer.datasets.set_names.meant_by`) where each folder of images has
    such a name. A folder that holds nothing but another one of the same set stands for that one.
    A CSV of labels may stand in the folder of the training images, or beside it: then it is of
    these, and of those of other sets that have lines of their own in it. Where images stand right
    in the folder of a training set, it is found if there is only one that names any of them.

    Raises:
        ProblemError: The folder cannot be read, or two folders have names of the same set.
    """
    if not data.find_sets or data.files:
        return data
    root, found = Path(data.path), _sets_in(Path(data.path), data.leave_out)
    if not found:
        return data
    training = found.pop(TRAINING)
    labels = _from_folder(data.labels_csv, training, root)
    if not labels and look_into(training, "data.path").is_flat:
        labels = _detected_labels(training, root)
    if labels and not (training / labels).is_file():
        place = next((each for each in (root, training.parent) if (each / labels).is_file()), None)
        if place is not None:
            found = {
                key: folder
                for key, folder in found.items()
                if not needs_labels
                or (folder / labels).is_file()
                or are_of_other_lines(place / labels, training, folder)
            }
            labels = os.path.relpath(place / labels, training)
    if needs_labels and not labels and not look_into(training, "data.path").is_flat:
        # Images to predict on have no folders of classes.
        found = {key: folder for key, folder in found.items() if not _has_images_alone(folder)}
    unchosen = {key: str(path) for key, path in found.items() if not getattr(data, key)}
    return data.model_copy(
        update={"path": str(training), "labels_csv": labels, "find_sets": False, **unchosen}
    )


def sets_left_out(data: ImagesData, found: ImagesData) -> Iterator[Problem]:
    """Hints where sets are not used, since nothing says what their images are, or other folders.

    Args:
        data: As it was chosen.
        found: The same with the sets that were found.
    """
    if found is data:
        return
    used = {found.path, found.validation_path, found.test_path}
    sets = _sets_in(Path(data.path), data.leave_out)
    left = [folder for folder in sets.values() if str(folder) not in used]
    if left:
        csv = found.labels_csv
        why = f"{csv} has no labels of them" if csv else "they are in no folders of classes"
        other = "a CSV of the same name in their folder" if csv else "folders of classes"
        yield Problem(
            code="data_sets_left_out",
            severity=Severity.HINT,
            field="data.labels_csv" if csv else "data.test_path",
            message=f"The images in {_named(left)} are not used: {why}.",
            hint=f"Nothing, if they are to be predicted on; else give them labels by {other}.",
        )
    yield from _beside_sets(sets)


def _beside_sets(sets: Mapping[str, Path]) -> Iterator[Problem]:
    """A hint where folders with images stand beside those of the sets."""
    root = Path(os.path.commonpath(sets.values()))
    folder = look_into(root, "data.path")
    unknown = _others(folder, sets)
    if not unknown and not folder.has_images:
        return
    images = f"{folder.images:,} images" if folder.has_images else ""
    folders = f"the images in {_named(unknown[:3])}" if unknown else ""
    what = " and ".join(filter(None, (folders, images)))
    yield Problem(
        code="data_beside_sets",
        severity=Severity.HINT,
        field="data.path",
        message=f"Beside the folders of the sets in {root} are not used: {what}.",
        hint="Nothing, if they are copies; else move them into the folders of the sets, or choose "
        "these yourself.",
    )


def others_beside_sets(data: ImagesData) -> Sequence[Path]:
    """The folders of images that stand beside those of the sets, and are not called as sets."""
    sets = _sets_in(Path(data.path), data.leave_out)
    if not sets:
        return ()
    return _others(look_into(Path(os.path.commonpath(sets.values())), "data.path"), sets)


def _others(folder: Folder, sets: Mapping[str, Path]) -> list[Path]:
    above = {folder.path / each.relative_to(folder.path).parts[0] for each in sets.values()}
    others = (each for each in folder.folders if each not in above and not _is_unlabelled(each))
    return [each for each in others if holds_images(each)]


def _is_unlabelled(folder: Path) -> bool:
    meant = meant_by(folder.name)
    return meant is not None and UNLABELLED in meant[0]


def _named(folders: Sequence[Path]) -> str:
    return " and ".join(f'"{as_utf8(folder.name)}"' for folder in folders)


def _has_images_alone(folder: Path) -> bool:
    """Whether images stand right in it, or in its only folder, which is called as images are."""
    inner = look_into(folder, "data.path")
    below = [each for each in inner.folders if holds_images(each)]
    if inner.has_images or len(below) != 1 or not is_of_images(below[0].name):
        return inner.is_flat
    return look_into(below[0], "data.path").is_flat


def _detected_labels(training: Path, root: Path) -> str:
    """The only CSV of labels in the folder of the training images, or beside it; else empty."""
    folders = dict.fromkeys((training, training.parent, root))
    files = label_files(folders, training, images_below(training, "data.path"))
    if len(files) != 1:
        return ""
    return str(files[0].relative_to(training) if files[0].parent == training else files[0].name)


def use_inner_classes(folder: Path) -> Fix | None:
    """The first folder below that holds several folders of images, where the ways there are one.

    Raises:
        ProblemError: One of the folders cannot be read.
    """
    for _ in range(_DEEPEST):
        below = [each for each in look_into(folder, "data.path").folders if holds_images(each)]
        if len(below) != 1 or below[0].is_symlink():
            break
        folder = below[0]
    if len(below) < 2 or as_utf8(str(folder)) != str(folder):
        return None
    return Fix.of(f"Use the classes in {folder.name}", "data.path", str(folder))


def _sets_in(root: Path, left_out: Sequence[str]) -> dict[str, Path]:
    """The folder of each set by its setting; empty: there is no training set, or nothing else."""
    for _ in range(_DEEPEST):
        folders = look_into(root, "data.path").folders
        used = tuple(each for each in folders if as_utf8(each.name) not in left_out)
        found = {**_plain(folders), **_spelled(used)}
        if found:
            return {key: _innermost(folder) for key, folder in found.items()}
        with_images = [folder for folder in used if holds_images(folder)]
        if len(with_images) != 1 or with_images[0].is_symlink():
            break
        root = with_images[0]
    return {}


def _plain(folders: tuple[Path, ...]) -> dict[str, Path]:
    named = {
        key: [folder for folder in folders if folder.name.lower() in names]
        for key, names in _PLAIN.items()
    }
    found = {key: _only(places) for key, places in named.items() if places}
    return found if TRAINING in found and len(found) > 1 else {}


def _spelled(folders: tuple[Path, ...]) -> dict[str, Path]:
    with_images = tuple(folder for folder in folders if holds_images(folder))
    meant = known_sets(with_images)
    if len(meant) < len(with_images) or len({others for _, others in meant.values()}) > 1:
        return {}
    if len({sets for sets, _ in meant.values()}) < 2:
        return {}
    found: dict[str, Path] = {}
    # Those of one meaning first.
    for folder, (sets, _) in sorted(meant.items(), key=lambda each: len(each[1][0])):
        free = next((key for key in sets if key not in found), None)
        if free is None:
            _only([found[sets[0]], folder])
        elif free:
            found[free] = folder
    return found if TRAINING in found and len(found) > 1 else {}


def _innermost(folder: Path) -> Path:
    """Where a folder holds only another one of the same set, as in ``seg_train/seg_train``."""
    for _ in range(_DEEPEST):
        inner = look_into(folder, "data.path")
        below = [each for each in inner.folders if holds_images(each)]
        if inner.has_images or len(below) != 1 or below[0].is_symlink():
            break
        one, other = meant_by(folder.name), meant_by(below[0].name)
        if one is None or other is None or one[0] != other[0]:
            break
        folder = below[0]
    return folder


def _from_folder(path: str, *roots: Path) -> str:
    """The path as it is meant from the first of the folders that holds it."""
    place = Path(path)
    above = next((root for root in roots if path and place.is_relative_to(root)), None)
    return path if above is None else str(place.relative_to(above))


def _only(found: Sequence[Path]) -> Path:
    if len(found) > 1:
        one, other = (as_utf8(folder.name) for folder in found[:2])
        raise ProblemError(
            Problem(
                code="data_sets_ambiguous",
                field="data.path",
                message=f'{found[0].parent} holds both "{one}" and "{other}", and only one of '
                "them can be that set.",
                hint="Choose the folders of the sets; or turn off data.find_sets where they are "
                "classes.",
            )
        )
    return found[0]
