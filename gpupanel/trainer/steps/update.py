"""One optimizer update from what every replica contributed: summed once, clipped, applied.

``keras.optimizers.Optimizer.apply`` clips what each replica has and sums that, which is another
gradient than the whole batch's. So only the arithmetic of Keras's optimizers is used here, their
public ``update_step``; what happens around it is this file.
"""

from functools import partial
from typing import Final

import keras
import tensorflow as tf

from gpupanel.trainer.models.divided_optimizer import (
    DividedOptimizer,
    LearningOptimizer,
    whole_of,
)
from gpupanel.trainer.models.optimizers import clipped, decay_of
from gpupanel.trainer.models.weight_averages import WeightAverages
from gpupanel.trainer.parts.batch_norm import change_of_mean, next_variance
from gpupanel.trainer.parts.loss_scale import LossScale
from gpupanel.trainer.parts.whole_gradient import clipping_scale, global_norm
from gpupanel.trainer.steps.contribution import Contribution, State, Variables

UPDATE_METRICS: Final = ("gradient_norm",)
"""What every update gives, by its key in :class:`~gpupanel.domain.steps_line.StepsLine`, which has
the mean over the reported steps."""


class Update:
    """Reads the state that a step starts from, and changes it once for all replicas."""

    def __init__(
        self,
        variables: Variables,
        optimizer: LearningOptimizer,
        *,
        clip_norm: float | None,
        averages: WeightAverages | None = None,
        loss_scale: LossScale | None = None,
    ) -> None:
        """Changes nothing yet.

        Args:
            variables: What is updated.
            optimizer: Built for the weights among them.
            clip_norm: Greatest global norm of the whole gradient; ``None``: any.
            averages: Of the weights, which follow each update; ``None``: there are none.
            loss_scale: Where gradients are those of a scaled loss: an update in which one is not
                finite changes the scale alone.
        """
        self._variables = variables
        self._divided = optimizer if isinstance(optimizer, DividedOptimizer) else None
        self._optimizer = whole_of(optimizer)
        self._clip_norm = clip_norm
        self._averages = averages
        self._loss_scale = loss_scale

    def state(self) -> State:
        """The state on this replica; call it in a replica's context."""
        variables, scale = self._variables, self._loss_scale
        return State(
            [tf.convert_to_tensor(weight.value) for weight in variables.weights],
            [tf.convert_to_tensor(weight.value) for weight in variables.fixed],
            None if scale is None else tf.convert_to_tensor(scale.scale.value),
        )

    def __call__(self, contribution: Contribution) -> tuple[tf.Tensor, ...]:
        """Apply what this replica contributes, together with what the other replicas do.

        Args:
            contribution: Of this replica, to the whole batch.

        Returns:
            Each of :data:`UPDATE_METRICS`: float32 scalars, the same on all replicas.
        """
        # Those that were called, which is the same on all replicas.
        measured = [
            (norm, moments)
            for norm, moments in zip(self._variables.norms, contribution.moments, strict=True)
            if moments.shape[0]
        ]
        # One sum for all: every collective costs a round trip.
        found: tuple[tf.Tensor, ...] = tf.distribute.get_replica_context().merge_call(
            partial(self._apply, [norm for norm, _ in measured]),
            args=([*contribution.gradients, *(moments for _, moments in measured)],),
        )
        return found

    def _apply(
        self,
        norms: list[keras.layers.BatchNormalization],
        strategy: tf.distribute.Strategy,
        contributed: list[tf.Tensor],
    ) -> tuple[tf.Tensor, ...]:
        """Within the context of all replicas; the tensors are one a replica."""
        variables = self._variables
        weights = [weight.value for weight in variables.weights]
        places = [*weights, *(norm.moving_mean.value for norm in norms)]
        sums = strategy.extended.batch_reduce_to(
            tf.distribute.ReduceOp.SUM, list(zip(contributed, places, strict=True))
        )
        gradients, moments = sums[: len(weights)], sums[len(weights) :]

        def change(gradients: list[tf.Tensor]) -> tf.Tensor:
            gradient_norm = self._learn(strategy, weights, gradients)
            for norm, of_norm in zip(norms, moments, strict=True):
                self._follow(strategy, norm, of_norm)
            return gradient_norm

        if self._loss_scale is None or not weights:
            return (change(gradients),)
        return (self._loss_scale.applied(strategy, weights[0], gradients, change),)

    def _learn(
        self,
        strategy: tf.distribute.Strategy,
        weights: list[tf.Variable],
        gradients: list[tf.Tensor],
    ) -> tf.Tensor:
        """Gives the global norm of the gradients, as they were before they are clipped."""
        optimizer, clip_norm = self._optimizer, self._clip_norm

        def learn(
            weight: tf.Variable, gradient: tf.Tensor, rate: tf.Tensor, scale: tf.Tensor | None
        ) -> None:
            with tf.device(weight.device):
                if optimizer.weight_decay is not None:
                    weight.assign_sub(decay_of(optimizer, weight, rate))
                optimizer.update_step(clipped(gradient, scale), weight, rate)

        rate = scale = norms = None
        if weights:
            # Once for all of them: a schedule calculates it.
            rate = strategy.extended.update(
                weights[0], lambda _: tf.convert_to_tensor(optimizer.learning_rate)
            )
        if clip_norm is not None:
            # On each device that holds the sums, all of which come to the same.
            norms = strategy.extended.update(
                weights[0], lambda _, whole: global_norm(whole), args=(gradients,)
            )
            scale = strategy.extended.update(
                weights[0], lambda _, norm: clipping_scale(norm, clip_norm), args=(norms,)
            )
        if self._divided is not None and weights:
            self._divided.learn(gradients, rate, scale)
        else:
            for weight, gradient in zip(weights, gradients, strict=True):
                strategy.extended.update(weight, learn, args=(gradient, rate, scale), group=False)
        if self._averages is not None:
            self._averages.follow(strategy, self._variables.weights)
        optimizer.iterations.value.assign_add(1)
        # All devices hold the same sums: one of them says what their norm is. Computed beside that
        # of the clipping, it would lead TensorFlow's graph optimizer to other last bits.
        here = strategy.experimental_local_results
        if norms is not None:
            return here(norms)[0]
        return global_norm([here(each)[0] for each in gradients])

    @staticmethod
    def _follow(
        strategy: tf.distribute.Strategy, norm: keras.layers.BatchNormalization, moments: tf.Tensor
    ) -> None:
        """Move the moving statistics once a call, towards those of the whole batch."""

        def follow_mean(mean: tf.Variable, moments: tf.Tensor) -> None:
            mean.assign_add(change_of_mean(moments, norm.momentum))

        def follow_variance(variance: tf.Variable, moments: tf.Tensor) -> None:
            now = tf.convert_to_tensor(variance)
            variance.assign(next_variance(now, moments, norm.momentum))

        update = strategy.extended.update
        update(norm.moving_mean.value, follow_mean, args=(moments,), group=False)
        update(norm.moving_variance.value, follow_variance, args=(moments,), group=False)
