"""A Keras model that was not built here: whether the loop can train it."""

import keras
import tensorflow as tf

from gpupanel.domain.data import Target
from gpupanel.domain.model import Outputs
from gpupanel.domain.problem import Fix, Problem, ProblemError
from gpupanel.trainer.models.ending import (
    LINEAR,
    SIGMOID,
    SOFTMAX,
    UNKNOWN,
    before_ending,
    ending_of,
    with_logarithms,
)
from gpupanel.trainer.models.network import Building

_ENDINGS = {Target.CLASSES: SOFTMAX, Target.LABELS: SIGMOID}
"""What a model may end in instead of logits: it is taken off, and put back when it is saved."""


class ModelMisfitError(Exception):
    """What of the model cannot be trained here, as the end of a sentence."""


def checked_model(
    model: object, shape: tuple[int, ...], building: Building, said: Outputs | None
) -> keras.Model:
    """The model, without the softmax or sigmoid that it may end in.

    Args:
        model: What was given.
        shape: Of one example, as it is given to the model.
        building: What it is for.
        said: What its outputs are, as a person says; ``None``: its layers have to show it.

    Raises:
        ModelMisfitError: It cannot be trained here.
        ProblemError: Nothing shows whether it ends in probabilities.
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
    return _with_logits(model, building.data.target, said)


def _with_logits(model: keras.Model, target: Target, said: Outputs | None) -> keras.Model:
    """The model, or what of it comes before its softmax or sigmoid; values as they are."""
    ending, probable = ending_of(model), _ENDINGS.get(target)
    if probable is None:
        if ending not in (LINEAR, UNKNOWN):
            one = tuple(model.outputs[0].shape[1:]) == (1,)
            wanted = "the value as it is is" if one else "the values as they are are"
            raise ModelMisfitError(f"it ends in {ending}, but {wanted} needed")
        return model
    if ending == probable:
        if said is Outputs.LOGITS:
            raise ModelMisfitError(f"it ends in a {ending}, and model.outputs says logits")
        return before_ending(model, ending)
    if said is Outputs.PROBABILITIES:
        return with_logarithms(model, of_labels=target is Target.LABELS)
    if ending == LINEAR or said is Outputs.LOGITS:
        return model
    if ending == UNKNOWN:
        raise ProblemError(_outputs_unknown(probable))
    raise ModelMisfitError(f"it ends in {ending}, but logits or a {probable} are needed")


def _outputs_unknown(probable: str) -> Problem:
    are, key = "They are", "model.outputs"
    return Problem(
        code="model_outputs_unknown",
        field=key,
        message="Whether the model gives probabilities or logits cannot be seen: its last layers "
        f"end neither in a {probable} nor in a layer without an activation.",
        hint=f"Say it in {key}: a {probable} over probabilities would be learned from wrongly.",
        fix=Fix.of(f"{are} probabilities", key, Outputs.PROBABILITIES.value),
        alternatives=(Fix.of(f"{are} logits", key, Outputs.LOGITS.value),),
    )


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
