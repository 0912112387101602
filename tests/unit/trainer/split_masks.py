"""Draws of layers, in parts of a batch and of the whole: prints by how much they differ, as JSON.

``python split_masks.py``: of each layer and way of carrying a graph out, the greatest differences
between the whole batch and its parts, itself again, and the same batch in another step; and what
Keras's functions take.
"""

import inspect
import json
import os
from collections.abc import Callable, Iterator
from itertools import pairwise

os.environ["CUDA_VISIBLE_DEVICES"] = "-1"

import keras
import numpy as np
import tensorflow as tf
from keras import layers
from keras.src.applications.convnext import StochasticDepth

from gpupanel.trainer.models.random_layers import drawn_when_predicting, random_layer_warning
from gpupanel.trainer.parts.random_numbers import drawn_by_example, not_replaced

BATCH = 16
PARTS = ((0, 11, 16), (0, 1, 2, 16), (0, 4, 8, 12, 16))
COMPILED = ("Dropout", "GaussianNoise", "truncated", "whole numbers")


class Drawing(layers.Layer):
    """A layer of the person's own."""

    def __init__(self, draw: Callable[[tf.Tensor, keras.random.SeedGenerator], tf.Tensor]) -> None:
        super().__init__()
        self._draw = draw
        self._seeds = keras.random.SeedGenerator(3)

    def call(self, inputs: tf.Tensor) -> tf.Tensor:
        return inputs + keras.ops.cast(self._draw(inputs, self._seeds), inputs.dtype)

    def compute_output_shape(self, input_shape: tuple[int | None, ...]) -> tuple[int | None, ...]:
        return input_shape


