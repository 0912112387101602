"""Images in files, decoded when they are read."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import BinaryIO, TypeVar

import numpy as np
from PIL import Image, UnidentifiedImageError

from gpupanel.domain.problem import Fix, Problem, ProblemError
from gpupanel.files.regular_files import open_regular
from gpupanel.trainer.datasets.examples import Array, Indices
from gpupanel.trainer.datasets.images.decoding import DecodedPart, ImageDecoding
from gpupanel.trainer.datasets.images.pixels import (
    PlainJpeg,
    pixels_of,
    plain_jpeg_or_pixels_of,
    usual_jpeg_of,
)
from gpupanel.trainer.datasets.skipped_files import SkippedFiles
from gpupanel.trainer.parts.image_formats import reader_missing_for
from gpupanel.trainer.parts.image_pixels import (
    LARGEST_IMAGE_PIXELS,
    TooManyPixelsError,
    UnknownRangeError,
    WantedPixels,
)

WHITE_FIELD = "data.white_value"
_USUAL_WHITES = (1, 2**8 - 1, 2**10 - 1, 2**12 - 1, 2**14 - 1, 2**16 - 1)
_TIFF = (b"II*\0", b"MM\0*")
"""What TIFFs begin with."""
_THREADS = 8
_SLOW_S = 0.001
"""Takes longer than a file that is in memory: its disk can do more at the same time."""

_Taken = TypeVar("_Taken")


@dataclass(frozen=True, slots=True, eq=False)
class ImageFiles:
    """Images on disk, decoded when they are read.

    Attributes:
        paths: One an example.
        wanted: What is made of every image.
        key: The setting that says where they are.
        skipped: Takes note of those that cannot be read, where some may be; ``None``: none may.
        decoding: What may decode many at once.
    """

    paths: tuple[str, ...]
    wanted: WantedPixels
    key: str = "data.path"
    skipped: SkippedFiles | None = None
    decoding: ImageDecoding = field(default_factory=ImageDecoding)

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """Examples, height, width, channels."""
        return (len(self.paths), *self.wanted.size, self.wanted.channels)

    @property
    def dtype(self) -> np.dtype[np.generic]:
        """The type of the pixels."""
        return np.dtype(np.uint8)

    def read(self, indices: Indices) -> Array:
        """The images as ``uint8``, decoded on several threads, which the interpreter leaves free.

        Raises:
            ProblemError: One of them cannot be read.
        """
        pixels, errors = self.read_readable(indices)
        for error in errors.values():
            raise error
        return pixels

    def read_readable(self, indices: Indices) -> tuple[Array, Mapping[int, ProblemError]]:
        """The images, and why some of them could not be read, by their place among the indices.

        These are black. The images are not to be written to.

        Raises:
            ProblemError: One more cannot be read than may be.
        """
        paths = [self.paths[index] for index in indices.tolist()]
        looked = self._looked(paths)
        parts = self._decoded_at_once(looked)
        if len(parts) == 1 and len(parts[0].places) == len(paths):
            return parts[0].pixels, {}
        pixels = np.empty((len(paths), *self.shape[1:]), np.uint8)
        for part in parts:
            pixels[part.places] = part.pixels
        there = {place for part in parts for place in part.places}
        left = [place for place in range(len(paths)) if place not in there]
        known: dict[int, Array | ProblemError] = {}
        for place in left:
            each = looked[place]
            if each is not None and not isinstance(each, PlainJpeg):
                known[place] = each
        alone = [place for place in left if place not in known]
        by_itself = _on_threads(self._decode_or_skip, [paths[place] for place in alone])
        known.update(zip(alone, by_itself, strict=True))
        errors = {place: each for place in left if isinstance(each := known[place], ProblemError)}
        for place in left:
            each = known[place]
            pixels[place] = 0 if isinstance(each, ProblemError) else each
        return pixels, errors

    def _decoded_at_once(
        self, looked: Sequence[PlainJpeg | Array | ProblemError | None]
    ) -> list[DecodedPart]:
        """What is decoded together of all that were looked at, by their places among these."""
        batches = self.decoding.jpegs
        jpegs = {place: each for place, each in enumerate(looked) if isinstance(each, PlainJpeg)}
        if batches is None or not jpegs:
            return []
        parts, whose = batches.decode([*jpegs.values()], self.wanted), [*jpegs]
        return [DecodedPart([whose[each] for each in part.places], part.pixels) for part in parts]

    def _looked(self, paths: Sequence[str]) -> Sequence[PlainJpeg | Array | ProblemError | None]:
        """What becomes of each file; ``None``: it is decoded by itself, as all others are, too.

        Of several only where it takes long at the same time.
        """
        if self.decoding.jpegs is None:
            return [None] * len(paths)
        found: list[PlainJpeg | Array | ProblemError] = []
        # Of what the system holds in memory, handing it to threads would take most of the time.
        with self.decoding.looking:
            start_s = time.monotonic()
            while (done := len(found)) < len(paths):
                if time.monotonic() - start_s > _SLOW_S * (done + 1):
                    break
                found.append(self._look_or_skip(paths[done]))
        return found + _on_threads(self._look_or_skip, paths[len(found) :])

    def subset(self, indices: Indices) -> "ImageFiles":
        """These images only, in this order."""
        return replace(self, paths=tuple(self.paths[index] for index in indices))

    def _look_or_skip(self, path: str) -> PlainJpeg | Array | ProblemError:
        jpeg = usual_jpeg_of(path, self.wanted)
        if jpeg is not None:
            return jpeg
        return self._or_skip(plain_jpeg_or_pixels_of, path)

    def _decode_or_skip(self, path: str) -> Array | ProblemError:
        return self._or_skip(pixels_of, path)

    def _or_skip(
        self, take: Callable[[BinaryIO, WantedPixels], _Taken], path: str
    ) -> _Taken | ProblemError:
        try:
            with image_errors(path, self.key), open_regular(Path(path)) as file:
                return take(file, self.wanted)
        except ProblemError as error:
            if self.skipped is None:
                raise
            self.skipped.add(path, error)
            return error


def _on_threads(work: Callable[[str], _Taken], paths: Sequence[str]) -> list[_Taken]:
    if not paths:
        return []
    # A pool for each call: several threads call, and a process that forked has no threads.
    with ThreadPoolExecutor(min(_THREADS, len(paths))) as pool:
        return list(pool.map(work, paths))


@contextmanager
def image_errors(path: str, key: str) -> Iterator[None]:
    """Whatever goes wrong with an image, as a problem.

    Args:
        path: Its file.
        key: The setting that says where it is.

    Raises:
        ProblemError: It cannot be read.
    """
    try:
        yield
    except TooManyPixelsError as error:
        raise _too_large(path, str(error), key) from error
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise _too_large(path, "more pixels than that", key) from error
    except UnknownRangeError as error:
        raise _unknown_range(path, error, key) from error
    except FileNotFoundError as error:
        raise image_vanished(path, key) from error
    except MemoryError:
        raise
    except Exception as error:
        # Whatever the bytes of a damaged file happen to make of the decoders.
        raise image_unreadable(path, error, key) from error


def image_unreadable(path: str, error: Exception, key: str) -> ProblemError:
    """The problem of a damaged image, or one that the system does not give."""
    message, hint = (
        f"The image {path} is truncated or is not an image.",
        "Repair or remove the file.",
    )
    if isinstance(error, OSError) and error.errno is not None:
        # The system's, not the decoder's.
        message = f"The image {path} cannot be read: {error.strerror}."
        hint = "Check its permissions, and the disk that holds it; or remove the file."
    elif reader := reader_missing_for(_head_of(path)):
        message = f"The image {path} is an AVIF or HEIC file, whatever its name ends in."
        hint = f"Install {reader}, or save it as JPEG or PNG."
    elif isinstance(error, UnidentifiedImageError) and _head_of(path)[:4] in _TIFF:
        message = f"The image {path} is a TIFF that is truncated, or in a form that is not read."
        hint = (
            "It may have floats of 16 or 64 bits, 2 or 5 channels, or floats in colour: save it "
            "as PNG, or as TIFF with 1 or 3 channels of 8 or 16 bits."
        )
    detail = f"{type(error).__name__}: {error}"
    return _problem("data_image_unreadable", message, hint, key, detail)


def _head_of(path: str) -> bytes:
    try:
        with open_regular(Path(path)) as file:
            return file.read(12)
    except OSError:
        return b""


def image_vanished(path: str, key: str) -> ProblemError:
    """The problem of an image that was listed and is not there."""
    return _problem(
        "data_image_missing",
        f"The image {path} no longer exists: it did when the folder was listed, or it is a link "
        "to nothing.",
        "Put it back, or start again without it; leave the folder alone while a run is in "
        "progress.",
        key,
    )


def _too_large(path: str, size: str, key: str) -> ProblemError:
    return _problem(
        "data_image_too_large",
        f"The image {path} is larger than {LARGEST_IMAGE_PIXELS:,} pixels: it has {size}.",
        "Scale it down or remove it; a malicious file looks like this, too.",
        key,
    )


def _unknown_range(path: str, error: UnknownRangeError, key: str) -> ProblemError:
    white = next((each for each in _USUAL_WHITES if each >= error.greatest), None)
    return ProblemError(
        Problem(
            code="data_image_unreadable",
            field=key,
            message=f"It is unknown which number in the image {path} is black and which is white: "
            f"{error}.",
            hint="Choose data.white_value, or save it with 8 or 16 bits per pixel.",
            fix=white and Fix.of(f"Take {white:,} as white", WHITE_FIELD, white),
        )
    )


def _problem(code: str, message: str, hint: str, key: str, detail: str = "") -> ProblemError:
    problem = Problem(code=code, field=key, message=message, hint=hint, detail=detail)
    return ProblemError(problem)
