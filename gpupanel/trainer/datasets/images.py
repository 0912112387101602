"""A folder with one sub-folder of images per class."""

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from typing_extensions import override

from gpupanel.domain.data import MOST_CLASSES, DataCache, ImagesData, Scaling
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.visible_text import as_utf8
from gpupanel.files.guarded_files import make_folder, open_to_write, remove
from gpupanel.trainer.datasets.examples import Array, DataSet, Examples, Indices
from gpupanel.trainer.datasets.file_prints import DataFiles
from gpupanel.trainer.datasets.image_files import (
    ImageFiles,
    image_unreadable,
    image_vanished,
)
from gpupanel.trainer.datasets.source import Reading, Source
from gpupanel.trainer.size_limits import check_size

_SUFFIXES = frozenset({".png", ".jpg", ".jpeg", ".bmp", ".gif", ".webp", ".tif", ".tiff", ".ppm"})


@dataclass(frozen=True, slots=True, eq=False)
class _Listed:
    """The images of one set, and their class numbers."""

    root: Path
    files: ImageFiles
    labels: Array


def list_images(
    data: ImagesData, *, must_differ: bool = True
) -> tuple[ImageFiles, Array, tuple[str, ...]]:
    """The image files, their class numbers, and the class names, all in alphabetical order.

    Args:
        data: Where they are.
        must_differ: Refuse images of one class: nothing can be learned from them.

    Raises:
        ProblemError: The folder is missing, or does not hold a folder of images for each class.
    """
    root = Path(data.path)
    files = _files_by_class(root, "data.path")
    empty = [name for name, paths in files.items() if not paths]
    if empty:
        raise _no_images(root, empty, "data.path")
    if must_differ and len(files) < 2:
        raise _problem(
            "data_one_class",
            f'{root} has one class folder only ("{next(iter(files))}"), so there is nothing to '
            "tell apart.",
            "Sort the images into a folder for each of two classes or more.",
        )
    if len(files) > MOST_CLASSES:
        raise _problem(
            "data_too_many_classes",
            f"{root} has {len(files):,} class folders, and {MOST_CLASSES:,} classes can be told "
            "apart at most.",
            "Choose a folder whose sub-folders are the classes.",
        )
    found, labels = _numbered(data, files, "data.path")
    return found, labels, tuple(map(as_utf8, files))


def _list_set(data: ImagesData, path: str, key: str, names: tuple[str, ...]) -> _Listed | None:
    """The images of a set in a folder of its own; some of its classes may have none.

    Raises:
        ProblemError: The folder is missing, or its classes are not those of the training images.
    """
    if not path:
        return None
    root = Path(path)
    files = _files_by_class(root, key)
    if tuple(map(as_utf8, files)) != names:
        raise _other_classes(root, tuple(map(as_utf8, files)), names, key)
    if not any(files.values()):
        raise _no_images(root, list(files), key)
    return _Listed(root, *_numbered(data, files, key))


def _files_by_class(root: Path, key: str) -> dict[str, list[Path]]:
    return {folder.name: _image_paths(folder) for folder in _class_folders(root, key)}


def _numbered(
    data: ImagesData, files: Mapping[str, list[Path]], key: str
) -> tuple[ImageFiles, Array]:
    paths = tuple(path for of_class in files.values() for path in of_class)
    labels = np.repeat(np.arange(len(files), dtype=np.int32), [len(of) for of in files.values()])
    channels = 3 if data.color == "rgb" else 1
    return ImageFiles(paths, data.image_size, channels, key), labels


def read_images(
    data: ImagesData, cache_dir: Path | None = None, *, must_differ: bool = True
) -> DataSet:
    """The examples in the folder, and those of a validation and a test set.

    Args:
        data: ``cache`` decides where decoded images are kept: in memory, in a file that is mapped
            into memory, or nowhere (each is decoded anew every epoch).
        cache_dir: Where ``cache = "disk"`` puts its files; without one, memory is used.
        must_differ: Refuse images of one class.

    Raises:
        ProblemError: A folder or an image in it cannot be used.
    """
    files, labels, class_names = list_images(data, must_differ=must_differ)
    training = _Listed(Path(data.path), files, labels)
    validation, test = (
        _list_set(data, path, key, class_names)
        for path, key in (
            (data.validation_path, "data.validation_path"),
            (data.test_path, "data.test_path"),
        )
    )
    sets = {"features": training, "validation": validation, "test": test}
    listed = {name: part for name, part in sets.items() if part is not None}
    data_files = _list_files(listed)
    one_bytes = math.prod(files.shape[1:])
    check_size(one_bytes, "One image of data.image_size", "data.image_size")
    if data.cache is DataCache.MEMORY or (data.cache is DataCache.DISK and cache_dir is None):
        count = sum(len(part.labels) for part in listed.values())
        check_size(count * one_bytes, f"The images in {data.path}", "data.cache")
    read = {name: _read(data.cache, part, cache_dir, name) for name, part in listed.items()}
    return DataSet(
        training=read["features"],
        test=read.get("test"),
        validation=read.get("validation"),
        class_names=class_names,
        scaling=Scaling.DIVIDE,
        greatest=255.0,
        files=data_files,
    )


