"""What the processes of a run do next, agreed upon in the calls themselves."""

from typing import Protocol

from gpupanel.domain.strategy import StrategyKind
from gpupanel.trainer.interruptions import Interruption, Interruptions
from gpupanel.trainer.loop.pace import Pace
from gpupanel.trainer.started_run import StartedRun

Wishes = tuple[float, ...]


class Agreement(Protocol):
    """Between two calls: what interrupts the training, and how many steps the next call has."""

    def pending(self) -> Interruption | None:
        """What to do now instead of another call, the same in every process of the run."""

    def wishes(self, pace: Pace) -> Wishes:
        """What this process hands in with its next call, made at that pace."""

    def heard(self, wishes: Wishes, pace: Pace, steps: int, seconds: float) -> None:
        """Take in what all processes handed in, summed, with a call of so many steps."""


class Alone:
    """One process agrees with itself at once."""

    def __init__(self, interruptions: Interruptions) -> None:
        self._interruptions = interruptions

    def pending(self) -> Interruption | None:
        """See :meth:`Agreement.pending`."""
        return self._interruptions.pending()

    def wishes(self, pace: Pace) -> Wishes:
        """None: there is nobody to tell."""
        del pace
        return ()

    def heard(self, wishes: Wishes, pace: Pace, steps: int, seconds: float) -> None:
        """See :meth:`Agreement.heard`."""
        del wishes
        pace.took(steps, seconds)


_STOP, _SUSPEND, _GONE, _CHECKPOINT, _STEPS = range(5)
"""Places in the wishes."""


class InStep:
    """Several processes that make the same calls at the same time.

    Each hands in, with a call, what it heard before; what the sums say takes effect in all of
    them before the next call. Any may ask to stop; suspending, checkpoints and the pace are
    wishes of the one that leads.
    """

    def __init__(self, interruptions: Interruptions, *, leads: bool) -> None:
        self._interruptions = interruptions
        self._leads = leads
        self._wanted: dict[Pace, Pace] = {}
        self._agreed: Interruption | None = None

    def pending(self) -> Interruption | None:
        """See :meth:`Agreement.pending`."""
        agreed, self._agreed = self._agreed, None
        if agreed is Interruption.STOP:
            self._interruptions.answer_stop()
        return agreed

    def wishes(self, pace: Pace) -> Wishes:
        """See :meth:`Agreement.wishes`."""
        heard = self._interruptions.pending()
        wanted = self._wanted.get(pace, pace)
        return (
            float(heard is Interruption.STOP),
            float(heard is Interruption.SUSPEND),
            float(heard is Interruption.SUPERVISOR_GONE),
            float(heard is Interruption.CHECKPOINT),
            float(wanted.steps) if self._leads else 0.0,
        )

    def heard(self, wishes: Wishes, pace: Pace, steps: int, seconds: float) -> None:
        """See :meth:`Agreement.heard`."""
        self._wanted.setdefault(pace, Pace()).took(steps, seconds)
        pace.steps = round(wishes[_STEPS])
        if wishes[_STOP]:
            self._agreed = Interruption.STOP
        elif wishes[_SUSPEND]:
            self._agreed = Interruption.SUSPEND
        elif wishes[_GONE]:
            self._agreed = Interruption.SUPERVISOR_GONE
        elif wishes[_CHECKPOINT]:
            self._agreed = Interruption.CHECKPOINT


def make_agreement(run: StartedRun, interruptions: Interruptions) -> Agreement:
    """How this process of the run agrees with the others."""
    if run.plan.strategy is not StrategyKind.MULTI_WORKER:
        return Alone(interruptions)
    return InStep(interruptions, leads=run.leads)
