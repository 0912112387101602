"""How a run ended, and what it reached."""

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, Self

from pydantic import ConfigDict, create_model, model_validator
from typing_extensions import override

from gpupanel.domain.metric import Metric, Unit, metrics_of
from gpupanel.domain.value import Value


class Outcome(StrEnum):
    """How a run ended."""

    COMPLETED = "completed"
    STOPPED = "stopped"
    SUSPENDED = "suspended"
    FAILED = "failed"
    LOST = "lost"
    """The trainer vanished: killed by a signal, or it exited without saying why."""

    @property
    def was_successful(self) -> bool:
        """Whether the run came to the end that the person asked for."""
        return self in (Outcome.COMPLETED, Outcome.STOPPED, Outcome.SUSPENDED)


Part = Literal["val", "test"]
"""A set beside the training examples, as keys begin with it."""

_PARTS: Final[tuple[Part, ...]] = ("val", "test")


class SetMetrics(Value):
    """What is measured of a model over a whole set, declared once.

    From a metric here follow its keys in events and tables, for training, validation and test,
    its columns and curves. What is left to write is the trainer's: what it comes to.
    """

    loss: Annotated[float | None, Metric("Loss", "Mean loss.", is_of_model=True)] = None
    accuracy: Annotated[
        float | None,
        Metric(
            "Accuracy",
            "Fraction of examples classified correctly; of several labels, of the labels.",
            Unit.FRACTION,
            more_is_better=True,
            is_of_model=True,
        ),
    ] = None
    top_5_accuracy: Annotated[
        float | None,
        Metric(
            "Top-5 accuracy",
            "Fraction of examples whose class is among the five most probable ones.",
            Unit.FRACTION,
            more_is_better=True,
            is_of_model=True,
        ),
    ] = None
    f1: Annotated[
        float | None,
        Metric(
            "F1",
            "Harmonic mean of precision and recall of each class or label; the mean over them.",
            Unit.FRACTION,
            more_is_better=True,
            is_of_model=True,
        ),
    ] = None
    auc: Annotated[
        float | None,
        Metric(
            "AUC",
            "Area under the ROC curve, of two classes or of each label; 50 % is chance. During "
            "training at most 0.2 percentage points off.",
            Unit.FRACTION,
            more_is_better=True,
            is_of_model=True,
        ),
    ] = None
    mean_absolute_error: Annotated[
        float | None,
        Metric(
            "Mean absolute error",
            "How far predicted values are from the true ones, in their units.",
            is_of_model=True,
        ),
    ] = None
    root_mean_squared_error: Annotated[
        float | None,
        Metric(
            "RMSE",
            "Root of the mean squared error of predicted values, in their units.",
            is_of_model=True,
        ),
    ] = None
    r2: Annotated[
        float | None,
        Metric(
            "R²",
            "Fraction of the variance of values that is predicted: 1 is all of it, 0 their mean "
            "only.",
            Unit.UP_TO_ONE,
            more_is_better=True,
            is_of_model=True,
        ),
    ] = None

    def value_of(self, metric: Metric) -> float | None:
        """One of them, without a prefix."""
        value: float | None = getattr(self, metric.name)
        return value


SET_METRICS: Final = metrics_of(SetMetrics)
"""The metrics of a set by key, in the order in which they are shown."""
FURTHER_METRICS: Final = tuple(metric for name, metric in SET_METRICS.items() if name != "loss")
"""What there is beside the loss; which of it depends on what is predicted."""

MOST_OWN_METRICS: Final = 20
"""Metrics of a person's own: each is summed over the replicas, and stands in every line."""
_OWN_NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,39}")


def own_metric_misfit(name: str) -> str | None:
    """Why a metric of a person's own cannot have that name; ``None``: it can."""
    if not _OWN_NAME.fullmatch(name):
        return "a name has up to 40 small letters, digits and underscores, first a letter"
    if name in SET_METRICS:
        return "the program measures one of that name"
    if name.startswith(_PREFIXES):
        return f"names that begin with {' or '.join(_PREFIXES)} are those of other sets"
    return None


