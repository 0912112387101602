"""A U-Net: a class for every pixel (Ronneberger, Fischer and Brox, 2015)."""

import keras
from keras import layers, ops

CHANNELS = (16, 32, 64)
"""Of the levels; each halves height and width."""


def build_model(input_shape, outputs):
    """Down, and up again with what was seen on the way.

    outputs is (height, width, classes).
    """
    inputs = keras.Input(input_shape)
    hidden, passed = inputs, []
    for channels in CHANNELS:
        hidden = _block(hidden, channels)
        passed.append(hidden)
        hidden = layers.MaxPooling2D()(hidden)
    hidden = _block(hidden, 2 * CHANNELS[-1])
    for channels, seen in zip(reversed(CHANNELS), reversed(passed)):
        hidden = layers.Conv2DTranspose(channels, 2, strides=2)(hidden)
        hidden = _block(layers.Concatenate()([hidden, seen]), channels)
    return keras.Model(inputs, layers.Conv2D(outputs[-1], 1, activation="softmax")(hidden))


def _block(hidden, channels):
    for _ in range(2):
        hidden = layers.Conv2D(channels, 3, padding="same", use_bias=False)(hidden)
        hidden = layers.BatchNormalization(momentum=0.9)(hidden)
        hidden = layers.Activation("relu")(hidden)
    return hidden


def overlap(labels, outputs):
    """How much of what is no ground is found: 1 is all of it and nothing else (Dice)."""
    thing = ops.cast(labels > 0, "float32")
    found = 1.0 - outputs[..., 0]
    both = ops.sum(thing * found, axis=(1, 2))
    return (2.0 * both + 1.0) / (ops.sum(thing, axis=(1, 2)) + ops.sum(found, axis=(1, 2)) + 1.0)


metrics = {"overlap": overlap}
