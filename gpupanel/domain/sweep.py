"""What a sweep tries: which settings, which values, how many trainings, and what is best."""

from typing import Annotated, Final

from pydantic import BeforeValidator, Discriminator, Field, Tag

from gpupanel.domain.choice import ChoiceEnum
from gpupanel.domain.data_source import MOST_FOLDS
from gpupanel.domain.outcome import SET_METRICS
from gpupanel.domain.setting import setting
from gpupanel.domain.value import Count, PositiveInt, Value

MOST_TRIALS: Final = 1_000
"""Trainings of one sweep."""
MOST_SWEPT: Final = 32
"""Settings of one sweep."""


class SweepMethod(ChoiceEnum):
    """How the values of the trials are chosen."""

    GRID = "grid", "Grid", "Every combination of the values, once."
    RANDOM = "random", "Random", "Values at random, by the seed; none twice."
    BAYESIAN = (
        "bayesian",
        "Bayesian",
        "Values near those of good trials, by Optuna's TPE: pip install 'gpupanel[sweep]'.",
    )


class SweepDirection(ChoiceEnum):
    """Which values of the metric are better."""

    AUTO = "auto", "By the metric", "Losses and errors: smaller; accuracy and the like: greater."
    MINIMIZE = "minimize", "Minimize", "Smaller is better."
    MAXIMIZE = "maximize", "Maximize", "Greater is better."


class StoppingRule(ChoiceEnum):
    """Which trials of a sweep are not trained to their end."""

    MEDIAN = (
        "median",
        "Median",
        (
            "Stops a trial whose best value so far is worse than the median of the other trials at "
            "the same epoch."
        ),
    )
    SUCCESSIVE_HALVING = (
        "successive_halving",
        "Successive halving",
        (
            "Pauses each trial after a few epochs; only the best part of them continues to several "
            "times as many, and so on (ASHA)."
        ),
    )


def _plain(value: object) -> object:
    """The value, if it is none that only a table or a calendar has."""
    items = value if isinstance(value, list | tuple) else [value]
    if not all(isinstance(each, bool | int | float | str) for each in items):
        raise ValueError("it should be a number, text, true or false, or a list of numbers or text")
    return value


SweptValue = Annotated[
    bool | int | float | str | tuple[int | float | str, ...], BeforeValidator(_plain)
]
"""One value of a setting, as TOML holds it."""


class SweptRange(Value):
    """Numbers from ``low`` to ``high``, both included; whole ones where the setting is a count."""

    low: float = setting("Low", "The least value.")
    high: float = setting("High", "The greatest value.")
    log: bool = setting(
        "Logarithmic",
        "Factors are equal, and not differences: for values over several powers of ten.",
        default=False,
    )
    steps: Annotated[int, Field(ge=2, le=MOST_TRIALS)] | None = setting(
        "Steps",
        "How many values of the range a grid has, evenly spaced; other methods take any.",
        default=None,
        off="none",
    )


def _kind(value: object) -> str:
    return "range" if isinstance(value, dict | SweptRange) else "list"


Swept = Annotated[
    Annotated[tuple[SweptValue, ...], Tag("list")] | Annotated[SweptRange, Tag("range")],
    Discriminator(_kind),
]
"""What is tried of one setting."""

_Beside = dict[str, tuple[str | bool, ...]]
_BY_MEDIAN: Final[_Beside] = {"prune": (True,), "stopping_rule": (StoppingRule.MEDIAN.value,)}
_BY_HALVING: Final[_Beside] = {
    "prune": (True,),
    "stopping_rule": (StoppingRule.SUCCESSIVE_HALVING.value,),
}
_BY_CHANCE: Final = (SweepMethod.RANDOM.value, SweepMethod.BAYESIAN.value)


