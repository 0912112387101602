"""What Python code of a person's own gives as data: by name, and row by row."""

from collections.abc import Callable, Mapping
from typing import Any, Protocol, TypeGuard

import numpy as np
import numpy.typing as npt

PARTS_OF_DATA = ("x", "y", "x_test", "y_test", "class_names", "predicts")
"""What ``load`` of a file may give, by name."""


def parts_by_name(loaded: object) -> Mapping[str, Any] | None:
    """What ``load`` gave, by the names of its parts; ``None``: it is none of what it may be."""
    if isinstance(loaded, Mapping):
        return loaded
    if not isinstance(loaded, tuple) or len(loaded) != 2:
        return None
    first, second = loaded
    if all(isinstance(part, tuple) and len(part) == 2 for part in loaded):
        return dict(zip(PARTS_OF_DATA, (*first, *second), strict=False))
    return {"x": first, "y": second}


class Rows(Protocol):
    """Gives an example for each number from 0 on."""

    def __len__(self) -> int: ...

    def __getitem__(self, index: int, /) -> object: ...


def gives_rows(given: object) -> TypeGuard[Rows]:
    """Whether it gives examples by their numbers, and is no array in memory.

    NumPy asks such an object for more and more rows until it raises ``IndexError``, which those
    that people write need not do.
    """
    if isinstance(given, np.memmap):
        return True
    if isinstance(given, np.ndarray | list | tuple | str | bytes | dict):
        return False
    if not (hasattr(given, "__len__") and hasattr(given, "__getitem__")):
        return False
    # Tables have columns by their names; of arrays with two axes and more, such as those of an
    # HDF5 file, a number is a row.
    axes = getattr(given, "shape", ())
    return not hasattr(given, "__array__") or (len(axes) > 1 and hasattr(given, "dtype"))


def rows_given(given: Any, row: Callable[[int], object] | None = None) -> Any:  # noqa: ANN401
    """As NumPy takes it: of what gives its rows one by one a list of them.

    Args:
        given: An array, or what may become one.
        row: Gives one of its rows; ``None``: it does itself.
    """
    if not gives_rows(given) or hasattr(given, "__array__"):
        return given
    return [(row or given.__getitem__)(number) for number in range(len(given))]


def are_arrays(labels: npt.NDArray[Any], *, of_classes: bool) -> bool:
    """Whether labels are an array an example, and no number or row of them.

    A row an example holds several labels or values. Where classes are predicted it is a single 1
    among zeros; any other one is a sequence of classes.

    Args:
        labels: First axis the examples.
        of_classes: Classes are predicted.
    """
    if labels.ndim != 2 or labels.shape[1] == 1 or not of_classes:
        return labels.ndim > 2
    if labels.dtype.kind not in "biuf":
        return False  # what is no number is refused as labels of a class are
    are_flags = bool(((labels == 0) | (labels == 1)).all())
    return not (are_flags and bool((np.count_nonzero(labels, axis=1) == 1).all()))
