"""Which images a folder holds, and which sets or classes its sub-folders are.

Nothing is opened here, so that a folder of 100,000 files is seen in a fraction of a second. Links
to folders are followed where they stand for a class, and no further: what is listed has an end.
"""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from gpupanel.domain.data import ImagesData
from gpupanel.domain.images_data import IMAGE_SUFFIXES
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.visible_text import as_utf8

SUFFIXES = frozenset(IMAGE_SUFFIXES)
_TRAINING = frozenset({"train", "training"})
_SETS: Mapping[str, frozenset[str]] = {
    "validation_path": frozenset({"val", "valid", "validation"}),
    "test_path": frozenset({"test", "testing"}),
}
"""What people call the folders of sets, by the setting that names such a folder."""


@dataclass(frozen=True, slots=True)
class Folder:
    """What stands in a folder.

    Attributes:
        path: Of the folder.
        folders: In it that are not hidden, in alphabetical order.
        has_images: Whether an image stands right in it.
    """

    path: Path
    folders: tuple[Path, ...]
    has_images: bool

    @property
    def is_flat(self) -> bool:
        """Whether it holds images, and no folders of images."""
        return self.has_images and not any(map(_holds_images, self.folders))


def look_into(root: Path, key: str) -> Folder:
    """What stands in the folder that a setting names.

    Raises:
        ProblemError: There is no such folder, or it cannot be read.
    """
    if root == Path():
        raise _problem("data_path_missing", "No folder of images is chosen.", "Choose a folder.")
    folders, has_images = [], False
    try:
        with os.scandir(root) as entries:
            for entry in entries:
                if _is_folder(entry):
                    folders += [] if entry.name.startswith(".") else [entry.name]
                else:
                    has_images = has_images or is_image(entry.name)
    except FileNotFoundError as error:
        raise _problem(
            "data_file_missing",
            f"The folder {root} does not exist.",
            "Choose another folder, or put it back in its place.",
            key,
        ) from error
    except OSError as error:
        raise _unreadable(root, error, key) from error
    return Folder(root, tuple(root / name for name in sorted(folders)), has_images)


def is_image(name: str) -> bool:
    """Whether a file of that name is taken for an image."""
    stem, _, suffix = name.rpartition(".")
    return bool(stem) and f".{suffix.lower()}" in SUFFIXES


def images_below(folder: Path, key: str) -> list[str]:
    """The paths of the images in a folder and all folders in it, in order of their parts.

    They are texts: a :class:`Path` each takes longer than the listing, and six times the memory.

    Raises:
        ProblemError: One of these folders cannot be read.
    """
    try:
        return list(_names_below(str(folder)))
    except OSError as error:
        raise _unreadable(Path(str(error.filename)), error, key) from error


def _names_below(root: str) -> Iterator[str]:
    waiting = [(root, True)]
    while waiting:
        place, is_folder = waiting.pop()
        if not is_folder:
            yield place
            continue
        below = []
        with os.scandir(place) as entries:
            for entry in entries:
                # A link to a folder is not gone into: it may lead back, or anywhere.
                if entry.is_dir(follow_symlinks=False):
                    below.append((entry.name, True))
                elif is_image(entry.name) and not (entry.is_symlink() and _is_folder(entry)):
                    below.append((entry.name, False))
        below.sort(reverse=True)
        waiting += [(f"{place}{os.sep}{name}", is_one) for name, is_one in below]


def _is_folder(entry: "os.DirEntry[str]") -> bool:
    """Whether it is a folder, or a link that leads to one; a link that leads to itself does not."""
    try:
        return entry.is_dir()
    except OSError:
        return False


def _holds_images(folder: Path) -> bool:
    try:
        return next(_names_below(str(folder)), None) is not None
    except OSError:
        return True  # whoever lists it says why not


def with_found_sets(data: ImagesData) -> ImagesData:
    """The settings with the folders of the sets that stand in the chosen one.

    That is where it holds a folder ``train``, and one of a validation or a test set.

    Raises:
        ProblemError: The folder cannot be read, or two folders have names of the same set.
    """
    if not data.find_sets or data.files:
        return data
    root = Path(data.path)
    folders = look_into(root, "data.path").folders
    training = _only(folders, _TRAINING)
    others = {key: _only(folders, names) for key, names in _SETS.items()}
    found = {key: str(folder) for key, folder in others.items() if folder is not None}
    if training is None or not found:
        return data
    unchosen = {key: folder for key, folder in found.items() if not getattr(data, key)}
    labels = _from_folder(data.labels_csv, training, root)
    return data.model_copy(
        update={"path": str(training), "labels_csv": labels, "find_sets": False, **unchosen}
    )


def _from_folder(path: str, *roots: Path) -> str:
    """The path as it is meant from the first of the folders that holds it."""
    place = Path(path)
    above = next((root for root in roots if path and place.is_relative_to(root)), None)
    return path if above is None else str(place.relative_to(above))


def _only(folders: tuple[Path, ...], names: frozenset[str]) -> Path | None:
    found = [folder for folder in folders if folder.name.lower() in names]
    if len(found) > 1:
        one, other = (as_utf8(folder.name) for folder in found[:2])
        raise _problem(
            "data_sets_ambiguous",
            f'{found[0].parent} holds both "{one}" and "{other}", and only one of them can be that '
            "set.",
            "Choose the folders of the sets; or turn off data.find_sets where they are classes.",
        )
    return found[0] if found else None


def _unreadable(folder: Path, error: OSError, key: str) -> ProblemError:
    return _problem(
        "data_file_unreadable",
        f"The folder {folder} cannot be read: {error.strerror}.",
        "Choose a folder with a sub-folder of images for each class.",
        key,
    )


def _problem(code: str, message: str, hint: str, key: str = "data.path") -> ProblemError:
    return ProblemError(Problem(code=code, field=key, message=message, hint=hint))
