"""A model of two inputs, which are named as the arrays of data.py are."""

import keras
from keras import layers


def build_model(input_shape, outputs):
    """A branch for each input, joined before the last layers.

    input_shape has the shape of one example of each input; outputs is the number of classes.
    """
    picture = keras.Input(input_shape["picture"], name="picture")
    facts = keras.Input(input_shape["facts"], name="facts")
    seen = layers.Conv2D(16, 3, activation="relu")(picture)
    seen = layers.MaxPooling2D()(seen)
    seen = layers.Conv2D(32, 3, activation="relu")(seen)
    seen = layers.GlobalAveragePooling2D()(seen)
    known = layers.Dense(16, activation="relu")(facts)
    both = layers.Concatenate()([seen, known])
    both = layers.Dense(32, activation="relu")(both)
    return keras.Model([picture, facts], layers.Dense(outputs)(both))
