"""Evaluates a saved model that gives arrays, or several outputs, as its training measured it."""

import math
from collections.abc import Sequence

import numpy as np
import tensorflow as tf

from gpupanel.domain.model import ModelSettings
from gpupanel.domain.outcome import Metrics
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.trained_on import TrainedOn
from gpupanel.trainer.datasets.examples import DataSet
from gpupanel.trainer.inference.examples import InferenceExamples
from gpupanel.trainer.inference.replicas import DeviceModel, check_unscaled
from gpupanel.trainer.metrics.set_metric import with_set_metrics
from gpupanel.trainer.models.array_objectives import array_objective
from gpupanel.trainer.models.external_model import InputShapes, checked_model
from gpupanel.trainer.models.joint_objective import JointObjective
from gpupanel.trainer.models.keras_settings import set_keras
from gpupanel.trainer.models.loaded_model import load_named
from gpupanel.trainer.models.model_file_problems import data_misfit
from gpupanel.trainer.models.network import Building
from gpupanel.trainer.models.output_ending import ModelMisfitError
from gpupanel.trainer.parts.output_meaning import Floats

_HOST = "/device:CPU:0"


class ArrayEvaluation:
    """Sums what the objective of a training measures, in double precision over the parts."""

    def __init__(self, examples: InferenceExamples, data: DataSet, trained: TrainedOn) -> None:
        """Nothing was measured yet.

        Args:
            examples: Those that are evaluated.
            data: What they are of.
            trained: What the model's file says.
        """
        weights = {each.name: each.weight for each in trained.parts}
        self._objective = (
            JointObjective(data.outputs, weights) if data.outputs else array_objective(data)
        )
        self._examples, self._data = examples, data
        self._sums, self._count = np.zeros(self._objective.size), 0

    def digest(self, outputs: Floats, first: int) -> list[float]:
        """The sums over some examples.

        Args:
            outputs: Shape [examples, numbers].
            first: Row of the first of them.
        """
        end, data = first + len(outputs), self._data
        assert self._examples.labels is not None  # arrays are
        labels = self._examples.labels[first:end]
        if data.learns_inputs:
            labels = self._examples.read(first, end)
        with tf.device(_HOST):
            given = tf.reshape(tf.constant(outputs), (-1, *data.output_shape))
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
    model: ModelSettings, plan: LaunchPlan, examples: InferenceExamples, data: DataSet, place: int
) -> list[DeviceModel]:
    """Load the model onto each device of this process, without what its outputs end in.

    A loss is exact before a softmax or a sigmoid.

    Args:
        model: Says what its inputs and outputs are, beside its file.
        plan: Has the devices.
        examples: What it is given.
        data: What they are of.
        place: Of this process in the plan's gang.

    Raises:
        ProblemError: Keras cannot load it, or it does not fit the data.
    """
    set_keras()
    path = model.chosen_path
    check_unscaled(path, examples, model.chosen_inputs)
    shape: InputShapes = examples.feature_shape
    if data.inputs:
        shape = {each.name: each.shape for each in data.inputs}
    found = []
    for planned in plan.replicas:
        if planned.process != place:
            continue
        with tf.device(planned.logical_device):
            loaded = load_named(path, keeps_names=True).model
            building = Building(data, data.training)
            try:
                network = checked_model(loaded, shape, building, model.chosen_outputs)
            except ModelMisfitError as misfit:
                raise data_misfit(path, str(misfit)) from misfit
        outputs = math.prod(data.output_shape)
        device, given = planned.logical_device, model.chosen_inputs
        found.append(DeviceModel(network, device, examples, outputs, given))
    return found
