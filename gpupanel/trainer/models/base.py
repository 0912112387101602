"""The base of a model, whose layers may learn all, in part, later or never.

A kind of model that has one gives it the name :data:`BASE`, as a layer of the model.
"""

from typing import Final

import keras

BASE: Final = "base"


def base_of(model: keras.Model) -> keras.Model:
    """The base of a model that has one."""
    return model.get_layer(BASE)


def let_learn(base: keras.Model, last: int | None) -> None:
    """Have only the last layers of a base learn.

    What was traced before stays as it was: batch normalisation that does not learn keeps its
    statistics.

    Args:
        base: Of any model.
        last: How many of the last layers, of those with weights; ``None``: all.
    """
    layers = [layer for layer in base.layers if layer.weights]
    first = 0 if last is None else max(0, len(layers) - last)
    for place, layer in enumerate(layers):
        layer.trainable = place >= first


def count_learning(base: keras.Model) -> int:
    """How many layers of a base learn, of those with weights."""
    return sum(layer.trainable for layer in base.layers if layer.weights)