def in_a_loop(given: tf.Tensor, seeds: keras.random.SeedGenerator) -> tf.Tensor:
    def once(number: tf.Tensor, dropped: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        return number + 1, keras.random.dropout(dropped, 0.3, seed=seeds)

    return tf.while_loop(lambda number, _: number < 3, once, (tf.constant(0), given))[1]


def by_python(given: tf.Tensor, _: keras.random.SeedGenerator) -> tf.Tensor:
    random = np.random.default_rng(1)

    def noise(values: np.ndarray) -> np.ndarray:
        return random.random(values.shape).astype(np.float32)

    return tf.ensure_shape(tf.numpy_function(noise, [given], tf.float32), given.shape)


def while_traced(given: tf.Tensor, _: keras.random.SeedGenerator) -> tf.Tensor:
    return given * np.random.default_rng().random(5).astype(np.float32)


def len_of(given: tf.Tensor) -> tf.Tensor:
    return keras.ops.shape(given)[0]


def models() -> Iterator[tuple[str, keras.Model]]:
    rate = 0.5
    rows, images = (4, 5), (4, 4, 3)
    shape = keras.ops.shape
    for name, given, layer in (
        ("Dropout", (5,), layers.Dropout(rate)),
        ("Dropout, half", (5,), layers.Dropout(rate, dtype="bfloat16")),
        ("Dropout of examples", images, layers.Dropout(rate, noise_shape=(None, 1, 1, 1))),
        ("Dropout of all", rows, layers.Dropout(rate, noise_shape=(1, *rows))),
        ("SpatialDropout1D", rows, layers.SpatialDropout1D(rate)),
        ("SpatialDropout2D", images, layers.SpatialDropout2D(rate)),
        ("SpatialDropout3D", (2, *images), layers.SpatialDropout3D(rate)),
        ("GaussianNoise", (5,), layers.GaussianNoise(rate)),
        ("GaussianDropout", (5,), layers.GaussianDropout(rate)),
        ("AlphaDropout", (5,), layers.AlphaDropout(rate)),
        ("LSTM", rows, layers.LSTM(3, dropout=rate, recurrent_dropout=rate)),
        ("GRU", rows, layers.Bidirectional(layers.GRU(3, dropout=rate))),
        ("StochasticDepth", images, StochasticDepth(rate)),
        ("RandomFlip", images, layers.RandomFlip()),
        ("RandomRotation", images, layers.RandomRotation(0.2)),
        ("truncated", (5,), Drawing(lambda x, _: keras.random.truncated_normal(shape(x)))),
        ("whole numbers", (5,), Drawing(lambda x, s: keras.random.randint(shape(x), 0, 9, seed=s))),
        ("weights", (5,), Drawing(lambda _, s: keras.random.normal((5,), seed=s))),
        ("fixed", (5,), Drawing(lambda x, _: keras.random.normal(shape(x), seed=9))),
        ("gamma", (5,), Drawing(lambda x, s: keras.random.gamma(shape(x), 2.0, seed=s))),
        (
            "gamma of each",
            (5,),
            Drawing(lambda x, s: keras.random.gamma(shape(x), x + 0.1, seed=s)),
        ),
        ("beta", (5,), Drawing(lambda x, s: keras.random.beta(shape(x), 0.4, 0.9, seed=s))),
        ("categorical", (5,), Drawing(lambda x, s: keras.random.categorical(9 * x, 5, seed=s))),
        ("in a loop", (5,), Drawing(in_a_loop)),
        ("cells", rows, layers.RNN([layers.LSTMCell(3, dropout=rate), layers.GRUCell(3)])),
        ("ConvLSTM1D", (4, 4, 3), layers.ConvLSTM1D(2, 2, dropout=rate, recurrent_dropout=rate)),
        ("each time step", rows, layers.TimeDistributed(layers.GaussianNoise(rate))),
        ("RandomZoom", images, layers.RandomZoom(0.3)),
        ("RandomContrast", images, layers.RandomContrast(0.3, value_range=(0, 1))),
        ("RandomBrightness", images, layers.RandomBrightness(0.3, value_range=(0, 1))),
        (
            "otherwise",
            (5,),
            Drawing(lambda x, s: keras.random.binomial(shape(x), 9.0, 0.5, seed=s)),
        ),
        (
            "examples last",
            (5,),
            Drawing(lambda x, s: keras.ops.transpose(keras.random.uniform((5, len_of(x)), seed=s))),
        ),
        ("Python", (5,), Drawing(by_python)),
        ("while it is traced", (5,), Drawing(while_traced)),
        ("MixUp", images, layers.MixUp()),
        ("CutMix", images, layers.CutMix()),
        ("elastic", (8, 8, 3), layers.RandomElasticTransform(value_range=(0, 1))),
    ):
        inputs = keras.Input(given)
        yield name, keras.Model(inputs, layer(inputs))
    inputs = keras.Input(rows)
    yield (
        "MultiHeadAttention",
        keras.Model(inputs, layers.MultiHeadAttention(2, 3, dropout=rate)(inputs, inputs)),
    )


def differences(model: keras.Model, *, jit_compile: bool) -> dict[str, float]:
    @tf.function(
        jit_compile=jit_compile,
        autograph=False,
        input_signature=[
            tf.TensorSpec(model.input.shape),
            tf.TensorSpec([], tf.int64),
            tf.TensorSpec([], tf.int32),
        ],
    )
    def trained(features: tf.Tensor, step: tf.Tensor, first: tf.Tensor) -> tf.Tensor:
        with keras.StatelessScope(), drawn_by_example(7, step, first, features):
            return model(features, training=True)

    features = np.random.default_rng(0).random((BATCH, *model.input.shape[1:]), np.float32)

    def outputs(first: int, end: int, step: int = 3) -> np.ndarray:
        given = features[first:end], np.int64(step), np.int32(first)
        return np.asarray(trained(*map(tf.constant, given))).astype(np.float64)

    whole = outputs(0, BATCH)
    joined = [np.concatenate([outputs(*each) for each in pairwise(parts)]) for parts in PARTS]
    return {
        "parts": max(float(np.abs(each - whole).max()) for each in joined),
        "again": float(np.abs(outputs(0, BATCH) - whole).max()),
        "step": float(np.abs(outputs(0, BATCH, step=4) - whole).max()),
    }


def elastic_means() -> list[float]:
    """Of images of one value each, after they were distorted in a graph of any batch size."""
    inputs = keras.Input((8, 8, 3))
    model = keras.Model(inputs, layers.RandomElasticTransform(1.0, value_range=(0, 1))(inputs))

    @tf.function(autograph=False, input_signature=[tf.TensorSpec((None, 8, 8, 3))])
    def trained(images: tf.Tensor) -> tf.Tensor:
        zero = tf.zeros([], tf.int64)
        with keras.StatelessScope(), drawn_by_example(7, zero, zero, images):
            return model(images, training=True)

    plain = np.ones((BATCH, 8, 8, 3), np.float32) * np.arange(BATCH).reshape(-1, 1, 1, 1) / BATCH
    means: list[float] = trained(plain).numpy().mean(axis=(1, 2, 3)).tolist()
    return means


# Graphs are carried out as written: to rewrite them takes longer than all that is drawn.
tf.config.optimizer.set_experimental_options({"disable_meta_optimizer": True})
of_keras = {
    "uniform": list(inspect.signature(keras.random.uniform).parameters),
    "next": list(inspect.signature(keras.random.SeedGenerator.next).parameters),
    "not replaced": not_replaced(),
}
found, warned, predicting = {}, [], []
for name, model in models():
    warning = random_layer_warning(model)
    if warning is not None:
        warned.append(name)
    if drawn_when_predicting(model) is not None:
        predicting.append(name)
    found[name] = differences(model, jit_compile=False)
    if name in COMPILED:
        found[f"{name}, compiled"] = differences(model, jit_compile=True)
print(
    json.dumps(
        [found, of_keras | {"warned": warned, "predicting": predicting, "elastic": elastic_means()}]
    )
)
