"""How large images are in their files, before they are scaled."""

import statistics
from contextlib import suppress
from pathlib import Path

import numpy as np
from PIL import Image

from gpupanel.domain.problem import ProblemError
from gpupanel.files.regular_files import open_regular
from gpupanel.trainer.datasets.images.files import ImageFiles, image_errors

_READ = 64
"""So many heads of files say what most images are like."""


def usual_sides(files: ImageFiles, seed: int) -> tuple[int, int] | None:
    """Height and width in the middle of some images; ``None``: none of these can be read.

    Args:
        files: Only the heads of some are read, and no pixel is decoded.
        seed: Chooses them.
    """
    count = min(_READ, len(files.paths))
    drawn = np.random.default_rng(seed).choice(len(files.paths), count, replace=False)
    found = []
    for place in drawn.tolist():
        path = files.paths[place]
        # What cannot be read is said by whoever reads all of it.
        with (
            suppress(ProblemError),
            image_errors(path, files.key),
            open_regular(Path(path)) as file,
            Image.open(file) as image,
        ):
            found.append((image.height, image.width))
    if not found:
        return None
    heights, widths = zip(*found, strict=True)
    return round(statistics.median(heights)), round(statistics.median(widths))
