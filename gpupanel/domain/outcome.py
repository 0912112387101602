"""How a run ended, and what it reached."""

from enum import StrEnum
from typing import Literal, Self

from gpupanel.domain.measure import Measure
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


class Metrics(Value):
    """What was measured over whole sets, whatever the split over replicas.

    ``loss`` is the mean over the examples. What else there is depends on what is predicted, and is
    a :class:`~gpupanel.domain.measure.Measure`: ``accuracy`` and those after it are fractions from
    0 to 1, of classes and labels; ``mean_absolute_error`` and those after it are of values. Of the
    training examples only accuracy and mean absolute error are measured. Keys that begin with
    ``val_`` are of the validation set and stay ``None`` where there is none. Those that begin with
    ``test_`` are of a test set that does not validate: it is measured once, when the training has
    come to its end.
    """

    loss: float | None = None
    accuracy: float | None = None
    top_5_accuracy: float | None = None
    f1: float | None = None
    auc: float | None = None
    mean_absolute_error: float | None = None
    root_mean_squared_error: float | None = None
    r2: float | None = None
    val_loss: float | None = None
    val_accuracy: float | None = None
    val_top_5_accuracy: float | None = None
    val_f1: float | None = None
    val_auc: float | None = None
    val_mean_absolute_error: float | None = None
    val_root_mean_squared_error: float | None = None
    val_r2: float | None = None
    test_loss: float | None = None
    test_accuracy: float | None = None
    test_top_5_accuracy: float | None = None
    test_f1: float | None = None
    test_auc: float | None = None
    test_mean_absolute_error: float | None = None
    test_root_mean_squared_error: float | None = None
    test_r2: float | None = None

    def with_part(self, part: Literal["val", "test"], measured: "Metrics") -> Self:
        """These, and what was measured of the validation or the test set."""
        found = measured.model_dump(exclude_none=True)
        return self.model_copy(update={f"{part}_{name}": value for name, value in found.items()})

    def of_part(self, part: Literal["val", "test"]) -> Self:
        """What was measured of the validation or the test set, without its prefix."""
        found = self.model_dump(exclude_none=True)
        prefix = f"{part}_"
        own = {name: value for name, value in found.items() if name.startswith(prefix)}
        return type(self)(**{name.removeprefix(prefix): value for name, value in own.items()})

    def value_of(self, measure: Measure) -> float | None:
        """One of them, without a prefix."""
        value: float | None = getattr(self, measure.value)
        return value


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
