"""How a script finds out what a model ends in: :mod:`gpupanel.trainer.models.ending`, in short."""

from collections.abc import Set as AbstractSet
from string import Template
from textwrap import fill
from typing import Final

from gpupanel.domain.data import Target
from gpupanel.domain.model import ModelSettings, Outputs
from gpupanel.domain.model_ending import (
    COMBINING,
    JOINING,
    MIXING,
    MOST_STEPS,
    PASSING,
    SMALLEST_PROBABILITY,
    UNBOUNDED,
    WEIGHTED,
)

_ENDING = '''
def last_layer(model):
    """The last layer that changes numbers, also of a model within; None: it stands twice."""
    given, same = model.outputs[0], keras.layers
    same = (same.Dropout, same.Flatten, same.Identity, same.Reshape)
    while True:
        last = given._keras_history.operation
        if len(last._inbound_nodes) != 1:
            return None
        linear = getattr(last, "activation", None) is keras.activations.linear
        if isinstance(last, keras.Model) and len(getattr(last, "outputs", ())) == 1:
            given = last.outputs[0]
        elif type(last) in same or (type(last) is keras.layers.Activation and linear):
            given = last.input
        else:
            return last


def traced_ending(model):
    """What the operations of TensorFlow's that the output comes from say."""
    passing = {
$passing
    }
    weighted = {
$weighted
    }
    combining = {
$combining
    }
    unbounded = {
$unbounded
    }
    mixing = {
$mixing
    }
    joining = {
$joining
    }
    given, count = model.inputs[0], int(np.prod(model.outputs[0].shape[1:]))
    call = tf.function(lambda features: model(features, training=False), autograph=False)
    traced = call.get_concrete_function(tf.TensorSpec((None, *given.shape[1:]), given.dtype))
    depends, known = {traced.inputs[0].op.name}, {}
    for each in traced.graph.get_operations():
        if any(one.op.name in depends for one in each.inputs):
            depends.add(each.name)

    def ending(output):
        if output.name not in known:
            known[output.name] = "unknown"
            if len(known) < $most_steps:
                known[output.name] = of_operation(output)
        return known[output.name]

    def is_of_softmax(operation):
        given = [each.op for each in operation.inputs if each.op.name in depends]
        if operation.type in joining:
            return all(is_of_softmax(each) for each in given)
        if operation.type in passing or operation.type == "Transpose":
            return is_of_softmax(operation.inputs[0].op)
        return operation.type == "Softmax"

    def of_operation(output):
        kind, sides = output.op.type, tuple(output.shape[1:])
        if kind in passing:
            return ending(output.op.inputs[0])
        if kind in weighted:
            given = [each.op for each in output.op.inputs if each.op.name in depends]
            are_mixed = kind in mixing and all(is_of_softmax(each) for each in given)
            return "unknown" if are_mixed else "linear"
        if kind in combining:
            found = {ending(each) for each in output.op.inputs if each.op.name in depends}
            if kind == "Minimum" and any(one.op.name not in depends for one in output.op.inputs):
                return "unknown"
            if kind == "ConcatV2" and found == {"sigmoid"}:
                return "sigmoid"
            return "linear" if found and found <= unbounded else "unknown"
        if kind == "Softmax":
            return "softmax" if sides == (*[1] * (len(sides) - 1), count) else "unknown"
        return kind.lower() if kind.lower() in {*unbounded, "sigmoid"} else "unknown"

    return ending(traced.outputs[0])


def ending_of(model):
    """What a model ends in: softmax, sigmoid, linear, or something else."""
    last, count = last_layer(model), int(np.prod(model.outputs[0].shape[1:]))
    says_it = type(last) in (keras.layers.Activation, keras.layers.Dense)
    if says_it and last.output.shape[-1] == count:
        for name in ("softmax", "sigmoid", "linear"):
            if last.activation is getattr(keras.activations, name):
                return name
    return traced_ending(model)


def with_logarithms(model, of_labels):
    """The model with what gives its probabilities again by a softmax, or a sigmoid each."""
    ops, given = keras.ops, keras.ops.cast(model.outputs[0], "float32")
    if of_labels:
        given = ops.clip(given, $smallest, 1 - 2**-24)
        return keras.Model(model.inputs, ops.subtract(ops.log(given), ops.log1p(-given)))
    return keras.Model(model.inputs, ops.log(ops.maximum(given, $smallest)))


def before_ending(model, ending):
    """The model without the softmax or sigmoid that it ends in: a loss is exact there."""
    last, activation = last_layer(model), getattr(keras.activations, ending)
    if isinstance(last, keras.layers.Softmax) and last.output is model.outputs[0]:
        return keras.Model(model.inputs, last.input)
    if getattr(last, "activation", None) is activation:
        last.activation = keras.activations.linear
        says_it = type(last) in (keras.layers.Activation, keras.layers.Dense)
        if says_it or ending_of(model) != ending:
            return model
        last.activation = activation
    return with_logarithms(model, ending == "sigmoid")
'''


def _named(operations: AbstractSet[str]) -> str:
    listed = ", ".join(f'"{name}"' for name in sorted(operations))
    return fill(listed, 98, initial_indent=" " * 8, subsequent_indent=" " * 8)


ENDING: Final = Template(_ENDING).substitute(
    passing=_named(PASSING),
    weighted=_named(WEIGHTED),
    combining=_named(COMBINING),
    unbounded=_named(UNBOUNDED),
    mixing=_named(MIXING),
    joining=_named(JOINING),
    most_steps=MOST_STEPS,
    smallest=SMALLEST_PROBABILITY,
)
"""Functions of a script: ``ending_of``, ``before_ending`` and ``with_logarithms``."""

_WITH_LOGITS = """ending = ending_of(network)
if ending == "{probable}":  # the loss is exact before it
    network = before_ending(network, ending)"""
_PROBABILITIES = """
else:
    network = with_logarithms(network, {of_labels})"""


def with_logits(model: ModelSettings, target: Target | None) -> str:
    """Lines that take the softmax or sigmoid off ``network``; empty where values are predicted.

    Args:
        model: Has what its outputs are, where a person says it.
        target: What the labels are; ``None``: classes, as far as anybody knows.
    """
    if target is Target.VALUES:
        return ""
    of_labels = target is Target.LABELS
    lines = _WITH_LOGITS.format(probable="sigmoid" if of_labels else "softmax")
    if model.said_outputs is Outputs.PROBABILITIES:
        lines += _PROBABILITIES.format(of_labels=of_labels)
    return lines
