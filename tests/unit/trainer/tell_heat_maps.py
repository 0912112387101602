"""Tells heat maps of several examples, beside those that are computed without a graph, as JSON.

The network stands within a model, as an architecture does that is trained further; its layers do
not learn.
"""

import json

import keras
import numpy as np
import tensorflow as tf

from gpupanel.trainer.inference.heat_map import HeatMaps, NoHeatMapError


class Counted(keras.layers.Layer):
    calls = 0

    def call(self, inputs: tf.Tensor) -> tf.Tensor:
        Counted.calls += 1
        return inputs


keras.utils.set_random_seed(1)
within = keras.Sequential(
    [
        keras.Input([12, 12, 3]),
        Counted(),
        keras.layers.Conv2D(4, 3, activation="relu"),
        keras.layers.MaxPooling2D(),
    ]
)
within.trainable = False
head = [keras.layers.Flatten(), keras.layers.Dense(3)]
model = keras.Sequential([keras.Input([12, 12, 3]), within, *head])


def without_graph(image: np.ndarray, output: int, sign: float) -> np.ndarray:
    with tf.GradientTape() as tape:
        places = within(image, training=False)
        tape.watch(places)
        outputs = head[1](head[0](places))
        about = sign * outputs[0, output]
    weights = tf.reduce_mean(tape.gradient(about, places), axis=(1, 2), keepdims=True)
    return tf.nn.relu(tf.reduce_sum(weights * places, axis=-1))[0].numpy()


images = np.random.default_rng(1).random((4, 1, 12, 12, 3), np.float32)
asked = [(image, output, sign) for image in images for output in range(3) for sign in (1.0, -1.0)]
expected = [without_graph(*each) for each in asked]
Counted.calls, maps = 0, HeatMaps(model)
differences = []
for (image, output, sign), there in zip(asked, expected, strict=True):
    if there.max() > 0.0:
        found = maps.of(tf.constant(image), output, sign=sign)
        differences.append(float(np.abs(found - there / there.max()).max()))
calls = Counted.calls
own_head = keras.layers.Flatten(), keras.layers.Dense(3)
flat = HeatMaps(keras.Sequential([keras.Input([12, 12, 3]), Counted(), *own_head]))
reasons, calls_before = [], Counted.calls
for image in images[:2]:
    try:
        flat.of(tf.constant(image), 0)
    except NoHeatMapError as error:
        reasons.append(str(error))
told = {"differences": differences, "calls": calls, "reasons": reasons}
print(json.dumps({**told, "calls of flat": Counted.calls - calls_before}))
