"""Examples of records that stay in their files, read when they are asked for."""

import math
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property
from io import BytesIO
from typing import BinaryIO

import numpy as np
import numpy.typing as npt
from PIL import Image

from gpupanel.domain.problem import ProblemError
from gpupanel.files.cache_folder import cache_root
from gpupanel.trainer.datasets.cache_file import cached_file
from gpupanel.trainer.datasets.checks import ArrayName, checked_rows
from gpupanel.trainer.datasets.data_problems import data_problem
from gpupanel.trainer.datasets.examples import Array, Indices
from gpupanel.trainer.datasets.images.pixels import pixels_of
from gpupanel.trainer.datasets.records import problems
from gpupanel.trainer.datasets.records.first_records import taker
from gpupanel.trainer.datasets.records.layout import RecordLayout
from gpupanel.trainer.datasets.records.record_file import RecordFile
from gpupanel.trainer.datasets.records.scan import RecordChecker
from gpupanel.trainer.datasets.row_files import RowFile
from gpupanel.trainer.datasets.skipped_files import SkippedFiles
from gpupanel.trainer.parts.image_pixels import (
    LARGEST_IMAGE_PIXELS,
    TooManyPixelsError,
    UnknownRangeError,
    WantedPixels,
)

_DECODER = 3
"""Another one gives other pixels for the same bytes."""
_THREADS = 8
_CHUNK_ROWS = 256
Unreadable = Mapping[int, ProblemError]
"""Examples that mean nothing, with why they could not be read."""
_TOO_LARGE = f"it has more than {LARGEST_IMAGE_PIXELS:,} pixels"


