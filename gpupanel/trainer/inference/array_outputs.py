"""A saved model's outputs of any shape, all of an example in a row while they are spread."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import keras
import tensorflow as tf

from gpupanel.domain.model import ModelSettings
from gpupanel.domain.plan import LaunchPlan
from gpupanel.trainer.inference.array_predictions import RESERVED_NAMES
from gpupanel.trainer.inference.examples import InferenceExamples
from gpupanel.trainer.inference.replicas import DeviceModel, check_unscaled
from gpupanel.trainer.models.keras_settings import set_keras
from gpupanel.trainer.models.loaded_model import fitting_shape, load_named
from gpupanel.trainer.models.model_file_problems import check_ends, data_misfit
from gpupanel.trainer.models.named_model import NamedModel, taken_apart, with_inputs
from gpupanel.trainer.models.output_ending import ModelMisfitError


@dataclass(frozen=True, slots=True)
class GivenArrays:
    """A model that gives all its outputs in a row.

    Attributes:
        network: Takes examples as they are read.
        shapes: Of the outputs for one example by their names, in the order of the row.
    """

    network: keras.Model
    shapes: Mapping[str, tuple[int, ...]]

    @property
    def count(self) -> int:
        """Numbers in a row."""
        return sum(map(math.prod, self.shapes.values()))


def load_giving_arrays(
    model: ModelSettings, plan: LaunchPlan, examples: InferenceExamples, place: int
) -> tuple[list[DeviceModel], GivenArrays]:
    """Load a model that gives arrays onto each device of this process.

    Args:
        model: Says what is done with its input, beside its file.
        plan: Has the devices.
        examples: What it is given.
        place: Of this process in the plan's gang.

    Returns:
        One for each device, and what the first of them gives.

    Raises:
        ProblemError: Keras cannot load it, or it does not take such examples.
    """
    set_keras()
    path, scaled = model.chosen_path, model.chosen_inputs
    check_unscaled(path, examples, scaled)
    given, found = list[GivenArrays](), list[DeviceModel]()
    for planned in plan.replicas:
        if planned.process != place:
            continue
        device = planned.logical_device
        with tf.device(device):
            given.append(_in_a_row(path, examples))
        network, count = given[-1].network, given[-1].count
        found.append(DeviceModel(network, device, examples, count, scaled))
    return found, given[0]


def _in_a_row(path: str, examples: InferenceExamples) -> GivenArrays:
    model = load_named(path, keeps_names=True)
    begin, found = _called(path, model, examples)
    outputs = found if isinstance(found, dict) else dict.fromkeys(model.outputs, found)
    shapes = {name: tuple(outputs[name].shape[1:]) for name in model.outputs}
    for name, shape in shapes.items():
        if None in shape:
            raise data_misfit(path, f"the shape of its output {name}, {shape}, is open")
        if name in RESERVED_NAMES:
            raise data_misfit(path, f"its output has the name {name}, as an array of the file has")
    flat = [
        keras.layers.Reshape((-1,), dtype="float32")(keras.ops.cast(outputs[name], "float32"))
        for name in shapes
    ]
    joined = flat[0] if len(flat) == 1 else keras.layers.Concatenate(dtype="float32")(flat)
    return GivenArrays(keras.Model(begin, joined), shapes)


def _called(
    path: str, model: NamedModel, examples: InferenceExamples
) -> tuple[keras.KerasTensor, keras.KerasTensor | dict[str, keras.KerasTensor]]:
    """What the model gives for examples as they are read, and these.

    Raises:
        ProblemError: It takes others.
    """
    if not examples.inputs:
        check_ends((len(model.inputs), 1))
        ((name, taken),) = model.inputs.items()
        shape = fitting_shape(model.model, examples.feature_shape)
        one = keras.Input(shape, dtype=taken.dtype, name="features")
        return one, model.model(one if model.takes_one else {name: one})
    try:
        with_inputs(model.model, {each.name: each.shape for each in examples.inputs})
    except ModelMisfitError as misfit:
        raise data_misfit(path, str(misfit)) from misfit
    rows = keras.Input(examples.feature_shape, name="features")
    given = {
        each.name: keras.ops.cast(taken_apart(rows, each), model.inputs[each.name].dtype)
        for each in examples.inputs
    }
    return rows, model.model(given)
