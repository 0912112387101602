"""How long a training has taken, all its parts together, and how much of its limit is left."""

import time
from collections.abc import Callable

from gpupanel.domain.problem import Problem, Severity
from gpupanel.domain.time_limit import epochs_that_fit
from gpupanel.domain.training import TrainingSettings
from gpupanel.trainer.saving.position import Position


class TrainingTime:
    """The clock of a training that may be limited.

    Work that is done again after a death counts once: what a checkpoint has counts, and what is
    done from there on.
    """

    def __init__(
        self,
        training: TrainingSettings,
        position: Position,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Begins to count.

        Args:
            training: Says the limit.
            position: Where it goes on; has what it took until there.
            clock: In seconds.
        """
        self._training = training
        self._limit_s = training.time_limit_s
        self._clock = clock
        self._begun_s = clock() - position.trained_s
        self._epoch_began_s: float | None = None

    @property
    def own_s(self) -> float:
        """What it took until now, by the clock of this process."""
        return self._clock() - self._begun_s

    def is_up(self, trained_s: float) -> bool:
        """Whether a training that took so long has used up its time."""
        return self._limit_s is not None and trained_s >= self._limit_s

    def fitted(self, position: Position) -> Position:
        """The position at the end of an epoch, with how many epochs fit, if that can be decided.

        Decided once: what is trained then does not depend on the clock any more, and a run that
        is resumed comes to the same bits.
        """
        if self._epoch_began_s is not None:
            measured = {
                "measured_epochs": position.measured_epochs + 1,
                "measured_s": position.measured_s + position.trained_s - self._epoch_began_s,
            }
            position = position.model_copy(update=measured)
        self._epoch_began_s = position.trained_s
        if self._limit_s is None or position.epochs_within(self._limit_s) is not None:
            return position
        fit = epochs_that_fit(
            self._limit_s,
            position.trained_s,
            position.each_epoch_s,
            position.epoch - 1,
            self._training.epochs,
        )
        return position.model_copy(update={"fitted_epochs": fit, "fitted_into_s": self._limit_s})

    def decision(self, epochs: int, done: int) -> Problem:
        """What is said of the number of epochs that fit, after so many."""
        return Problem(
            code="epochs_fitted",
            severity=Severity.HINT,
            field="training.time_limit",
            message=f"{epochs:,} of {self._training.epochs:,} epochs fit into the time limit, "
            f"{self._training.time_limit}, by what the first {done:,} took. The training ends "
            "with them, and so does the schedule of the learning rate.",
        )

    def ending(self, position: Position) -> Problem:
        """Why the training ends here, before the epochs that the profile asks for."""
        done = position.epoch - 1
        within = f", within epoch {position.epoch:,}" if position.step_in_epoch else ""
        return Problem(
            code="time_limit_reached",
            severity=Severity.HINT,
            field="training.time_limit",
            message=f"The training ended after {done:,} of {self._training.epochs:,} epochs"
            f"{within}, as its time limit of {self._training.time_limit} says.",
            hint="Resume it with a longer training.time_limit to train on.",
        )
