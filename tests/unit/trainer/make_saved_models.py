"""Writes models as other people save them: ``python make_saved_models.py FOLDER``."""

import sys
from pathlib import Path

import keras

layers = keras.layers


def classifier() -> keras.Model:
    """Images with a channel, in layers that follow each other; it ends in a softmax."""
    return keras.Sequential(
        [
            keras.Input((8, 8, 1)),
            layers.Rescaling(1 / 16),
            layers.Conv2D(4, 3, activation="relu"),
            layers.BatchNormalization(),
            layers.Flatten(),
            layers.Dropout(0.2),
            layers.Dense(10, activation="softmax"),
        ],
        name="classifier",
    )


def backbone() -> keras.Model:
    """Without a dense layer at its end; part of it is frozen, part a model of its own."""
    inside = keras.Sequential([keras.Input((8, 8, 1)), layers.Conv2D(4, 3)], name="inside")
    inputs = keras.Input((8, 8, 1))
    hidden = layers.ReLU()(layers.BatchNormalization()(inside(inputs)))
    model = keras.Model(inputs, layers.Conv2D(6, 3)(hidden), name="backbone")
    model.trainable = False
    return model


def values() -> keras.Model:
    inputs = keras.Input((8, 8))
    hidden = layers.Dense(6, activation="relu")(layers.Flatten()(inputs))
    return keras.Model(inputs, layers.Rescaling(50.0, 1000.0)(layers.Dense(1)(hidden)))


def mixed() -> keras.Model:
    """As a GPU would have trained it."""
    keras.config.set_dtype_policy("mixed_bfloat16")
    made = classifier()
    keras.config.set_dtype_policy("float32")
    return made


def counting() -> keras.Model:
    """Takes whole numbers."""
    inputs = keras.Input((8, 8), dtype="int32")
    hidden = layers.Flatten()(layers.Embedding(17, 2)(inputs))
    return keras.Model(inputs, layers.Dense(10)(hidden), name="counting")


def words() -> keras.Model:
    """Takes the numbers of nine words out of 30; the mean of each text is normalised."""
    inputs = keras.Input((9,))
    hidden = layers.GlobalAveragePooling1D()(layers.Embedding(30, 4)(inputs))
    hidden = layers.Dropout(0.2)(layers.BatchNormalization()(hidden))
    return keras.Model(inputs, layers.Dense(4, activation="softmax")(hidden), name="words")


def columns() -> keras.Model:
    """Takes a number and two columns of categories, of five and of two."""
    inputs = keras.Input((8,))
    size = layers.Normalization(mean=100.0, variance=2500.0)(inputs[:, :1])
    city = layers.Dense(2, use_bias=False)(inputs[:, 1:6])
    hidden = layers.Concatenate()([size, city, inputs[:, 6:]])
    hidden = layers.Dense(5, activation="relu")(hidden)
    return keras.Model(inputs, layers.Rescaling(50.0, 300.0)(layers.Dense(1)(hidden)))


def two_outputs() -> keras.Model:
    inputs = keras.Input((8, 8))
    hidden = layers.Flatten()(inputs)
    return keras.Model(inputs, [layers.Dense(10)(hidden), layers.Dense(10)(hidden)])


def two_inputs() -> keras.Model:
    inputs = [keras.Input((8, 8)), keras.Input((8, 8))]
    return keras.Model(inputs, layers.Dense(10)(layers.Flatten()(layers.add(inputs))))


def named_inputs() -> keras.Model:
    inputs = {"left": keras.Input((8, 8)), "right": keras.Input((8, 8))}
    return keras.Model(inputs, layers.Dense(10)(layers.Flatten()(layers.add([*inputs.values()]))))


def one_named_input() -> keras.Model:
    inputs = {"image": keras.Input((8, 8))}
    return keras.Model(inputs, {"class": layers.Dense(10)(layers.Flatten()(inputs["image"]))})


def weightless() -> keras.Model:
    inputs = keras.Input((8, 8))
    return keras.Model(inputs, layers.Flatten()(layers.Cropping1D(3)(inputs)))


def spectral() -> keras.Model:
    """A layer changes a weight while it is called, and it is not batch normalisation."""
    inputs = keras.Input((8, 8))
    hidden = layers.SpectralNormalization(layers.Dense(4))(layers.Flatten()(inputs))
    return keras.Model(inputs, layers.Dense(10)(hidden))


def mean_of_two() -> keras.Model:
    """Of probabilities, which no last layer says."""
    hidden = layers.Flatten()(inputs := keras.Input((8, 8)))
    each = [layers.Dense(10, activation="softmax")(hidden) for _ in range(2)]
    return keras.Model(inputs, layers.Average()(each))


def mean_of_labels() -> keras.Model:
    """Of each label's probability."""
    hidden = layers.Flatten()(inputs := keras.Input((8, 8)))
    each = [layers.Dense(3, activation="sigmoid")(hidden) for _ in range(2)]
    return keras.Model(inputs, layers.Average()(each))


def trained_before() -> keras.Model:
    """As a run writes it that trained a model further: what is within does not say its ending."""
    inside = mean_of_two()
    logits = keras.ops.log(inside.outputs[0]) * 0.5
    network = keras.Model(inside.inputs, keras.ops.sqrt(keras.ops.exp(logits)), name="saved_model")
    inputs = keras.Input((8, 8))
    outputs = layers.Activation("linear", name="outputs")(network(inputs))
    return keras.Model(inputs, layers.Softmax(name="probabilities")(outputs))


def mixing() -> keras.Model:
    """Blends each image with another one of the batch."""
    mixed = layers.MixUp(name="mixed")(inputs := keras.Input((8, 8, 1)))
    return keras.Model(inputs, layers.Dense(10, activation="softmax")(layers.Flatten()(mixed)))


def rectified() -> keras.Model:
    hidden = layers.Flatten()(inputs := keras.Input((8, 8)))
    return keras.Model(inputs, layers.ReLU()(layers.Dense(10)(hidden)))


keras.utils.set_random_seed(3)
EVERY = (classifier, backbone, values, mixed, counting, words, columns, two_outputs)
SEVERAL = (two_inputs, named_inputs, one_named_input)
ODD_ENDS = (mean_of_two, mean_of_labels, trained_before, rectified, mixing)
for make in (*EVERY, *SEVERAL, *ODD_ENDS, weightless, spectral):
    make().save(Path(sys.argv[1]) / f"{make.__name__}.keras")
