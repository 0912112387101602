"""What one replica does with its part of a batch: learn from it, or measure it."""

import keras
import tensorflow as tf

from gpupanel.trainer.loop.replica_sums import ReplicaSums, instant
from gpupanel.trainer.models.objectives import Objective

Gradients = list[tf.Tensor]


class TrainingStep:
    """Adds one replica's part to an optimizer update.

    The loss is the sum over the replica's examples divided by the *global* batch size, and the
    optimizer sums gradients over replicas: any split of a batch is the same mathematics.
    """

    def __init__(
        self,
        model: keras.Model,
        objective: Objective,
        optimizer: keras.optimizers.Optimizer,
        *,
        accumulation_steps: int,
        jit_compile: bool,
        timed: bool = False,
    ) -> None:
        """Builds nothing yet.

        Args:
            model: Its trainable variables learn.
            objective: What is made small.
            optimizer: Built for those variables.
            accumulation_steps: Micro-batches of each part.
            jit_compile: Compile the gradients with XLA.
            timed: Tell how many seconds the gradients took.
        """
        self._model = model
        self._objective = objective
        self._optimizer = optimizer
        self._variables = model.trainable_variables
        self._accumulation_steps = accumulation_steps
        self._timed = timed
        # XLA gets the arithmetic only; reading examples and summing over replicas stay outside.
        self._gradients = (
            tf.function(self._eager_gradients, jit_compile=True, autograph=False)
            if jit_compile
            else self._eager_gradients
        )

    def __call__(self, features: tf.Tensor, labels: tf.Tensor, examples: tf.Tensor) -> ReplicaSums:
        """One update; gives the summed loss and measure, from before it."""
        sums, gradients = self.learned(features, labels, examples)
        self._optimizer.apply(gradients, self._variables)
        return sums

    def learned(
        self, features: tf.Tensor, labels: tf.Tensor, examples: tf.Tensor
    ) -> tuple[ReplicaSums, Gradients]:
        """The sums and the gradients of this replica's part; nothing is applied."""
        if not self._timed:
            loss_sum, measure_sum, gradients = self._accumulated(features, labels, examples)
            return ReplicaSums(loss_sum, measure_sum), gradients
        start_s = instant([features, labels])
        with tf.control_dependencies([start_s]):
            part = (tf.identity(features), tf.identity(labels))
        loss_sum, measure_sum, gradients = self._accumulated(*part, examples)
        end_s = instant(gradients)
        with tf.control_dependencies([end_s]):
            # Summing over replicas waits for the slowest of them: it comes after.
            gradients = [tf.identity(gradient) for gradient in gradients]
        return ReplicaSums(loss_sum, measure_sum, tf.cast(end_s - start_s, tf.float32)), gradients

    def _accumulated(
        self, features: tf.Tensor, labels: tf.Tensor, examples: tf.Tensor
    ) -> tuple[tf.Tensor, tf.Tensor, Gradients]:
        parts, count = self._accumulation_steps, tf.shape(labels)[0]
        if parts == 1:
            return self._gradients(features, labels, examples)
        loss_sum, measure_sum = tf.constant(0.0), tf.constant(0.0)
        gradients = [tf.zeros_like(variable) for variable in self._variables]
        for part in range(parts):
            first, end = count * part // parts, count * (part + 1) // parts
            # One micro-batch after the other: side by side they would need the memory of all.
            with tf.control_dependencies(gradients):
                micro = (tf.identity(features[first:end]), tf.identity(labels[first:end]))
            loss, measure, more = self._gradients(*micro, examples)
            loss_sum, measure_sum = loss_sum + loss, measure_sum + measure
            gradients = [total + gradient for total, gradient in zip(gradients, more, strict=True)]
        return loss_sum, measure_sum, gradients

    def _eager_gradients(
        self, features: tf.Tensor, labels: tf.Tensor, examples: tf.Tensor
    ) -> tuple[tf.Tensor, tf.Tensor, Gradients]:
        with tf.GradientTape() as tape:
            outputs = self._model(features, training=True)
            loss_sum, measure_sum = self._objective.sums(outputs, labels)
            loss = loss_sum / examples
        gradients = tape.gradient(loss, [variable.value for variable in self._variables])
        return loss_sum, measure_sum, gradients


class EvaluationStep:
    """Measures one replica's part without learning from it."""

    def __init__(self, model: keras.Model, objective: Objective) -> None:
        self._model = model
        self._objective = objective

    def __call__(self, features: tf.Tensor, labels: tf.Tensor, examples: tf.Tensor) -> ReplicaSums:
        """The summed loss and measure."""
        del examples
        return ReplicaSums(*self._objective.sums(self._model(features, training=False), labels))
