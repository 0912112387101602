"""A model that Python code of the person's own builds; see ``PythonModel`` in the domain."""

from collections import Counter

import keras
import tensorflow as tf
from typing_extensions import override

from gpupanel.domain.data import Target
from gpupanel.domain.model import PythonModel
from gpupanel.trainer.models.network import Building, Network
from gpupanel.trainer.models.scaling import scaled

_NAME = "python_model"
_FUNCTION = "build_model"
_LINEAR = "linear"
_ENDINGS = {Target.CLASSES: "softmax", Target.LABELS: "sigmoid"}
"""What a model may end in instead of logits: it is taken off, and put back when it is saved."""
_CONTRACT = (
    "build_model(input_shape, outputs) gives a keras.Sequential or keras.Model(inputs, outputs) "
    "that takes one example of input_shape and gives that many outputs."
)


class _PythonModel(Network[PythonModel]):
    """Carries out ``build_model`` and calls the model that it gives."""

    @override
    def outputs(
        self, model: PythonModel, inputs: keras.KerasTensor, building: Building
    ) -> keras.KerasTensor:
        if building.code is None:
            raise ValueError("a model of the person's own code needs the code")
        shape = building.training.feature_shape
        built = building.code.function(_FUNCTION)(shape, building.output_count)
        try:
            built = _checked(built, building)
        except _MisfitError as misfit:
            raise building.code.problem(
                "user_code_model_misfit",
                f"What build_model() of {building.code.named} gives cannot be trained: {misfit}.",
                _CONTRACT,
            ) from misfit
        hidden = scaled(inputs, building)
        # In float32 also under mixed precision: the loss is computed from it.
        return keras.layers.Activation("linear", name="outputs", dtype="float32")(built(hidden))


class _MisfitError(Exception):
    """What of the model cannot be trained here, as the end of a sentence."""


def _checked(model: object, building: Building) -> keras.Model:
    """The model, without the softmax or sigmoid that it may end in.

    Raises:
        _MisfitError: It cannot be trained here.
    """
    shape, outputs = building.training.feature_shape, building.output_count
    if not isinstance(model, keras.Model):
        raise _MisfitError(f"it is a {type(model).__name__}, not a Keras model")
    if isinstance(model, keras.Sequential) and not model.built:
        model.build((None, *shape))
    inputs, given = getattr(model, "inputs", None), getattr(model, "outputs", None)
    if not inputs or not given:
        raise _MisfitError(
            "its layers are not known: it is a class of its own, not sequential or functional"
        )
    if len(inputs) != 1 or len(given) != 1:
        raise _MisfitError(f"it has {len(inputs)} inputs and {len(given)} outputs")
    if not _takes(tuple(inputs[0].shape[1:]), shape):
        raise _MisfitError(
            f"it takes examples of the shape {tuple(inputs[0].shape[1:])}, but they have the "
            f"shape {shape}"
        )
    if tuple(given[0].shape[1:]) != (outputs,):
        raise _MisfitError(
            f"it gives {tuple(given[0].shape[1:])} an example, but {outputs} are needed"
        )
    ending, may_end_in = _ending(model), _ENDINGS.get(building.data.target, _LINEAR)
    if ending not in (_LINEAR, may_end_in):
        wanted = "the value as it is is" if outputs == 1 else "the values as they are are"
        if may_end_in is not _LINEAR:
            wanted = f"logits or a {may_end_in} are"
        raise _MisfitError(f"it ends in {ending}, but {wanted} needed")
    plain = model if ending == _LINEAR else _without_ending(model)
    plain.name = _NAME
    _check_weights(plain)
    _check_state(plain)
    return plain


def _check_weights(model: keras.Model) -> None:
    paths = Counter(weight.path for weight in model.weights)
    repeated = [path for path, count in paths.items() if count > 1]
    if repeated:
        raise _MisfitError(f"several of its weights have the name {repeated[0]}")


def _check_state(model: keras.Model) -> None:
    """Refuse layers that change a weight while they are called: that would be lost."""
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
        raise _MisfitError(
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


NETWORK = _PythonModel()
