"""How the learning rate changes while a model is trained: by the step, or by the loss."""

import math
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from gpupanel.domain.choice import ChoiceEnum
from gpupanel.domain.setting import EVERY, setting
from gpupanel.domain.value import Fraction, PositiveInt, Value

OpenFraction = Annotated[float, Field(gt=0.0, lt=1.0)]


class ScheduleKind(ChoiceEnum):
    """What the learning rate does in the course of a training."""

    CONSTANT = "constant", "Constant", "It stays the same."
    STEP = "step", "Step", "Falls by a factor at once, at regular intervals."
    EXPONENTIAL = "exponential", "Exponential", "Falls by that factor gradually."
    COSINE = "cosine", "Cosine", "Falls slowly, then fast, then slowly, until the end."
    ONE_CYCLE = "one_cycle", "One cycle", "Rises from a 25th, then falls as a cosine to almost 0."
    REDUCE_ON_PLATEAU = (
        "reduce_on_plateau",
        "Reduce on plateau",
        "Falls by a factor whenever the validation loss has not fallen for some epochs.",
    )


_FALLS_BY_EPOCHS = (ScheduleKind.STEP.value, ScheduleKind.EXPONENTIAL.value)
_FALLS_BY_LOSS = ScheduleKind.REDUCE_ON_PLATEAU.value
_COSINE = ScheduleKind.COSINE.value

CYCLE_BEGINS_AT = 1 / 25
"""The first learning rate as a fraction of the peak, as in fastai and PyTorch."""
CYCLE_ENDS_AT = CYCLE_BEGINS_AT * 1e-4


class ScheduleSettings(Value):
    """The ``[training.schedule]`` table of a profile."""

    kind: ScheduleKind = setting(
        "Kind",
        "How the learning rate changes in the course of the training.",
        default=ScheduleKind.CONSTANT,
    )
    every_epochs: PositiveInt = setting(
        "Falls",
        "The number of epochs in which the learning rate falls by the factor.",
        default=10,
        prefix=EVERY,
        unit="epoch",
        applies={"kind": _FALLS_BY_EPOCHS},
    )
    factor: OpenFraction = setting(
        "Factor",
        "What the learning rate is multiplied by when it falls.",
        default=0.1,
        applies={"kind": (*_FALLS_BY_EPOCHS, _FALLS_BY_LOSS)},
    )
    warmup_epochs: Annotated[float, Field(ge=0.0, le=1e6)] = setting(
        "Warm-up (epochs)",
        "The learning rate rises from 0 during this many epochs (1.5 is one and a half), then "
        "falls.",
        default=0.0,
        unit="epoch",
        off="none",
        applies={"kind": (_COSINE,)},
    )
    rise: OpenFraction = setting(
        "Rise",
        "The fraction of the training in which the learning rate rises: 0.3 is almost a third of "
        "all steps.",
        default=0.3,
        applies={"kind": (ScheduleKind.ONE_CYCLE.value,)},
    )
    least: Fraction = setting(
        "Least rate",
        "The learning rate falls to this fraction of itself, and no further.",
        default=0.0,
        off="none",
        applies={"kind": (_COSINE, _FALLS_BY_LOSS)},
    )
    patience_epochs: PositiveInt = setting(
        "Patience",
        "It falls when the validation loss (the training loss where nothing is validated) has not "
        "fallen for this many epochs, whether each of them was validated or not.",
        default=5,
        unit="epoch",
        applies={"kind": (_FALLS_BY_LOSS,)},
    )

    @property
    def follows_loss(self) -> bool:
        """Whether the rate depends on what was reached, and not on the step alone."""
        return self.kind is ScheduleKind.REDUCE_ON_PLATEAU

    def curve(self, rate: float, epochs: int, steps_an_epoch: int) -> "RateCurve":
        """The learning rate over the steps of a training.

        Args:
            rate: ``training.learning_rate``: the greatest one.
            epochs: Of the training.
            steps_an_epoch: Optimizer updates of each.
        """
        steps = epochs * steps_an_epoch
        match self.kind:
            case ScheduleKind.STEP | ScheduleKind.EXPONENTIAL:
                falling = self.every_epochs * steps_an_epoch
                at_once = self.kind is ScheduleKind.STEP
                return RateCurve(rate, falling=falling, factor=self.factor, at_once=at_once)
            case ScheduleKind.COSINE:
                rising = round(self.warmup_epochs * steps_an_epoch)
                return RateCurve(
                    rate, rising=rising, falling=max(1, steps - rising), least=self.least
                )
            case ScheduleKind.ONE_CYCLE:
                rising = max(1, round(self.rise * steps))
                return RateCurve(
                    rate,
                    begins_at=CYCLE_BEGINS_AT,
                    rising=rising,
                    falling=max(1, steps - rising),
                    least=CYCLE_ENDS_AT,
                )
        # By the loss nothing is known before.
        return RateCurve(rate)


@dataclass(frozen=True, slots=True)
class RateCurve:
    """The learning rate as a function of the step, as Keras's schedules have it.

    Attributes:
        rate: The greatest one.
        begins_at: Of it, before it rises.
        rising: Steps in which it does, in a straight line.
        falling: Steps in which it then falls: by the factor, or to the least as a cosine; 0: it
            does not.
        factor: ``None``: as a cosine.
        at_once: By the factor at the end of these steps, and not smoothly.
        least: Of the rate, as a part of it.
        later: What it is from a later step on, at the same place; ``None``: as before.
        later_from: That step.
    """

    rate: float
    begins_at: float = 0.0
    rising: int = 0
    falling: int = 0
    factor: float | None = None
    at_once: bool = False
    least: float = 0.0
    later: "RateCurve | None" = None
    later_from: int = 0

    def at(self, step: float) -> float:
        """The rate of the update after so many."""
        if self.later is not None and step >= self.later_from:
            return self.later.at(step)
        if not self.falling:
            return self.rate
        if self.factor is not None:
            falls = step / self.falling
            return float(self.rate * self.factor ** (math.floor(falls) if self.at_once else falls))
        if step < self.rising:
            return self.rate * (self.begins_at + (1.0 - self.begins_at) * step / self.rising)
        done = min(1.0, (step - self.rising) / self.falling)
        part = 0.5 * (1.0 + math.cos(math.pi * done))
        return self.rate * (self.least + (1.0 - self.least) * part)


NO_SCHEDULE = ScheduleSettings()
