"""A Keras model that was not built here: whether the loop can train it."""

import keras
import tensorflow as tf

from gpupanel.domain.data import Target
from gpupanel.trainer.models.network import Building

_LINEAR = "linear"
_ENDINGS = {Target.CLASSES: "softmax", Target.LABELS: "sigmoid"}
"""What a model may end in instead of logits: it is taken off, and put back when it is saved."""


class ModelMisfitError(Exception):
    """What of the model cannot be trained here, as the end of a sentence."""


def checked_model(model: object, shape: tuple[int, ...], building: Building) -> keras.Model:
    """The model, without the softmax or sigmoid that it may end in.

    Args:
        model: What was given.
        shape: Of one example, as it is given to the model.
        building: What it is for.

    Raises:
        ModelMisfitError: It cannot be trained here.
    """
    outputs = building.output_count
    if not isinstance(model, keras.Model):
        raise ModelMisfitError(f"it is a {type(model).__name__}, not a Keras model")
    if isinstance(model, keras.Sequential) and not model.built:
        model.build((None, *shape))
    inputs, given = getattr(model, "inputs", None), getattr(model, "outputs", None)
    if not inputs or not given:
        raise ModelMisfitError(
            "its layers are not known: it is a class of its own, not sequential or functional"
        )
    if len(inputs) != 1 or len(given) != 1:
        raise ModelMisfitError(f"it has {len(inputs)} inputs and {len(given)} outputs")
    if not _takes(tuple(inputs[0].shape[1:]), shape):
        raise ModelMisfitError(
            f"it takes examples of the shape {tuple(inputs[0].shape[1:])}, but they have the "
            f"shape {shape}"
        )
    if tuple(given[0].shape[1:]) != (outputs,):
        raise ModelMisfitError(
            f"it gives {tuple(given[0].shape[1:])} an example, but {outputs} are needed"
        )
    ending, may_end_in = _ending(model), _ENDINGS.get(building.data.target, _LINEAR)
    if ending not in (_LINEAR, may_end_in):
        wanted = "the value as it is is" if outputs == 1 else "the values as they are are"
        if may_end_in is not _LINEAR:
            wanted = f"logits or a {may_end_in} are"
        raise ModelMisfitError(f"it ends in {ending}, but {wanted} needed")
    return model if ending == _LINEAR else _without_ending(model)


def check_state(model: keras.Model) -> None:
    """Refuse layers that change a weight while they are called: that would be lost.

    Raises:
        ModelMisfitError: It has such a layer.
    """
    kept = {
        id(state)
        for layer in model._flatten_layers()  # noqa: SLF001 - Keras has no other way to all
        if isinstance(layer, keras.layers.BatchNormalization)
        for state in (layer.moving_mean, layer.moving_variance)
    }
    changed: list[str] = []

    def call(features: tf.Tensor) -> None:
        with keras.StatelessScope() as scope:
            model(features, training=True)
        changed.extend(
            weight.path
            for weight in model.weights
            if id(weight) not in kept and scope.get_current_value(weight) is not None
        )

    # Traced only, not computed.
    given = model.inputs[0]
    spec = tf.TensorSpec((None, *given.shape[1:]), given.dtype)
    tf.function(call, autograph=False).get_concrete_function(spec)
    if changed:
        raise ModelMisfitError(
            f"a layer changes its weight {changed[0]} while it is called, which only batch "
            "normalisation may"
        )


def _takes(wanted: tuple[int | None, ...], shape: tuple[int, ...]) -> bool:
    return len(wanted) == len(shape) and all(
        side in (None, there) for side, there in zip(wanted, shape, strict=True)
    )


def _ending(model: keras.Model) -> str:
    """The name of the function that the last layer ends in."""
    last = model.layers[-1]
    if isinstance(last, keras.layers.Softmax):
        return _ENDINGS[Target.CLASSES]
    activation = getattr(last, "activation", keras.activations.linear)
    return getattr(activation, "__name__", _LINEAR)


def _without_ending(model: keras.Model) -> keras.Model:
    """The model without the function that it ends in: the loss is exact before it."""
    last = model.layers[-1]
    if isinstance(last, keras.layers.Softmax):
        return keras.Model(model.inputs, last.input)
    last.activation = keras.activations.linear
    return model
