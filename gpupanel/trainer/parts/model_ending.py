"""What a model ends in: probabilities, or the logits before them.

A layer of Keras's own that says it is believed; everything else is traced, and the operations that
its output comes from decide, whatever layers are called. So a softmax may stand in a model within
the model, be a function instead of a layer, or have a reshape behind it.
"""

from collections.abc import Callable

import keras
import tensorflow as tf

PASSING = frozenset(
    (
        *("Cast", "EnsureShape", "ExpandDims", "Identity", "PreventGradient", "Reshape"),
        *("Squeeze", "StopGradient"),
    )
)
"""Operations that give the numbers that they are given, in the same order."""
WEIGHTED = frozenset(
    (
        *("BatchMatMul", "BatchMatMulV2", "BatchMatMulV3", "Conv2D", "DepthwiseConv2dNative"),
        *("Einsum", "FusedBatchNormV3", "Log", "Log1p", "LogSoftmax", "MatMul"),
    )
)
"""Operations that give numbers without bounds: logits, or values."""
COMBINING = frozenset(
    (
        *("Add", "AddN", "AddV2", "BiasAdd", "ConcatV2", "Max", "Maximum", "Mean", "Minimum"),
        *("Mul", "Neg", "RealDiv", "Sub"),
    )
)
"""Operations that give such numbers where they are given no others."""
MIXING = frozenset({"BatchMatMul", "BatchMatMulV2", "BatchMatMulV3", "Einsum", "MatMul"})
"""Operations whose result may be probabilities where all that they are given are: a mixture."""
JOINING = frozenset({"ConcatV2", "Pack"})
"""Operations that give the numbers that several others give."""
UNBOUNDED = frozenset({"linear", "elu", "leakyrelu", "relu", "selu", "softplus"})
"""Endings that give numbers without bounds."""
SMALLEST_PROBABILITY = 1e-37
"""Near the smallest number that float32 holds in full precision."""
LARGEST_PROBABILITY = 1.0 - 2.0**-24
"""The largest number below 1 that float32 holds."""
MOST_STEPS = 200
"""As many layers or operations are gone back from a model's output."""
SAME_NUMBERS = (
    keras.layers.Dropout,
    keras.layers.Flatten,
    keras.layers.Identity,
    keras.layers.Reshape,
)
"""Layers that give the numbers that they are given, in the same order, where nothing is trained."""
SAYS_IT = (keras.layers.Activation, keras.layers.Dense)
"""Layers that end in their activation; a class of somebody else's may do more."""
NAMED_ACTIVATIONS = UNBOUNDED | {"sigmoid", "relu6", "softsign", "tanh"}


def ending_of(model: keras.Model, *, of_places: bool = False) -> str:
    """What the model ends in.

    Args:
        model: Functional or sequential, with one input, or a list of several, and one output.
        of_places: An example has several places, each with outputs along the last axis.

    Returns:
        ``softmax`` (over all outputs of an example, or of a place), ``sigmoid``, ``linear``
        (numbers without bounds), the name of another activation, or ``unknown``.
    """
    last = last_operation(model)
    count = model.outputs[0].shape[-1] if of_places else count_of_outputs(model)
    activation = getattr(last, "activation", None)
    if last is not None and type(last) in SAYS_IT and last.output.shape[-1] == count:
        for name in ("softmax", "sigmoid", "linear"):
            if activation is getattr(keras.activations, name):
                return name
    found = traced_ending(model, count, of_places=of_places)
    if found == "unknown" and activation not in (None, keras.activations.linear):
        named: str = getattr(activation, "__name__", "unknown")
        return "unknown" if named == "softmax" else named
    return found


def before_ending(model: keras.Model, ending: str, *, of_places: bool = False) -> keras.Model:
    """The model without the softmax or sigmoid that it ends in: a loss is exact there.

    Where that cannot be taken off, its logarithm (of a sigmoid, the logit) follows it: the same
    numbers, as far as float32 holds them.

    Args:
        model: It may be changed.
        ending: One of both, as :func:`ending_of` found it.
        of_places: As there.
    """
    last, output = last_operation(model), model.outputs[0]
    if last is not None and isinstance(last, keras.layers.Softmax) and last.output is output:
        return keras.Model(model.inputs, last.input)
    activation = getattr(keras.activations, ending)
    if last is not None and getattr(last, "activation", None) is activation:
        last.activation = keras.activations.linear
        if type(last) in SAYS_IT or ending_of(model, of_places=of_places) != ending:
            return model
        last.activation = activation
    return with_logarithms(model, of_labels=ending == "sigmoid")


