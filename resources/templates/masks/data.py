"""Pictures, and of each a mask: the class of every pixel.

Let load() read your own: pictures [n, height, width, channels] as bytes, masks [n, height, width]
with class numbers from 0. Height and width are to be multiples of 8 for the model beside this file.
"""

import numpy as np

EXAMPLES, SIZE = 400, 32


def load():
    """Discs and squares on a noisy ground."""
    random = np.random.default_rng(0)
    y, x = np.mgrid[:SIZE, :SIZE]
    pictures = random.normal(110, 25, size=(EXAMPLES, SIZE, SIZE, 3))
    masks = np.zeros((EXAMPLES, SIZE, SIZE), "int64")
    for picture, mask in zip(pictures, masks):
        for kind in (1, 2):
            row, column = random.integers(6, SIZE - 6, size=2)
            radius = random.integers(4, 8)
            far = np.hypot if kind == 1 else np.maximum
            inside = far(abs(y - row), abs(x - column)) <= radius
            mask[inside] = kind
            picture[inside] += (60, -40, 0) if random.random() < 0.5 else (-50, 30, 60)
    return {
        "x": np.clip(pictures, 0, 255).astype("uint8"),
        "y": masks,
        "class_names": ["ground", "disc", "square"],
    }
