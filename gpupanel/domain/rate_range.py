"""A range test of the learning rate: the question to the testing process, and its answer.

The learning rate rises from step to step; where the loss falls fastest is a good one to train with
(Smith, "Cyclical Learning Rates for Training Neural Networks", 2015, section 3.3).
"""

import math
from collections.abc import Sequence
from typing import Annotated, Final

from pydantic import Field

from gpupanel.domain.data import DataSettings
from gpupanel.domain.model import ModelSettings
from gpupanel.domain.problem import Problem
from gpupanel.domain.profile import Profile
from gpupanel.domain.training import TrainingSettings
from gpupanel.domain.value import Value

LEAST_RATE: Final = 1e-7
GREATEST_RATE: Final = 10.0
STEPS: Final = 120
"""15 for each factor of 10."""
DIVERGED: Final = 4.0
"""The test ends where the smoothed loss is so many times its least."""
_SMOOTHING: Final = 0.85
"""The weight of the previous smoothed loss in the next one."""
_SKIPPED: Final = 8
"""Steps at the beginning that say nothing yet: the smoothed loss is of too few."""

_Finite = Annotated[float, Field(allow_inf_nan=False)]


class RateRangeRequest(Value):
    """What to try.

    Attributes:
        data: What is trained on.
        model: What learns.
        training: How; its learning rate, schedule and epochs are not used.
    """

    data: DataSettings
    model: ModelSettings
    training: TrainingSettings


def rate_range_request(profile: Profile) -> RateRangeRequest:
    """What to try for a profile; the same for any learning rate of it."""
    plain = TrainingSettings()
    unused = {name: getattr(plain, name) for name in ("learning_rate", "schedule", "epochs")}
    training = profile.training.model_copy(update=unused)
    return RateRangeRequest(data=profile.data, model=profile.model, training=training)


class RatePoint(Value):
    """One step.

    Attributes:
        rate: The learning rate of its update.
        loss: The mean loss of its examples before the update.
        smoothed: The mean of the losses so far, of which the last ones count most.
    """

    rate: _Finite
    loss: _Finite
    smoothed: _Finite


class RateRange(Value):
    """What became of the loss.

    Attributes:
        points: Step by step; empty where nothing could be tried.
        suggested: The learning rate at which the loss fell fastest; ``None``: it did not fall.
        needs_download: The data is not on this machine yet.
        needs_start: Data or model come from Python code, which only a run carries out.
        problems: Why nothing could be tried.
    """

    points: tuple[RatePoint, ...] = ()
    suggested: float | None = None
    needs_download: bool = False
    needs_start: bool = False
    problems: tuple[Problem, ...] = ()


def rates() -> tuple[float, ...]:
    """The learning rate of each step: each is the one before times the same factor."""
    factor = GREATEST_RATE / LEAST_RATE
    return tuple(LEAST_RATE * factor ** (step / (STEPS - 1)) for step in range(STEPS))


class SmoothedLoss:
    """A mean of which the last losses count most, right from the first on."""

    def __init__(self) -> None:
        self._mean, self._weight = 0.0, 0.0
        self._least = math.inf

    def add(self, loss: float) -> float:
        """The mean after that loss."""
        self._mean = _SMOOTHING * self._mean + (1.0 - _SMOOTHING) * loss
        self._weight = _SMOOTHING * self._weight + (1.0 - _SMOOTHING)
        mean = self._mean / self._weight
        self._least = min(self._least, mean)
        return mean

    def has_diverged(self, mean: float) -> bool:
        """Whether the loss has left its least far behind; losses may be near 0."""
        return not math.isfinite(mean) or mean > DIVERGED * max(self._least, 1e-3)


def suggested_rate(points: Sequence[RatePoint]) -> float | None:
    """Where the smoothed loss falls fastest over the logarithm of the rate.

    Only before its least: behind it nothing is learned any more. Two significant digits: such a
    test says no more.
    """
    if len(points) <= _SKIPPED:
        return None
    losses = [point.smoothed for point in points]
    last = losses.index(min(losses))
    slopes = [(losses[place + 1] - losses[place - 1], place) for place in range(_SKIPPED, last)]
    steepest, place = min(slopes, default=(0.0, 0))
    if steepest >= 0.0:
        return None
    return float(f"{points[place].rate:.1e}")


def rate_range_sentence(found: RateRange) -> str:
    """What was found, in one sentence."""
    if found.needs_download:
        return "Download the data set first."
    if found.needs_start:
        return "Data or model come from Python code, which is executed only by a run."
    if found.problems:
        return "The learning rate could not be tried."
    if found.suggested is None:
        return "The loss fell at no learning rate: the model learns nothing from this data so far."
    return f"The loss falls fastest at a learning rate of {found.suggested:g}."
