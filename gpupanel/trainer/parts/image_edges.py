"""How bright the edges of greyscale images are: of most drawings and scans that of the ground."""

import numpy as np
import numpy.typing as npt

_LEAST_SIDE = 4
_DARK, _BRIGHT = 0.3, 0.6
"""Edges of training examples that are dark, or as far from white bright; and one that is not."""


def is_grey(shape: tuple[int, ...]) -> bool:
    """Whether examples of that shape are greyscale images: height, width, and perhaps a 1."""
    is_one = len(shape) == 2 or (len(shape) == 3 and shape[-1] == 1)
    return is_one and min(shape[:2]) >= _LEAST_SIDE


def edge_means(
    images: npt.NDArray[np.generic], rows: npt.NDArray[np.signedinteger] | None = None
) -> npt.NDArray[np.float64]:
    """The mean of the outermost pixels of each image; no others are touched.

    Args:
        images: Shape [images, height, width] or [images, height, width, 1].
        rows: Of these images; ``None``: of all.
    """
    chosen = slice(None) if rows is None else rows
    lines = [
        np.asarray(line).reshape(len(line), -1)
        for line in (
            images[chosen, 0],
            images[chosen, -1],
            images[chosen, 1:-1, 0],
            images[chosen, 1:-1, -1],
        )
    ]
    sums = np.sum([line.sum(axis=1, dtype=np.float64) for line in lines], axis=0)
    return np.asarray(sums / sum(line.shape[1] for line in lines), np.float64)


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
