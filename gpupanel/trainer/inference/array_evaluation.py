"""Evaluates a saved model that gives arrays, or several outputs, as its training measured it."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from threading import Lock

import numpy as np
import tensorflow as tf

from gpupanel.domain.model import ModelSettings
from gpupanel.domain.outcome import Metrics
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.trained_on import TrainedOn
from gpupanel.trainer.datasets.examples import Array, DataSet
from gpupanel.trainer.inference.examples import InferenceExamples
from gpupanel.trainer.inference.replicas import DeviceModel, check_unscaled
from gpupanel.trainer.metrics.set_metric import with_set_metrics
from gpupanel.trainer.models.array_objectives import array_objective
from gpupanel.trainer.models.build import BuiltModel
from gpupanel.trainer.models.external_model import InputShapes, checked_model
from gpupanel.trainer.models.joint_objective import JointObjective
from gpupanel.trainer.models.keras_settings import set_keras
from gpupanel.trainer.models.loaded_model import load_named
from gpupanel.trainer.models.model_file_problems import data_misfit
from gpupanel.trainer.models.named_model import on_rows
from gpupanel.trainer.models.network import Building
from gpupanel.trainer.models.output_ending import ModelMisfitError
from gpupanel.trainer.models.own_measures import OwnMeasures, check_fits_outputs, own_measures
from gpupanel.trainer.models.own_objective import check_by_example, labels_given, with_own
from gpupanel.trainer.parts.output_meaning import Floats
from gpupanel.trainer.user_code import RunCode

_HOST = "/device:CPU:0"
_TRIED_EXAMPLES = 4
"""Functions of the person's own are tried on them first."""
_NONE = np.empty(0, np.float32)


@dataclass(frozen=True, slots=True)
class EvaluatedArrays:
    """What is evaluated.

    Attributes:
        examples: On these.
        data: What they are of.
        trained: What the model's file says.
        own: Loss and metrics of the person's own.
    """

    examples: InferenceExamples
    data: DataSet
    trained: TrainedOn
    own: OwnMeasures

    @property
    def building(self) -> Building:
        """As what the model was trained."""
        has_own_loss = self.own.loss is not None
        return Building(self.data, self.data.training, has_own_loss=has_own_loss)

    def labels(self, first: int, end: int) -> Array:
        """Of these rows; of an autoencoder the examples themselves."""
        assert self.examples.labels is not None  # Python code has loaded them
        if self.data.learns_inputs:
            return self.examples.read(first, end)
        return self.examples.labels[first:end]


def evaluated_arrays(
    examples: InferenceExamples, data: DataSet, trained: TrainedOn, code: RunCode | None
) -> EvaluatedArrays:
    """What is evaluated, with what the person's code measures.

    Args:
        examples: On these.
        data: What they are of.
        trained: What the model's file says.
        code: Has loss and metrics; ``None``: none is executed.

    Raises:
        ProblemError: The model was trained by another loss.
        Exception: Whatever the code raises.
    """
    own = own_measures(code)
    measured = JointObjective(data.outputs, {}).names if data.outputs else ()
    check_fits_outputs(own, data, measured)
    was_own = trained.outputs == "own"
    if code is not None and was_own != (own.loss is not None):
        has, was = ("no loss", "by one") if was_own else ("a loss", "without one")
        raise own.refusal(f"{code.named} has {has}, and the model was trained {was} of its own.")
    return EvaluatedArrays(examples, data, trained, own)


