"""Predictions as a file: complete or not at all."""

import csv
import io
from pathlib import Path
from typing import BinaryIO

from gpupanel.files.npz_archive import write_npz
from gpupanel.files.whole_files import whole_file
from gpupanel.trainer.parts.predictions import Predictions


def write_predictions(predictions: Predictions, path: Path) -> None:
    """Write ``predictions.npz`` or ``predictions.csv``.

    Raises:
        OSError: It cannot be written; nothing of it is left then.
    """
    with whole_file(path, private=True) as file:
        if path.suffix == ".csv":
            _write_csv(predictions, file)
        else:
            write_npz(file, predictions.arrays())


def _write_csv(predictions: Predictions, file: BinaryIO) -> None:
    text = io.TextIOWrapper(file, encoding="utf-8", newline="")
    csv.writer(text, lineterminator="\n").writerows(predictions.rows())
    text.flush()
    text.detach()  # the file is closed by whoever opened it
