"""What a model ends in: probabilities, or the logits before them.

A layer of Keras's own that says it is believed; everything else is traced, and the operations that
its output comes from decide, whatever layers are called. So a softmax may stand in a model within
the model, be a function instead of a layer, or have a reshape behind it.

The exported script does the same (:mod:`gpupanel.planning.script.ending`), by the operations of
:mod:`gpupanel.domain.model_ending`.
"""

import contextlib
from collections.abc import Callable

import keras
import tensorflow as tf

from gpupanel.domain.model_ending import (
    COMBINING,
    JOINING,
    LARGEST_PROBABILITY,
    MIXING,
    MOST_STEPS,
    PASSING,
    SMALLEST_PROBABILITY,
    UNBOUNDED,
    WEIGHTED,
)
from gpupanel.trainer.models.output_ending import LINEAR, SIGMOID, SOFTMAX, UNKNOWN

_layers = keras.layers
_SAME_NUMBERS = (_layers.Dropout, _layers.Flatten, _layers.Identity, _layers.Reshape)
"""Layers that give the numbers that they are given, in the same order, where nothing is trained."""
_SAYS_IT = (_layers.Activation, _layers.Dense)
"""Layers that end in their activation; a class of somebody else's may do more."""
_ACTIVATIONS = UNBOUNDED | {SIGMOID, "relu6", "softsign", "tanh"}


def ending_of(model: keras.Model) -> str:
    """What the model ends in.

    Args:
        model: Functional or sequential, with one input and one output.

    Returns:
        ``softmax`` (over all outputs of an example), ``sigmoid``, ``linear`` (numbers without
        bounds), the name of another activation, or ``unknown``.
    """
    last, count = _last(model), _count(model)
    activation = getattr(last, "activation", None)
    if last is not None and type(last) in _SAYS_IT and last.output.shape[-1] == count:
        for name in (SOFTMAX, SIGMOID, LINEAR):
            if activation is getattr(keras.activations, name):
                return name
    found = _traced_ending(model, count)
    if found == UNKNOWN and activation not in (None, keras.activations.linear):
        named: str = getattr(activation, "__name__", UNKNOWN)
        return UNKNOWN if named == SOFTMAX else named
    return found


def ending_of_configuration(configuration: object) -> str:
    """What a model ends in that is known by its configuration alone.

    Its weights get no values and GPUs are left alone, so that it takes no memory. For a process of
    its own.

    Args:
        configuration: As a ``.keras`` file holds it, of layers of Keras's own.

    Raises:
        Exception: Whatever Keras raises of what it cannot build.
    """
    with contextlib.suppress(RuntimeError):  # in use already
        tf.config.set_visible_devices([], "GPU")
    with keras.StatelessScope(initialize_variables=False):
        model = keras.saving.deserialize_keras_object(configuration, safe_mode=True)
        return ending_of(model)


def before_ending(model: keras.Model, ending: str) -> keras.Model:
    """The model without the softmax or sigmoid that it ends in: a loss is exact there.

    Where that cannot be taken off, its logarithm (of a sigmoid, the logit) follows it: the same
    numbers, as far as float32 holds them.

    Args:
        model: It may be changed.
        ending: One of both, as :func:`ending_of` found it.
    """
    last, output = _last(model), model.outputs[0]
    if last is not None and isinstance(last, _layers.Softmax) and last.output is output:
        return keras.Model(model.inputs, last.input)
    activation = getattr(keras.activations, ending)
    if last is not None and getattr(last, "activation", None) is activation:
        last.activation = keras.activations.linear
        if type(last) in _SAYS_IT or ending_of(model) != ending:
            return model
        last.activation = activation
    return with_logarithms(model, of_labels=ending == SIGMOID)


def with_logarithms(model: keras.Model, *, of_labels: bool) -> keras.Model:
    """The model with what gives its probabilities again by a softmax, or a sigmoid each.

    Args:
        model: Gives probabilities.
        of_labels: Each output is the probability of a label of its own.
    """
    ops, given = keras.ops, keras.ops.cast(model.outputs[0], "float32")
    if of_labels:
        given = ops.clip(given, SMALLEST_PROBABILITY, LARGEST_PROBABILITY)
        return keras.Model(model.inputs, ops.subtract(ops.log(given), ops.log1p(-given)))
    return keras.Model(model.inputs, ops.log(ops.maximum(given, SMALLEST_PROBABILITY)))


