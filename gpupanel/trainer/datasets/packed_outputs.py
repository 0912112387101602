"""Labels of several outputs, packed into one row of numbers: the one place that knows how.

As with inputs (:mod:`gpupanel.trainer.datasets.packed_inputs`) the loop carries one array. What
measures the outputs takes them apart (``models/joint_objective``).
"""

from collections.abc import Mapping
from typing import Final

import numpy as np

from gpupanel.domain.data import Target
from gpupanel.trainer.datasets.examples import PackedOutput
from gpupanel.trainer.datasets.labels import Labels

MOST_OUTPUTS: Final = 8
"""Each has a loss and a measure among the metrics of a person's own."""


def packed_labels(
    parts: Mapping[str, Labels], class_names: Mapping[str, tuple[str, ...]]
) -> tuple[Labels, tuple[PackedOutput, ...]]:
    """Labels of several outputs as one array of rows.

    Args:
        parts: By the names of the outputs; each of as many examples.
        class_names: Of those that predict classes, where they are named.

    Returns:
        Shape [examples, numbers], float32; and where the labels of each output stand in a row.
    """
    outputs, start = list[PackedOutput](), 0
    for name, part in parts.items():
        names: tuple[str, ...] = ()
        if part.target is Target.CLASSES:
            names = class_names.get(name) or tuple(map(str, range(part.outputs)))
        shape = tuple(part.array.shape[1:])
        outputs.append(PackedOutput(name, part.target, shape, names, start))
        start = outputs[-1].end
    # Whole numbers of classes are exact in 32 bits: there are fewer than 2**24.
    rows = [part.array.reshape(len(part.array), -1).astype(np.float32) for part in parts.values()]
    whole = np.concatenate(rows, axis=1)
    return Labels(whole, Target.VALUES, 0, are_arrays=True), tuple(outputs)