class SweepSettings(Value):
    """The ``[sweep]`` table of a profile; a run of the profile alone does without it."""

    method: SweepMethod = setting(
        "Method",
        "How the values of the trials are chosen.",
        default=SweepMethod.RANDOM,
    )
    trials: Annotated[int, Field(ge=1, le=MOST_TRIALS)] = setting(
        "Trials",
        "How many trainings there are at most; a grid has one for each combination.",
        default=20,
        applies={"method": _BY_CHANCE},
    )
    seed: Count = setting(
        "Seed",
        "The same seed gives the same trials.",
        default=7,
        applies={"method": _BY_CHANCE},
        advanced=True,
    )
    seeds: Annotated[int, Field(ge=1, le=100)] = setting(
        "Seeds",
        "Trains each trial so many times, with the seeds that follow the profile's. Trials are "
        "compared by the mean of their runs, and the spread between these is shown.",
        default=1,
    )
    folds: Annotated[int, Field(ge=1, le=MOST_FOLDS)] = setting(
        "Folds",
        "Cross-validation: trains each trial once for each of so many folds, and holds another one "
        "out each time, so that each example is held out exactly once. Without settings to try it "
        "is the cross-validation of the profile itself. 1 is none.",
        default=1,
        examples=[5],
    )
    metric: str = setting(
        "Metric",
        "The metric by which trials are compared: loss, val_loss, val_accuracy and the like.",
        default="val_loss",
        examples=["val_loss", "val_accuracy"],
    )
    direction: SweepDirection = setting(
        "Direction",
        "Which values of the metric are better.",
        default=SweepDirection.AUTO,
        advanced=True,
    )
    prune: bool = setting(
        "Stop poor trials early",
        "Trials that are worse than others at the same epoch are not trained to their end; the "
        "rule says which.",
        default=True,
    )
    stopping_rule: StoppingRule = setting(
        "Rule",
        "Which trials are not trained to their end.",
        default=StoppingRule.MEDIAN,
        applies={"prune": (True,)},
    )
    prune_after_epochs: PositiveInt = setting(
        "First prunable epoch",
        "No trial is stopped before the end of this epoch.",
        default=1,
        unit="epoch",
        applies=_BY_MEDIAN,
        advanced=True,
    )
    prune_after_trials: PositiveInt = setting(
        "Compared with",
        "How many other trials must have reached the epoch.",
        default=4,
        applies=_BY_MEDIAN,
        advanced=True,
    )
    first_rung: PositiveInt = setting(
        "First rung",
        "After this epoch each trial is paused and compared for the first time. More are surer, "
        "and cost more for each trial.",
        default=1,
        unit="epoch",
        applies=_BY_HALVING,
        advanced=True,
    )
    reduction_factor: Annotated[int, Field(ge=2, le=100)] = setting(
        "Reduction factor",
        "The best trial of so many continues, for this many times as many epochs: 3 compares "
        "after 1, 3, 9, 27 epochs, and a third continues each time.",
        default=3,
        applies=_BY_HALVING,
        advanced=True,
    )
    values: dict[str, Swept] = setting(
        "Settings and values",
        "The values of each setting, by its full key in quotes: a list of values, or "
        "a range such as { low = 1e-4, high = 1e-1, log = true }; for a grid also with steps = 4.",
        default_factory=dict,
        examples=[{"training.learning_rate": {"low": 1e-4, "high": 1e-1, "log": True}}],
    )

    @property
    def has_trials(self) -> bool:
        """Whether there is something to train: other values, or the same ones several times."""
        return bool(self.values) or self.seeds > 1 or self.folds > 1

    @property
    def halves(self) -> bool:
        """Whether trials are paused and continued, by successive halving."""
        return self.prune and self.stopping_rule is StoppingRule.SUCCESSIVE_HALVING

    @property
    def more_is_better(self) -> bool:
        """Whether a greater value of the metric is better."""
        if self.direction is not SweepDirection.AUTO:
            return self.direction is SweepDirection.MAXIMIZE
        metric = SET_METRICS.get(self.metric.removeprefix("val_"))
        return metric is not None and metric.more_is_better
