"""Prints what two replicas of each strategy drop in two steps, as JSON: [step, replica, unit].

The gradient of a weight that is multiplied with a dropped 1 is the mask itself.
"""

import json
import os
from collections.abc import Sequence

os.environ["CUDA_VISIBLE_DEVICES"] = "-1"

import keras
import tensorflow as tf

from gpupanel.domain.outcome import Metrics
from gpupanel.trainer.steps.contribution import ContributionOf, Variables
from gpupanel.trainer.steps.update import Update

UNITS = 2000
NAMES = ["/device:CPU:0", "/device:CPU:1"]


class Total:
    """The sum of all outputs is the loss."""

    size = 1

    def sums(self, outputs: tf.Tensor, labels: tf.Tensor) -> tuple[tf.Tensor, ...]:
        del labels
        return (tf.reduce_sum(outputs),)

    def metrics(self, sums: Sequence[float], examples: int) -> Metrics:
        return Metrics(loss=sums[0] / examples)


def masks(strategy: tf.distribute.Strategy) -> list[list[list[float]]]:
    """Of two steps."""
    with strategy.scope():
        keras.utils.set_random_seed(7)
        model = keras.Sequential(
            [
                keras.Input((UNITS,)),
                keras.layers.Dropout(0.5),
                keras.layers.Dense(1, use_bias=False),
            ]
        )
        optimizer = keras.optimizers.SGD(0.0)
        optimizer.build(model.trainable_variables)
    variables = Variables(model)
    contribution_of = ContributionOf(model, variables, Total(), jit_compile=False)
    update = Update(variables, optimizer, clip_norm=None)

    def in_replica() -> tf.Tensor:
        state, labels = update.state(), tf.zeros([1], tf.int32)
        found = contribution_of(state, tf.ones([1, UNITS]), labels, tf.constant(1.0))
        update(state, found)
        return found.gradients[0][:, 0]

    @tf.function(autograph=False)
    def step() -> tf.Tensor:
        return tf.stack(strategy.experimental_local_results(strategy.run(in_replica)))

    return [step().numpy().tolist() for _ in range(2)]


tf.config.set_logical_device_configuration(
    tf.config.list_physical_devices("CPU")[0], [tf.config.LogicalDeviceConfiguration()] * 2
)
reported = {
    "mirrored": masks(tf.distribute.MirroredStrategy(NAMES)),
    "central_storage": masks(tf.distribute.experimental.CentralStorageStrategy(NAMES, NAMES[0])),
}
print(json.dumps(reported))
