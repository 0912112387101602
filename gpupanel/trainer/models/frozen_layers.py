"""Which layers of a base learn: all, the last ones, or none."""

from collections.abc import Sequence

import keras


def let_learn(layers: Sequence[keras.layers.Layer], last: int | None) -> None:
    """Have only the last layers of a base learn.

    What was traced before stays as it was. Batch normalisation that does not learn keeps its
    statistics.

    Args:
        layers: Of the base, those with weights, from the first to the last.
        last: How many of the last ones; ``None``: all.
    """
    first = 0 if last is None else max(0, len(layers) - last)
    for place, layer in enumerate(layers):
        layer.trainable = place >= first


def last_learning(frozen_layers: str | int) -> int | None:
    """How many of the last layers learn, as ``frozen_layers`` says it; ``None``: all."""
    match frozen_layers:
        case "none":
            return None
        case "base":
            return 0
    return int(frozen_layers)
