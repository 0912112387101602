"""The bundled wines: scikit-learn's bundled table."""

import numpy as np
from typing_extensions import override

from gpupanel.domain.data import WineData
from gpupanel.trainer.datasets.arrays.single_array import ArraySource
from gpupanel.trainer.datasets.bundled import bundled_file
from gpupanel.trainer.datasets.examples import DataSet, Examples
from gpupanel.trainer.datasets.source import Reading


class _Wine(ArraySource[WineData]):
    """178 rows of 13 measures, ``float32``, and one of 3 classes.

    As :func:`sklearn.datasets.load_wine` gives them (https://archive.ics.uci.edu/dataset/109).
    """

    @override
    def read(self, data: WineData, reading: Reading) -> DataSet:
        with bundled_file("wine_data.csv", "wines").open(encoding="ascii") as file:
            # The counts of rows and columns, then the names of the classes.
            class_names = tuple(file.readline().strip().split(",")[2:])
            table = np.loadtxt(file, delimiter=",")
        return DataSet(
            training=Examples(
                features=table[:, :-1].astype(np.float32), labels=table[:, -1].astype(np.int32)
            ),
            class_names=class_names,
            scaling=data.scaling,
        )


SOURCE = _Wine()
