"""Which images and folders a folder holds.

Nothing is opened here, so that a folder of 100,000 files is seen in a fraction of a second. Links
to folders are followed where they stand for a class, and no further: what is listed has an end.
What is hidden (:func:`~gpupanel.domain.image_names.is_hidden`) is not there, at any depth.
"""

import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from gpupanel.domain.image_names import is_hidden, suffix_of
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.trainer.parts.folder_listing import folders_in, holds_file, is_folder, listed_files
from gpupanel.trainer.parts.image_formats import SUFFIXES

_ARCHIVES = frozenset((".zip", ".tar", ".gz", ".tgz", ".bz2", ".xz", ".7z", ".rar", ".zst"))


@dataclass(frozen=True, slots=True)
class Folder:
    """What stands in a folder.

    Attributes:
        path: Of the folder.
        folders: In it that are not hidden, in alphabetical order.
        images: How many stand right in it.
        unread: Files right in it that are not images by their names, by their suffixes.
    """

    path: Path
    folders: tuple[Path, ...]
    images: int
    unread: Mapping[str, int]

    @property
    def has_images(self) -> bool:
        """Whether an image stands right in it."""
        return self.images > 0

    @property
    def is_flat(self) -> bool:
        """Whether it holds images, and no folders of images."""
        return self.has_images and not any(map(holds_images, self.folders))


def look_into(root: Path, key: str) -> Folder:
    """What stands in the folder that a setting names.

    Raises:
        ProblemError: There is no such folder, or it cannot be read.
    """
    if root == Path():
        raise _problem("data_path_missing", "No folder of images is chosen.", "Choose a folder.")
    folders: list[str] = []
    images, unread = 0, Counter[str]()
    try:
        with os.scandir(root) as entries:
            for entry in entries:
                if is_hidden(entry.name):
                    continue
                if is_folder(entry):
                    folders.append(entry.name)
                elif is_image(entry.name):
                    images += 1
                else:
                    unread[suffix_of(entry.name)] += 1
    except FileNotFoundError as error:
        raise _problem(
            "data_file_missing",
            f"The folder {root} does not exist.",
            "Choose another folder, or put it back in its place.",
            key,
        ) from error
    except NotADirectoryError as error:
        is_archive = suffix_of(root.name) in _ARCHIVES
        raise _problem(
            "data_file_unreadable",
            f"{root} is a file, and a folder of images is asked for.",
            "Unpack it, and choose the folder that comes of it."
            if is_archive
            else "Choose the folder that holds it.",
            key,
        ) from error
    except OSError as error:
        raise _unreadable(root, error, key) from error
    return Folder(root, tuple(root / name for name in sorted(folders)), images, unread)


def is_image(name: str) -> bool:
    """Whether a file of that name is taken for an image."""
    return suffix_of(name) in SUFFIXES


def images_below(folder: Path, key: str, unread: Counter[str] | None = None) -> list[str]:
    """The paths of the images in a folder and all folders in it, in order of their parts.

    They are texts: a :class:`Path` each takes longer than the listing, and six times the memory.

    Args:
        folder: Where they are.
        key: The setting that names it.
        unread: Counts the other files by their suffixes.

    Raises:
        ProblemError: One of these folders cannot be read.
    """
    others: Counter[str] = Counter() if unread is None else unread

    def count(entry: "os.DirEntry[str]") -> None:
        if not is_folder(entry):
            others[suffix_of(entry.name)] += 1

    try:
        return list(listed_files(str(folder), SUFFIXES, count, takes_links=True))
    except OSError as error:
        raise _unreadable(Path(str(error.filename)), error, key) from error


def holds_images(folder: Path) -> bool:
    """Whether an image is in a folder or in a folder below it; also where that cannot be read."""
    try:
        return holds_file(str(folder), SUFFIXES, takes_links=True)
    except OSError:
        return True  # whoever lists it says why not


def image_folders_in(folder: Path) -> list[str]:
    """The names of the folders in one that hold images, in order.

    Raises:
        ProblemError: It cannot be read.
    """
    try:
        return [name for name in folders_in(str(folder)) if holds_images(folder / name)]
    except OSError as error:
        raise _unreadable(folder, error, "data.path") from error


def _unreadable(folder: Path, error: OSError, key: str) -> ProblemError:
    return _problem(
        "data_file_unreadable",
        f"The folder {folder} cannot be read: {error.strerror}.",
        "Choose a folder with a sub-folder of images for each class.",
        key,
    )


def _problem(code: str, message: str, hint: str, key: str = "data.path") -> ProblemError:
    return ProblemError(Problem(code=code, field=key, message=message, hint=hint))
