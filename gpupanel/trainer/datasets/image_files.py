"""Images in files, decoded when they are read."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image, ImageOps

from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.files.regular_files import open_regular
from gpupanel.trainer.datasets.examples import Array, Indices
from gpupanel.trainer.size_limits import LARGEST_IMAGE_PIXELS

_THREADS = 8


@dataclass(frozen=True, slots=True, eq=False)
class ImageFiles:
    """Images on disk, decoded when they are read.

    Attributes:
        paths: One an example.
        size: Height and width that every image is scaled to, in pixels.
        channels: 3 for RGB, 1 for greyscale.
        key: The setting that says where they are.
    """

    paths: tuple[Path, ...]
    size: tuple[int, int]
    channels: int
    key: str = "data.path"

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
            raise _too_large(path, "more pixels than that", self.key) from error
        except FileNotFoundError as error:
            raise image_vanished(path, self.key) from error
        except (ProblemError, MemoryError):
            raise
        except Exception as error:
            # Whatever the bytes of a damaged file happen to make of the decoders.
            raise image_unreadable(path, error, self.key) from error

    def _decoded(self, path: Path) -> Array:
        with open_regular(path) as file, Image.open(file) as image:
            # Only its header was read yet.
            if image.width * image.height > LARGEST_IMAGE_PIXELS:
                pixels = f"{image.width:,} x {image.height:,} pixels"
                raise _too_large(path, pixels, self.key)
            upright = ImageOps.exif_transpose(image)
            picture = upright.convert("RGB" if self.channels == 3 else "L")
            height, width = self.size
            scaled = picture.resize((width, height), Image.Resampling.BILINEAR)
            return np.asarray(scaled, np.uint8).reshape(height, width, self.channels)


def image_unreadable(path: Path, error: Exception, key: str) -> ProblemError:
    """The problem of a damaged image, or one that the system does not give."""
    message, hint = f"The image {path} is cut short or is no image.", "Mend or remove the file."
    if isinstance(error, OSError) and error.errno is not None:
        # The system's, not the decoder's.
        message = f"The image {path} cannot be read: {error.strerror}."
        hint = "Look at its permissions, and at the disk that holds it; or remove the file."
    detail = f"{type(error).__name__}: {error}"
    return _problem("data_image_unreadable", message, hint, key, detail)


def image_vanished(path: Path, key: str) -> ProblemError:
    """The problem of an image that was listed and is not there."""
    return _problem(
        "data_image_missing",
        f"The image {path} is not there any more: it was when the folder was listed, or is a link "
        "to nothing.",
        "Put it back, or start again without it; leave the folder alone while a run goes on.",
        key,
    )


def _too_large(path: Path, size: str, key: str) -> ProblemError:
    return _problem(
        "data_image_too_large",
        f"The image {path} is larger than {LARGEST_IMAGE_PIXELS:,} pixels: it has {size}.",
        "Scale it down or remove it; a file that was made to do harm looks like this, too.",
        key,
    )


def _problem(code: str, message: str, hint: str, key: str, detail: str = "") -> ProblemError:
    problem = Problem(code=code, field=key, message=message, hint=hint, detail=detail)
    return ProblemError(problem)
