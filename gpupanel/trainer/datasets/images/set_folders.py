"""Folders that are sets: found by their names, so that nobody learns which set an image is in."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from gpupanel.domain.data import ImagesData
from gpupanel.domain.problem import Problem, ProblemError, Severity
from gpupanel.domain.visible_text import as_utf8, visible_line
from gpupanel.trainer.datasets.images.listing import holds_images, look_into

_SETS: Final[Mapping[str, frozenset[str]]] = {
    "path": frozenset({"train", "training", "trn"}),
    "validation_path": frozenset(
        {"val", "valid", "validation", "validate", "dev", "eval", "evaluation"}
    ),
    "test_path": frozenset({"test", "testing", "tst", "holdout"}),
}
"""What the folder of each setting is called: one word of its name is one of these."""
_SET_OF: Final = {word: key for key, words in _SETS.items() for word in words}
_ABOUT = frozenset(
    ["set", "sets", "data", "dataset", "folder", "split", "images", "image", "imgs", "img"]
) | {"pictures", "photos", "files", "samples", "examples"}
"""Words that may stand beside it, or be one word with it, and say nothing."""
_WORD = re.compile(r"[^\W\d_]+")
_IN_CAMEL_CASE = re.compile(r"(?<=[a-z])(?=[A-Z])")
_DEEPEST: Final = 3
"""So many folders are opened that hold nothing but one other."""


@dataclass(frozen=True, slots=True)
class SetName:
    """A folder's name that says which set it is.

    Attributes:
        key: The setting that names the folder of that set.
        rest: The other words of the name: those of one data set have the same.
    """

    key: str
    rest: tuple[str, ...] = ()


def set_name(name: str) -> SetName | None:
    """Which set a folder of that name is; ``None``: it says none, or several."""
    text = _IN_CAMEL_CASE.sub(" ", name).casefold().replace("hold_out", "holdout")
    words = [_without_about(word) for word in _WORD.findall(text.replace("hold-out", "holdout"))]
    keys = [_SET_OF[word] for word in words if word in _SET_OF]
    if len(keys) != 1:
        return None
    return SetName(keys[0], tuple(each for each in words if each and each not in _SET_OF))


def _without_about(word: str) -> str:
    """The set of "trainset"; empty where the word is about nothing."""
    if word in _ABOUT:
        return ""
    joined = (word.removesuffix(each) for each in _ABOUT)
    return next((each for each in joined if each != word and each in _SET_OF), word)


def with_found_sets(data: ImagesData) -> ImagesData:
    """The settings with the folders of the sets that stand in the chosen one.

    That is where it holds a folder of a training set, and one of a validation or a test set: by
    their names, which have the same words but for that of the set. Folders that are not just called
    train, val or test have to hold folders of the same names, too, where no CSV says what images
    are. A folder that holds nothing but one of the same set, or nothing but a folder of sets, is
    gone into.

    Raises:
        ProblemError: The folder cannot be read, or two folders have names of the same set.
    """
    if not data.find_sets or data.files:
        return data
    root = Path(data.path)
    folders = look_into(root, "data.path").folders
    found = _sets_in(folders, data)
    for _ in range(_DEEPEST):
        if found or len(folders) != 1 or look_into(folders[0], "data.path").has_images:
            break
        folders = look_into(folders[0], "data.path").folders
        found = _sets_in(folders, data)
    if not found:
        return data
    training = _innermost(found.pop("path"), "path")
    unchosen = {
        key: str(_innermost(folder, key)) for key, folder in found.items() if not getattr(data, key)
    }
    labels = _from_folder(data.labels_csv, training, root)
    return data.model_copy(
        update={"path": str(training), "labels_csv": labels, "find_sets": False, **unchosen}
    )


def _sets_in(folders: Sequence[Path], data: ImagesData) -> dict[str, Path]:
    """The folder of each set by its setting; none where they are not a training set and others."""
    by_rest: dict[tuple[str, ...], list[tuple[str, Path]]] = {}
    for folder in folders:
        name = set_name(folder.name)
        if name is not None:
            by_rest.setdefault(name.rest, []).append((name.key, folder))
    for named in by_rest.values():
        keys = {key for key, _ in named}
        if "path" in keys and len(keys) > 1 and (data.labels_csv or _are_sets(named)):
            return {key: _only([folder for each, folder in named if each == key]) for key in keys}
    return {}


def _are_sets(named: Sequence[tuple[str, Path]]) -> bool:
    """Whether folders of these sets are no classes, whatever their names are."""
    if all(folder.name.lower() in _SETS[key] for key, folder in named):
        return True
    inside = [_class_names(folder, key) for key, folder in named]
    return bool(set.intersection(*inside))


def _class_names(folder: Path, key: str) -> set[str]:
    return _names_in(_innermost(folder, key), f"data.{key}")


def _only(folders: Sequence[Path]) -> Path:
    if len(folders) > 1:
        one, other = (as_utf8(folder.name) for folder in folders[:2])
        raise ProblemError(
            Problem(
                code="data_sets_ambiguous",
                field="data.path",
                message=f'{folders[0].parent} holds both "{one}" and "{other}", and only one of '
                "them can be that set.",
                hint="Choose the folders of the sets; or turn off data.find_sets where they are "
                "classes.",
            )
        )
    return folders[0]


def _innermost(folder: Path, key: str) -> Path:
    """A folder of a set, or what is in it where that is nothing but a folder of the same set."""
    for _ in range(_DEEPEST):
        inside = look_into(folder, f"data.{key}")
        name = set_name(inside.folders[0].name) if len(inside.folders) == 1 else None
        if inside.has_images or name is None or name.key != key:
            break
        folder = inside.folders[0]
    return folder


def classes_like_sets(folders: Sequence[Path], key: str) -> Problem | None:
    """What is said of folders that are taken for classes, and look like sets.

    That is where the name of one says a set, and it holds folders of images of the same names as
    another one does: classes seldom have folders in common.

    Args:
        folders: Of the classes.
        key: The setting that names the folder that they are in.
    """
    named = [each for each in folders if set_name(each.name) is not None]
    for folder in named:
        inside = _names_in(folder, key)
        others = (each for each in folders if each != folder)
        alike = next((each for each in others if inside & _names_in(each, key)), None)
        if alike is not None:
            return _like_sets(folder, alike, key, sorted(inside & _names_in(alike, key)))
    return None


def _like_sets(folder: Path, other: Path, key: str, names: Sequence[str]) -> Problem:
    one, two = (visible_line(as_utf8(each.name)) for each in (folder, other))
    return Problem(
        code="images_classes_like_sets",
        severity=Severity.WARNING,
        field=key,
        message=f'"{one}" and "{two}" are taken for classes, but both hold the folder '
        f'"{visible_line(as_utf8(names[0]))}": they may be sets, such as a training and a test '
        "set. A model would learn which set an image is in.",
        hint="Choose the folder of the training set in data.path, and the others in "
        "data.validation_path and data.test_path.",
    )


def _names_in(folder: Path, key: str) -> set[str]:
    """Of the folders with images in a folder."""
    return {each.name for each in _with_images(look_into(folder, key).folders)}


def _with_images(folders: Sequence[Path]) -> Iterator[Path]:
    return (folder for folder in folders if holds_images(folder))


def _from_folder(path: str, *roots: Path) -> str:
    """The path as it is meant from the first of the folders that holds it."""
    place = Path(path)
    above = next((root for root in roots if path and place.is_relative_to(root)), None)
    return path if above is None else str(place.relative_to(above))
