"""Which classes examples were taken for, counted in no more memory than there are examples."""

import numpy as np
import numpy.typing as npt

from gpupanel.files.confusion_file import ConfusionCells

_LEAST_WAITING = 2**16


class ConfusionCounts:
    """Only cells that are not 0 are held: no more than examples, however many classes there are.

    Args:
        classes: How many there are.
    """

    def __init__(self, classes: int) -> None:
        self._classes = max(1, classes)
        self._places = np.empty(0, np.int64)
        self._counts = np.empty(0, np.int64)
        self._waiting: list[npt.NDArray[np.int64]] = []
        self._waiting_examples = 0

    def add(self, true: npt.NDArray[np.int64], taken_for: npt.NDArray[np.int64]) -> None:
        """Count some examples.

        Args:
            true: The class of each, shape [examples].
            taken_for: What the model took it for, likewise.
        """
        self._waiting.append(true * self._classes + taken_for)
        self._waiting_examples += len(true)
        # Rarely enough that it costs the more the rarer it becomes.
        if self._waiting_examples >= max(_LEAST_WAITING, len(self._places)):
            self._count_waiting()

    def cells(self, class_names: tuple[str, ...]) -> ConfusionCells:
        """The cells that are not 0; their rows are the classes that examples are of.

        Args:
            class_names: A name for each class.
        """
        self._count_waiting()
        rows, columns = np.divmod(self._places, self._classes)
        return ConfusionCells(rows, columns, self._counts, class_names)

    def _count_waiting(self) -> None:
        places = np.concatenate((self._places, *self._waiting))
        counts = np.concatenate((self._counts, np.ones(self._waiting_examples, np.int64)))
        self._places, where = np.unique(places, return_inverse=True)
        self._counts = np.zeros(len(self._places), np.int64)
        np.add.at(self._counts, where, counts)
        self._waiting, self._waiting_examples = [], 0
