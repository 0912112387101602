"""Labels of several outputs, packed into one row of numbers: the one place that knows how.

As with inputs (:mod:`gpupanel.trainer.datasets.packed_inputs`) the loop carries one array. What
measures the outputs takes them apart (``models/joint_objective``).
"""

from collections.abc import Iterable, Mapping
from typing import Final

import numpy as np

from gpupanel.domain.data import Target
from gpupanel.domain.outcome import own_metric_misfit
from gpupanel.trainer.datasets.examples import PackedOutput
from gpupanel.trainer.datasets.labels import Labels

_LONGEST: Final = 24
"""Characters of a name: metrics are called by it and by what they measure."""


def output_misfit(name: str) -> str:
    """Why no output can have that name, as the end of a sentence; empty: one can."""
    if own_metric_misfit(name) or len(name) > _LONGEST:
        return (
            f"is no name of an output: up to {_LONGEST} small letters, digits and underscores are"
        )
    return ""


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


def class_names_of(
    labels: Labels, held_out: Iterable[Labels], class_count: int | None = None
) -> tuple[str, ...]:
    """The names of classes or labels: as many as all sets have; none of values.

    Args:
        labels: Those that are trained on.
        held_out: Those of other sets.
        class_count: How many there are, where a person said it.
    """
    if labels.names:
        more = range(len(labels.names), labels.outputs)
        return (*labels.names, *map(str, more))
    count = labels.outputs
    if labels.target is Target.CLASSES and not class_count:
        count = max(count, *(int(each.array.max()) + 1 for each in held_out), 0)
    return tuple(str(number) for number in range(count))
