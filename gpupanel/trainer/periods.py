"""The periods of a training: which weights learn from which epoch on."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import keras
import tensorflow as tf

from gpupanel.domain.fine_tuning import FineTuning
from gpupanel.trainer.models.build import BuiltModel
from gpupanel.trainer.models.divided_optimizer import DividedOptimizer, LearningOptimizer
from gpupanel.trainer.models.frozen_layers import let_learn
from gpupanel.trainer.models.gathering import Gathering
from gpupanel.trainer.models.optimizers import make_optimizer
from gpupanel.trainer.started_run import StartedRun
from gpupanel.trainer.steps.step_calls import TrainingCalls
from gpupanel.trainer.steps.trials import Trials


@dataclass(frozen=True, slots=True)
class Period:
    """The epochs in which the same weights learn.

    Attributes:
        parameters: How many numbers learn.
        layers: How many layers of the base do, of those with weights.
        rate: The greatest learning rate.
        optimizer: Of this period alone.
        calls: Training steps.
        trials: Of these; ``None`` where shares are not balanced.
        fine_tuning: What it began with; ``None`` for the first period.
    """

    parameters: int
    layers: int
    rate: float
    optimizer: LearningOptimizer
    calls: TrainingCalls
    trials: Trials | None = None
    fine_tuning: FineTuning | None = None

    @property
    def from_epoch(self) -> int:
        """The first epoch of the period, counted from 1."""
        return 1 if self.fine_tuning is None else self.fine_tuning.from_epoch

    def begin(self, built: BuiltModel) -> None:
        """Have its weights learn in what is traced from now on."""
        let_learn(built.base_layers, 0 if self.fine_tuning is None else self.fine_tuning.layers)


def make_optimizers(
    run: StartedRun,
    strategy: tf.distribute.Strategy,
    built: BuiltModel,
    steps_an_epoch: int,
    gathering: Gathering | None = None,
) -> tuple[LearningOptimizer, ...]:
    """One for each period; call it outside of the strategy's scope.

    With one for both, Adam would have counted thousands of updates when more weights begin to
    learn: it would take their slots, which are zero, for the means of as many gradients, and its
    next steps would be several times too large. All are there from the beginning, and in each
    checkpoint, so that it does not matter on which side of the border that was saved.

    Args:
        run: Says which optimizer, and how its state is divided.
        strategy: Of the training.
        built: All its weights learn that ever do.
        steps_an_epoch: Updates of each.
        gathering: See :func:`gathering_of`.
    """
    quotas, fine_tuning = run.plan.optimizer_quotas, run.profile.model.fine_tuning

    def made(later: FineTuning | None) -> LearningOptimizer:
        """Of the weights that are trainable now."""
        make = partial(make_optimizer, run.profile.training, steps_an_epoch, later)
        weights = built.trained.trainable_variables
        with strategy.scope():
            optimizer = make()
            if quotas is None:
                optimizer.build(weights)
                return optimizer
        first = _first_replica(run)
        return DividedOptimizer(strategy, optimizer, weights, make, quotas, first, gathering)

    if fine_tuning is None:
        return (made(None),)
    freeze_base(built)
    first = made(None)
    let_learn(built.base_layers, fine_tuning.layers)
    return first, made(fine_tuning)


def gathering_of(run: StartedRun, strategy: tf.distribute.Strategy) -> Gathering | None:
    """How processes put the optimizer's state together; ``None``: each has all that it needs."""
    if run.plan.optimizer_quotas is None or not run.plan.processes:
        return None
    return Gathering(strategy, _first_replica(run))


def _first_replica(run: StartedRun) -> int:
    """Of this process, among all replicas."""
    return [each.process for each in run.plan.replicas].index(run.place)


def make_periods(
    built: BuiltModel,
    optimizers: Sequence[LearningOptimizer],
    fine_tuning: FineTuning | None,
    period_of: Callable[[LearningOptimizer, FineTuning | None], Period],
) -> tuple[Period, ...]:
    """The periods; the model is left as the first one needs it.

    Args:
        built: All its weights learn that ever do.
        optimizers: As :func:`make_optimizers` made them.
        fine_tuning: As there.
        period_of: Makes the period of the weights that learn at that moment.
    """
    last = period_of(optimizers[-1], fine_tuning)
    if fine_tuning is None:
        return (last,)
    freeze_base(built)
    return period_of(optimizers[0], None), last


def freeze_base(built: BuiltModel) -> None:
    """Have only the head learn, as in the first of two periods."""
    let_learn(built.base_layers, 0)


def count_parameters(weights: Sequence[keras.Variable]) -> int:
    """How many numbers these are."""
    return sum(math.prod(weight.shape) for weight in weights)
