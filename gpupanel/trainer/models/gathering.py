"""What several processes of a run keep each a part of, put together."""

import numpy as np
import tensorflow as tf

from gpupanel.trainer.datasets.examples import Array

NOTHING = -0.0
"""What is added to a number that another process has: unlike 0 it leaves each as it is."""


class Gathering:
    """Sums over the processes of a run; all of them call it at the same time.

    Args:
        strategy: Over all of them.
        first_replica: Of this process, among all replicas.
    """

    def __init__(self, strategy: tf.distribute.Strategy, first_replica: int) -> None:
        self._strategy = strategy
        self._first_replica = first_replica

    def sum(self, array: Array) -> Array:
        """The sum of what each hands in, of one shape."""

        def of_replica(context: tf.distribute.experimental.ValueContext) -> tf.Tensor:
            is_first = context.replica_id_in_sync_group == self._first_replica
            return tf.constant(array if is_first else np.full_like(array, NOTHING))

        each = self._strategy.experimental_distribute_values_from_function(of_replica)
        found: Array = np.asarray(self._strategy.reduce("SUM", each, axis=None))
        return found

    def of_leader(self, *, wanted: bool) -> bool:
        """What the process with the first replica wants."""
        is_leader = self._first_replica == 0
        return float(self.sum(np.array(wanted and is_leader, np.float32))) > 0.0
