"""A residual network for small images: stages of blocks with a connection around each."""

from collections.abc import Callable, Sequence

import keras


def residual_network(
    hidden: keras.KerasTensor,
    filters: Sequence[int],
    blocks: int,
    call: Callable[..., keras.KerasTensor] = keras.layers.Layer.__call__,
) -> keras.KerasTensor:
    """From pixels on a scale that suits a model to a row of numbers of each image.

    Args:
        hidden: Shape [n, height, width] or [n, height, width, channels].
        filters: Of the convolutions of each stage.
        blocks: Of each stage; the first one of a later stage halves height and width.
        call: Calls a layer with what it is given.
    """
    if len(hidden.shape) == 3:
        hidden = call(keras.layers.Reshape((*hidden.shape[1:], 1), name="channel"), hidden)
    hidden = convolved(hidden, "first", filters[0], call)
    hidden = call(keras.layers.ReLU(name="first_relu"), hidden)
    for stage, of_stage in enumerate(filters, start=1):
        for number in range(1, blocks + 1):
            strides = 2 if stage > 1 and number == 1 else 1
            name = f"stage_{stage}_block_{number}"
            hidden = residual_block(hidden, name, of_stage, call, strides)
    return call(keras.layers.GlobalAveragePooling2D(name="mean"), hidden)


def residual_block(
    given: keras.KerasTensor,
    name: str,
    filters: int,
    call: Callable[..., keras.KerasTensor],
    strides: int,
) -> keras.KerasTensor:
    """Two convolutions, and a connection around them."""
    hidden = convolved(given, f"{name}_1", filters, call, strides=strides)
    hidden = call(keras.layers.ReLU(name=f"{name}_1_relu"), hidden)
    hidden = convolved(hidden, f"{name}_2", filters, call)
    if given.shape[1:] != hidden.shape[1:]:
        given = convolved(given, f"{name}_shortcut", filters, call, size=1, strides=strides)
    hidden = call(keras.layers.Add(name=f"{name}_sum"), [hidden, given])
    return call(keras.layers.ReLU(name=f"{name}_relu"), hidden)


def convolved(
    hidden: keras.KerasTensor,
    name: str,
    filters: int,
    call: Callable[..., keras.KerasTensor],
    *,
    size: int = 3,
    strides: int = 1,
) -> keras.KerasTensor:
    """A convolution, normalised by the batch."""
    convolution = keras.layers.Conv2D(
        filters, size, strides, padding="same", use_bias=False, name=name
    )
    # Averages of a few steps: those that validation uses are then of the weights as they are.
    norm = keras.layers.BatchNormalization(momentum=0.9, name=f"{name}_norm")
    return call(norm, call(convolution, hidden))
