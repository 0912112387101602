"""A model that Python code of the person's own builds; see ``PythonModel`` in the domain."""

from collections import Counter
from dataclasses import dataclass

import keras
import tensorflow as tf

from gpupanel.domain.problem import ProblemError
from gpupanel.trainer.datasets.examples import DataSet, Examples
from gpupanel.trainer.models.fit_check import output_count
from gpupanel.trainer.models.scaling import scaled
from gpupanel.trainer.user_code import UserCode

_NAME = "python_model"
_FUNCTION = "build_model"
_LINEAR, _SOFTMAX = "linear", "softmax"
_CONTRACT = (
    "build_model(input_shape, outputs) gives a keras.Sequential or keras.Model(inputs, outputs) "
    "that takes one example of input_shape and gives so many outputs."
)


@dataclass(frozen=True, slots=True)
class PythonNetwork:
    """From raw features to the outputs that a loss is computed from.

    Attributes:
        code: The file whose ``build_model`` builds it.
        data: Tells scaling and classes.
        training: The examples that statistics are taken of.
    """

    code: UserCode
    data: DataSet
    training: Examples

    def outputs(self, inputs: keras.KerasTensor) -> keras.KerasTensor:
        """Build the model; the initial weights depend on Keras's seed alone.

        Raises:
            ProblemError: What the code gives cannot be trained here.
            Exception: Whatever the code raises.
        """
        shape = self.training.feature_shape
        count = output_count(self.data.target, len(self.data.class_names))
        model = self.code.function(_FUNCTION)(shape, count)
        if not isinstance(model, keras.Model):
            raise self._misfit(f"it is a {type(model).__name__}, no Keras model")
        model = self._checked(model, shape, count)
        hidden = scaled(inputs, self.data, self.training, lambda layer, before: layer(before))
        # In float32 also under mixed precision: the loss is computed from it.
        return keras.layers.Activation("linear", name="outputs", dtype="float32")(model(hidden))

    def _checked(self, model: keras.Model, shape: tuple[int, ...], outputs: int) -> keras.Model:
        if isinstance(model, keras.Sequential) and not model.built:
            model.build((None, *shape))
        inputs, given = getattr(model, "inputs", None), getattr(model, "outputs", None)
        if not inputs or not given:
            raise self._misfit(
                "its layers are not known: it is a class of its own, not sequential or functional"
            )
        if len(inputs) != 1 or len(given) != 1:
            raise self._misfit(f"it has {len(inputs)} inputs and {len(given)} outputs")
        if not _takes(tuple(inputs[0].shape[1:]), shape):
            raise self._misfit(
                f"it takes examples of the shape {tuple(inputs[0].shape[1:])}, but they have the "
                f"shape {shape}"
            )
        if tuple(given[0].shape[1:]) != (outputs,):
            raise self._misfit(
                f"it gives {tuple(given[0].shape[1:])} an example, but {outputs} are needed"
            )
        ending = _ending(model)
        if ending not in (_LINEAR, *([_SOFTMAX] if outputs > 1 else [])):
            wanted = "logits or a softmax are" if outputs > 1 else "the value as it is is"
            raise self._misfit(f"it ends in {ending}, but {wanted} needed")
        model = _without_softmax(model)
        model.name = _NAME
        self._check_weights(model)
        self._check_state(model)
        return model

    def _check_weights(self, model: keras.Model) -> None:
        paths = Counter(weight.path for weight in model.weights)
        repeated = [path for path, count in paths.items() if count > 1]
        if repeated:
            raise self._misfit(f"several of its weights have the name {repeated[0]}")

    def _check_state(self, model: keras.Model) -> None:
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
            raise self._misfit(
                f"a layer changes its weight {changed[0]} while it is called, which only batch "
                "normalisation may"
            )

    def _misfit(self, what: str) -> ProblemError:
        return self.code.problem(
            "user_code_model_misfit",
            f"What build_model() of {self.code.named} gives cannot be trained: {what}.",
            _CONTRACT,
        )


def _takes(wanted: tuple[int | None, ...], shape: tuple[int, ...]) -> bool:
    return len(wanted) == len(shape) and all(
        side in (None, there) for side, there in zip(wanted, shape, strict=True)
    )


def _ending(model: keras.Model) -> str:
    """The name of the function that the last layer ends in."""
    last = model.layers[-1]
    if isinstance(last, keras.layers.Softmax):
        return _SOFTMAX
    activation = getattr(last, "activation", keras.activations.linear)
    return getattr(activation, "__name__", _LINEAR)


def _without_softmax(model: keras.Model) -> keras.Model:
    """The model without the softmax that it ends in, if it does: the loss is exact before it."""
    last = model.layers[-1]
    if isinstance(last, keras.layers.Softmax):
        return keras.Model(model.inputs, last.input)
    if getattr(last, "activation", None) is keras.activations.softmax:
        last.activation = keras.activations.linear
    return model
