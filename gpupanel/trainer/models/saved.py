"""A saved model that is trained further; see ``SavedModel`` in the domain."""

from collections.abc import Mapping

import keras
from typing_extensions import override

from gpupanel.domain.data import Target
from gpupanel.domain.model import Head, Inputs, SavedModel
from gpupanel.domain.problem import ProblemError
from gpupanel.trainer.models.external_model import InputShapes, check_state, checked_model
from gpupanel.trainer.models.frozen_layers import last_learning, let_learn
from gpupanel.trainer.models.loaded_model import (
    check_single,
    fitting_shape,
    load_named,
    load_saved,
)
from gpupanel.trainer.models.model_file_problems import data_misfit, problem, saved_model_misfit
from gpupanel.trainer.models.named_model import taken_apart
from gpupanel.trainer.models.network import Building, GivenInputs, Network
from gpupanel.trainer.models.output_ending import ModelMisfitError
from gpupanel.trainer.models.saved_ending import AROUND, WHOLE
from gpupanel.trainer.parts.given_models import (
    averaged_over_places,
    layers_with_weights,
    set_precision,
    unwrapped,
    without_head,
)
from gpupanel.trainer.parts.statistics import statistics

_BASE = "base"


class _SavedModel(Network[SavedModel]):
    """Calls the model of the file, or all of it but its last layer."""

    @override
    def outputs(
        self, model: SavedModel, inputs: GivenInputs, building: Building
    ) -> keras.KerasTensor:
        path = str(building.start_model or model.path)
        if building.has_structure and model.head is Head.KEPT:
            return _of_structure(model, path, inputs, building)
        assert isinstance(inputs, keras.KerasTensor)  # of several inputs is the structure
        whole = load_saved(path)
        loaded = unwrapped(whole, WHOLE, AROUND)
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
            base = without_head(loaded)
            base.name = _BASE
            let_learn(list(layers_with_weights(base)), last_learning(model.frozen_layers))
            set_precision(list(layers_with_weights(base)))
            hidden = averaged_over_places(base(examples))
            head = keras.layers.Dense(building.output_count, name="outputs", dtype="float32")
            return head(hidden)
        try:
            # What a former run trained further gives logits, whatever its layers show.
            are_logits = loaded is not whole
            network = checked_model(loaded, shape, building, model.outputs, are_logits=are_logits)
        except ModelMisfitError as misfit:
            raise saved_model_misfit(path, str(misfit)) from misfit
        network.name = WHOLE
        *base_layers, head = layers_with_weights(network)
        let_learn(base_layers, last_learning(model.frozen_layers))
        set_precision(base_layers)
        del head  # it learns, in the precision that it was saved with
        hidden = network(examples)
        if building.data.target is Target.VALUES:
            return _standardised(hidden, building)
        # In float32 also under mixed precision: the loss is computed from it.
        return keras.layers.Activation("linear", name="outputs", dtype="float32")(hidden)

    @override
    def base_layers(self, model: SavedModel, trained: keras.Model) -> list[keras.layers.Layer]:
        if model.head is Head.NEW:
            return list(layers_with_weights(trained.get_layer(_BASE)))
        return list(layers_with_weights(trained.get_layer(WHOLE)))[:-1]


def _of_structure(
    model: SavedModel, path: str, inputs: GivenInputs, building: Building
) -> keras.KerasTensor:
    """Of a model of several inputs, or that gives arrays: what a loss is computed from."""
    data, scaled = building.data, model.inputs or Inputs.AS_GIVEN
    if data.inputs and scaled is not Inputs.AS_GIVEN:
        raise data_misfit(path, "model.inputs scales one input, and examples have several")
    whole = load_named(path, keeps_names=True).model
    loaded = unwrapped(whole, WHOLE, AROUND)
    loaded.trainable = True
    shape: InputShapes = building.training.feature_shape
    if data.inputs:
        shape = {each.name: each.shape for each in data.inputs}
    try:
        network = checked_model(
            loaded, shape, building, model.outputs, are_logits=loaded is not whole
        )
    except ModelMisfitError as misfit:
        raise data_misfit(path, str(misfit)) from misfit
    if building.begins:
        _check_trainable(network, path)
    network.name = WHOLE
    base_layers = list(layers_with_weights(network))[:-1]
    let_learn(base_layers, last_learning(model.frozen_layers))
    set_precision(base_layers)
    if data.inputs:
        given = [
            inputs[each.name] if isinstance(inputs, Mapping) else taken_apart(inputs, each)
            for each in data.inputs
        ]
    else:
        assert isinstance(inputs, keras.KerasTensor)
        scale, offset = scaled.scale_and_offset
        scaling = keras.layers.Rescaling(scale, offset, name="given_range", dtype="float32")
        given = [inputs if scaled is Inputs.AS_GIVEN else scaling(inputs)]
    cast = [
        each if str(taken.dtype).startswith("float") else keras.ops.cast(each, taken.dtype)
        for each, taken in zip(given, network.inputs, strict=True)
    ]
    hidden = network(cast if len(cast) > 1 else cast[0])
    if data.arrays_of is None and data.target is Target.VALUES:
        return _standardised(hidden, building)
    # In float32 also under mixed precision: the loss is computed from it.
    return keras.layers.Activation("linear", name="outputs", dtype="float32")(hidden)


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
