"""A saved model, once on each device of the plan."""

import math
from dataclasses import dataclass

import keras
import numpy as np
import tensorflow as tf

from gpupanel.domain.data import Target
from gpupanel.domain.model import Inputs, Outputs
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.problem import Problem, Severity
from gpupanel.trainer.datasets.examples import Array
from gpupanel.trainer.inference.examples import InferenceExamples
from gpupanel.trainer.models.keras_settings import set_keras
from gpupanel.trainer.models.loaded_model import (
    check_single,
    fitting_shape,
    load_named,
    load_saved,
)
from gpupanel.trainer.models.model_file_problems import data_misfit, problem
from gpupanel.trainer.models.named_model import on_rows, with_inputs
from gpupanel.trainer.models.output_ending import ModelMisfitError
from gpupanel.trainer.parts.model_ending import before_ending, ending_of
from gpupanel.trainer.parts.output_meaning import (
    Activation,
    Floats,
    activation_of,
    ending_taken_off,
)
from gpupanel.trainer.parts.placed_model import PlacedModel


@dataclass(frozen=True, slots=True)
class OutputLayer:
    """The last layer of a model.

    Attributes:
        outputs: Numbers an example.
        activation: What its last layer does last; cut off by :func:`load_replicas` where it can
            be, because a loss is exact before it.
    """

    outputs: int
    activation: Activation


class DeviceModel(PlacedModel):
    """A model on one device that gives a row of numbers for each example."""

    def __init__(
        self,
        model: keras.Model,
        device: str,
        examples: InferenceExamples,
        outputs: int,
        given: Inputs | None = None,
    ) -> None:
        """Traces nothing yet.

        Args:
            model: With one output; takes a row of all inputs where the examples have several.
            device: Has its weights.
            examples: What it is given.
            outputs: Numbers an example.
            given: What is done with the examples before it takes them; ``None``: nothing.

        Raises:
            ProblemError: It takes other examples.
        """
        self.parameters = int(model.count_params())
        self.trainable_parameters = sum(
            int(variable.value.shape.num_elements()) for variable in model.trainable_variables
        )
        shape = examples.feature_shape
        super().__init__(
            model,
            device,
            shape if examples.inputs else fitting_shape(model, shape),
            np.uint8 if examples.features_are_bytes else np.float32,
            outputs,
            (given or Inputs.AS_GIVEN).scale_and_offset,
        )

    def __call__(self, features: Array) -> Floats:
        """The outputs for these examples, shape [examples, outputs].

        Args:
            features: At least one example; several threads may call at the same time.
        """
        return np.asarray(self.outputs_for(features).numpy(), np.float32)


class Replica(DeviceModel):
    """A copy of a model that gives a row of classes, labels or values."""

    def __init__(
        self,
        model: keras.Model,
        device: str,
        examples: InferenceExamples,
        said: Outputs | None = None,
        given: Inputs | None = None,
    ) -> None:
        """Traces nothing yet.

        Args:
            model: With its inputs in a list where the examples have several.
            device: Has its weights.
            examples: What it is given.
            said: What its outputs are, as a person says; ``None``: its layers show it.
            given: As :class:`DeviceModel` has it.

        Raises:
            ProblemError: It takes other examples, or its outputs are no row.
        """
        self.ending = output_layer_of(model, said)
        taken_off = ending_taken_off(self.ending.activation, self.ending.outputs, examples.target)
        model = before_ending(model, taken_off) if taken_off else model
        if examples.inputs:
            model = on_rows(model, examples.inputs)
        super().__init__(model, device, examples, self.ending.outputs, given)

    @property
    def network(self) -> keras.Model:
        """The model without the ending that was taken off."""
        return self._model

    def inputs_of(self, features: Array) -> tf.Tensor:
        """These examples as the model itself takes them."""
        tensor = tf.constant(features.reshape(len(features), *self.shape))
        if (self._scale, self._offset) != (1.0, 0.0):
            tensor = tf.cast(tensor, tf.float32) * self._scale + self._offset
        return tf.cast(tensor, self._model.inputs[0].dtype)


def load_replicas(
    path: str,
    plan: LaunchPlan,
    examples: InferenceExamples,
    place: int = 0,
    said: Outputs | None = None,
    given: Inputs | None = None,
) -> list[Replica]:
    """Load the model onto each device of this process; no step is traced or run yet.

    Args:
        path: A file that :func:`~gpupanel.trainer.models.model_file.check_model_file` accepts.
        plan: Has the devices.
        examples: What it is given.
        place: Of this process in the plan's gang.
        said: What the model's outputs are, as a person says; ``None``: its layers show it.
        given: What is done with the examples before it takes them; ``None``: nothing.

    Raises:
        ProblemError: Keras cannot load it, or it does not fit the data.
    """
    replicas = [
        load_replica(path, planned.logical_device, examples, said, given)
        for planned in plan.replicas
        if planned.process == place
    ]
    check_outputs(replicas[0].ending.outputs, examples)
    return replicas


