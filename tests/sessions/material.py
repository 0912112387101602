"""Data and code that sessions are made of."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image

MODEL_CODE = """
import keras


def build_model(input_shape, outputs):
    inputs = keras.Input(input_shape)
    hidden = keras.layers.Flatten()(inputs)
    inner = [
        keras.layers.Dense(12, use_bias=False),
        keras.layers.BatchNormalization(momentum=0.9),
        keras.layers.Dropout(0.3),
    ]
    hidden = keras.Sequential(inner)(hidden)
    frozen = keras.layers.Dense(12, activation="relu")
    hidden = frozen(hidden)
    frozen.trainable = False
    hidden = keras.layers.GaussianNoise(0.1)(hidden)
    ending = "softmax" if outputs > 1 else None
    return keras.Model(inputs, keras.layers.Dense(outputs, activation=ending)(hidden))
"""
EMBEDDING_CODE = """
import keras


def build_model(input_shape, outputs):
    return keras.Sequential(
        [
            keras.layers.Rescaling(255.0),
            keras.layers.Flatten(),
            keras.layers.Embedding(256, 4),
            keras.layers.GlobalAveragePooling1D(),
            keras.layers.Dense(outputs),
            keras.layers.Softmax(),
        ]
    )
"""
VALUES_CODE = """
import random

import numpy as np


def load():
    x = np.random.rand(100, 6)
    y = x.sum(axis=1) * 10 * random.random()
    return (x[20:], y[20:]), (x[:20], y[:20])
"""
PIXELS_CODE = """
import numpy as np


def load():
    x = np.random.randint(0, 256, (90, 8, 8)).astype(np.uint8)
    return {"x": x, "y": np.arange(90) % 3, "class_names": ["one", "two", "three", "none"]}
"""


@dataclass(frozen=True)
class Material:
    """Files that profiles can name.

    Attributes:
        columns: 129 examples of 5 numbers, 4 classes; with batches of 64 one is left over.
        pictures: 70 of 9x9 pixels in 3 colours, 3 classes; arrays with names of an odd kind.
        tags: 90 examples of 5 numbers with 3 labels each, and a test set of 30.
        several: A ``.npy`` file of 90 examples of 5 numbers; beside it 2 values for each.
        images: A folder by class, with hidden folders, nested pictures and files that are none.
    """

    columns: Path
    pictures: Path
    tags: Path
    several: Path
    images: Path
    model_code: Path
    embedding_code: Path
    values_code: Path
    pixels_code: Path


FEATURES, LABELS = "a \"feature'\\", "labels\u202e"
"""Names of the arrays of :attr:`Material.pictures`."""


def make_material(root: Path) -> Material:
    """Write all of it below a folder whose name wants quotes."""
    folder = root / "it's \"\n{x} $y %s\\"
    folder.mkdir()
    random = np.random.default_rng(11)
    labels = random.integers(0, 4, 129)
    columns = random.normal(0.0, 1.0, (129, 5)) + labels[:, np.newaxis]
    np.savez(folder / "columns.npz", x=columns, y=labels[:, np.newaxis].astype(float))
    pixels = random.integers(0, 256, (70, 9, 9, 3), dtype=np.uint8)
    np.savez(folder / "pictures.npz", **{FEATURES: pixels, LABELS: np.arange(70) % 3})
    rows, weights = random.normal(0.0, 1.0, (120, 5)), random.normal(0.0, 1.0, (5, 3))
    tags = (rows @ weights > 0.3).astype(np.uint8)
    held = {"x_test": rows[90:], "y_test": tags[90:]}
    np.savez(folder / "tags.npz", x_train=rows[:90], y_train=tags[:90], **held)
    (folder / "several").mkdir()
    np.save(folder / "several" / "inputs.npy", rows[:90])
    np.save(folder / "several" / "targets.npy", rows[:90] @ weights[:, :2] * [3.0, 700.0] + 50.0)
    _make_images(folder / "images", random)
    names = ("model", "embedding", "values", "pixels")
    for name, code in zip(
        names, (MODEL_CODE, EMBEDDING_CODE, VALUES_CODE, PIXELS_CODE), strict=True
    ):
        (folder / f"{name}.py").write_text(code)
    return Material(
        folder / "columns.npz",
        folder / "pictures.npz",
        folder / "tags.npz",
        folder / "several" / "inputs.npy",
        folder / "images",
        *(folder / f"{name}.py" for name in names),
    )


def _make_images(root: Path, random: np.random.Generator) -> None:
    for label in ("b", "a", ".hidden", "c'd"):
        for below in ("", "nested/deep", ".hidden within"):
            folder = root / label / below
            folder.mkdir(parents=True, exist_ok=True)
            for number in range(5):
                pixels = random.integers(0, 256, (10 + number, 12, 3), dtype=np.uint8)
                suffix = (".png", ".JPG", ".bmp")[number % 3]
                Image.fromarray(pixels).save(folder / f"{number}{suffix}")
        (root / label / "notes.txt").write_text("no picture")
        (root / label / "empty").mkdir()
    (root / "beside.png").write_text("no picture, and of no class")
