"""Labels that are text: each different one names a class."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from gpupanel.trainer.datasets.checks import ArrayName
from gpupanel.trainer.datasets.examples import Array
from gpupanel.trainer.parts.cell_labels import name_in_array, ordered_classes


def are_names(labels: Array) -> bool:
    """Whether labels are one text an example: shape [examples] or [examples, 1]."""
    is_one_each = labels.ndim == 1 or (labels.ndim == 2 and labels.shape[1] == 1)
    return labels.dtype.kind in "US" and is_one_each and labels.size > 0


def names_in(labels: Array) -> tuple[str, ...]:
    """The names of the classes in their order: by text, or by number where all are whole numbers.

    Two forms of Unicode of a name are one.

    Args:
        labels: Of all examples that are trained on, see :func:`are_names`.
    """
    return ordered_classes(map(name_in_array, np.unique(labels).tolist()))


def class_numbers(labels: Array, names: Sequence[str], of: ArrayName) -> npt.NDArray[np.int32]:
    """The number of the class of each example.

    Args:
        labels: See :func:`are_names`.
        names: Of the classes in their order.
        of: Where the labels come from.

    Raises:
        ProblemError: One of them is empty, or names no class.
    """
    different, where = np.unique(labels.reshape(-1), return_inverse=True)
    places = {name: place for place, name in enumerate(names)}
    texts = [name_in_array(each) for each in different.tolist()]
    if "" in texts:
        row = int(np.flatnonzero(where.reshape(-1) == texts.index(""))[0])
        raise of.problem(
            "data_labels_empty",
            f"{of} has no name in example {row:,}.",
            "Name the class of each example, or remove those without one.",
        )
    unknown = [name for name in texts if name not in places]
    if unknown:
        shown = ", ".join(f'"{name}"' for name in unknown[:5])
        raise of.problem(
            "data_classes_differ",
            f"{of} names classes that those trained on do not have: {shown}.",
            "Save examples of the same classes.",
        )
    return np.array([places[text] for text in texts], np.int32)[where.reshape(-1)]
