"""How a run ended, and what it reached."""

from enum import StrEnum
from typing import Literal, Self

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

    ``loss`` is the mean over the examples. ``accuracy`` is a fraction from 0 to 1 and stays
    ``None`` where values are predicted; ``mean_absolute_error`` is the other way round. Keys that
    begin with ``val_`` are of the validation set and stay ``None`` where there is none. Those that
    begin with ``test_`` are of a test set that does not validate: it is measured once, when the
    training has come to its end.
    """

    loss: float | None = None
    accuracy: float | None = None
    mean_absolute_error: float | None = None
    val_loss: float | None = None
    val_accuracy: float | None = None
    val_mean_absolute_error: float | None = None
    test_loss: float | None = None
    test_accuracy: float | None = None
    test_mean_absolute_error: float | None = None

    def with_part(self, part: Literal["val", "test"], measured: "Metrics") -> Self:
        """These, and what was measured of the validation or the test set."""
        found = measured.model_dump(exclude_none=True)
        return self.model_copy(update={f"{part}_{name}": value for name, value in found.items()})


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
