"""What one replica finds out from a part of a batch, as a pure function of tensors.

Nothing is assigned here. Weights come in as tensors, read once a step, and what the layers would
have changed comes out: so XLA can compile it wherever the weights live, and every strategy sums
it over the replicas before anything changes.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

import keras
import tensorflow as tf

from gpupanel.trainer.models.objectives import Objective
from gpupanel.trainer.parts.batch_norm import batch_norms, contributed_moments, measured_calls
from gpupanel.trainer.parts.random_numbers import drawn_by_example
from gpupanel.trainer.parts.recompute import Segment, gradients_of_segments, pass_segments
from gpupanel.trainer.steps.batch_part import BatchPart


class Contribution(NamedTuple):
    """What one replica, or one of its micro-batches, adds to a step: all of it is summed.

    Attributes:
        sums: Over the examples, of loss and metrics, as
            :class:`~gpupanel.trainer.models.objectives.Objective` counts them.
        gradients: Of each weight; the loss is divided by the examples of the whole batch, and
            scaled where the state says so.
        moments: Of each batch normalisation, shape [calls, 2, channels]: mean of its inputs and of
            their squares, both measured from the moving mean and weighted by the part of the whole
            batch that these examples are. One that is frozen, or only infers, is never called.
    """

    sums: tf.Tensor
    gradients: list[tf.Tensor]
    moments: list[tf.Tensor]

    def plus(self, later: "Contribution") -> "Contribution":
        """This and that of the micro-batch after it."""
        return Contribution(
            self.sums + later.sums,
            _sums(self.gradients, later.gradients),
            _sums(self.moments, later.moments),
        )


def _sums(some: list[tf.Tensor], more: list[tf.Tensor]) -> list[tf.Tensor]:
    return [_sum_beside(one, other) for one, other in zip(some, more, strict=True)]


def _sum_beside(one: tf.Tensor, other: tf.Tensor) -> tf.Tensor:
    with tf.device(one.device):
        return one + other


class State(NamedTuple):
    """What a contribution depends on beside the examples.

    Attributes:
        weights: Of the model's trainable variables.
        fixed: What its other weights hold: moving statistics, and what is frozen.
        scale: What the loss is multiplied by, and with it the gradients; ``None``: by nothing.
    """

    weights: list[tf.Tensor]
    fixed: list[tf.Tensor]
    scale: tf.Tensor | None = None


class Variables:
    """The variables of a model, by what a step does with them.

    Attributes:
        weights: Learn.
        fixed: The other weights, which no gradient changes.
        norms: Batch normalisations that keep moving statistics.
    """

    def __init__(self, model: keras.Model) -> None:
        self.weights: list[keras.Variable] = model.trainable_variables
        learn = {id(weight) for weight in self.weights}
        self.fixed = [weight for weight in model.weights if id(weight) not in learn]
        self.norms = [norm for norm in batch_norms(model) if norm.trainable]


class ContributionOf:
    """Computes contributions of one model."""

    def __init__(
        self,
        model: keras.Model,
        variables: Variables,
        objective: Objective,
        *,
        seed: int,
        jit_compile: bool,
        segments: Sequence[Segment] = (),
        learns_inputs: bool = False,
    ) -> None:
        """Builds nothing yet.

        Args:
            model: See :class:`~gpupanel.trainer.models.build.BuiltModel`, its trained one.
            variables: Of that model.
            objective: What is made small.
            seed: Of the run.
            jit_compile: Compile it with XLA; reading examples and summing over replicas stay
                outside.
            segments: Of the model, whose activations are computed again for the gradients; none:
                they are kept.
            learns_inputs: Each example is its own label.
        """
        self._model = model
        self._learns_inputs = learns_inputs
        self._segments = segments
        self._is_compiled = jit_compile
        self._variables = variables
        self._objective = objective
        self._seed = seed
        self._function = (
            tf.function(self._compute, jit_compile=True, autograph=False)
            if jit_compile
            else self._compute
        )

    def __call__(
        self, state: State, features: tf.Tensor, labels: tf.Tensor, part: BatchPart
    ) -> Contribution:
        """The contribution of these examples, at most of one replica.

        Args:
            state: See :class:`State`.
            features: Shape [n, ...].
            labels: Shape [n, ...].
            part: Which examples of which batch these are.
        """
        contribution: Contribution = self._function(state, features, labels, part)
        return contribution

    def _compute(
        self, state: State, features: tf.Tensor, labels: tf.Tensor, part: BatchPart
    ) -> Contribution:
        with measured_calls() as calls, self._computing(state, features, part):
            if self._segments:
                given = tf.cast(features, self._model.inputs[0].dtype)
                passed = pass_segments(self._segments, given, calls)
                outputs = passed[-1].found
            else:
                outputs = self._model(features, training=True)
        sums = self._objective.sums(outputs, features if self._learns_inputs else labels)
        loss = sums[0] / part.examples
        if state.scale is not None:
            loss *= state.scale
        # Not a tape: this puts the gradient of an operation on the device of the operation, which
        # matters where layers are placed on several.
        if self._segments:
            (upstream,) = tf.gradients(loss, [outputs])
            with self._computing(state, features, part):
                gradients = gradients_of_segments(
                    self._segments, passed, upstream, state.weights, is_compiled=self._is_compiled
                )
        else:
            gradients = tf.gradients(
                loss, state.weights, unconnected_gradients=tf.UnconnectedGradients.ZERO
            )
        share = tf.cast(tf.shape(labels)[0], tf.float32) / part.examples
        variables = self._variables
        fixed = {id(each): now for each, now in zip(variables.fixed, state.fixed, strict=True)}
        return Contribution(
            tf.stack(sums),
            # That of an embedding comes as rows, which can be neither added up nor clipped.
            [tf.convert_to_tensor(gradient) for gradient in gradients],
            [
                contributed_moments(calls.of(norm), fixed[id(norm.moving_mean)], share)
                for norm in variables.norms
            ],
        )

    @contextmanager
    def _computing(self, state: State, features: tf.Tensor, part: BatchPart) -> Iterator[None]:
        """Within it the model computes with that state, and draws for those examples."""
        scope = keras.StatelessScope(state_mapping=self._mapping(state))
        with scope, drawn_by_example(self._seed, part.step, part.first, features):
            yield

    def _mapping(self, state: State) -> list[tuple[keras.Variable, tf.Tensor]]:
        variables = self._variables
        mapping = list(zip(variables.weights, state.weights, strict=True))
        mapping += zip(variables.fixed, state.fixed, strict=True)
        return mapping
