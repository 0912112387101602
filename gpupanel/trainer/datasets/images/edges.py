"""How bright the edges of greyscale images are: of most drawings and scans that of the ground."""

import numpy as np
import numpy.typing as npt

from gpupanel.trainer.datasets.examples import Array

_LEAST_SIDE = 4


def is_grey(shape: tuple[int, ...]) -> bool:
    """Whether examples of that shape are greyscale images: height, width, and perhaps a 1."""
    is_one = len(shape) == 2 or (len(shape) == 3 and shape[-1] == 1)
    return is_one and min(shape[:2]) >= _LEAST_SIDE


def edge_means(images: Array) -> npt.NDArray[np.float64]:
    """The mean of the outermost pixels of each image.

    Args:
        images: Shape [images, height, width] or [images, height, width, 1].
    """
    whole = images.reshape(images.shape[:3]).astype(np.float64)
    inside = whole[:, 1:-1, 1:-1]
    sums = whole.sum(axis=(1, 2)) - inside.sum(axis=(1, 2))
    count = whole[0].size - inside[0].size
    return np.asarray(sums / count, np.float64)
