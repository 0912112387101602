"""Examples with several labels: a class, and a number.

Let load() read your own: one array for each output, with the outputs' names.
"""

import numpy as np

EXAMPLES, SIZE = 2_000, 24


def load():
    """Pictures of a disc or a square: which of them is it, and how large?"""
    random = np.random.default_rng(0)
    y, x = np.mgrid[:SIZE, :SIZE] - SIZE // 2
    kind = random.integers(0, 2, size=EXAMPLES)
    radius = random.uniform(3, 10, size=EXAMPLES)
    pictures = random.normal(60, 15, size=(EXAMPLES, SIZE, SIZE, 1))
    for picture, square, size in zip(pictures, kind, radius):
        far = np.maximum(abs(y), abs(x)) if square else np.hypot(y, x)
        picture[far <= size] += 120
    return {
        "x": np.clip(pictures, 0, 255).astype("uint8"),
        "y": {"kind": kind, "radius": radius.astype("float32")},
        "predicts": {"kind": "classes", "radius": "values"},
        "class_names": {"kind": ["disc", "square"]},
    }
