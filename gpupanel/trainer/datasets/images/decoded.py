"""Decoded images, in memory or in a file of the cache that later runs find there.

A file of the cache holds one folder's images, in one size. An image is decoded again where it is
not what it was when it was decoded (:meth:`~gpupanel.trainer.datasets.file_prints.FilePrint
.is_untouched_since`), or where another version decodes otherwise.
"""

import hashlib
import math
import os
import shutil
from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

import numpy as np
from pydantic import ValidationError

from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.value import Value
from gpupanel.files.cache_folder import cache_folder, remove_unused
from gpupanel.files.guarded_files import read_file, remove
from gpupanel.files.locks import locked_patiently
from gpupanel.files.whole_files import whole_file, write_whole
from gpupanel.trainer.datasets.examples import Array, Indices
from gpupanel.trainer.datasets.file_prints import DataFiles, FilePrint
from gpupanel.trainer.datasets.images.files import ImageFiles, image_vanished
from gpupanel.trainer.datasets.row_files import RowFile
from gpupanel.trainer.datasets.source import OnProgress
from gpupanel.trainer.file_errors import is_no_space

_DECODER = 3
"""Another one gives other pixels for the same file."""
_CHUNK = 32
"""Images decoded between two checks for stop requests."""
_READ_AHEAD = 2
_LARGEST_RECORD_BYTES = 2**30
_DOING = "decoding images"

Read = TypeVar("Read")


@dataclass(frozen=True, slots=True, eq=False)
class DecodedImages:
    """Decoded images in a file.

    Attributes:
        file: Where they are.
        shape: Images, height, width, channels.
        rows: Where each image is among the rows of the file.
    """

    file: RowFile
    shape: tuple[int, int, int, int]
    rows: Indices

    @property
    def dtype(self) -> np.dtype[np.generic]:
        """Of pixels."""
        return np.dtype(np.uint8)

    def read(self, indices: Indices) -> Array:
        """The images with these numbers, in this order.

        Raises:
            ProblemError: The file was cut short, or cannot be read any more.
        """
        one = self.shape[1:]
        try:
            pixels = self.file.read(self.rows[indices], math.prod(one))
        except (OSError, EOFError) as error:
            raise ProblemError(
                Problem(
                    code="decoded_images_unreadable",
                    field="data.cache",
                    message=f"The decoded images in {self.file.path} cannot be read any more: "
                    f"{error}.",
                    hint="Remove that file and start again; the images are then decoded again.",
                )
            ) from error
        return pixels.reshape(len(indices), *one)


def decode_into_memory(files: ImageFiles, on_progress: OnProgress) -> Array:
    """All images of the set.

    Raises:
        ProblemError: One of them cannot be read.
    """
    decoded = np.empty(files.shape, np.uint8)
    chunks = _chunks(np.arange(len(files.paths), dtype=np.int32))
    with closing(_read_ahead(chunks, files.read_readable)) as read:
        for indices, (pixels, _) in read:
            on_progress(_DOING, int(indices[0]), len(decoded))
            decoded[indices] = pixels
    on_progress(_DOING, len(decoded), len(decoded))
    return decoded


