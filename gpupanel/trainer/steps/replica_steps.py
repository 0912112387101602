"""What one replica does with its part of a batch: learn from it, or measure it."""

from collections.abc import Sequence
from contextlib import nullcontext
from itertools import pairwise

import keras
import tensorflow as tf

from gpupanel.trainer.models.divided_optimizer import LearningOptimizer
from gpupanel.trainer.models.objectives import Objective
from gpupanel.trainer.models.weight_averages import WeightAverages
from gpupanel.trainer.parts.loss_scale import LossScale
from gpupanel.trainer.parts.placed_layer import taken_in_turn
from gpupanel.trainer.parts.recompute import Segment
from gpupanel.trainer.steps.batch_part import BatchPart
from gpupanel.trainer.steps.contribution import Contribution, ContributionOf, State, Variables
from gpupanel.trainer.steps.replica_sums import ReplicaSums, instant
from gpupanel.trainer.steps.update import Update


class TrainingStep:
    """Adds one replica's part to an optimizer update.

    The loss is the sum over the replica's examples divided by the *global* batch size, and
    gradients are summed over replicas: any split of a batch is the same mathematics.
    """

    def __init__(
        self,
        model: keras.Model,
        objective: Objective,
        optimizer: LearningOptimizer,
        *,
        seed: int,
        micro_batches: int,
        pipelined: bool = False,
        jit_compile: bool,
        clip_norm: float | None = None,
        averages: WeightAverages | None = None,
        timed: bool = False,
        segments: Sequence[Segment] = (),
        loss_scale: LossScale | None = None,
        learns_inputs: bool = False,
    ) -> None:
        """Builds nothing yet.

        Args:
            model: Its trainable variables learn.
            objective: What is made small.
            optimizer: Built for those variables.
            seed: Of the run: what layers draw.
            micro_batches: In how many each part is taken.
            pipelined: Devices with layers take them at once, and not one after the other.
            jit_compile: Compile the gradients with XLA.
            clip_norm: Greatest global norm of the gradient of the whole batch; ``None``: any.
            averages: Of the weights, which follow each update.
            timed: Report how many seconds the gradients took.
            segments: See :class:`~gpupanel.trainer.steps.contribution.ContributionOf`.
            loss_scale: In float16 alone.
            learns_inputs: Each example is its own label.
        """
        variables = Variables(model)
        self._contribution = ContributionOf(
            model,
            variables,
            objective,
            seed=seed,
            jit_compile=jit_compile,
            segments=segments,
            learns_inputs=learns_inputs,
        )
        self._update = Update(
            variables, optimizer, clip_norm=clip_norm, averages=averages, loss_scale=loss_scale
        )
        self._micro_batches = micro_batches
        self._pipelined = pipelined
        self._timed = timed

    def __call__(self, features: tf.Tensor, labels: tf.Tensor, part: BatchPart) -> ReplicaSums:
        """One update; gives the sums of loss and metrics before it, and what it says of itself."""
        state = self._update.state()
        learn = self._timed_learning if self._timed else self._learning
        sums, contribution = learn(state, features, labels, part)
        return sums._replace(of_update=self._update(contribution))

    def tried(self, features: tf.Tensor, labels: tf.Tensor, part: BatchPart) -> ReplicaSums:
        """What an update computes, timed; nothing is changed by it."""
        state = self._update.state()
        return self._timed_learning(state, features, labels, part, alone=True)[0]

    def _learning(
        self, state: State, features: tf.Tensor, labels: tf.Tensor, part: BatchPart
    ) -> tuple[ReplicaSums, Contribution]:
        """The sums and the contribution of this replica's part; nothing is applied."""
        learned = self._accumulated(state, features, labels, part)
        return ReplicaSums(learned.sums), learned

    def _timed_learning(
        self,
        state: State,
        features: tf.Tensor,
        labels: tf.Tensor,
        part: BatchPart,
        *,
        alone: bool = False,
    ) -> tuple[ReplicaSums, Contribution]:
        start = instant([features, labels], alone=alone)
        given = (features, labels)
        if alone or not start.is_of_gpu:
            # What comes next waits for the clock, which may be carried out last otherwise. A step
            # of a GPU does not: it would stand still until the number that is copied has come.
            with tf.control_dependencies([start.clock_s]):
                given = (tf.identity(features), tf.identity(labels))
        learned = self._accumulated(state, *given, part)
        # Nothing waits for this clock: gradients that are ready are summed over the replicas while
        # the other ones are still computed.
        end = instant(learned.gradients, alone=alone, since=start)
        return ReplicaSums(learned.sums, start.until(end)), learned

    def _accumulated(
        self, state: State, features: tf.Tensor, labels: tf.Tensor, part: BatchPart
    ) -> Contribution:
        """The contribution of this replica's part, one micro-batch after the other."""
        parts, count = self._micro_batches, tf.shape(labels)[0]
        if parts == 1:
            return self._contribution(state, features, labels, part)
        borders = [count * number // parts for number in range(parts + 1)]
        first = (features[: borders[1]], labels[: borders[1]])
        totals = [self._contribution(state, *first, part)]
        for begin, end in pairwise(borders[1:]):
            before = [total.gradients for total in totals]
            # Side by side they would need the memory of all.
            with tf.control_dependencies([] if self._pipelined else before[-1]):
                micro = (tf.identity(features[begin:end]), tf.identity(labels[begin:end]))
            with taken_in_turn(before) if self._pipelined else nullcontext():
                more = self._contribution(state, *micro, part.begins_with(begin))
            totals.append(totals[-1].plus(more))
        return totals[-1]


class EvaluationStep:
    """Measures one replica's part without learning from it.

    Args:
        model: What is measured.
        objective: What of it.
        averages: Of its weights, which are measured in their place.
        learns_inputs: Each example is its own label.
    """

    def __init__(
        self,
        model: keras.Model,
        objective: Objective,
        averages: WeightAverages | None = None,
        *,
        learns_inputs: bool = False,
    ) -> None:
        self._model = model
        self._objective = objective
        self._averages = averages
        self._learns_inputs = learns_inputs

    def __call__(self, features: tf.Tensor, labels: tf.Tensor, part: BatchPart) -> ReplicaSums:
        """The sums of loss and metrics."""
        del part
        with self._averages.in_place_of_weights() if self._averages else nullcontext():
            outputs = self._model(features, training=False)
        sums = self._objective.sums(outputs, features if self._learns_inputs else labels)
        return ReplicaSums(tf.concat([tf.reshape(each, [-1]) for each in sums], axis=0))
