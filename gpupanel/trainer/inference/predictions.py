"""Predictions as a file: complete or not at all."""

import csv
import io
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np
import numpy.typing as npt

from gpupanel.files.whole_files import write_whole_file
from gpupanel.trainer.datasets.examples import Array, Indices
from gpupanel.trainer.inference.meaning import Floats


@dataclass(frozen=True, slots=True, eq=False)
class Predictions:
    """What a model makes of each example, in input order.

    Attributes:
        indices: Position of each example in the source.
        labels: ``None`` where they are not known.
        class_names: One a column of ``numbers``; empty where values are predicted.
        numbers: Probabilities, shape [examples, classes]; or values, shape [examples, 1].
    """

    indices: Indices
    labels: Array | None
    class_names: tuple[str, ...]
    numbers: Floats

    @property
    def predicted(self) -> npt.NDArray[np.int32]:
        """The class that each example is taken for."""
        return np.asarray(self.numbers.argmax(axis=1), np.int32)


def write_predictions(predictions: Predictions, path: Path) -> None:
    """Write ``predictions.npz`` or ``predictions.csv``.

    Raises:
        OSError: It cannot be written; nothing of it is left then.
    """
    write = _write_csv if path.suffix == ".csv" else _write_npz
    write_whole_file(path, lambda file: write(predictions, file))


def _write_npz(predictions: Predictions, file: BinaryIO) -> None:
    arrays: dict[str, npt.NDArray[np.generic]] = {"index": predictions.indices}
    if predictions.class_names:
        arrays["predicted"] = predictions.predicted
        arrays["probabilities"] = predictions.numbers
        arrays["class_names"] = np.asarray(predictions.class_names)
    else:
        arrays["values"] = predictions.numbers[:, 0]
    if predictions.labels is not None:
        arrays["label"] = predictions.labels
    np.savez(file, allow_pickle=False, **arrays)


def _write_csv(predictions: Predictions, file: BinaryIO) -> None:
    text = io.TextIOWrapper(file, encoding="utf-8", newline="")
    lines = csv.writer(text, lineterminator="\n")
    names, labels = predictions.class_names, predictions.labels
    predicted = predictions.predicted
    lines.writerow(_header(predictions))
    for row, numbers in enumerate(predictions.numbers):
        lines.writerow(
            [
                predictions.indices[row],
                *([names[predicted[row]], predicted[row]] if names else []),
                *([] if labels is None else _label_cells(labels[row], names)),
                *(f"{number:.9g}" for number in numbers.tolist()),
            ]
        )
    text.flush()
    text.detach()  # the file is closed by whoever opened it


def _header(predictions: Predictions) -> list[str]:
    names = predictions.class_names
    label = [] if predictions.labels is None else ["label_name", "label"] if names else ["label"]
    if not names:
        return ["index", *label, "value"]
    return [
        "index",
        "predicted_name",
        "predicted",
        *label,
        *(f"probability of {name}" for name in names),
    ]


def _label_cells(label: np.generic, names: tuple[str, ...]) -> list[str]:
    number = label.item()
    return [names[number], str(number)] if names else [f"{number:.9g}"]
