"""A Keras model that was not built here: whether the loop can train it."""

from collections.abc import Mapping

import keras
import tensorflow as tf

from gpupanel.domain.data import Target
from gpupanel.domain.example_form import inputs_text
from gpupanel.domain.model import Outputs
from gpupanel.trainer.datasets.examples import DataSet, PackedOutput
from gpupanel.trainer.models.named_model import with_inputs
from gpupanel.trainer.models.network import Building
from gpupanel.trainer.models.output_ending import (
    ENDINGS,
    LINEAR,
    UNKNOWN,
    ModelMisfitError,
    check_ending,
)
from gpupanel.trainer.parts.given_models import named_outputs, with_plain_ends
from gpupanel.trainer.parts.input_shape import is_taken
from gpupanel.trainer.parts.model_ending import (
    before_ending,
    ending_of,
    output_before_ending,
    with_logarithms,
)

InputShapes = tuple[int, ...] | dict[str, tuple[int, ...]]
"""Of one example, as it is given to a model; of several inputs by their names."""


def checked_model(
    model: object,
    shape: InputShapes,
    building: Building,
    said: Outputs | None,
    *,
    are_logits: bool = False,
) -> keras.Model:
    """The model, without the softmax or sigmoid that it may end in.

    Args:
        model: What was given.
        shape: Of one example, as it is given to the model.
        building: What it is for.
        said: What its outputs are, as a person says; ``None``: its layers have to show it.
        are_logits: It gives what is needed as it is, and nothing has to be taken off.

    Raises:
        ModelMisfitError: It cannot be trained here.
        ProblemError: Nothing shows whether it ends in probabilities.
    """
    if not isinstance(model, keras.Model):
        raise ModelMisfitError(f"it is a {type(model).__name__}, not a Keras model")
    if isinstance(model, keras.Sequential) and not model.built:
        if isinstance(shape, dict):
            raise ModelMisfitError("it is sequential, and its input has no name")
        model.build((None, *shape))
    inputs, given = getattr(model, "inputs", None), getattr(model, "outputs", None)
    if not inputs or not given:
        raise ModelMisfitError(
            "its layers are not known: it is a class of its own, not sequential or functional"
        )
    has_outputs = bool(building.data.outputs)
    has_wrong_inputs = len(inputs) != 1 and not isinstance(shape, dict)
    if has_wrong_inputs or (len(given) != 1 and not has_outputs):
        raise ModelMisfitError(f"it has {len(inputs)} inputs and {len(given)} outputs")
    outputs = named_outputs(model) if has_outputs else {}
    if isinstance(shape, dict):
        model = with_inputs(model, shape)
    elif not is_taken(tuple(inputs[0].shape[1:]), shape):
        raise ModelMisfitError(
            f"it takes examples of the shape {tuple(inputs[0].shape[1:])}, but they have the "
            f"shape {shape}"
        )
    if has_outputs:
        return _in_a_row(model, outputs, building, said)
    _check_outputs(model, shape, building)
    model = with_plain_ends(model)
    is_left = are_logits or building.has_own_loss
    return model if is_left else _with_logits(model, building.data, said)


def _in_a_row(
    model: keras.Model,
    given: Mapping[str, keras.KerasTensor],
    building: Building,
    said: Outputs | None,
) -> keras.Model:
    """The model with all outputs in a row, each without the softmax or sigmoid it may end in.

    Args:
        model: With its inputs in a list.
        given: Its outputs by their names.
        building: Has those that are needed.
        said: What they are, as a person says.

    Raises:
        ModelMisfitError: They are others.
        ProblemError: Nothing shows whether one ends in probabilities.
    """
    outputs = building.data.outputs
    shapes = {name: tuple(each.shape[1:]) for name, each in given.items()}
    wanted = {each.name: each.output_shape for each in outputs}
    fits = shapes.keys() == wanted.keys() and all(
        shapes[each.name] in (each.output_shape, *_with_channel(each)) for each in outputs
    )
    if not fits:
        raise ModelMisfitError(
            f"its outputs are {inputs_text(shapes)}, but the labels need {inputs_text(wanted)}"
        )
    rows = []
    for each in outputs:
        tensor = given[each.name]
        if not building.has_own_loss:
            try:
                is_once = sum(other is tensor for other in given.values()) == 1
                tensor = _without_ending(model, tensor, each.target, said, is_given_once=is_once)
            except ModelMisfitError as misfit:
                raise ModelMisfitError(f"of its output {each.name}, {misfit}") from misfit
        flat = keras.layers.Reshape((-1,), name=f"row_of_{each.name}", dtype="float32")
        rows.append(flat(tensor))
    joined = rows[0]
    if len(rows) > 1:
        joined = keras.layers.Concatenate(name="all_outputs", dtype="float32")(rows)
    return keras.Model(model.inputs, joined, name=model.name)


