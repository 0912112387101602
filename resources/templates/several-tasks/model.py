"""A model of two outputs, which are named as the labels of data.py are."""

import keras
from keras import layers

loss_weights = {"kind": 1.0, "radius": 0.1}
"""What is made small is the sum of both losses, each times its weight: a squared error is in the
square of the label's unit, and would drown the other loss here."""


def build_model(input_shape, outputs):
    """One trunk for both tasks, and a layer for each.

    outputs has the number of classes of "kind" and of values of "radius".
    """
    inputs = keras.Input(input_shape)
    hidden = inputs
    for channels in (16, 32, 64):
        hidden = layers.Conv2D(channels, 3, padding="same", activation="relu")(hidden)
        hidden = layers.MaxPooling2D()(hidden)
    hidden = layers.Dense(64, activation="relu")(layers.Flatten()(hidden))
    return keras.Model(
        inputs,
        {
            "kind": layers.Dense(outputs["kind"], name="kind")(hidden),
            "radius": layers.Dense(outputs["radius"], name="radius")(hidden),
        },
    )