class ArrayEvaluation:
    """Sums what the objective of a training measures, in double precision over the parts."""

    def __init__(self, evaluated: EvaluatedArrays, built: BuiltModel) -> None:
        """Nothing was measured yet.

        Args:
            evaluated: What is.
            built: The model, on whatever device.
        """
        data, own = evaluated.data, evaluated.own
        # Those of the training, whatever the code says by now.
        weights = {each.name: each.weight for each in evaluated.trained.parts}
        joint = JointObjective(data.outputs, weights) if data.outputs else None
        self._objective = with_own(own, joint or array_objective(data), built)
        self._evaluated, self._built = evaluated, built
        self._shape = tuple(built.trained.outputs[0].shape[1:])
        self._sums, self._count = np.zeros(self._objective.size), 0
        self._one_at_a_time = Lock()  # code of a person's own is no code for threads

    def try_own(self, outputs: Floats) -> None:
        """Refuse functions of the person's own that measure no example by itself.

        Args:
            outputs: Of the first examples, shape [examples, numbers].

        Raises:
            ProblemError: There is one.
            Exception: Whatever the code raises.
        """
        labels = self._evaluated.labels(0, len(outputs))
        with tf.device(_HOST):
            given = labels_given(tf.constant(labels), self._evaluated.data)
            shaped = tf.reshape(tf.constant(outputs), (-1, *self._shape))
            check_by_example(self._evaluated.own, given, self._built.as_saved(shaped))

    def digest(self, outputs: Floats, first: int) -> list[float]:
        """The sums over some examples.

        Args:
            outputs: Shape [examples, numbers].
            first: Row of the first of them.
        """
        labels = self._evaluated.labels(first, first + len(outputs))
        with self._one_at_a_time, tf.device(_HOST):
            given = tf.reshape(tf.constant(outputs), (-1, *self._shape))
            return [float(each) for each in self._objective.sums(given, tf.constant(labels))]

    def add(self, examples: int, parts: Sequence[list[float]]) -> None:
        """Take the sums of a batch."""
        self._sums += np.sum(parts, axis=0, dtype=np.float64)
        self._count += examples

    @property
    def metrics(self) -> Metrics:
        """Means over all examples that were added."""
        measured = self._objective.metrics(self._sums.tolist(), self._count)
        return with_set_metrics(measured, ())


def load_array_models(
    model: ModelSettings, plan: LaunchPlan, evaluated: EvaluatedArrays, place: int
) -> tuple[list[DeviceModel], BuiltModel]:
    """Load the model onto each device of this process, without what its outputs end in.

    A loss is exact before a softmax or a sigmoid.

    Args:
        model: Says what its inputs and outputs are, beside its file.
        plan: Has the devices.
        evaluated: What it is given, and what measures it.
        place: Of this process in the plan's gang.

    Returns:
        One for each device, and the first of them as what was trained.

    Raises:
        ProblemError: Keras cannot load it, or it does not fit the data.
    """
    set_keras()
    examples, path = evaluated.examples, model.chosen_path
    check_unscaled(path, examples, model.chosen_inputs)
    built, found = list[BuiltModel](), list[DeviceModel]()
    for planned in plan.replicas:
        if planned.process != place:
            continue
        device = planned.logical_device
        with tf.device(device):
            built.append(_built(model, evaluated))
        network = built[-1].trained
        sides = network.outputs[0].shape[1:]
        if evaluated.data.inputs:
            network = on_rows(network, evaluated.data.inputs)
        if None in sides:
            raise data_misfit(path, f"the shape of its outputs, {tuple(sides)}, is open")
        found.append(DeviceModel(network, device, examples, math.prod(sides), model.chosen_inputs))
    return found, built[0]


def _built(model: ModelSettings, evaluated: EvaluatedArrays) -> BuiltModel:
    data, path = evaluated.data, model.chosen_path
    shape: InputShapes = evaluated.examples.feature_shape
    if data.inputs:
        shape = {each.name: each.shape for each in data.inputs}
    loaded, building = load_named(path, keeps_names=True).model, evaluated.building
    try:
        network = checked_model(loaded, shape, building, model.chosen_outputs)
    except ModelMisfitError as misfit:
        raise data_misfit(path, str(misfit)) from misfit
    return BuiltModel(network, _NONE, _NONE, model, building)


def tried_outputs(models: Sequence[DeviceModel], examples: InferenceExamples) -> Floats:
    """What the first device gives for some examples."""
    return models[0](examples.read(0, min(_TRIED_EXAMPLES, len(examples))))