def load_replica(
    path: str,
    device: str,
    examples: InferenceExamples,
    said: Outputs | None = None,
    given: Inputs | None = None,
) -> Replica:
    """Load the model onto one device; see :func:`load_replicas`.

    Raises:
        ProblemError: Keras cannot load it, or it does not take such examples.
    """
    set_keras()
    with tf.device(device):
        model = load_saved(path) if not examples.inputs else _load_listed(path, examples, given)
    if not examples.inputs:
        check_single(model)
    return Replica(model, device, examples, said, given)


def _load_listed(path: str, examples: InferenceExamples, given: Inputs | None) -> keras.Model:
    """A model with its inputs in the order that they have in a row of the examples.

    Raises:
        ProblemError: Keras cannot load it, or it takes other inputs.
    """
    check_unscaled(path, examples, given)
    model = load_named(path, keeps_names=True).model
    if len(model.outputs) != 1:
        raise data_misfit(path, f"it has {len(model.outputs)} outputs that no training here named")
    try:
        return with_inputs(model, {each.name: each.shape for each in examples.inputs})
    except ModelMisfitError as misfit:
        raise data_misfit(path, str(misfit)) from misfit


def check_unscaled(path: str, examples: InferenceExamples, given: Inputs | None) -> None:
    """Refuse to scale the inputs of examples that have several: nobody says which.

    Raises:
        ProblemError: They would be.
    """
    if examples.inputs and given not in (None, Inputs.AS_GIVEN):
        raise data_misfit(path, "model.inputs scales one input, and examples have several")


def check_outputs(outputs: int, examples: InferenceExamples) -> None:
    """Refuse a model that gives more or fewer numbers than the examples have classes or values.

    Raises:
        ProblemError: It does.
    """
    if examples.target is not Target.CLASSES:
        _check_output_columns(outputs, examples)
        return
    classes = len(examples.class_names)
    means_two = outputs == 1 and classes in (0, 1, 2)
    known = examples.class_count_is_known
    fits = outputs == classes if known else outputs >= max(2, classes)
    if not (fits or means_two):
        least = "" if known else "at least "
        raise _outputs_problem(
            outputs, f"the data has {least}{classes:,} classes", f"for {least}{classes:,} classes"
        )


def _check_output_columns(outputs: int, examples: InferenceExamples) -> None:
    """Each label or value has an output of its own."""
    labels = examples.labels
    if examples.target is Target.LABELS:
        wanted, what = len(examples.class_names), "label"
    elif labels is None:
        return  # nobody knows how many values there are
    else:
        wanted, what = math.prod(labels.shape[1:]), "value"
    if outputs != wanted and wanted:
        number = f"one {what}" if wanted == 1 else f"{wanted:,} {what}s"
        plural = "one output" if wanted == 1 else f"{wanted:,} outputs"
        raise _outputs_problem(outputs, f"the data has {number} an example", f"with {plural}")


def _outputs_problem(outputs: int, what: str, wanted: str) -> Exception:
    number = "1 output" if outputs == 1 else f"{outputs:,} outputs"
    return problem(
        "model_outputs_do_not_fit",
        f"The model has {number}, but {what}.",
        f"Choose a model that was trained {wanted}, or the data that it was trained for.",
    )


def reshaped_hint(replica_shape: tuple[int, ...], shape: tuple[int, ...]) -> Problem | None:
    """The hint where examples are given another shape than the source has."""
    if replica_shape == shape:
        return None
    before, after = ("x".join(map(str, each)) for each in (shape, replica_shape))
    return Problem(
        code="model_input_reshaped",
        severity=Severity.HINT,
        field="model.path",
        message=f"The model takes examples of the shape {after}; the data's {before} are given to "
        "it in that shape, the same numbers in the same order.",
        hint="Nothing needs to be done if the model was trained on examples of that shape.",
    )


def output_layer_of(model: keras.Model, said: Outputs | None = None) -> OutputLayer:
    """The last layer of a model.

    Args:
        model: With one output.
        said: What its outputs are, as a person says; ``None``: its layers have to show it.

    Raises:
        ProblemError: Its outputs are no row of numbers.
    """
    shape = tuple(model.outputs[0].shape)
    outputs = int(np.prod([side or 0 for side in shape[1:]])) if len(shape) > 1 else 1
    if len(shape) > 2 and outputs != shape[-1]:
        raise problem(
            "model_outputs_do_not_fit",
            f"The model's outputs have the shape {shape[1:]} for each example; a row of numbers "
            "is needed.",
            "Choose a model that gives one number for each class, or one value.",
        )
    return OutputLayer(outputs, activation_of(ending_of(model), outputs, said))
