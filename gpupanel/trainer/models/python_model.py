"""A model that Python code of the person's own builds; see ``PythonModel`` in the domain."""

from collections import Counter

import keras
from typing_extensions import override

from gpupanel.domain.model import PythonModel
from gpupanel.trainer.models.external_model import InputShapes, check_state, checked_model
from gpupanel.trainer.models.network import Building, GivenInputs, Network
from gpupanel.trainer.models.output_ending import ModelMisfitError
from gpupanel.trainer.models.scaling import scaled, scaled_apart

_NAME = "python_model"
_FUNCTION = "build_model"
_CONTRACT = (
    "build_model(input_shape, outputs) gives a keras.Sequential or keras.Model(inputs, outputs) "
    "that takes one example of input_shape and gives that many outputs. Where labels are arrays, "
    "outputs is the shape of what it gives; where examples have several inputs, input_shape is a "
    "dictionary, and the model's inputs have the names in it; likewise outputs."
)


class _PythonModel(Network[PythonModel]):
    """Carries out ``build_model`` and calls the model that it gives."""

    @override
    def outputs(
        self, model: PythonModel, inputs: GivenInputs, building: Building
    ) -> keras.KerasTensor:
        if building.code is None:
            raise ValueError("a model of the person's own code needs the code")
        data = building.data
        shape: InputShapes = building.training.feature_shape
        if data.inputs:
            shape = {each.name: each.shape for each in data.inputs}
        outputs = asked_outputs(building)
        built = building.code.function(_FUNCTION)(shape, outputs)
        try:
            built = checked_model(built, shape, building, model.outputs)
            _check_weights(built)
            if building.begins:
                check_state(built)
        except ModelMisfitError as misfit:
            raise building.code.problem(
                "user_code_model_misfit",
                f"What build_model() of {building.code.named} gives cannot be trained: {misfit}.",
                _CONTRACT,
            ) from misfit
        built.name = _NAME
        hidden = scaled_apart(inputs, building) if data.inputs else scaled(inputs, building)
        # In float32 also under mixed precision: the loss is computed from it.
        return keras.layers.Activation("linear", name="outputs", dtype="float32")(built(hidden))


def asked_outputs(building: Building) -> object:
    """What ``build_model`` is told of outputs: a number, a shape, or of several a dictionary."""
    data = building.data
    if not data.outputs:
        return building.output_count if data.arrays_of is None else data.output_shape
    return {
        each.name: each.output_shape if each.shape else each.output_shape[0]
        for each in data.outputs
    }


def _check_weights(model: keras.Model) -> None:
    paths = Counter(weight.path for weight in model.weights)
    repeated = [path for path, count in paths.items() if count > 1]
    if repeated:
        raise ModelMisfitError(f"several of its weights have the name {repeated[0]}")


NETWORK = _PythonModel()