def decode_onto_disk(files: ImageFiles, root: Path, on_progress: OnProgress) -> DecodedImages:
    """All images of the set, those that are not in the cache already decoded into it.

    Args:
        files: The images.
        root: The folder that they are in.
        on_progress: Called while images are decoded, or another process decodes them.

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
    unique = replace(files, paths=paths)
    try:
        folder = cache_folder("images")
        place = folder / _key(root, files)

        def on_wait() -> None:
            on_progress("waiting for another run that decodes these images", 0, len(paths))

        with locked_patiently(place.with_suffix(".lock"), on_wait):
            file = _Decoding(unique, listed, place, on_progress).file()
        return DecodedImages(file, files.shape, rows)
    except OSError as error:
        if is_no_space(error):
            raise _no_space(math.prod(unique.shape), cache_folder("images")) from error
        raise _not_kept(error) from error


def _key(root: Path, files: ImageFiles) -> str:
    recipe = f"{_DECODER}\n{files.size}\n{files.channels}\n{root.absolute()}"
    return hashlib.sha256(os.fsencode(recipe)).hexdigest()[:32]


class _Record(Value):
    """What the rows of a file hold: the images as they were when they were decoded.

    Attributes:
        looked_ns: When they were examined before, in nanoseconds since the epoch.
        unreadable: The rows that hold nothing, since their files could not be read.
    """

    schema_version: int = 1
    looked_ns: int
    prints: tuple[FilePrint, ...]
    unreadable: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class _Decoding:
    files: ImageFiles
    listed: DataFiles
    place: Path
    on_progress: OnProgress

    def file(self) -> RowFile:
        """The decoded images in the order of their files, which is made where it is not there."""
        remove_unused(self.place.parent)
        before = self._before()
        if before is None:
            return self._decoded({}, None)
        record, there = before
        # What could not be read is tried again, and reported again.
        was = {
            each.path: row for row, each in enumerate(record.prints) if row not in record.unreadable
        }
        kept = {
            row: was[each.path]
            for row, each in enumerate(self.listed.prints)
            if each.path in was
            and each.is_untouched_since(record.prints[was[each.path]], record.looked_ns)
        }
        if len(kept) == len(record.prints) == len(self.listed.prints) and all(
            new == old for new, old in kept.items()
        ):
            for path in (self._record_file, self._pixels_file(record)):
                os.utime(path, follow_symlinks=False)
            return there
        decoded = self._decoded(kept, there)
        remove(self._pixels_file(record))
        return decoded

    @property
    def _record_file(self) -> Path:
        return self.place.with_suffix(".json")

    def _pixels_file(self, record: "_Record") -> Path:
        # Another one for each record, so that the two always belong to each other.
        return self.place.with_name(f"{self.place.name}-{record.looked_ns}.pixels")

    def _before(self) -> tuple[_Record, RowFile] | None:
        try:
            content = read_file(self._record_file, most_bytes=_LARGEST_RECORD_BYTES)
            record = _Record.model_validate_json(content)
            there = RowFile(self._pixels_file(record))
        except (OSError, ValidationError):
            return None
        is_whole = there.size_bytes == len(record.prints) * self._row_bytes
        return (record, there) if is_whole else None

    @property
    def _row_bytes(self) -> int:
        return math.prod(self.files.shape[1:])

    def _decoded(self, kept: dict[int, int], before: RowFile | None) -> RowFile:
        """A new file.

        Args:
            kept: From its rows to those of the file before that hold the same.
            before: That file.
        """
        count = len(self.files.paths)
        needed = count * self._row_bytes
        if needed > _free_bytes(self.place.parent):
            raise _no_space(needed, self.place.parent)
        record = _Record(looked_ns=self.listed.looked_ns, prints=self.listed.prints)
        pixels_file, unreadable = self._pixels_file(record), set[int]()
        chunks = _chunks(np.arange(count, dtype=np.int32))
        decoding = closing(_read_ahead(chunks, lambda rows: self._pixels(rows, kept, before)))
        with whole_file(pixels_file, private=True) as file, decoding as read:
            for rows, (pixels, bad) in read:
                self.on_progress(_DOING, int(rows[0]), count)
                unreadable |= bad
                file.write(pixels.reshape(-1).data)
        self.on_progress(_DOING, count, count)
        record = record.model_copy(update={"unreadable": frozenset(unreadable)})
        write_whole(self._record_file, record.model_dump_json(), private=True)
        return RowFile(pixels_file)

    def _pixels(
        self, rows: Indices, kept: dict[int, int], before: RowFile | None
    ) -> tuple[Array, set[int]]:
        """The pixels of some rows, and those of these rows that cannot be read."""
        unreadable: set[int] = set()
        pixels = np.empty((len(rows), *self.files.shape[1:]), np.uint8)
        is_kept = np.fromiter((row in kept for row in rows.tolist()), bool, len(rows))
        if before is not None and is_kept.any():
            old = np.fromiter((kept[row] for row in rows[is_kept].tolist()), np.int32)
            copied = before.read(old, self._row_bytes)
            pixels[is_kept] = copied.reshape(-1, *self.files.shape[1:])
        if not is_kept.all():
            missing = rows[~is_kept]
            pixels[~is_kept], errors = self.files.read_readable(missing)
            unreadable = {int(missing[place]) for place in errors}
        return pixels, unreadable


def _chunks(rows: Indices) -> Iterable[Indices]:
    return (rows[start : start + _CHUNK] for start in range(0, len(rows), _CHUNK))


def _read_ahead(
    chunks: Iterable[Indices], read: Callable[[Indices], Read]
) -> Generator[tuple[Indices, Read], None, None]:
    """Each chunk with what was read of it; while one is kept, the next two are read."""
    pool = ThreadPoolExecutor(_READ_AHEAD, thread_name_prefix="decode-ahead")
    begun: deque[tuple[Indices, Future[Read]]] = deque()
    try:
        for chunk in chunks:
            begun.append((chunk, pool.submit(read, chunk)))
            if len(begun) > _READ_AHEAD:
                done, future = begun.popleft()
                yield done, future.result()
        for done, future in begun:
            yield done, future.result()
    finally:
        pool.shutdown(cancel_futures=True)


def _free_bytes(folder: Path) -> int:
    return shutil.disk_usage(folder).free


def _no_space(needed_bytes: int, place: Path) -> ProblemError:
    return ProblemError(
        Problem(
            code="decoded_images_no_space",
            field="data.cache",
            message=f"The decoded images take {needed_bytes / 2**20:,.0f} MiB, and the disk of "
            f"{place} has less space than that.",
            hint='Make space there, set data.cache to "none", or set GPUPANEL_CACHE_DIR to a '
            "folder on another disk.",
        )
    )


def _not_kept(error: OSError) -> ProblemError:
    return ProblemError(
        Problem(
            code="decoded_images_not_kept",
            field="data.cache",
            message=f"The decoded images cannot be kept on the disk: {error.strerror or error}.",
            hint='Set data.cache to "none", or GPUPANEL_CACHE_DIR to a folder that you may write '
            "to.",
            detail=f"{type(error).__name__}: {error}",
        )
    )
