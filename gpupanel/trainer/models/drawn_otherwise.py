"""Layers whose random numbers depend on how a batch is divided: found out from their graph."""

import re
from collections.abc import Iterator

import keras
import tensorflow as tf

from gpupanel.domain.problem import Problem
from gpupanel.domain.random_layers import MIXING_LAYERS, depends_on_split
from gpupanel.trainer.models.numbers_of_part import SCOPE
from gpupanel.trainer.models.random_numbers import drawn_by_example, not_replaced

_DRAWING = ("Random", "Multinomial", "TruncatedNormal", "Rng")
"""One of them is in the name of each type of TensorFlow's operations that draws."""


def drawn_otherwise(model: keras.Model) -> Problem | None:
    """A warning about layers that do not draw by step and example; ``None``: all do.

    Nothing is computed. What Python draws by itself while it is traced is not seen.
    """
    unknown = not_replaced()
    layers = _layers(model)
    if not layers and not unknown:
        return None
    why = f": keras.random of Keras {keras.__version__} is not known here." if unknown else "."
    return depends_on_split(layers, why)


def _layers(model: keras.Model) -> list[str]:
    """The names of those that draw otherwise, in the order of the model."""

    def call(features: tf.Tensor) -> None:
        zero = tf.zeros([], tf.int64)
        with keras.StatelessScope(), drawn_by_example(0, zero, zero, features):
            model(features, training=True)

    given = model.inputs[0]
    spec = tf.TensorSpec((None, *given.shape[1:]), given.dtype)
    graph = tf.function(call, autograph=False).get_concrete_function(spec).graph.as_graph_def()
    drawing = [place for place in _drawing(graph) if SCOPE not in place]
    every = model._flatten_layers()  # noqa: SLF001 - Keras has no other way to all of them
    # TensorFlow numbers names that come again.
    names = {_unnumbered(layer.name): layer.name for layer in every}
    # The innermost layer with a name in the place; of functions within no place is known.
    found = {next((each for each in reversed(place) if each in names), "") for place in drawing}
    mixing = {_unnumbered(each.name) for each in every if type(each).__name__ in MIXING_LAYERS}
    named = [name for unnumbered, name in names.items() if unnumbered in found | mixing]
    return named or (["A layer"] if drawing else [])


def _drawing(graph: tf.compat.v1.GraphDef) -> Iterator[list[str]]:
    """Where operations draw, as the parts of their names without numbers at the end."""
    every = [*graph.node, *(node for each in graph.library.function for node in each.node_def)]
    for node in every:
        if any(word in node.op for word in _DRAWING):
            yield [_unnumbered(part) for part in node.name.split("/")]


def _unnumbered(name: str) -> str:
    return re.sub(r"(_\d+)+$", "", name)
