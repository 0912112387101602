"""From model settings to the Keras model that is trained, and to the one that is saved."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

import keras
import numpy as np
import tensorflow as tf

from gpupanel.domain.data import Target
from gpupanel.domain.model import ModelSettings
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.trainer.datasets.examples import Array
from gpupanel.trainer.datasets.packed_inputs import apart
from gpupanel.trainer.models.network import Building, network_of
from gpupanel.trainer.models.objectives import Floats
from gpupanel.trainer.parts.batch_norm import batch_norms, prepare_batch_norms
from gpupanel.trainer.parts.statistics import statistics

_ANOTHER_MODEL = Problem(
    code="user_code_model_misfit",
    field="model.path",
    message="build_model() gives another model when it is called a second time, as it is to save "
    "what was learned.",
    hint="Let it depend on input_shape and outputs only, and keep numbers that it draws in weights "
    "(add_weight), or draw them by a seed of its own: numpy.random.default_rng(0).",
)
Tensor: TypeAlias = tf.Tensor | keras.KerasTensor
_ALIKE = 1e-3
"""Outputs are as near to each other, of which the largest is 1."""


@dataclass(frozen=True, slots=True)
class BuiltModel:
    """The model that is trained, and how to make the one that is saved.

    Attributes:
        trained: From raw features to logits (classes) or standardised values: what the loss is
            computed from, since it is exact there. Its layers may be made for a strategy.
        value_units: Standard deviations of the values to be predicted, in their units, shape
            [outputs]; empty where the labels are classes or arrays, or the loss is the person's
            own: nothing is standardised then.
        value_means: Their means, likewise.
        settings: What it was built from.
        building: And with what.
    """

    trained: keras.Model
    value_units: Floats
    value_means: Floats
    settings: ModelSettings
    building: Building

    @property
    def gives_rows(self) -> bool:
        """Whether an example has a row of outputs, of classes, labels or values."""
        return self.output_form == "row"

    @property
    def output_form(self) -> Literal["row", "arrays", "own"]:
        """What outputs are; see :class:`~gpupanel.domain.trained_on.TrainedOn`."""
        if self.building.has_own_loss:
            return "own"
        return "row" if self.building.data.arrays_of is None else "arrays"

    @property
    def waits_within(self) -> bool:
        """Whether replicas wait for each other while they compute: normalisation over all."""
        normalises = any(norm.trainable for norm in batch_norms(self.trained))
        return normalises and _synchronizes(self.settings, self.building)

    @property
    def base_layers(self) -> list[keras.layers.Layer]:
        """The layers that may be frozen, from the first to the last; see ``Network``."""
        return network_of(self.settings).base_layers(self.settings, self.trained)

    def plain(self, instead: Mapping[int, Array] | None = None) -> keras.Model:
        """The model as people use it, in Keras's own layers, with the weights of this moment.

        From raw features to probabilities (a softmax over the logits of classes, a sigmoid of each
        label's) or to values in their own units. Call it outside of the strategy's scope.

        Args:
            instead: What takes the place of weights of the trained model, by their ``id``.
        """
        # Layers of Keras's own, wherever they stand.
        plain = Building(
            self.building.data,
            self.building.training,
            self.building.code,
            begins=False,
            start_model=self.building.start_model,
            has_own_loss=self.building.has_own_loss,
        )
        inputs = plain.inputs_apart or plain.inputs
        outputs = network_of(self.settings).outputs(self.settings, inputs, plain)
        model = keras.Model(inputs, self.as_saved(outputs), name="model")
        # By their places: Keras numbers what has no name through the whole process.
        learned = [layer for layer in self.trained.layers if layer.weights]
        made = [layer for layer in model.layers if layer.weights]
        if list(map(_shapes, made)) != list(map(_shapes, learned)):
            raise ProblemError(_ANOTHER_MODEL)
        for layer, same in zip(learned, made, strict=True):
            held = layer.get_weights()
            of_weight = zip(layer.weights, held, strict=True)
            same.set_weights([(instead or {}).get(id(weight), now) for weight, now in of_weight])
        return model

    def given(self, features: Array) -> Array | dict[str, Array]:
        """Features as the plain model takes them.

        Args:
            features: As the trained one does.
        """
        inputs = self.building.data.inputs
        return apart(features, inputs) if inputs else features

    def as_saved(self, outputs: Tensor) -> Tensor | dict[str, Tensor]:
        """What the plain model gives of what the trained one does; several outputs by their names.

        Args:
            outputs: Logits, values or what the person's own loss is given, shape [n, ...].
        """
        data = self.building.data
        if not data.outputs:
            return self._last(data.target, "")(outputs)
        found, start = {}, 0
        for each in data.outputs:
            end = start + math.prod(each.output_shape)
            shaped = keras.layers.Reshape(each.output_shape, dtype="float32")
            last = self._last(each.target, f"_of_{each.name}")
            found[each.name] = last(shaped(outputs[:, start:end]))
            start = end
        return found

    def _last(self, target: Target, name: str) -> keras.layers.Layer:
        """The layer that turns logits into probabilities or values; other outputs stay so."""
        if self.building.has_own_loss:
            return keras.layers.Activation("linear", name=f"given{name}", dtype="float32")
        match target:
            case Target.CLASSES:
                return keras.layers.Softmax(name=f"probabilities{name}", dtype="float32")
            case Target.LABELS:
                return keras.layers.Activation(
                    "sigmoid", name=f"probabilities{name}", dtype="float32"
                )
        units, means = self.value_units.tolist(), self.value_means.tolist()
        if not units:
            return keras.layers.Activation("linear", name=f"values{name}", dtype="float32")
        one = len(units) == 1
        return keras.layers.Rescaling(
            scale=units[0] if one else units,
            offset=means[0] if one else means,
            name="values",
            dtype="float32",
        )


def check_built_again(built: BuiltModel, features: Array) -> None:
    """Refuse code that builds another model each time: what is saved would not be what learned.

    Args:
        built: Of code.
        features: Of some examples, as the model takes them.

    Raises:
        ProblemError: Two that have the same weights give other outputs.
    """
    given = built.given(features)
    one, other = (_logits_of(built.plain(), given) for _ in range(2))
    largest = max(float(np.abs(one).max(initial=0.0)), 1e-6)
    if not np.allclose(one, other, rtol=0.0, atol=_ALIKE * largest, equal_nan=True):
        raise ProblemError(_ANOTHER_MODEL)


def _logits_of(model: keras.Model, features: Array | dict[str, Array]) -> Array:
    """What a model that is saved gives before its last layer, where it does not saturate.

    Of several outputs what each gives.
    """
    if isinstance(model.output, dict):
        found = model(features, training=False)
        return np.concatenate([np.reshape(each, (len(each), -1)) for each in found.values()], 1)
    before = keras.Model(model.input, model.layers[-1].input)
    return np.asarray(before(features, training=False), np.float32)


def build_model(model: ModelSettings, building: Building) -> BuiltModel:
    """Build the model; call it within the strategy's scope.

    Raises:
        ProblemError: What code builds cannot be trained here.
        Exception: Whatever that code raises.
    """
    inputs = building.inputs
    outputs = network_of(model).outputs(model, inputs, building)
    trained = keras.Model(inputs, outputs, name="trained")
    prepare_batch_norms(trained, across_replicas=_synchronizes(model, building))
    units = means = np.empty(0, np.float32)
    is_row = building.data.arrays_of is None and not building.has_own_loss
    if is_row and building.data.target is Target.VALUES:
        columns = building.training.labels.reshape(len(building.training), -1)
        found = statistics(columns)
        units, means = found.deviation, found.mean
    return BuiltModel(trained, units, means, model, building)


def _shapes(layer: keras.layers.Layer) -> list[tuple[int, ...]]:
    return [tuple(weight.shape) for weight in layer.weights]


def _synchronizes(model: ModelSettings, building: Building) -> bool:
    return building.across_replicas and model.synchronizes_batch_norm
