"""Exponential moving averages of the weights, which are validated and saved in their place."""

from collections.abc import Iterator, Mapping, Sequence

import keras
import numpy as np
import tensorflow as tf

from gpupanel.trainer.datasets.examples import Array


class WeightAverages:
    """An average of each weight, as Keras's optimizers have it with ``use_ema``.

    Keras puts the averages in place of the weights when a training ends, and only then are they
    measured. Here the weights stay what they are: who wants to measure or to save the averages
    reads these, so that a training can go on at any moment.
    """

    def __init__(
        self,
        optimizer: keras.optimizers.Optimizer,
        weights: Sequence[keras.Variable],
        momentum: float,
    ) -> None:
        """Make them; call it within the strategy's scope.

        Args:
            optimizer: The first one; the averages are variables of it, each beside its weight.
            weights: Those that learn, or will later.
            momentum: How much of an average stays at each update, from 0 to 1.
        """
        self._optimizer = optimizer
        self._momentum = momentum
        self._weights = weights
        self._averages: list[keras.Variable] = []
        for weight in weights:
            average = optimizer.add_variable_from_reference(weight, "average")
            # A training that is stopped before its first update saves them, too.
            average.assign(weight.value)
            self._averages.append(average)
        self._of = {id(each): own for each, own in zip(weights, self._averages, strict=True)}

    def follow(self, strategy: tf.distribute.Strategy, weights: Sequence[keras.Variable]) -> None:
        """Move those of some weights towards them after an update, before it is counted.

        Within the context of all replicas. The average of a weight that does not learn yet is the
        weight.
        """

        def follow(weight: tf.Variable, average: tf.Variable) -> None:
            with tf.device(weight.device):
                # The first is taken whole, as Keras does.
                is_first = self._optimizer.iterations.value == 0
                kept = tf.where(is_first, 0.0, tf.cast(self._momentum, weight.dtype))
                average.assign(kept * average + (1.0 - kept) * weight)

        for weight in weights:
            average = self._of[id(weight)]
            strategy.extended.update(weight.value, follow, args=(average.value,), group=False)

    def in_place_of_weights(self) -> keras.StatelessScope:
        """Within it the model computes with the averages; in a replica's context."""
        mapping = [
            (weight, tf.convert_to_tensor(average.value))
            for weight, average in zip(self._weights, self._averages, strict=True)
        ]
        return keras.StatelessScope(state_mapping=mapping)

    def variables_by_weight(self) -> Mapping[int, keras.Variable]:
        """Each average, by the ``id`` of its weight."""
        return self._of

    def by_weight(self) -> Mapping[int, Array]:
        """What each average holds, by the ``id`` of its weight."""
        return dict(self._by_weight())

    def _by_weight(self) -> Iterator[tuple[int, Array]]:
        for weight, average in zip(self._weights, self._averages, strict=True):
            yield id(weight), np.asarray(average.value)
