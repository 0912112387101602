"""Prints what TensorFlow and Keras do where the trainer goes another way, as JSON.

``clipped``: the update of a weight by Keras's optimizer that clips to a norm of 1, on one device
and on two replicas whose gradients are 3 and -2. ``hierarchical_copy``: the sum of 1, 2 and 4 over
three replicas.
"""

import json
import os

os.environ["CUDA_VISIBLE_DEVICES"] = "-1"

import keras
import tensorflow as tf

NAMES = [f"/device:CPU:{index}" for index in range(3)]
tf.config.set_logical_device_configuration(
    tf.config.list_physical_devices("CPU")[0], [tf.config.LogicalDeviceConfiguration()] * 3
)


def clipped(strategy: tf.distribute.Strategy, gradients: list[float]) -> float:
    """How far a weight moves when each replica hands in its gradient."""
    with strategy.scope():
        weight = keras.Variable(0.0)
        optimizer = keras.optimizers.SGD(1.0, global_clipnorm=1.0)
        optimizer.build([weight])

    def in_replica() -> None:
        replica = tf.distribute.get_replica_context().replica_id_in_sync_group
        optimizer.apply([tf.gather(tf.constant(gradients), replica)], [weight])

    tf.function(lambda: strategy.run(in_replica), autograph=False)()
    return float(weight.numpy())


def hierarchical_copy() -> list[float]:
    """What each of three replicas gets."""
    strategy = tf.distribute.MirroredStrategy(
        NAMES, cross_device_ops=tf.distribute.HierarchicalCopyAllReduce()
    )

    def in_replica() -> tf.Tensor:
        context = tf.distribute.get_replica_context()
        value = tf.gather(tf.constant([[1.0], [2.0], [4.0]]), context.replica_id_in_sync_group)
        return context.all_reduce(tf.distribute.ReduceOp.SUM, value)

    sums = tf.function(lambda: strategy.run(in_replica), autograph=False)()
    return [float(one[0]) for one in strategy.experimental_local_results(sums)]


reported = {
    "clipped": [
        clipped(tf.distribute.OneDeviceStrategy(NAMES[0]), [1.0]),
        clipped(tf.distribute.MirroredStrategy(NAMES[:2]), [3.0, -2.0]),
    ],
    "hierarchical_copy": hierarchical_copy(),
}
print(json.dumps(reported))
