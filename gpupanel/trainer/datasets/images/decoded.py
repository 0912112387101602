"""Decoded images, in memory or in a file of the cache that later runs find there."""

import hashlib
import math
import os
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from gpupanel.domain.problem import ProblemError
from gpupanel.files.cache_folder import cache_folder
from gpupanel.files.locks import locked_patiently
from gpupanel.trainer.datasets.examples import Array, Indices
from gpupanel.trainer.datasets.file_prints import DataFiles
from gpupanel.trainer.datasets.images.decode_ahead import chunks, read_ahead
from gpupanel.trainer.datasets.images.decoded_file import DOING, ImagesFile
from gpupanel.trainer.datasets.images.decoded_problems import disk_problems
from gpupanel.trainer.datasets.images.files import ImageFiles, image_vanished
from gpupanel.trainer.datasets.progress import OnProgress
from gpupanel.trainer.datasets.skipped_files import SkippedFiles

_DECODER = 3
"""Another one gives other pixels for the same file."""


@dataclass(frozen=True, slots=True, eq=False)
class DecodedImages:
    """Images of which each is decoded when it is asked for first, and then kept in a file.

    Attributes:
        file: Where they are kept.
        rows: Where each image is among the rows of the file.
    """

    file: ImagesFile
    rows: Indices

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """Images, height, width, channels."""
        return (len(self.rows), *self.file.files.wanted.size, self.file.files.wanted.channels)

    @property
    def dtype(self) -> np.dtype[np.generic]:
        """The type of the pixels."""
        return np.dtype(np.uint8)

    @property
    def skipped(self) -> SkippedFiles | None:
        """Takes note of those that cannot be read, where some may be; ``None``: none may."""
        return self.file.files.skipped

    def read(self, indices: Indices) -> Array:
        """The images with these numbers, in this order.

        Raises:
            ProblemError: As :meth:`read_readable`, or one of them cannot be read.
        """
        pixels, errors = self.read_readable(indices)
        for error in errors.values():
            raise error
        return pixels

    def read_readable(self, indices: Indices) -> tuple[Array, Mapping[int, ProblemError]]:
        """The images, and why some of them could not be read, by their place among the indices.

        Raises:
            ProblemError: One more cannot be read than may be; or the file was cut short, cannot be
                read any more, or has no space.
        """
        return self.file.read_readable(self.rows[indices])

    def subset(self, indices: Indices) -> "DecodedImages":
        """These images only, in this order."""
        return replace(self, rows=self.rows[indices])


def decode_into_memory(files: ImageFiles, on_progress: OnProgress) -> Array:
    """All images of the set.

    Raises:
        ProblemError: One of them cannot be read.
    """
    decoded = np.empty(files.shape, np.uint8)
    parts = chunks(np.arange(len(files.paths), dtype=np.int32))
    files.decoding.wait(lambda: on_progress(DOING, 0, len(decoded)))
    with closing(read_ahead(parts, files.read_readable)) as read:
        for indices, (pixels, _) in read:
            on_progress(DOING, int(indices[0]), len(decoded))
            decoded[indices] = pixels
    on_progress(DOING, len(decoded), len(decoded))
    return decoded


def decode_onto_disk(
    files: ImageFiles, root: Path, on_progress: OnProgress, *, all_now: bool = True
) -> DecodedImages:
    """All images of the set, those that are not in the cache already decoded into it.

    Args:
        files: The images.
        root: The folder that they are in.
        on_progress: Called while images are decoded, or another process decodes them.
        all_now: Decode all before this comes back; otherwise each when it is asked for.

    Raises:
        ProblemError: An image cannot be read, or there is no space for the decoded ones.
    """
    paths = tuple(dict.fromkeys(files.paths))
    place_of = {path: row for row, path in enumerate(paths)}
    rows = np.fromiter((place_of[path] for path in files.paths), np.int32, len(files.paths))
    try:
        listed = DataFiles(root, paths)
    except OSError as error:
        raise image_vanished(str(error.filename), files.key) from error

    def on_wait() -> None:
        on_progress("waiting for another run that decodes these images", 0, len(paths))

    unique = replace(files, paths=paths)
    with disk_problems(math.prod(unique.shape)):
        place = cache_folder("images") / _key(root, files)
        with locked_patiently(place.with_suffix(".lock"), on_wait):
            file = ImagesFile(unique, listed, place)
            if all_now:
                file.decode_all(on_progress)
    return DecodedImages(file, rows)


def _key(root: Path, files: ImageFiles) -> str:
    wanted = files.wanted
    white = "" if wanted.white is None else f"\n{wanted.white}"
    fast = "\nfast" if wanted.is_fast else ""
    recipe = f"{_DECODER}\n{wanted.size}\n{wanted.channels}{white}{fast}\n{root.absolute()}"
    return hashlib.sha256(os.fsencode(recipe)).hexdigest()[:32]
