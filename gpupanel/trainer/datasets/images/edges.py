"""How bright the edges of greyscale images are: of most drawings and scans that of the ground."""

import numpy as np
import numpy.typing as npt

from gpupanel.trainer.datasets.examples import Array

_LEAST_SIDE = 4
_DARK, _BRIGHT = 0.3, 0.6
"""Edges of training examples that are dark, or as far from white bright; and one that is not."""


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


def is_ground_unlike(edge: float, edges: tuple[float, float] | None) -> bool:
    """Whether the ground of an image is light and that of the training is dark, or vice versa.

    Args:
        edge: How bright its edge is, from 0 (black) to 1 (white).
        edges: Those of most training examples: no darker, and no brighter. ``None``: not known.
    """
    if edges is None:
        return False
    is_dark, is_light = edges[1] <= _DARK, edges[0] >= 1.0 - _DARK
    return (is_dark and edge >= _BRIGHT) or (is_light and edge <= 1.0 - _BRIGHT)
