"""A little data of every source that is read from a person's files."""

from pathlib import Path

import numpy as np
from PIL import Image

from gpupanel.domain.augmentation import Augmentation
from gpupanel.domain.data import (
    DataSettings,
    ImagesData,
    NpzData,
    TableData,
    TextData,
    TfdsData,
    TfrecordData,
)
from tests.unit.trainer.record_files import example, write_records
from tests.unit.trainer.test_tfds_source import make_prepared
from tests.unit.trainer.text_folders import reviews, write_table

EXAMPLES = 230
"""With batches of 32 fewer are left over at the end of an epoch."""

CHANGED = Augmentation(shift=0.1, rotate_degrees=10.0)
"""What is drawn for each example has to continue, too."""

SOURCES = ("npz", "table", "text", "tfrecord", "images", "tfds")


def small_source(kind: str, folder: Path) -> DataSettings:
    """Data of that source, written into the folder."""
    draw = np.random.default_rng(5)
    labels = draw.integers(0, 3, EXAMPLES)
    columns = (draw.normal(size=(EXAMPLES, 6)) + labels[:, np.newaxis]).astype(np.float32)
    match kind:
        case "npz":
            sets = {"x_train": columns[:200], "x_test": columns[200:]}
            sets |= {"y_train": labels[:200], "y_test": labels[200:]}
            np.savez(folder / "examples.npz", **sets)
            return NpzData(path=str(folder / "examples.npz"), validation_fraction=0.1)
        case "table":
            lines = ["a,b,c,d,e,f,colour,kind"]
            for row, label in zip(columns, labels, strict=True):
                colour = "red" if row[0] > 0.0 else "blue"
                lines.append(",".join([*(f"{each:.4f}" for each in row), colour, f"c{label}"]))
            path = folder / "rows.csv"
            path.write_text("\n".join(lines) + "\n")
            return TableData(path=str(path), target="kind", validation_fraction=0.1)
        case "text":
            path = write_table(folder / "reviews.csv", reviews(EXAMPLES))
            return TextData(path=str(path), length=12, vocabulary=40, validation_fraction=0.1)
        case "tfrecord":
            records = [
                example(x=row.tolist(), label=int(label))
                for row, label in zip(columns, labels, strict=True)
            ]
            path = write_records(folder / "a.tfrecord", records)
            return TfrecordData(path=str(path), validation_fraction=0.1)
        case "images":
            for label in range(3):
                (folder / f"c{label}").mkdir()
            for number, label in enumerate(labels):
                pixels = draw.integers(0, 120, (8, 8, 3)) + 60 * label
                Image.fromarray(pixels.astype(np.uint8)).save(folder / f"c{label}/{number}.png")
            return ImagesData(
                path=str(folder),
                image_size=(8, 8),
                validation_fraction=0.1,
                augmentation=CHANGED,
            )
        case _:
            make_prepared(folder / "tiny_cats/small/1.0.0", {"train": 22, "test": 4})
            return TfdsData(
                name="tiny_cats/small",
                path=str(folder),
                image_size=(8, 8),
                validation_fraction=0.1,
                augmentation=CHANGED,
            )
