"""Folders of images for tests: each image is of one colour, so that it can be recognised."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from PIL import Image


def make_images(folder: Path, values: Mapping[str, int]) -> Path:
    """Write an image for each name, all of whose pixels have that value."""
    for name, value in values.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(np.full((9, 11, 3), value, np.uint8)).save(path)
    return folder


def make_classes(root: Path, counts: Mapping[str, int]) -> Path:
    """Write a folder of images for each class."""
    for brightness, (name, count) in enumerate(counts.items(), start=1):
        (root / name).mkdir(parents=True)
        values = {f"{number}.png": 40 * brightness + number for number in range(count)}
        make_images(root / name, values)
    return root
