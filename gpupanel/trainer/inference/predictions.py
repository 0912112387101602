"""Predictions as a file: complete or not at all."""

import csv
import io
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np
import numpy.typing as npt

from gpupanel.files.npz_archive import write_npz
from gpupanel.files.whole_files import whole_file
from gpupanel.trainer.datasets.examples import Array, Indices
from gpupanel.trainer.inference.meaning import Floats


@dataclass(frozen=True, slots=True, eq=False)
class Predictions:
    """What a model makes of each example, in input order.

    Attributes:
        indices: Position of each example in the source.
        labels: ``None`` where they are not known.
        class_names: One a column of ``numbers``; empty where values are predicted.
        numbers: Probabilities, shape [examples, classes]; or values, shape [examples, values].
        of_labels: Each class is a label that an example has or has not.
        file_names: Of each example its file; none where it has none of its own.
    """

    indices: Indices
    labels: Array | None
    class_names: tuple[str, ...]
    numbers: Floats
    of_labels: bool = False
    file_names: tuple[str, ...] = ()

    @property
    def predicted(self) -> npt.NDArray[np.int32]:
        """The class that each example is taken for.

        Of several labels: 1 for each that it probably has, shape [examples, labels].
        """
        if self.of_labels:
            return np.asarray(self.numbers > 0.5, np.int32)
        return np.asarray(self.numbers.argmax(axis=1), np.int32)


def write_predictions(predictions: Predictions, path: Path) -> None:
    """Write ``predictions.npz`` or ``predictions.csv``.

    Raises:
        OSError: It cannot be written; nothing of it is left then.
    """
    write = _write_csv if path.suffix == ".csv" else _write_npz
    with whole_file(path, private=True) as file:
        write(predictions, file)


def _write_npz(predictions: Predictions, file: BinaryIO) -> None:
    arrays: dict[str, npt.NDArray[np.generic]] = {"index": predictions.indices}
    if predictions.class_names:
        arrays["predicted"] = predictions.predicted
        arrays["probabilities"] = predictions.numbers
        arrays["class_names"] = np.asarray(predictions.class_names)
    else:
        several = predictions.numbers.shape[1] > 1
        arrays["values"] = predictions.numbers if several else predictions.numbers[:, 0]
    if predictions.file_names:
        arrays["file_name"] = np.asarray(predictions.file_names)
    if predictions.labels is not None:
        arrays["label"] = predictions.labels
    write_npz(file, arrays)


def _write_csv(predictions: Predictions, file: BinaryIO) -> None:
    text = io.TextIOWrapper(file, encoding="utf-8", newline="")
    lines = csv.writer(text, lineterminator="\n")
    lines.writerow(_header(predictions))
    predicted = predictions.predicted
    for row, numbers in enumerate(predictions.numbers):
        lines.writerow(
            [
                predictions.indices[row],
                *predictions.file_names[row : row + 1],
                *_predicted_cells(predictions, predicted[row]),
                *_label_cells(predictions, row),
                *(f"{number:.9g}" for number in numbers.tolist()),
            ]
        )
    text.flush()
    text.detach()  # the file is closed by whoever opened it


def _header(predictions: Predictions) -> list[str]:
    names, outputs = predictions.class_names, predictions.numbers.shape[1]
    has_labels = predictions.labels is not None
    first = ["index", "file"] if predictions.file_names else ["index"]
    if not names:
        places = [""] if outputs == 1 else [f" {place}" for place in range(1, outputs + 1)]
        labels = [f"label{place}" for place in places] if has_labels else []
        return [*first, *labels, *(f"value{place}" for place in places)]
    of_labels = predictions.of_labels
    predicted = ["predicted_names"] if of_labels else ["predicted_name", "predicted"]
    labels = ["label_names"] if of_labels else ["label_name", "label"]
    return [
        *first,
        *predicted,
        *(labels if has_labels else []),
        *(f"probability of {name}" for name in names),
    ]


def _predicted_cells(predictions: Predictions, predicted: Array) -> list[str]:
    names = predictions.class_names
    if not names:
        return []
    if predictions.of_labels:
        return [_joined(names, predicted)]
    return [names[int(predicted)], str(predicted)]


def _label_cells(predictions: Predictions, row: int) -> list[str]:
    if predictions.labels is None:
        return []
    names, label = predictions.class_names, predictions.labels[row]
    if not names:
        return [f"{number:.9g}" for number in np.ravel(label).tolist()]
    return [_joined(names, label)] if predictions.of_labels else [names[label], str(label)]


def _joined(names: tuple[str, ...], chosen: Array) -> str:
    """The names of the labels that an example has, with bars between them."""
    return "|".join(names[place] for place in np.flatnonzero(chosen))
