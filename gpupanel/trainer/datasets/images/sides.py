"""How large images are in their files, before they are scaled, and how deep."""

import statistics
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

import numpy as np
from PIL import Image

from gpupanel.domain.problem import ProblemError
from gpupanel.files.regular_files import open_regular
from gpupanel.trainer.datasets.images.files import ImageFiles, image_errors
from gpupanel.trainer.datasets.images.formats import FORMATS
from gpupanel.trainer.datasets.images.pixels import is_deep

_READ = 64
"""So many heads of files say what most images are like."""
_UNPACKED = 16
"""So many images are unpacked to find the greatest value."""
_MOST_PIXELS = 2**24
Found = TypeVar("Found")


def usual_sides(files: ImageFiles, seed: int) -> tuple[int, int] | None:
    """Height and width in the middle of some images; ``None``: none of these can be read.

    Args:
        files: Only the heads of some are read, and no pixel is decoded.
        seed: Chooses them.
    """
    found = _of_some(files, _READ, seed, lambda image: (image.height, image.width))
    if not found:
        return None
    heights, widths = zip(*found, strict=True)
    return round(statistics.median(heights)), round(statistics.median(widths))


def greatest_of_16_bits(files: ImageFiles, seed: int) -> int | None:
    """The greatest value in some images; ``None``: not all of them have 16 bits a value.

    Args:
        files: A few are unpacked; very large ones are passed over.
        seed: Chooses them.
    """
    found = _of_some(files, _UNPACKED, seed, _greatest)
    if None in found:
        return None
    return max(filter(None, found), default=None)


def _greatest(image: Image.Image) -> int | None:
    """The greatest value of an image, 0 where it is too large; ``None``: it has fewer bits."""
    if not is_deep(image):
        return None
    if image.width * image.height > _MOST_PIXELS:
        return 0
    return int(np.asarray(image).max(initial=0))


def _of_some(
    files: ImageFiles, most: int, seed: int, look: Callable[[Image.Image], Found]
) -> list[Found]:
    """What is found in some of the images, each open meanwhile.

    What cannot be read is left out: whoever reads all of it says why.
    """
    count = min(most, len(files.paths))
    drawn = np.random.default_rng(seed).choice(len(files.paths), count, replace=False)
    found = []
    for place in drawn.tolist():
        path = files.paths[place]
        with (
            suppress(ProblemError),
            image_errors(path, files.key),
            open_regular(Path(path)) as file,
            Image.open(file, formats=FORMATS) as image,
        ):
            found.append(look(image))
    return found