def _list_files(listed: Mapping[str, _Listed]) -> DataFiles:
    """Before the first of them is decoded, so that a change meanwhile is found."""
    training, *_ = listed.values()
    sets = {name: (part.root, part.files.paths) for name, part in listed.items()}
    del sets["features"]
    try:
        return DataFiles(training.root, training.files.paths, sets)
    except OSError as error:
        path = Path(str(error.filename))
        key = next(part.files.key for part in listed.values() if path in part.files.paths)
        if isinstance(error, FileNotFoundError):
            raise image_vanished(path, key) from error
        raise image_unreadable(path, error, key) from error


def _read(cache: DataCache, listed: _Listed, cache_dir: Path | None, name: str) -> Examples:
    files, labels = listed.files, listed.labels
    everything = np.arange(len(labels), dtype=np.int32)
    if cache is DataCache.NONE:
        return Examples(files, labels)
    if cache is DataCache.MEMORY or cache_dir is None:
        return Examples(files.read(everything), labels)
    return Examples(_decode_to_disk(files, everything, cache_dir, name), labels)


def _decode_to_disk(files: ImageFiles, everything: Indices, cache_dir: Path, name: str) -> Array:
    make_folder(cache_dir)
    path = cache_dir / f"{name}.npy"
    remove(path, cache_dir.parent)
    # Made here, since NumPy opens it by its name, wherever a link of that name would lead.
    open_to_write(path, cache_dir.parent).close()
    mapped = np.lib.format.open_memmap(path, mode="w+", dtype=np.uint8, shape=files.shape)
    with path.open("r+b") as file:
        # Claimed now: a disk that fills up under a mapped file kills the process with SIGBUS.
        os.posix_fallocate(file.fileno(), 0, path.stat().st_size)
    for start in range(0, len(everything), 1024):
        mapped[start : start + 1024] = files.read(everything[start : start + 1024])
    mapped.flush()
    return np.lib.format.open_memmap(path, mode="r")


def _class_folders(root: Path, key: str) -> list[Path]:
    if root == Path():
        raise _problem("data_path_missing", "No folder of images is chosen.", "Choose a folder.")
    try:
        entries = sorted(root.iterdir())
    except FileNotFoundError as error:
        raise _problem(
            "data_file_missing",
            f"The folder {root} does not exist.",
            "Choose another folder, or put it back in its place.",
            key,
        ) from error
    except OSError as error:
        raise _problem(
            "data_file_unreadable",
            f"The folder {root} cannot be read: {error.strerror}.",
            "Choose a folder with a sub-folder of images for each class.",
            key,
        ) from error
    folders = [path for path in entries if path.is_dir() and not path.name.startswith(".")]
    if not folders:
        raise _problem(
            "data_no_classes",
            f"{root} has no sub-folders, and each class needs one with its images.",
            "Sort the images into a folder for each class; its name is the class's name.",
            key,
        )
    return folders


def _image_paths(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.suffix.lower() in _SUFFIXES)


def _shown(names: Sequence[str]) -> str:
    named = ", ".join(f'"{name}"' for name in names[:5])
    return f"{named}, ..." if len(names) > 5 else named


def _no_images(root: Path, empty: list[str], key: str) -> ProblemError:
    return _problem(
        "data_class_empty",
        f"{len(empty)} class folder(s) in {root} hold no images: {_shown(empty)}.",
        f"Put images there ({', '.join(sorted(_SUFFIXES))}), or remove the folder.",
        key,
    )


def _other_classes(
    root: Path, found: tuple[str, ...], wanted: tuple[str, ...], key: str
) -> ProblemError:
    clauses = (
        ("has no folder", [name for name in wanted if name not in set(found)]),
        ("has also", [name for name in found if name not in set(wanted)]),
    )
    shown = " and ".join(f"{words} {_shown(names)}" for words, names in clauses if names)
    return _problem(
        "data_classes_differ",
        f"The classes in {root} are not those of the training images: it {shown}.",
        "Name its folders as those in data.path; one without images may be there.",
        key,
    )


def _problem(code: str, message: str, hint: str, key: str = "data.path") -> ProblemError:
    return ProblemError(Problem(code=code, field=key, message=message, hint=hint))


class _Images(Source[ImagesData]):
    """See :func:`read_images`."""

    @override
    def read(self, data: ImagesData, reading: Reading) -> DataSet:
        return read_images(data, reading.cache_dir, must_differ=reading.must_differ)


SOURCE = _Images()
