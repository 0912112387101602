"""What the processes of a run do next, and how many steps it has: agreed upon in the calls."""

from typing import Protocol

from gpupanel.domain.strategy import StrategyKind
from gpupanel.trainer.interruptions import Interruption, Interruptions
from gpupanel.trainer.started_run import StartedRun

_CALL_S = 0.05
_FASTEST_RISE = 4
Vote = tuple[float, ...]


class Pace:
    """Adapts the steps of a call so that it lasts about 50 ms.

    Long enough that calling costs little, short enough that a request is heard at once.

    Attributes:
        steps: For the next call.
        most_steps: Of a call, whatever fits; ``None``: as many as fit.
    """

    def __init__(self) -> None:
        self.steps = 1
        self.most_steps: int | None = None

    def took(self, steps: int, seconds: float) -> None:
        """Learn from a call: so many steps took so long."""
        fitting = int(_CALL_S * steps / max(seconds, 1e-6))
        most = _FASTEST_RISE * steps
        if self.most_steps is not None:
            most = min(most, self.most_steps)
        self.steps = max(1, min(fitting, most))


class Consensus(Protocol):
    """Between two calls: what interrupts the training, and how many steps the next call has.

    Attributes:
        is_alone: Nobody else has to do the same at the same step.
    """

    is_alone: bool

    def pending(self) -> Interruption | None:
        """What to do now instead of another call, the same in every process of the run."""

    def vote(self, pace: Pace, *, checkpoint: bool = False, trained_s: float = 0.0) -> Vote:
        """What this process hands in with its next call, made at that pace.

        Args:
            pace: Of the call.
            checkpoint: All are to take part in one as soon as they agree.
            trained_s: How long the training took until now, by this process's clock.
        """

    def trained_s(self, own_s: float) -> float:
        """How long the training took, the same in every process of the run.

        Args:
            own_s: By the clock of this process, now.
        """

    def take_votes(self, votes: Vote, pace: Pace, steps: int, seconds: float) -> None:
        """Take in what all processes handed in, summed, with a call of so many steps."""

    def forget(self) -> None:
        """What was asked for by now is being done: calls that were under way ask for nothing."""


class SingleProcess:
    """One process agrees with itself at once."""

    is_alone = True

    def __init__(self, interruptions: Interruptions) -> None:
        self._interruptions = interruptions

    def pending(self) -> Interruption | None:
        """See :meth:`Consensus.pending`."""
        return self._interruptions.pending()

    def vote(self, pace: Pace, *, checkpoint: bool = False, trained_s: float = 0.0) -> Vote:
        """None: there is nobody to agree with."""
        del pace, checkpoint, trained_s
        return ()

    def trained_s(self, own_s: float) -> float:
        """See :meth:`Consensus.trained_s`."""
        return own_s

    def take_votes(self, votes: Vote, pace: Pace, steps: int, seconds: float) -> None:
        """See :meth:`Consensus.take_votes`."""
        del votes
        pace.took(steps, seconds)

    def forget(self) -> None:
        """See :meth:`Consensus.forget`."""


_STOP, _SUSPEND, _GONE, _CHECKPOINT, _STEPS, _TRAINED_S = range(6)
"""Places in a vote."""
_SUSPENSIONS = (Interruption.SUSPEND, Interruption.SUSPEND_AFTER_EPOCH)
"""What the one process that leads hands in there: the place of one of these, from 1."""


class SeveralProcesses:
    """Several processes that make the same calls at the same time.

    Each hands in, with a call, what it was asked before; what the sums say takes effect in all of
    them before the same call. Any may ask to stop; suspending, checkpoints, the pace and the clock
    come from the one that leads.
    """

    is_alone = False

    def __init__(self, interruptions: Interruptions, *, leads: bool) -> None:
        self._interruptions = interruptions
        self._leads = leads
        self._wanted: dict[Pace, Pace] = {}
        self._agreed: Interruption | None = None
        self._trained_s = 0.0

    def pending(self) -> Interruption | None:
        """See :meth:`Consensus.pending`."""
        agreed, self._agreed = self._agreed, None
        if agreed is Interruption.STOP:
            self._interruptions.answer_stop()
        return agreed

    def vote(self, pace: Pace, *, checkpoint: bool = False, trained_s: float = 0.0) -> Vote:
        """See :meth:`Consensus.vote`."""
        asked = self._interruptions.pending()
        wanted = self._wanted.get(pace, pace)
        return (
            float(asked is Interruption.STOP),
            _SUSPENSIONS.index(asked) + 1.0 if asked in _SUSPENSIONS else 0.0,
            float(asked is Interruption.SUPERVISOR_GONE),
            float(checkpoint or asked is Interruption.CHECKPOINT),
            float(wanted.steps) if self._leads else 0.0,
            trained_s if self._leads else 0.0,
        )

    def trained_s(self, own_s: float) -> float:
        """See :meth:`Consensus.trained_s`: as the leader said with the last call."""
        del own_s
        return self._trained_s

    def take_votes(self, votes: Vote, pace: Pace, steps: int, seconds: float) -> None:
        """See :meth:`Consensus.take_votes`."""
        self._wanted.setdefault(pace, Pace()).took(steps, seconds)
        pace.steps = round(votes[_STEPS])
        self._trained_s = votes[_TRAINED_S]
        if votes[_STOP]:
            self._agreed = Interruption.STOP
        elif votes[_SUSPEND]:
            self._agreed = _SUSPENSIONS[round(votes[_SUSPEND]) - 1]
        elif votes[_GONE]:
            self._agreed = Interruption.SUPERVISOR_GONE
        elif votes[_CHECKPOINT]:
            self._agreed = Interruption.CHECKPOINT

    def forget(self) -> None:
        """See :meth:`Consensus.forget`."""
        self._agreed = None


def make_consensus(run: StartedRun, interruptions: Interruptions) -> Consensus:
    """How this process of the run agrees with the other processes."""
    if run.plan.strategy is not StrategyKind.MULTI_WORKER:
        return SingleProcess(interruptions)
    return SeveralProcesses(interruptions, leads=run.leads)