@dataclass(frozen=True, eq=False)
class RecordRows:
    """The examples of records, ``uint8`` or ``float32``.

    Attributes:
        files: That hold them, in their order.
        layout: What is read of each.
        skipped: Takes note of images that cannot be read, where some may be; ``None``: none may.
        chosen: These records alone; ``None``: all.
    """

    files: tuple[RecordFile, ...]
    layout: RecordLayout
    skipped: SkippedFiles | None = None
    chosen: Indices | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        """Examples first, then the shape of one example."""
        count = sum(map(len, self.files)) if self.chosen is None else len(self.chosen)
        return (count, *self.layout.shape)

    @property
    def dtype(self) -> np.dtype[np.generic]:
        """The type of the numbers that are read."""
        return np.dtype(np.uint8 if self.layout.are_bytes else np.float32)

    @cached_property
    def _ends(self) -> npt.NDArray[np.int64]:
        return np.cumsum([len(file) for file in self.files])

    def read(self, indices: Indices) -> Array:
        """The features of these examples, in this order.

        Raises:
            ProblemError: A file is gone or another one, or a record is damaged.
        """
        found, errors = self.read_readable(indices)
        for error in errors.values():
            raise error
        return found

    def subset(self, indices: Indices) -> "RecordRows":
        """These examples only, in this order."""
        chosen = indices if self.chosen is None else self.chosen[indices]
        return replace(self, chosen=chosen)

    def read_readable(self, indices: Indices) -> tuple[Array, Mapping[int, ProblemError]]:
        """The features, and why images could not be read, by their place among the indices.

        These are black.

        Raises:
            ProblemError: As :meth:`read`; or one more image cannot be read than may be.
        """
        indices = indices if self.chosen is None else self.chosen[indices]
        errors: dict[int, ProblemError] = {}
        found = np.empty((len(indices), *self.layout.shape), self.dtype)
        # In the order in which they are in the files, each of which is opened once.
        order = np.argsort(indices, kind="stable")
        of_file = np.searchsorted(self._ends, indices[order], side="right")
        for number in np.unique(of_file).tolist():
            file, places = self.files[number], order[of_file == number]
            first = int(self._ends[number]) - len(file)
            numbers = (indices[places] - first).tolist()
            for part, records in file.records(numbers):
                chosen = places[part.start : part.stop]
                found[chosen], bad = self._examples(
                    file, numbers[part.start : part.stop], records, indices[chosen]
                )
                errors |= {int(chosen[place]): error for place, error in bad.items()}
        return found, errors

    def in_memory(self, progress: Callable[[int, int], None]) -> tuple[Array, Unreadable]:
        """The features of all examples, and those of them that mean nothing.

        Args:
            progress: Called with how many examples of how many are done.

        Raises:
            ProblemError: As :meth:`read`.
        """
        found = np.empty(self.shape, self.dtype)
        unreadable: dict[int, ProblemError] = {}
        for start in range(0, len(found), _CHUNK_ROWS):
            progress(start, len(found))
            end = min(len(found), start + _CHUNK_ROWS)
            rows = np.arange(start, end, dtype=np.int32)
            found[start:end], errors = self.read_readable(rows)
            unreadable |= {start + place: error for place, error in errors.items()}
        progress(len(found), len(found))
        return found, unreadable

    def cached_on_disk(
        self, progress: Callable[[int, int], None]
    ) -> "tuple[CachedRows, Unreadable]":
        """The features of all examples, in a file that later runs find, and those of no meaning.

        Behind the features stand the rows of these, as text: they are tried again by each run,
        which reports them.

        Args:
            progress: Called with how many examples of how many are done.

        Raises:
            ProblemError: As :meth:`read`; or there is no room for them.
        """
        count, needed = self.shape[0], math.prod(self.shape) * self.dtype.itemsize

        def write(file: BinaryIO) -> None:
            if shutil.disk_usage(cache_root()).free < needed:
                raise problems.decoded_no_space(cache_root(), needed)
            bad: list[int] = []
            for start in range(0, count, _CHUNK_ROWS):
                progress(start, count)
                end = min(count, start + _CHUNK_ROWS)
                rows, errors = self.read_readable(np.arange(start, end, dtype=np.int32))
                bad += [start + place for place in errors]
                file.write(rows.tobytes())
            file.write(" ".join(map(str, bad)).encode())
            progress(count, count)

        how = ("decoded", _DECODER, self.layout.features, self.layout.shape)
        made_of = [file.source.origin for file in self.files]
        place = cached_file(
            "records",
            made_of,
            how,
            lambda: progress(0, count),
            write,
            problems.cache_unusable,
        )
        try:
            file = RowFile(place)
            said = file.read_bytes(needed, file.size_bytes - needed).tobytes().split()
            bad = np.array([int(each) for each in said], np.int32)
        except (OSError, EOFError, ValueError) as error:
            cut = error if isinstance(error, OSError) else OSError("they are truncated")
            raise problems.cache_unusable(place.parent, cut) from error
        _, errors = self.read_readable(bad)
        unreadable = {int(bad[place]): error for place, error in errors.items()}
        return CachedRows(file, self.shape, self.dtype), unreadable

    def _examples(
        self,
        file: RecordFile,
        numbers: Sequence[int],
        records: Sequence[bytes],
        indices: Indices,
    ) -> tuple[Array, Mapping[int, ProblemError]]:
        layout, checker = self.layout, RecordChecker(file.source, self.layout)
        name = ArrayName(str(file.source.chosen), layout.features, file.source.field, "Feature")
        texts: list[bytes] = []
        values: list[Array] = []
        for number, record in zip(numbers, records, strict=True):
            take = taker(record)
            found = checker.checked(take, len(record), number + 1)
            if layout.kind == "bytes":
                texts.append(checker.value(take, found, number + 1))
            else:
                values.append(checker.numbers(take, found, layout.features, number + 1))
        if layout.is_image:
            pixels, bad = np.zeros((len(texts), *layout.shape), np.uint8), {}
            for place, image in enumerate(self._images(file, numbers, texts)):
                if isinstance(image, ProblemError):
                    bad[place] = image
                else:
                    pixels[place] = image
            return pixels, bad
        if layout.dtype is not None:
            values = [np.frombuffer(b"".join(self._numbers(file, numbers, texts)), layout.dtype)]
        raw = np.concatenate(values).reshape(len(records), *layout.shape)
        return checked_rows(raw, indices, name), {}

    def _numbers(
        self, file: RecordFile, numbers: Sequence[int], values: Sequence[bytes]
    ) -> Iterator[bytes]:
        """The bytes of numbers: of serialized tensors without what stands before them."""
        layout = self.layout
        for number, value in zip(numbers, values, strict=True):
            if not value.startswith(layout.prefix):
                checker = RecordChecker(file.source, layout)
                what = "is a tensor of another type or shape than that of the first"
                raise checker.differs(layout.features, number + 1, what)
            yield value[len(layout.prefix) :]

    def _images(
        self, file: RecordFile, numbers: Sequence[int], values: Sequence[bytes]
    ) -> Iterator[Array | ProblemError]:
        # A pool for each call: several threads call, and a process that forked has no threads.
        with ThreadPoolExecutor(min(_THREADS, len(values))) as pool:
            yield from pool.map(lambda *each: self._image_or_skip(file, *each), numbers, values)

    def _image_or_skip(self, file: RecordFile, number: int, value: bytes) -> Array | ProblemError:
        try:
            return self._image(file, number, value)
        except ProblemError as error:
            if self.skipped is None:
                raise
            self.skipped.add(f"{file.source.chosen}, record {number + 1:,}", error)
            return error

    def _image(self, file: RecordFile, number: int, value: bytes) -> Array:
        height, width, channels = self.layout.shape
        try:
            return pixels_of(BytesIO(value), WantedPixels((height, width), channels))
        except (
            TooManyPixelsError,
            Image.DecompressionBombError,
            Image.DecompressionBombWarning,
        ) as error:
            raise _unreadable(file, number, _TOO_LARGE) from error
        except UnknownRangeError as error:
            raise _unreadable(file, number, str(error)) from error
        except MemoryError:
            raise
        except Exception as error:
            # Whatever the bytes of a damaged image happen to make of the decoders.
            raise _unreadable(file, number, "it is truncated or is not an image", error) from error


@dataclass(frozen=True, slots=True, eq=False)
class CachedRows:
    """Examples that were decoded into a file.

    Attributes:
        file: Where they are.
        shape: Examples first, then the shape of one example.
        dtype: Of their numbers.
    """

    file: RowFile
    shape: tuple[int, ...]
    dtype: np.dtype[np.generic]

    def read(self, indices: Indices) -> Array:
        """The features of these examples, in this order.

        Raises:
            ProblemError: They cannot be read any more.
        """
        try:
            raw = self.file.read(indices, math.prod(self.shape[1:]) * self.dtype.itemsize)
        except EOFError as error:
            cut = OSError("they were truncated; remove that folder")
            raise problems.cache_unusable(self.file.path.parent, cut) from error
        except OSError as error:
            raise problems.cache_unusable(self.file.path.parent, error) from error
        return raw.view(self.dtype).reshape(len(indices), *self.shape[1:])


def _unreadable(
    file: RecordFile, number: int, why: str, error: Exception | None = None
) -> ProblemError:
    return data_problem(
        "record_picture_unreadable",
        f"The image in record {number + 1:,} of {file.source.chosen} cannot be read: {why}.",
        "Write the file again without it; a malicious image looks like this, too.",
        field=file.source.field,
        detail="" if error is None else f"{type(error).__name__}: {error}",
    )
