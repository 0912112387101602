"""A folder with one sub-folder of images per class."""

import math
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image, ImageOps
from typing_extensions import override

from gpupanel.domain.data import MOST_CLASSES, DataCache, ImagesData, Scaling
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.visible_text import as_utf8
from gpupanel.files.guarded_files import make_folder, open_to_write, remove
from gpupanel.files.regular_files import open_regular
from gpupanel.trainer.datasets.examples import Array, DataSet, Examples, Indices
from gpupanel.trainer.datasets.file_prints import DataFiles
from gpupanel.trainer.datasets.source import Reading, Source
from gpupanel.trainer.size_limits import LARGEST_IMAGE_PIXELS, check_size

_SUFFIXES = frozenset({".png", ".jpg", ".jpeg", ".bmp", ".gif", ".webp", ".tif", ".tiff", ".ppm"})
_THREADS = 8


@dataclass(frozen=True, slots=True, eq=False)
class ImageFiles:
    """Images on disk, decoded when they are read.

    Attributes:
        paths: One an example.
        size: Height and width that every image is scaled to, in pixels.
        channels: 3 for RGB, 1 for greyscale.
    """

    paths: tuple[Path, ...]
    size: tuple[int, int]
    channels: int

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """Examples, height, width, channels."""
        return (len(self.paths), *self.size, self.channels)

    @property
    def dtype(self) -> np.dtype[np.generic]:
        """Of pixels."""
        return np.dtype(np.uint8)

    def read(self, indices: Indices) -> Array:
        """The images as ``uint8``, decoded on several threads (Pillow frees the interpreter).

        Raises:
            ProblemError: One of them cannot be read.
        """
        pixels = np.empty((len(indices), *self.shape[1:]), np.uint8)
        with ThreadPoolExecutor(_THREADS) as pool:
            chosen = (self.paths[index] for index in indices)
            for row, picture in enumerate(pool.map(self._decode, chosen)):
                pixels[row] = picture
        return pixels

    def _decode(self, path: Path) -> Array:
        try:
            return self._decoded(path)
        except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
            raise _too_large(path, "more pixels than that") from error
        except FileNotFoundError as error:
            raise _vanished(path) from error
        except (ProblemError, MemoryError):
            raise
        except Exception as error:
            # Whatever the bytes of a damaged file happen to make of the decoders.
            raise _unreadable(path, error) from error

    def _decoded(self, path: Path) -> Array:
        with open_regular(path) as file, Image.open(file) as image:
            # Only its header was read yet.
            if image.width * image.height > LARGEST_IMAGE_PIXELS:
                raise _too_large(path, f"{image.width:,} x {image.height:,} pixels")
            upright = ImageOps.exif_transpose(image)
            picture = upright.convert("RGB" if self.channels == 3 else "L")
            height, width = self.size
            scaled = picture.resize((width, height), Image.Resampling.BILINEAR)
            return np.asarray(scaled, np.uint8).reshape(height, width, self.channels)


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
    folders = _class_folders(root)
    files = {folder.name: _image_paths(folder) for folder in folders}
    empty = [name for name, paths in files.items() if not paths]
    if empty:
        shown = ", ".join(f'"{name}"' for name in empty[:5])
        raise _problem(
            "data_class_empty",
            f"{len(empty)} class folder(s) in {root} hold no images: {shown}.",
            f"Put images there ({', '.join(sorted(_SUFFIXES))}), or remove the folder.",
        )
    if must_differ and len(files) < 2:
        raise _problem(
            "data_one_class",
            f'{root} has one class folder only ("{folders[0].name}"), so there is nothing to '
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
    paths = tuple(path for of_class in files.values() for path in of_class)
    labels = np.repeat(np.arange(len(files), dtype=np.int32), [len(of) for of in files.values()])
    channels = 3 if data.color == "rgb" else 1
    return ImageFiles(paths, data.image_size, channels), labels, tuple(map(as_utf8, files))


def read_images(
    data: ImagesData, cache_dir: Path | None = None, *, must_differ: bool = True
) -> DataSet:
    """The examples in the folder.

    Args:
        data: ``cache`` decides where decoded images are kept: in memory, in a file that is mapped
            into memory, or nowhere (each is decoded anew every epoch).
        cache_dir: Where ``cache = "disk"`` puts its file; without one, memory is used.
        must_differ: Refuse images of one class.

    Raises:
        ProblemError: The folder or an image in it cannot be used.
    """
    files, labels, class_names = list_images(data, must_differ=must_differ)
    everything = np.arange(len(labels), dtype=np.int32)
    features: Array | ImageFiles = files
    listed = _list_files(Path(data.path), files)
    one_bytes = math.prod(files.shape[1:])
    check_size(one_bytes, "One image of data.image_size", "data.image_size")
    if data.cache is DataCache.MEMORY or (data.cache is DataCache.DISK and cache_dir is None):
        check_size(len(labels) * one_bytes, f"The images in {data.path}", "data.cache")
        features = files.read(everything)
    elif data.cache is DataCache.DISK and cache_dir is not None:
        features = _decode_to_disk(files, everything, cache_dir)
    return DataSet(
        training=Examples(features=features, labels=labels),
        class_names=class_names,
        scaling=Scaling.DIVIDE,
        greatest=255.0,
        files=listed,
    )


def _list_files(root: Path, files: ImageFiles) -> DataFiles:
    """Before the first of them is decoded, so that a change meanwhile is found."""
    try:
        return DataFiles(root, files.paths)
    except FileNotFoundError as error:
        raise _vanished(Path(str(error.filename))) from error
    except OSError as error:
        raise _unreadable(Path(str(error.filename)), error) from error


def _decode_to_disk(files: ImageFiles, everything: Indices, cache_dir: Path) -> Array:
    make_folder(cache_dir)
    path = cache_dir / "features.npy"
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


def _class_folders(root: Path) -> list[Path]:
    if root == Path():
        raise _problem("data_path_missing", "No folder of images is chosen.", "Choose a folder.")
    try:
        entries = sorted(root.iterdir())
    except FileNotFoundError as error:
        raise _problem(
            "data_file_missing",
            f"The folder {root} does not exist.",
            "Choose another folder, or put it back in its place.",
        ) from error
    except OSError as error:
        raise _problem(
            "data_file_unreadable",
            f"The folder {root} cannot be read: {error.strerror}.",
            "Choose a folder with a sub-folder of images for each class.",
        ) from error
    folders = [path for path in entries if path.is_dir() and not path.name.startswith(".")]
    if not folders:
        raise _problem(
            "data_no_classes",
            f"{root} has no sub-folders, and each class needs one with its images.",
            "Sort the images into a folder for each class; its name is the class's name.",
        )
    return folders


def _image_paths(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.suffix.lower() in _SUFFIXES)


def _unreadable(path: Path, error: Exception) -> ProblemError:
    message, hint = f"The image {path} is cut short or is no image.", "Mend or remove the file."
    if isinstance(error, OSError) and error.errno is not None:
        # The system's, not the decoder's.
        message = f"The image {path} cannot be read: {error.strerror}."
        hint = "Look at its permissions, and at the disk that holds it; or remove the file."
    return ProblemError(
        Problem(
            code="data_image_unreadable",
            field="data.path",
            message=message,
            hint=hint,
            detail=f"{type(error).__name__}: {error}",
        )
    )


def _vanished(path: Path) -> ProblemError:
    return _problem(
        "data_image_missing",
        f"The image {path} is not there any more: it was when the folder was listed, or is a link "
        "to nothing.",
        "Put it back, or start again without it; leave the folder alone while a run goes on.",
    )


def _too_large(path: Path, size: str) -> ProblemError:
    return _problem(
        "data_image_too_large",
        f"The image {path} is larger than {LARGEST_IMAGE_PIXELS:,} pixels: it has {size}.",
        "Scale it down or remove it; a file that was made to do harm looks like this, too.",
    )


def _problem(code: str, message: str, hint: str) -> ProblemError:
    return ProblemError(Problem(code=code, field="data.path", message=message, hint=hint))


class _Images(Source[ImagesData]):
    """See :func:`read_images`."""

    @override
    def read(self, data: ImagesData, reading: Reading) -> DataSet:
        return read_images(data, reading.cache_dir, must_differ=reading.must_differ)


SOURCE = _Images()
