"""A Keras model that was built elsewhere: its ends, its layers, and what stands around it."""

from collections.abc import Collection, Iterator

import keras

AFTER_HEAD = (
    keras.layers.Activation,
    keras.layers.Dropout,
    keras.layers.Flatten,
    keras.layers.Rescaling,
    keras.layers.Reshape,
    keras.layers.Softmax,
)
"""What may follow the last layer with weights, and goes with it."""
OF_OWN_PRECISION = (keras.layers.Rescaling, keras.layers.Normalization)
"""Raw values need not fit into a half."""


def with_plain_ends(model: keras.Model) -> keras.Model:
    """The model as one that takes a tensor and gives a tensor, where it has one of each.

    Keras keeps the names of inputs and outputs, so that one alone may be a dictionary or a list.
    """
    inputs, outputs = list(model.inputs or ()), list(model.outputs or ())
    if len(inputs) != 1 or len(outputs) != 1:
        return model
    are_plain = isinstance(model, keras.Sequential) or (
        isinstance(model.input, keras.KerasTensor) and isinstance(model.output, keras.KerasTensor)
    )
    if are_plain:
        return model
    return keras.Model(inputs[0], outputs[0], name=model.name)


def named_inputs(model: keras.Model) -> dict[str, keras.KerasTensor]:
    """The inputs of a model by their keys, or by their own names."""
    whole = structure_of(model, "input")
    return whole if isinstance(whole, dict) else {each.name: each for each in model.inputs}


def named_outputs(model: keras.Model) -> dict[str, keras.KerasTensor]:
    """The outputs of a model by their keys, or by the names of the layers that give them."""
    whole = structure_of(model, "output")
    if isinstance(whole, dict):
        return whole
    is_sequential = isinstance(model, keras.Sequential)
    names = [model.layers[-1].name] if is_sequential else model.output_names
    return dict(zip(names, model.outputs, strict=True))


def structure_of(model: keras.Model, end: str) -> object:
    """How its inputs, or its outputs, stand: alone, in a dictionary, or in a list."""
    if isinstance(model, keras.Sequential):
        return getattr(model, f"{end}s")[0]
    return getattr(model, end)


def layers_with_weights(model: keras.Model) -> Iterator[keras.layers.Layer]:
    """Those from the first to the last, also of models within the model."""
    for layer in model.layers:
        if isinstance(layer, keras.Model):
            yield from layers_with_weights(layer)
        elif layer.weights:
            yield layer


def unwrapped(model: keras.Model, name: str, around: Collection[str]) -> keras.Model:
    """The model that a former training went on with, without what stands around it in its file.

    So a model that is trained further again and again does not become one within one within one.

    Args:
        model: As its file has it.
        name: Of a model within.
        around: Names of layers that may stand around it, without weights.
    """
    inner = [each for each in model.layers if not isinstance(each, keras.layers.InputLayer)]
    models = [each for each in inner if isinstance(each, keras.Model)]
    whole = [each for each in models if each.name == name]
    rest = [each for each in inner if each not in whole]
    is_alone = all(each.name in around and not each.weights for each in rest)
    return whole[0] if len(whole) == 1 and is_alone else model


def without_head(model: keras.Model) -> keras.Model:
    """The model up to the input of its last dense layer; all of it where it does not end in one."""
    given = model.outputs[0]
    while True:
        layer = given._keras_history.operation  # noqa: SLF001 - Keras has no other way back
        is_alone = isinstance(layer, keras.layers.Layer) and len(layer._inbound_nodes) == 1  # noqa: SLF001
        if is_alone and isinstance(layer, keras.layers.Dense):
            return keras.Model(model.inputs, layer.input)
        if not (is_alone and isinstance(layer, AFTER_HEAD)):
            return model
        given = layer.input


def averaged_over_places(hidden: keras.KerasTensor) -> keras.KerasTensor:
    """A row of numbers of each example: means over the places of an image, or of a text."""
    match len(hidden.shape) - 1:
        case 3:
            return keras.layers.GlobalAveragePooling2D(name="mean")(hidden)
        case 2:
            return keras.layers.GlobalAveragePooling1D(name="mean")(hidden)
        case 1:
            return hidden
    return keras.layers.Flatten(name="flat")(hidden)


def set_precision(layers: list[keras.layers.Layer]) -> None:
    """Have them compute as the training says, not as they were saved."""
    policy = keras.config.dtype_policy()
    for layer in layers:
        if not isinstance(layer, OF_OWN_PRECISION):
            for each in layer._flatten_layers():  # noqa: SLF001 - Keras has no other way to all
                each.dtype_policy = policy