def output_before_ending(
    alone: keras.Model, ending: str, *, of_labels: bool, is_given_once: bool
) -> keras.KerasTensor:
    """One of several outputs without the softmax or sigmoid that it ends in.

    Args:
        alone: The model with that output only.
        ending: As :func:`ending_of` found it.
        of_labels: Each number is the probability of a label of its own.
        is_given_once: It is no other output as well.
    """
    given = alone.outputs[0]._keras_history.operation  # noqa: SLF001 - Keras has no other way back
    last = last_operation(alone)
    is_last = last is not None and last is given and not last._outbound_nodes  # noqa: SLF001
    if is_given_once and is_last and ending == ("sigmoid" if of_labels else "softmax"):
        # Nothing else of the model is given what it ends in.
        return before_ending(alone, ending, of_places=True).outputs[0]
    return with_logarithms(alone, of_labels=of_labels).outputs[0]


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


def count_of_outputs(model: keras.Model) -> int | None:
    """Outputs an example."""
    count = 1
    for side in model.outputs[0].shape[1:]:
        if side is None:
            return None
        count *= side
    return count


def last_operation(model: keras.Model) -> keras.Operation | None:
    """The last layer that changes numbers, also of a model within; ``None``: it stands twice."""
    given = model.outputs[0]
    for _ in range(MOST_STEPS):
        operation = given._keras_history.operation  # noqa: SLF001 - Keras has no other way back
        if len(operation._inbound_nodes) != 1:  # noqa: SLF001
            return None
        if isinstance(operation, keras.Model) and len(getattr(operation, "outputs", ())) == 1:
            given = operation.outputs[0]
        elif type(operation) in SAME_NUMBERS or is_linear_activation(operation):
            given = operation.input
        else:
            return operation
    return None


def is_linear_activation(operation: keras.Operation) -> bool:
    """Whether it is a layer that changes nothing."""
    linear = keras.activations.linear
    return type(operation) is keras.layers.Activation and operation.activation is linear


def traced_ending(model: keras.Model, count: int | None, *, of_places: bool = False) -> str:
    """What the operations behind the output say; nothing is computed.

    Args:
        model: See :func:`ending_of`.
        count: Outputs of an example, or of a place of it.
        of_places: See :func:`ending_of`.
    """
    specs = [tf.TensorSpec((None, *each.shape[1:]), each.dtype) for each in model.inputs]

    def call(*features: tf.Tensor) -> tf.Tensor:
        return model(features[0] if len(features) == 1 else list(features), training=False)

    traced = tf.function(call, autograph=False).get_concrete_function(*specs)
    depends = {each.op.name for each in traced.inputs[: len(specs)]}
    for operation in traced.graph.get_operations():
        if any(each.op.name in depends for each in operation.inputs):
            depends.add(operation.name)
    known: dict[str, str] = {}

    def ending(output: tf.Tensor) -> str:
        if output.name not in known:
            known[output.name] = "unknown"
            if len(known) < MOST_STEPS:
                known[output.name] = ending_of_operation(
                    output, count, depends, ending, of_places=of_places
                )
        return known[output.name]

    return ending(traced.outputs[0])


def are_of_softmax(operation: tf.Operation, depends: set[str]) -> bool:
    """Whether what it gives are probabilities of classes alone."""
    if operation.type in JOINING:
        given = [each.op for each in operation.inputs if each.op.name in depends]
        return all(are_of_softmax(each, depends) for each in given)
    if operation.type in PASSING or operation.type == "Transpose":
        return are_of_softmax(operation.inputs[0].op, depends)
    return bool(operation.type == "Softmax")


def ending_of_operation(
    output: tf.Tensor,
    count: int | None,
    depends: set[str],
    ending: Callable[[tf.Tensor], str],
    *,
    of_places: bool = False,
) -> str:
    """What an operation gives.

    Args:
        output: Its output.
        count: Outputs of the model for an example, or for a place of it.
        depends: Names of the operations that depend on the model's input; others are weights.
        ending: What another one gives.
        of_places: See :func:`ending_of`.
    """
    operation = output.op
    if operation.type in PASSING:
        return ending(operation.inputs[0])
    if operation.type in WEIGHTED:
        from_input = [each.op for each in operation.inputs if each.op.name in depends]
        are_mixed = operation.type in MIXING and all(
            are_of_softmax(each, depends) for each in from_input
        )
        return "unknown" if are_mixed else "linear"
    if operation.type in COMBINING:
        given = {ending(each) for each in operation.inputs if each.op.name in depends}
        if operation.type == "Minimum" and any(
            each.op.name not in depends for each in operation.inputs
        ):
            return "unknown"  # clipped, perhaps to what probabilities can be
        if operation.type == "ConcatV2" and given == {"sigmoid"}:
            return "sigmoid"
        return "linear" if given and given <= UNBOUNDED else "unknown"
    if operation.type == "Softmax":
        # One over all outputs: the last axis has them, and no other axis has several.
        sides = tuple(output.shape[1:])
        is_whole = of_places or all(side == 1 for side in sides[:-1])
        return "softmax" if is_whole and sides[-1:] == (count,) else "unknown"
    lowered: str = operation.type.lower()
    return lowered if lowered in NAMED_ACTIVATIONS else "unknown"
