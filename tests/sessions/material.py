"""Data and code that sessions are made of."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image

MODEL_CODE = """
import keras
from keras import ops, random


class Shaken(keras.layers.Layer):
    def build(self, shape):
        self.seeds = random.SeedGenerator(3)

    def call(self, inputs, training=False):
        if not training:
            return inputs
        shape = ops.shape(inputs)
        factors = 1.0 + 0.1 * random.beta(shape, 0.5, 0.5, seed=self.seeds)
        noise = 0.05 * random.gamma(shape, 2.0, seed=self.seeds)
        classes = ops.cast(random.categorical(inputs, 1, seed=self.seeds), "float32")
        return inputs * factors + noise + 0.01 * classes


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
    shared = keras.layers.BatchNormalization(momentum=0.9)
    hidden = shared(keras.layers.Dense(12, use_bias=False)(shared(hidden)))
    apart = keras.layers.TimeDistributed(keras.layers.BatchNormalization(momentum=0.9))
    hidden = keras.layers.Flatten()(apart(keras.layers.Reshape((4, 3))(hidden)))
    hidden = Shaken()(keras.layers.GaussianNoise(0.1)(hidden))
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
        pixels: 70 of 9x9 pixels in 3 colours, 3 classes; arrays with names of an odd kind.
        tags: 90 examples of 5 numbers with 3 labels each, and a test set of 30.
        several: A ``.npy`` file of 90 examples of 5 numbers; beside it 2 values for each.
        table: 90 rows with empty cells: numbers with commas, categories, dates, 3 classes.
        rows: 20 rows of the same columns in another order, without the class.
        images: A folder by class, with hidden folders, nested images and files that are none;
            ``labels.csv`` in it has 2 values for each image.
    """

    columns: Path
    pixels: Path
    tags: Path
    several: Path
    table: Path
    rows: Path
    images: Path
    model_code: Path
    embedding_code: Path
    values_code: Path
    pixels_code: Path


FEATURES, LABELS = "a \"feature'\\", "labels\u202e"
"""Names of the arrays of :attr:`Material.pixels`."""


def make_material(root: Path) -> Material:
    """Write all of it below a folder whose name wants quotes."""
    folder = root / "it's \"\n{x} $y %s\\"
    folder.mkdir()
    random = np.random.default_rng(11)
    labels = random.integers(0, 4, 129)
    columns = random.normal(0.0, 1.0, (129, 5)) + labels[:, np.newaxis]
    np.savez(folder / "columns.npz", x=columns, y=labels[:, np.newaxis].astype(float))
    pixels = random.integers(0, 256, (70, 9, 9, 3), dtype=np.uint8)
    np.savez(folder / "pixels.npz", **{FEATURES: pixels, LABELS: np.arange(70) % 3})
    rows, weights = random.normal(0.0, 1.0, (120, 5)), random.normal(0.0, 1.0, (5, 3))
    tags = (rows @ weights > 0.3).astype(np.uint8)
    held = {"x_test": rows[90:], "y_test": tags[90:]}
    np.savez(folder / "tags.npz", x_train=rows[:90], y_train=tags[:90], **held)
    (folder / "several").mkdir()
    np.save(folder / "several" / "inputs.npy", rows[:90])
    np.save(folder / "several" / "targets.npy", rows[:90] @ weights[:, :2] * [3.0, 700.0] + 50.0)
    _make_tables(folder, random)
    _make_images(folder / "images", random)
    names = ("model", "embedding", "values", "pixels")
    for name, code in zip(
        names, (MODEL_CODE, EMBEDDING_CODE, VALUES_CODE, PIXELS_CODE), strict=True
    ):
        (folder / f"{name}.py").write_text(code)
    return Material(
        folder / "columns.npz",
        folder / "pixels.npz",
        folder / "tags.npz",
        folder / "several" / "inputs.npy",
        folder / "table.csv",
        folder / "rows.csv",
        folder / "images",
        *(folder / f"{name}.py" for name in names),
    )


def _make_tables(folder: Path, random: np.random.Generator) -> None:
    rows = []
    for _ in range(110):
        kind = int(random.integers(0, 3))
        size = "" if random.random() < 0.1 else f"{random.normal(kind, 0.5):.3f}".replace(".", ",")
        colour = random.choice(["röt", "grün", "", "a, b"], p=[0.4, 0.4, 0.1, 0.1])
        day = f"{int(random.integers(1, 29)):02}.0{kind + 1}.2024"
        rows.append((size, f'"{colour}"', day, f"kind {kind}"))
    known = ["size;colour;day;kind", *(";".join(row) for row in rows[:90])]
    (folder / "table.csv").write_text("\n".join(known) + "\n", encoding="cp1252")
    new = ["day,colour,size", *(f'{day},{colour},"{size}"' for size, colour, day, _ in rows[90:])]
    (folder / "rows.csv").write_text("\n".join(new) + "\n", encoding="utf-16")


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
    # Those that are hidden are not there for anybody.
    found = sorted(root.glob("*/**/[0-9].*"))
    images = [path for path in found if "/." not in str(path.relative_to(root.parent))]
    lines = [
        f"{path.relative_to(root)};{len(str(path.parent)) % 9};{number / 7}"
        for number, path in enumerate(images)
    ]
    (root / "labels.csv").write_text("\n".join(["file;length;place", *lines]))