def _count(model: keras.Model) -> int | None:
    """Outputs an example."""
    count = 1
    for side in model.outputs[0].shape[1:]:
        if side is None:
            return None
        count *= side
    return count


def _last(model: keras.Model) -> keras.Operation | None:
    """The last layer that changes numbers, also of a model within; ``None``: it stands twice."""
    given = model.outputs[0]
    for _ in range(MOST_STEPS):
        operation = given._keras_history.operation  # noqa: SLF001 - Keras has no other way back
        if len(operation._inbound_nodes) != 1:  # noqa: SLF001
            return None
        if isinstance(operation, keras.Model) and len(getattr(operation, "outputs", ())) == 1:
            given = operation.outputs[0]
        elif type(operation) in _SAME_NUMBERS or _is_linear_activation(operation):
            given = operation.input
        else:
            return operation
    return None


def _is_linear_activation(operation: keras.Operation) -> bool:
    linear = keras.activations.linear
    return type(operation) is _layers.Activation and operation.activation is linear


def _traced_ending(model: keras.Model, count: int | None) -> str:
    """What the operations behind the output say; nothing is computed."""
    given = model.inputs[0]
    function = tf.function(lambda features: model(features, training=False), autograph=False)
    traced = function.get_concrete_function(tf.TensorSpec((None, *given.shape[1:]), given.dtype))
    depends = {traced.inputs[0].op.name}
    for operation in traced.graph.get_operations():
        if any(each.op.name in depends for each in operation.inputs):
            depends.add(operation.name)
    known: dict[str, str] = {}

    def ending(output: tf.Tensor) -> str:
        if output.name not in known:
            known[output.name] = UNKNOWN
            if len(known) < MOST_STEPS:
                known[output.name] = _of_operation(output, count, depends, ending)
        return known[output.name]

    return ending(traced.outputs[0])


def _are_of_softmax(operation: tf.Operation, depends: set[str]) -> bool:
    """Whether what it gives are probabilities of classes alone."""
    if operation.type in JOINING:
        given = [each.op for each in operation.inputs if each.op.name in depends]
        return all(_are_of_softmax(each, depends) for each in given)
    if operation.type in PASSING or operation.type == "Transpose":
        return _are_of_softmax(operation.inputs[0].op, depends)
    return bool(operation.type == "Softmax")


def _of_operation(
    output: tf.Tensor, count: int | None, depends: set[str], ending: Callable[[tf.Tensor], str]
) -> str:
    """What an operation gives.

    Args:
        output: Its output.
        count: Outputs of the model.
        depends: Names of the operations that depend on the model's input; others are weights.
        ending: What another one gives.
    """
    operation = output.op
    if operation.type in PASSING:
        return ending(operation.inputs[0])
    if operation.type in WEIGHTED:
        from_input = [each.op for each in operation.inputs if each.op.name in depends]
        are_mixed = operation.type in MIXING and all(
            _are_of_softmax(each, depends) for each in from_input
        )
        return UNKNOWN if are_mixed else LINEAR
    if operation.type in COMBINING:
        given = {ending(each) for each in operation.inputs if each.op.name in depends}
        if operation.type == "Minimum" and any(
            each.op.name not in depends for each in operation.inputs
        ):
            return UNKNOWN  # clipped, perhaps to what probabilities can be
        if operation.type == "ConcatV2" and given == {SIGMOID}:
            return SIGMOID
        return LINEAR if given and given <= UNBOUNDED else UNKNOWN
    if operation.type == "Softmax":
        # One over all outputs: the last axis has them, and no other axis has several.
        sides = tuple(output.shape[1:])
        return SOFTMAX if sides == (*[1] * (len(sides) - 1), count) else UNKNOWN
    lowered: str = operation.type.lower()
    return lowered if lowered in _ACTIVATIONS else UNKNOWN
