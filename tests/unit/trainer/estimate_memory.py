"""What is estimated of graphs and of models, beside what TensorFlow reports: JSON on stdout."""

import json
import random

import keras
import numpy as np
import tensorflow as tf

from gpupanel.trainer.datasets.examples import Examples
from gpupanel.trainer.memory_estimate.live_buffers import Size, _greatest, needed_operations, peaks
from gpupanel.trainer.memory_estimate.step_memory import step_memory
from gpupanel.trainer.models.objectives import Classification
from gpupanel.trainer.steps.batch_part import BatchPart
from gpupanel.trainer.steps.contribution import ContributionOf, State, Variables
from gpupanel.trainer.steps.data_on_gpu import kept_bytes

COUNT = 1000


def of_graph(function):
    """The peaks of a function of one vector of float32, in vectors; small tensors are not seen."""
    traced = tf.function(function).get_concrete_function(tf.TensorSpec((COUNT,), tf.float32))
    operations = needed_operations(traced.outputs)
    sizes = {
        (place, number): Size(0, (tensor.shape.num_elements() or 0) * 4)
        for place, each in enumerate(operations)
        for number, tensor in enumerate(each.outputs)
    }
    found = peaks(operations, traced.outputs, sizes)
    return max(peak.bytes_per_example for peak in found) // (4 * COUNT)


def kept_twice(x):
    first = tf.exp(x)
    return first * (first + 1.0)


def freed(x):
    """Each result is needed for the next one only, but cannot take its place."""
    for _ in range(5):
        x = tf.cumsum(x)
    return x


def unused(x):
    tf.cumsum(x)
    return tf.exp(x)


GRAPHS = {
    "in place": lambda x: tf.reduce_sum(tf.square(tf.exp(x)) * 2.0),
    "kept twice": kept_twice,
    "freed": freed,
    "reshaped": lambda x: tf.exp(tf.reshape(tf.exp(x), (COUNT // 10, 10))),
    "unused": unused,
}


def envelope_is_right():
    """Compare with all lines, for numbers of examples from 1 on."""
    drawn = random.Random(3)
    for _ in range(300):
        lines = {
            Size(drawn.randrange(60), drawn.randrange(9)) for _ in range(drawn.randrange(1, 9))
        }
        found = _greatest(lines)
        for count in range(1, 80):
            most = max(line.fixed + line.each * count for line in lines)
            if most != max(peak.at(count) for peak in found):
                return False
    return True


def measured(model, features, labels):
    """The peak that TensorFlow reports of a step on the CPU, beside what was there before."""
    variables = Variables(model)
    step = tf.function(
        ContributionOf(model, variables, Classification(), seed=7, jit_compile=False),
        autograph=False,
    )
    parts = (variables.weights, variables.fixed)
    state = State(*([each.value + 0 for each in part] for part in parts))
    batch = BatchPart(*map(tf.constant, (np.float32(len(labels)), np.int32(0), np.int64(0))))
    given = (state, tf.constant(features), tf.constant(labels), batch)
    float(step(*given).sums[0])
    before = tf.config.experimental.get_memory_info("CPU:0")["current"]
    tf.config.experimental.reset_memory_stats("CPU:0")
    float(step(*given).sums[0])
    return tf.config.experimental.get_memory_info("CPU:0")["peak"] - before


def networks():
    """Models with their inputs."""
    layers = keras.layers
    wide = keras.Input((256,))
    hidden = layers.Dense(1024, activation="relu")(layers.Dense(512, activation="relu")(wide))
    yield "dense", keras.Model(wide, layers.Dense(4)(hidden))
    image = keras.Input((32, 32, 3))
    hidden = layers.Conv2D(16, 3, padding="same", use_bias=False)(image)
    hidden = layers.ReLU()(layers.BatchNormalization()(hidden))
    around = layers.Conv2D(16, 3, padding="same", activation="relu")(hidden)
    hidden = layers.Conv2D(32, 3, strides=2)(layers.Add()([hidden, around]))
    hidden = layers.Dropout(0.1)(layers.GlobalAveragePooling2D()(hidden))
    yield "convolutions", keras.Model(image, layers.Dense(4)(hidden))


def main():
    found = {"graphs": {name: of_graph(each) for name, each in GRAPHS.items()}}
    found["envelope"] = envelope_is_right()
    found["models"] = {}
    for name, model in networks():
        shape = model.inputs[0].shape[1:]
        rows = []
        for count in (16, 64):
            features = np.ones((count, *shape), np.float32)
            labels = np.arange(count, dtype=np.int32) % 4
            step = step_memory(model, Classification(), Examples(features, labels))
            rows.append((step.held_bytes(count), measured(model, features, labels)))
        bytes_of = {
            "rows": rows,
            "weights": step.weight_bytes,
            "learned": step.trainable_bytes,
            "largest": step.largest_weight_bytes,
            "kept": step.kept_bytes,
            "example": step.example_bytes,
        }
        found["models"][name] = bytes_of
    pixels = Examples(np.zeros((2, 8, 8), np.uint8), np.zeros(2, np.int32))
    found["kept_pixels"] = kept_bytes(pixels)
    print(json.dumps(found))


main()
