"""The bundled data: scikit-learn's bundled handwritten digits."""

import gzip

import numpy as np
from typing_extensions import override

from gpupanel.domain.data import DigitsData, Scaling
from gpupanel.trainer.datasets.arrays.single_array import ArraySource
from gpupanel.trainer.datasets.bundled import bundled_file
from gpupanel.trainer.datasets.examples import DataSet, Examples
from gpupanel.trainer.datasets.source import Reading


def read_digits() -> DataSet:
    """1,797 images of 8x8 pixels with values 0 to 16, ``uint8``, and their digits.

    The file is read where scikit-learn keeps it, as :func:`sklearn.datasets.load_digits` does
    (https://archive.ics.uci.edu/dataset/80), without the second that scikit-learn's import takes.

    Raises:
        ProblemError: scikit-learn is not installed, or without its data.
    """
    path = bundled_file("digits.csv.gz", "digits")
    with gzip.open(path, "rt") as file:
        table = np.loadtxt(file, delimiter=",", dtype=np.uint8)
    return DataSet(
        training=Examples(
            features=np.ascontiguousarray(table[:, :-1]).reshape(-1, 8, 8),
            labels=table[:, -1].astype(np.int32),
        ),
        class_names=tuple(str(digit) for digit in range(10)),
        scaling=Scaling.DIVIDE,
        greatest=DigitsData.greatest,
    )


class _Digits(ArraySource[DigitsData]):
    """See :func:`read_digits`."""

    @override
    def read(self, data: DigitsData, reading: Reading) -> DataSet:
        return read_digits()


SOURCE = _Digits()
