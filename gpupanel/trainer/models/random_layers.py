"""Layers whose random numbers depend on more than step and example: found out from their graph."""

import re
from collections.abc import Callable, Iterator, Sequence
from collections.abc import Set as AbstractSet

import keras
import tensorflow as tf

from gpupanel.domain.problem import Problem
from gpupanel.domain.random_layers import MIXING_LAYERS, depends_on_split, drawn_in_predictions
from gpupanel.trainer.parts.random_numbers import SCOPE, drawn_by_example, not_replaced

_DRAWING = ("Random", "Multinomial", "TruncatedNormal", "Rng")
"""One of them is in the name of each type of TensorFlow's operations that draws."""
_PYTHON = "PyFunc"
"""The operation type that executes Python code, which may draw, too."""


def random_layer_warning(model: keras.Model) -> Problem | None:
    """A warning about layers that do not draw by step and example; ``None``: all do.

    Nothing is computed.
    """
    unknown = not_replaced()
    layers = _layers(model)
    if not layers and not unknown:
        return None
    why = f": keras.random of Keras {keras.__version__} is not known here." if unknown else "."
    return depends_on_split(layers, why)


def _layers(model: keras.Model) -> list[str]:
    """The names of those that draw otherwise, in the order of the model."""
    zero = tf.zeros([], tf.int64)

    def call(features: tf.Tensor) -> object:
        with drawn_by_example(0, zero, zero, features):
            return model(features, training=True)

    graph = _graph(model, call)
    places = [place for place in _drawing(graph, (*_DRAWING, _PYTHON)) if SCOPE not in place]
    # What Python draws while it is traced stands in the graph as a number, another one each time.
    again = dict(_constants(_graph(model, call)))
    places += [_place(name) for name, value in _constants(graph) if again.get(name, value) != value]
    mixing = [each.name for each in _all_of(model) if type(each).__name__ in MIXING_LAYERS]
    return _named(model, places, mixing)


def drawn_when_predicting(model: keras.Model) -> Problem | None:
    """A warning about layers that draw at random also where nothing is trained; ``None``: none.

    Nothing is computed.
    """
    graph = _graph(model, lambda features: model(features, training=False))
    # Recurrent layers draw masks that they use in training alone.
    layers = _named(model, list(_drawing(graph, _DRAWING, _needed_in(graph))))
    return drawn_in_predictions(layers) if layers else None


def _graph(model: keras.Model, call: Callable[[tf.Tensor], object]) -> tf.Graph:
    """What a call with examples of the model carries out."""

    def traced(features: tf.Tensor) -> object:
        with keras.StatelessScope():
            return call(features)

    given = model.inputs[0]
    spec = tf.TensorSpec((None, *given.shape[1:]), given.dtype)
    return tf.function(traced, autograph=False).get_concrete_function(spec).graph


def _needed_in(graph: tf.Graph) -> set[str]:
    """The names of the operations that the outputs of a function come from."""
    waiting, needed = [output.op for output in graph.outputs], set[str]()
    while waiting:
        operation = waiting.pop()
        if operation.name not in needed:
            needed.add(operation.name)
            waiting.extend(given.op for given in operation.inputs)
    return needed


def _all_of(model: keras.Model) -> list[keras.layers.Layer]:
    # Keras has no other way to all of them.
    return list(model._flatten_layers())  # noqa: SLF001


def _named(
    model: keras.Model, drawing: Sequence[Sequence[str]], more: Sequence[str] = ()
) -> list[str]:
    """The layers that draw in these places, and more, in the order of the model."""
    # TensorFlow numbers names that come again.
    names = {_unnumbered(layer.name): layer.name for layer in _all_of(model)}
    # The innermost layer with a name in the place; of functions within no place is known.
    found = {next((each for each in reversed(place) if each in names), "") for place in drawing}
    found |= set(map(_unnumbered, more))
    named = [name for unnumbered, name in names.items() if unnumbered in found]
    return named or (["A layer"] if drawing else [])


def _drawing(
    graph: tf.Graph, words: Sequence[str], needed: AbstractSet[str] | None = None
) -> Iterator[list[str]]:
    """Where operations draw, as the parts of their names without numbers at the end.

    Args:
        graph: Has the operations.
        words: One of them is in the name of the type of each that draws.
        needed: Names of those of the graph that count, beside all of functions within; ``None``:
            all.
    """
    defined = graph.as_graph_def()
    every = [node for node in defined.node if needed is None or node.name in needed]
    every += [node for each in defined.library.function for node in each.node_def]
    for node in every:
        if any(word in node.op for word in words):
            yield _place(node.name)


def _constants(graph: tf.Graph) -> Iterator[tuple[str, bytes]]:
    """The names of numbers that stand in a graph, and what they are."""
    for node in graph.as_graph_def().node:
        if node.op == "Const":
            yield node.name, node.attr["value"].SerializeToString(deterministic=True)


def _place(name: str) -> list[str]:
    """The name of an operation in its parts, without numbers at the end of each."""
    return [_unnumbered(part) for part in name.split("/")]


def _unnumbered(name: str) -> str:
    return re.sub(r"(_\d+)+$", "", name)
