"""Prints how far steps of models with batch normalisation are from plain Keras's, as JSON.

``python normalised_models.py STRATEGY...``. By model and strategy: the greatest difference of a
weight or moving statistic after three steps, relative to the greatest number of that variable.
"""

import json
import os
import sys
from collections.abc import Callable

os.environ["CUDA_VISIBLE_DEVICES"] = "-1"

import keras
import numpy as np
import tensorflow as tf

from gpupanel.trainer.models.objectives import Classification
from gpupanel.trainer.parts.batch_norm import prepare_batch_norms
from gpupanel.trainer.steps.batch_part import BatchPart
from gpupanel.trainer.steps.contribution import ContributionOf, Variables
from gpupanel.trainer.steps.update import Update

NAMES = ["/device:CPU:0", "/device:CPU:1"]
BATCH, STEPS, CLASSES, RATE = 64, 3, 5, 0.1
SHARES = (60, 4)

RANDOM = np.random.default_rng(1)
FEATURES = (RANDOM.normal(size=(STEPS, BATCH, 6, 8)) * 3 + 2).astype(np.float32)
LABELS = RANDOM.integers(0, CLASSES, (STEPS, BATCH)).astype(np.int32)


class Block(keras.layers.Layer):
    """A layer that is made of others."""

    def __init__(self, units: int) -> None:
        super().__init__()
        self.dense = keras.layers.Dense(units, use_bias=False)
        self.norm = keras.layers.BatchNormalization(momentum=0.9)

    def build(self, shape: tuple[int | None, ...]) -> None:
        self.dense.build(shape)
        self.norm.build(self.dense.compute_output_shape(shape))

    def call(self, inputs: tf.Tensor, training: bool = False) -> tf.Tensor:
        return keras.ops.relu(self.norm(self.dense(inputs), training=training))


class Outer(keras.layers.Layer):
    """One that is made of such."""

    def __init__(self) -> None:
        super().__init__()
        self.blocks = [Block(12), Block(6)]

    def build(self, shape: tuple[int | None, ...]) -> None:
        for block in self.blocks:
            block.build(shape)
            shape = (*shape[:-1], block.dense.units)

    def call(self, inputs: tf.Tensor, training: bool = False) -> tf.Tensor:
        for block in self.blocks:
            inputs = block(inputs, training=training)
        return inputs


def model_of(change: Callable[[keras.KerasTensor], keras.KerasTensor]) -> keras.Model:
    inputs = keras.Input((6, 8))
    hidden = keras.layers.Flatten()(change(inputs))
    return keras.Model(inputs, keras.layers.Dense(CLASSES)(hidden))


def composite() -> keras.Model:
    return model_of(Outer())


def shared() -> keras.Model:
    dense = keras.layers.Dense(8, use_bias=False)
    norm = keras.layers.BatchNormalization(momentum=0.9)
    return model_of(lambda inputs: norm(dense(norm(dense(inputs)))))


def frozen() -> keras.Model:
    base = Outer()
    model = model_of(lambda inputs: keras.layers.BatchNormalization()(base(inputs)))
    base.blocks[0].trainable = False
    base.blocks[1].dense.trainable = False
    return model


class Inferring(Block):
    """One whose normalisation never takes the batch's statistics, though it learns."""

    def call(self, inputs: tf.Tensor, training: bool = False) -> tf.Tensor:
        del training
        return keras.ops.relu(self.norm(self.dense(inputs), training=False))


def inferring() -> keras.Model:
    return model_of(lambda inputs: Block(6)(Inferring(12)(inputs)))


def of_another_axis() -> keras.Model:
    norm = keras.layers.BatchNormalization(axis=1, scale=False, center=False, momentum=0.9)
    return model_of(norm)


def over_time() -> keras.Model:
    return model_of(keras.layers.TimeDistributed(keras.layers.BatchNormalization(momentum=0.9)))


def masked() -> keras.Model:
    # What comes first is 3 or more in some rows and not in others.
    norm = keras.layers.BatchNormalization(momentum=0.9)
    return model_of(lambda inputs: norm(inputs, mask=inputs[..., 0] > 3.0))


MODELS = (composite, shared, frozen, inferring, of_another_axis, over_time, masked)
STRATEGIES: dict[str, Callable[[], tf.distribute.Strategy]] = {
    "one device": tf.distribute.get_strategy,
    "mirrored": lambda: tf.distribute.MirroredStrategy(NAMES),
    "central storage": lambda: tf.distribute.experimental.CentralStorageStrategy(NAMES, NAMES[0]),
}


def values(model: keras.Model) -> list[np.ndarray]:
    return [np.asarray(weight.value) for weight in model.weights]


def with_keras(make: Callable[[], keras.Model]) -> list[np.ndarray]:
    keras.utils.set_random_seed(7)
    model = make()
    loss_of = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    for features, labels in zip(FEATURES, LABELS, strict=True):
        with tf.GradientTape() as tape:
            loss = loss_of(labels, model(tf.constant(features), training=True))
        weights = [weight.value for weight in model.trainable_variables]
        for weight, gradient in zip(weights, tape.gradient(loss, weights), strict=True):
            if gradient is not None:
                weight.assign_sub(RATE * gradient)
    return values(model)


def with_loop(
    make: Callable[[], keras.Model], strategy: tf.distribute.Strategy
) -> list[np.ndarray]:
    several = strategy.num_replicas_in_sync > 1
    keras.utils.set_random_seed(7)
    with strategy.scope():
        model = make()
        optimizer = keras.optimizers.SGD(RATE)
        optimizer.build(model.trainable_variables)
    prepare_batch_norms(model, across_replicas=several)
    variables = Variables(model)
    contribution_of = ContributionOf(
        model, variables, Classification(), seed=7, jit_compile=not several
    )
    update = Update(variables, optimizer, clip_norm=None)
    borders = (0, SHARES[0], BATCH) if several else (0, BATCH)

    @tf.function(autograph=False)
    def step(features: tf.Tensor, labels: tf.Tensor) -> None:
        def in_replica() -> None:
            context = tf.distribute.get_replica_context()
            first = int(tf.get_static_value(context.replica_id_in_sync_group))
            part = slice(borders[first], borders[first + 1])
            state = update.state()
            place = tf.constant(borders[first]), tf.constant(0, tf.int64)
            batch_part = BatchPart(tf.constant(1.0 * BATCH), *place)
            update(contribution_of(state, features[part], labels[part], batch_part))

        strategy.run(in_replica)

    for features, labels in zip(FEATURES, LABELS, strict=True):
        step(tf.constant(features), tf.constant(labels))
    return values(model)


def distance(some: list[np.ndarray], others: list[np.ndarray]) -> float:
    return max(
        float(np.abs(one - other).max() / max(np.abs(one).max(), 1e-9))
        for one, other in zip(some, others, strict=True)
    )


tf.config.set_logical_device_configuration(
    tf.config.list_physical_devices("CPU")[0], [tf.config.LogicalDeviceConfiguration()] * 2
)
# Rewriting each graph before it is first run takes a sixth of the time of so few steps.
tf.config.optimizer.set_experimental_options({"disable_meta_optimizer": True})
strategies = {name: STRATEGIES[name]() for name in sys.argv[1:]}
found = {}
for make in MODELS:
    reference = with_keras(make)
    found[make.__name__] = {
        name: distance(reference, with_loop(make, strategy))
        for name, strategy in strategies.items()
    }
print(json.dumps(found))
