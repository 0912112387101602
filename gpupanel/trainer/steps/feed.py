"""How examples reach the replicas: what every feed does.

A step is a list of example indices first, and each replica gets only its own part.
"""

from collections.abc import Sequence
from typing import Protocol, TypeAlias

import tensorflow as tf

from gpupanel.domain.plan import LaunchPlan
from gpupanel.trainer.datasets.examples import Indices
from gpupanel.trainer.started_run import process_place

Step: TypeAlias = tf.Tensor | int


class Feed(Protocol):
    """Hands examples to a call of several steps.

    Attributes:
        examples: How many there are.
    """

    examples: int

    @property
    def signature(self) -> tuple[tf.TensorSpec, ...]:
        """Specs of the tensors that a call takes; the first one's axes are steps and batch."""

    def expect(self, coming: Sequence[tuple[Indices, Indices]]) -> None:
        """Make ready what is going to be asked for, instead of what was expected before.

        Args:
            coming: Batches and bounds, as :meth:`tensors` takes them, in the order in which their
                steps will be asked for; how many of them a call takes does not matter.
        """

    def most_steps(self, bounds: Indices) -> int | None:
        """How many steps one call may take, by what it carries; ``None``: any number.

        The same in every process of the run.

        Args:
            bounds: As :meth:`tensors` takes them.
        """

    def close(self) -> None:
        """Make nothing ready any more."""

    def tensors(
        self, batches: Indices, bounds: Indices | None = None, place: int = 0
    ) -> tuple[tf.Tensor, ...]:
        """What one call takes for these steps.

        Args:
            batches: Example indices, shape [steps, batch].
            bounds: Where each replica's part of a batch begins and ends, shape [replicas, 2];
                no other one may be asked for. Without it any may.
            place: Of the first example among those of the epoch.

        Raises:
            ProblemError: An example cannot be read.
        """

    def part(
        self,
        replica: int,
        tensors: Sequence[tf.Tensor],
        step: Step,
        first: tf.Tensor,
        end: tf.Tensor,
    ) -> tuple[tf.Tensor, tf.Tensor]:
        """Features and labels of one replica's part of one step, inside the graph.

        Args:
            replica: Its index.
            tensors: Those of :meth:`tensors`.
            step: Which of the call's.
            first: Where its part of the batch begins.
            end: Where it ends.
        """


def own_devices(plan: LaunchPlan) -> dict[int, str]:
    """The device of each replica of this process, by its index among all of the run."""
    here = process_place()
    return {
        number: replica.logical_device
        for number, replica in enumerate(plan.replicas)
        if replica.process == here
    }
