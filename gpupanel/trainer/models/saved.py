"""A saved model that is trained further; see ``SavedModel`` in the domain."""

from collections.abc import Iterator

import keras
from typing_extensions import override

from gpupanel.domain.data import Target
from gpupanel.domain.model import Head, Inputs, SavedModel
from gpupanel.domain.problem import ProblemError
from gpupanel.trainer.models.external_model import check_state, checked_model
from gpupanel.trainer.models.frozen_layers import last_learning, let_learn
from gpupanel.trainer.models.loaded_model import check_single, fitting_shape, load_saved
from gpupanel.trainer.models.model_file_problems import problem, saved_model_misfit
from gpupanel.trainer.models.network import Building, Network
from gpupanel.trainer.models.output_ending import ModelMisfitError
from gpupanel.trainer.models.saved_ending import AROUND, WHOLE
from gpupanel.trainer.models.scaling import statistics

_BASE = "base"
_AFTER_HEAD = (
    keras.layers.Activation,
    keras.layers.Dropout,
    keras.layers.Flatten,
    keras.layers.Rescaling,
    keras.layers.Reshape,
    keras.layers.Softmax,
)
"""What may follow the last layer with weights, and goes with it."""
_OWN_PRECISION = (keras.layers.Rescaling, keras.layers.Normalization)
"""Raw values need not fit into a half."""


class _SavedModel(Network[SavedModel]):
    """Calls the model of the file, or all of it but its last layer."""

    @override
    def outputs(
        self, model: SavedModel, inputs: keras.KerasTensor, building: Building
    ) -> keras.KerasTensor:
        path = str(building.start_model or model.path)
        whole = load_saved(path)
        loaded = _unwrapped(whole)
        check_single(loaded)
        shape = fitting_shape(loaded, building.training.feature_shape)
        examples = inputs
        if shape != building.training.feature_shape:
            examples = keras.layers.Reshape(shape, name="start_shape", dtype="float32")(examples)
        given = model.inputs or Inputs.AS_GIVEN
        if given is not Inputs.AS_GIVEN:
            scale, offset = given.scale_and_offset
            scaling = keras.layers.Rescaling(scale, offset, name="given_range", dtype="float32")
            examples = scaling(examples)
        if not str(loaded.inputs[0].dtype).startswith("float"):
            examples = keras.ops.cast(examples, loaded.inputs[0].dtype)
        loaded.trainable = True  # also what was frozen when it was saved
        if building.begins:
            _check_trainable(loaded, path)
        if model.head is Head.NEW:
            base = _without_head(loaded)
            base.name = _BASE
            let_learn(list(_layers(base)), last_learning(model.frozen_layers))
            _set_precision(list(_layers(base)))
            return _new_head(base, examples, building)
        try:
            # What a former run trained further gives logits, whatever its layers show.
            are_logits = loaded is not whole
            network = checked_model(loaded, shape, building, model.outputs, are_logits=are_logits)
        except ModelMisfitError as misfit:
            raise saved_model_misfit(path, str(misfit)) from misfit
        network.name = WHOLE
        *base_layers, head = _layers(network)
        let_learn(base_layers, last_learning(model.frozen_layers))
        _set_precision(base_layers)
        del head  # it learns, in the precision that it was saved with
        hidden = network(examples)
        if building.data.target is Target.VALUES:
            return _standardised(hidden, building)
        # In float32 also under mixed precision: the loss is computed from it.
        return keras.layers.Activation("linear", name="outputs", dtype="float32")(hidden)

    @override
    def base_layers(self, model: SavedModel, trained: keras.Model) -> list[keras.layers.Layer]:
        if model.head is Head.NEW:
            return list(_layers(trained.get_layer(_BASE)))
        return list(_layers(trained.get_layer(WHOLE)))[:-1]


def _check_trainable(model: keras.Model, path: str) -> None:
    """Refuse what no last layer would make trainable.

    Raises:
        ProblemError: It cannot be trained here.
    """
    try:
        check_state(model)
    except ModelMisfitError as misfit:
        raise _not_trainable(path, str(misfit)) from misfit
    if not model.trainable_weights:
        raise _not_trainable(path, "it has no weights that could learn")


def _not_trainable(path: str, why: str) -> ProblemError:
    return problem(
        "saved_model_not_trainable",
        f"The model in {path} cannot be trained further: {why}.",
        "Evaluate it, or choose another model.",
    )


def _layers(model: keras.Model) -> Iterator[keras.layers.Layer]:
    """The layers with weights in order, those of nested models included."""
    for layer in model.layers:
        if isinstance(layer, keras.Model):
            yield from _layers(layer)
        elif layer.weights:
            yield layer


def _unwrapped(model: keras.Model) -> keras.Model:
    """The model that a former run trained further, without what stands around it in its file.

    So a model that is trained further again and again does not become one within one within one.
    """
    inner = [each for each in model.layers if not isinstance(each, keras.layers.InputLayer)]
    whole = [each for each in inner if isinstance(each, keras.Model) and each.name == WHOLE]
    rest = [each for each in inner if each not in whole]
    if len(whole) == 1 and all(each.name in AROUND and not each.weights for each in rest):
        return whole[0]
    return model


def _without_head(model: keras.Model) -> keras.Model:
    """The model up to the input of its last dense layer; all of it where it does not end in one."""
    given = model.outputs[0]
    while True:
        layer = given._keras_history.operation  # noqa: SLF001 - Keras has no other way back
        is_alone = isinstance(layer, keras.layers.Layer) and len(layer._inbound_nodes) == 1  # noqa: SLF001
        if is_alone and isinstance(layer, keras.layers.Dense):
            return keras.Model(model.inputs, layer.input)
        if not (is_alone and isinstance(layer, _AFTER_HEAD)):
            return model
        given = layer.input


def _new_head(
    base: keras.Model, examples: keras.KerasTensor, building: Building
) -> keras.KerasTensor:
    """A dense layer on what the base gives, which is averaged over the places of an image."""
    hidden = base(examples)
    match len(hidden.shape) - 1:
        case 3:
            hidden = keras.layers.GlobalAveragePooling2D(name="mean")(hidden)
        case 2:
            hidden = keras.layers.GlobalAveragePooling1D(name="mean")(hidden)
        case 1:
            pass
        case _:
            hidden = keras.layers.Flatten(name="flat")(hidden)
    return keras.layers.Dense(building.output_count, name="outputs", dtype="float32")(hidden)


def _set_precision(layers: list[keras.layers.Layer]) -> None:
    """Have them compute as the training says, not as they were saved."""
    policy = keras.config.dtype_policy()
    for layer in layers:
        if not isinstance(layer, _OWN_PRECISION):
            for each in layer._flatten_layers():  # noqa: SLF001 - Keras has no other way to all
                each.dtype_policy = policy


def _standardised(values: keras.KerasTensor, building: Building) -> keras.KerasTensor:
    """Converts values to standard deviations from the mean of the labels."""
    found = statistics(building.training.labels.reshape(len(building.training), -1))
    scale, offset = 1.0 / found.deviation, -found.mean / found.deviation
    one = len(scale) == 1
    return keras.layers.Rescaling(
        scale=float(scale[0]) if one else scale.tolist(),
        offset=float(offset[0]) if one else offset.tolist(),
        name="standardised",
        dtype="float32",
    )(values)


NETWORK = _SavedModel()