_PREFIXES: Final = tuple(f"{part}_" for part in _PARTS)
_WITHOUT_PREFIX: Final = re.compile(f"^({'|'.join(_PREFIXES)})")

if TYPE_CHECKING:

    class _AllSets(SetMetrics):
        """The metrics of all sets, as attributes for code that reads them by name."""

        val_loss: float | None = None
        val_accuracy: float | None = None
        val_mean_absolute_error: float | None = None
        test_loss: float | None = None
        test_accuracy: float | None = None
else:
    _AllSets = create_model(
        "_AllSets",
        __base__=SetMetrics,
        **{f"{part}_{name}": (float | None, None) for part in _PARTS for name in SET_METRICS},
    )


class Metrics(_AllSets):
    """What was measured over whole sets, whatever the split over replicas.

    Keys without a prefix are of the training examples, of which only loss, accuracy and mean
    absolute error are measured, or of those that a saved model was evaluated on. Those that begin
    with ``val_`` are of the validation set and stay ``None`` where there is none. Those that begin
    with ``test_`` are of a test set that does not validate: it is measured once, when the training
    has come to its end. Further keys, with and without these prefixes, are metrics of the person's
    own code, by the names that it gives them.
    """

    # Frozen, as every value is.
    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, float]

    @model_validator(mode="after")
    def _check_own(self) -> Self:
        """Refuse what no code can have measured: a run's folder may be a stranger's."""
        named = {name: _WITHOUT_PREFIX.sub("", name) for name in self.own}
        for name, own in named.items():
            misfit = own_metric_misfit(own)
            if misfit is not None:
                raise ValueError(f"{name!r} is no metric: {misfit}")
        if len(set(named.values())) > MOST_OWN_METRICS:
            raise ValueError(f"more than {MOST_OWN_METRICS} metrics of a person's own")
        return self

    @property
    def own(self) -> Mapping[str, float]:
        """The metrics of the person's own code, by their keys."""
        return self.__pydantic_extra__

    @override
    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """A copy with other fields; those of the person's own code stay, and may be among them."""
        del deep  # numbers only
        return type(self).model_validate({**self.__dict__, **self.own, **(update or {})})

    def with_part(self, part: Part, measured: "Metrics") -> Self:
        """These, and what was measured of the validation or the test set."""
        found = {**{name: getattr(measured, name) for name in SET_METRICS}, **measured.own}
        known = {f"{part}_{name}": value for name, value in found.items() if value is not None}
        return self.model_copy(update=known)

    def with_validation_of(self, before: Self) -> Self:
        """These, and where they are of an epoch that was not validated, the validation before."""
        return self if self.val_loss is not None else self.with_part("val", before.of_part("val"))

    def of_part(self, part: Part) -> Self:
        """What was measured of the validation or the test set, without its prefix."""
        prefix = f"{part}_"
        own = {
            name.removeprefix(prefix): value
            for name, value in self.own.items()
            if name.startswith(prefix)
        }
        return type(self)(**{name: getattr(self, f"{prefix}{name}") for name in SET_METRICS}, **own)


class ValidatedEpoch(Value):
    """An epoch that was validated, such as the best one.

    Attributes:
        epoch: Counted from 1.
        step: Updates at its end: those that its weights hold.
        metrics: Of that epoch.
    """

    epoch: int
    step: int
    metrics: Metrics


class SavedWork(Value):
    """What of a training is saved, and what would be lost if nothing more were.

    Attributes:
        model: The trained model stands in the run's directory, with the last step in it.
        checkpoint_step: Updates that the last checkpoint holds; ``None``: there is none.
        unsaved_steps: Updates that neither holds.
        ended_at_once: A person ended the training without saving.
    """

    model: bool = False
    checkpoint_step: int | None = None
    unsaved_steps: int = 0
    ended_at_once: bool = False