def _with_channel(output: PackedOutput) -> tuple[tuple[int, ...], ...]:
    """Another shape of the same numbers; none for classes."""
    return () if output.target is Target.CLASSES else ((*output.output_shape, 1),)


def _without_ending(
    model: keras.Model,
    tensor: keras.KerasTensor,
    target: Target,
    said: Outputs | None,
    *,
    is_given_once: bool,
) -> keras.KerasTensor:
    """The logits of one of several outputs; values as they are.

    Args:
        model: Has the output.
        tensor: The output.
        target: What it predicts.
        said: What outputs are whose layers do not show it.
        is_given_once: It is no other output as well.
    """
    if target is Target.VALUES:
        return tensor
    alone = keras.Model(model.inputs, tensor)
    ending = ending_of(alone, of_places=True)
    check_ending(ending, target, said if ending == UNKNOWN else None, is_single=False)
    if ending == LINEAR or (ending == UNKNOWN and said is Outputs.LOGITS):
        return tensor
    of_labels = target is Target.LABELS
    return output_before_ending(alone, ending, of_labels=of_labels, is_given_once=is_given_once)


def _check_outputs(model: keras.Model, shape: InputShapes, building: Building) -> None:
    if building.has_own_loss:
        return  # which is tried with them
    given = tuple(model.outputs[0].shape[1:])
    if building.data.arrays_of is None:
        if given != building.data.output_shape:
            raise ModelMisfitError(
                f"it gives {given} an example, but {building.output_count} are needed"
            )
        return
    if None in given:
        shapes = list(shape.values()) if isinstance(shape, dict) else [shape]
        batches = [(None, *each) for each in shapes]
        given = tuple(model.compute_output_shape(batches if len(batches) > 1 else batches[0])[1:])
    wanted = building.data.output_shape
    has_channel = building.data.target is not Target.CLASSES and given == (*wanted, 1)
    if given != wanted and not has_channel:
        raise ModelMisfitError(
            f"it gives {given} an example, but {labels_text(building.data)} need {wanted}"
        )


def labels_text(data: DataSet) -> str:
    """What the labels of an example are that is an array, with their shape."""
    match data.target:
        case Target.CLASSES:
            return f"labels {data.label_shape} of {len(data.class_names):,} classes"
        case Target.LABELS:
            return f"labels {data.label_shape} of 0 or 1"
    if data.learns_inputs:
        return f"examples {data.label_shape}, which are what is to be predicted,"
    return f"labels {data.label_shape} of values"


def _with_logits(model: keras.Model, data: DataSet, said: Outputs | None) -> keras.Model:
    """The model, or what of it comes before its softmax or sigmoid; values as they are."""
    target, are_arrays = data.target, data.arrays_of is not None
    if are_arrays and target is Target.VALUES:
        return model  # in their own unit: it may end in whatever keeps to their range
    ending = ending_of(model, of_places=are_arrays)
    is_single = tuple(model.outputs[0].shape[1:]) == (1,)
    check_ending(ending, target, said, is_single=is_single)
    if target is Target.VALUES:
        return model
    if ending == ENDINGS[target]:
        return before_ending(model, ending, of_places=are_arrays)
    if said is Outputs.PROBABILITIES:
        return with_logarithms(model, of_labels=target is Target.LABELS)
    return model


def check_state(model: keras.Model) -> None:
    """Refuse layers that change a weight while they are called: that would be lost.

    Raises:
        ModelMisfitError: It has such a layer.
    """
    kept = {
        id(state)
        for layer in model._flatten_layers()  # noqa: SLF001 - Keras has no other way to all
        if isinstance(layer, keras.layers.BatchNormalization)
        for state in (layer.moving_mean, layer.moving_variance)
    }
    changed: list[str] = []

    def call(*features: tf.Tensor) -> None:
        with keras.StatelessScope() as scope:
            model(features[0] if len(features) == 1 else list(features), training=True)
        changed.extend(
            weight.path
            for weight in model.weights
            if id(weight) not in kept and scope.get_current_value(weight) is not None
        )

    # Traced only, not computed.
    specs = [tf.TensorSpec((None, *each.shape[1:]), each.dtype) for each in model.inputs]
    tf.function(call, autograph=False).get_concrete_function(*specs)
    if changed:
        raise ModelMisfitError(
            f"a layer changes its weight {changed[0]} while it is called, which only batch "
            "normalisation may"
        )
