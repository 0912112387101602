"""Predictions as they stand in a file: arrays of an archive, or rows of a CSV."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt


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

    indices: npt.NDArray[np.int32]
    labels: npt.NDArray[np.generic] | None
    class_names: tuple[str, ...]
    numbers: npt.NDArray[np.float32]
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

    def arrays(self) -> dict[str, npt.NDArray[np.generic]]:
        """The arrays of ``predictions.npz``, by name."""
        arrays: dict[str, npt.NDArray[np.generic]] = {"index": self.indices}
        if self.class_names:
            arrays["predicted"] = self.predicted
            arrays["probabilities"] = self.numbers
            arrays["class_names"] = np.asarray(self.class_names)
        else:
            several = self.numbers.shape[1] > 1
            arrays["values"] = self.numbers if several else self.numbers[:, 0]
        if self.file_names:
            arrays["file_name"] = np.asarray(self.file_names)
        if self.labels is not None:
            arrays["label"] = self.labels
        return arrays

    def rows(self) -> Iterator[list[object]]:
        """Those of ``predictions.csv``, the names of the columns first."""
        yield self._header()
        predicted = self.predicted
        for row, numbers in enumerate(self.numbers):
            yield [
                self.indices[row],
                *self.file_names[row : row + 1],
                *self._predicted_cells(predicted[row]),
                *self._label_cells(row),
                *(f"{number:.9g}" for number in numbers.tolist()),
            ]

    def _header(self) -> list[object]:
        names, outputs = self.class_names, self.numbers.shape[1]
        has_labels = self.labels is not None
        first = ["index", "file"] if self.file_names else ["index"]
        if not names:
            places = [""] if outputs == 1 else [f" {place}" for place in range(1, outputs + 1)]
            labels = [f"label{place}" for place in places] if has_labels else []
            return [*first, *labels, *(f"value{place}" for place in places)]
        predicted = ["predicted_names"] if self.of_labels else ["predicted_name", "predicted"]
        labels = ["label_names"] if self.of_labels else ["label_name", "label"]
        probabilities = (f"probability of {name}" for name in names)
        return [*first, *predicted, *(labels if has_labels else []), *probabilities]

    def _predicted_cells(self, predicted: npt.NDArray[np.int32]) -> list[str]:
        if not self.class_names:
            return []
        if self.of_labels:
            return [self._joined(predicted)]
        return [self.class_names[int(predicted)], str(predicted)]

    def _label_cells(self, row: int) -> list[str]:
        if self.labels is None:
            return []
        label = self.labels[row]
        if not self.class_names:
            return [f"{number:.9g}" for number in np.ravel(label).tolist()]
        return [self._joined(label)] if self.of_labels else [self.class_names[label], str(label)]

    def _joined(self, chosen: npt.NDArray[np.generic]) -> str:
        """The names of the labels that an example has, with bars between them."""
        return "|".join(self.class_names[place] for place in np.flatnonzero(chosen))
