"""An autoencoder: examples through few numbers, and back."""

import keras
from keras import layers

CODE = 6
"""The numbers that an example is to be told from. What is rebuilt badly is unlike the others."""


def build_model(input_shape, outputs):
    """An encoder and a decoder; outputs is the shape of an example, as input_shape is."""
    inputs = keras.Input(input_shape)
    hidden = layers.Flatten()(inputs)
    hidden = layers.Dense(128, activation="relu")(hidden)
    hidden = layers.Dense(64, activation="relu")(hidden)
    code = layers.Dense(CODE, name="code")(hidden)
    hidden = layers.Dense(64, activation="relu")(code)
    hidden = layers.Dense(128, activation="relu")(hidden)
    count = 1
    for length in outputs:
        count *= length
    rebuilt = layers.Reshape(outputs)(layers.Dense(count)(hidden))
    return keras.Model(inputs, rebuilt)
