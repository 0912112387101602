"""What one replica has to tell of its part of a step, and how long it took."""

from collections.abc import Sequence
from typing import NamedTuple

import tensorflow as tf

_HOST = "/device:CPU:0"


class ReplicaSums(NamedTuple):
    """Of one replica's part of one step; float32 scalars.

    Attributes:
        loss: Summed over its examples.
        measure: As :class:`~gpupanel.trainer.models.objectives.Objective` counts it.
        seconds: From its part of the batch being ready to its gradients being ready, so without
            waiting for other replicas; 0 where nobody asked for it.
    """

    loss: tf.Tensor
    measure: tf.Tensor
    seconds: tf.Tensor | float = 0.0


def instant(after: Sequence[tf.Tensor]) -> tf.Tensor:
    """The time in seconds, float64, at which these tensors are computed.

    A GPU counts an operation as done when it is queued. So one number is copied to the host after
    them, and a copy waits for everything that was queued before it.
    """
    with tf.control_dependencies(after):
        witness = tf.reshape(after[-1], [-1])[:1]
    with tf.device(_HOST), tf.control_dependencies([tf.identity(witness), *after]):
        return tf.timestamp()
