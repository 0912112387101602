"""What a sweep's record says: a line when a trial is chosen, queued, started, paused, ended.

Only whoever holds the lock of the queue's scheduler writes to it, so lines never contradict each
other. A folder may come from a stranger: lines that cannot be read are passed over, names in them
lead nowhere else, and a record that is too large is refused.
"""

from collections.abc import Iterable
from typing import Annotated, Final, Literal

from pydantic import Field, TypeAdapter

from gpupanel.domain.cuda_variables import CudaVariables
from gpupanel.domain.document_bounds import OF_A_RECORD, check_json
from gpupanel.domain.outcome import Outcome
from gpupanel.domain.problem import Problem
from gpupanel.domain.sweep import MOST_TRIALS, SweptValue
from gpupanel.domain.value import Value
from gpupanel.files.guarded_files import read_file
from gpupanel.files.line_log import LineLog
from gpupanel.runs.sweeps.sweep_layout import SweepLayout

MOST_RECORD_BYTES: Final = 32 * 2**20
"""A thousand trials, five lines each, and three for each rung, are some 5 MiB."""

Number = Annotated[int, Field(ge=1, le=MOST_TRIALS)]
EntryId = Annotated[str, Field(pattern=r"^[0-9a-f]{8}$")]
RunName = Annotated[str, Field(pattern=r"^[^/\x00]*[^/\x00.][^/\x00]*$", max_length=255)]
"""The name of a folder, without its parents."""


class SweepBegun(Value):
    """The first line of every record.

    Attributes:
        trial_count: How many trials there will be at most.
        places: The devices of each trial, by their keys, where trials share the profile's devices
            among them; empty: each takes all that the profile says.
        cuda_variables: Of the shell from which it was started, as of an entry of the queue.
    """

    kind: Literal["sweep_begun"] = "sweep_begun"
    time_s: float
    trial_count: int
    places: tuple[tuple[str, ...], ...] = ()
    cuda_variables: CudaVariables | None = None


class TrialChosen(Value):
    """A trial has values; its entry is about to be added to the queue."""

    kind: Literal["trial_chosen"] = "trial_chosen"
    time_s: float
    number: Number
    values: dict[str, SweptValue]
    entry: EntryId
    devices: tuple[str, ...] = ()


class TrialQueued(Value):
    """The trial was added to the queue: if its entry is gone later, somebody removed it.

    A second time: it was put back.
    """

    kind: Literal["trial_queued"] = "trial_queued"
    time_s: float
    number: Number


class TrialStarted(Value):
    """The trial's run was created under that name in the folder of runs."""

    kind: Literal["trial_started"] = "trial_started"
    time_s: float
    number: Number
    run: RunName


class TrialPaused(Value):
    """The trial's run was suspended after the epoch of a rung, and its devices are free.

    Attributes:
        epoch: The rung.
        value: The best value of the metric until then; ``None``: no epoch was measured.
        value_epoch: When that was measured.
    """

    kind: Literal["trial_paused"] = "trial_paused"
    time_s: float
    number: Number
    epoch: int
    value: float | None = None
    value_epoch: int | None = None


class TrialContinued(Value):
    """A paused trial goes on; an entry that continues its run is about to be added to the queue.

    Attributes:
        events_bytes: Of the run's events, which grow when it is continued.
    """

    kind: Literal["trial_continued"] = "trial_continued"
    time_s: float
    number: Number
    entry: EntryId
    events_bytes: int
    devices: tuple[str, ...] = ()


class TrialPruned(Value):
    """It is not trained to its end: it is asked to stop, or stays paused.

    Attributes:
        epoch: After which it was found poor.
        best: Its best value until then.
        median: Of the other trials there, which is better; ``None``: it stays paused at a rung.
        rank: Its place among those that reached the rung, from 1.
        among: How many these are.
        continued: How many of them were good enough to go on.
    """

    kind: Literal["trial_pruned"] = "trial_pruned"
    time_s: float
    number: Number
    epoch: int
    best: float
    median: float | None = None
    rank: int = 0
    among: int = 0
    continued: int = 0


class TrialEnded(Value):
    """The trial's run has ended, or it will never have one.

    Attributes:
        outcome: Of its run; ``None``: it was never started.
        value: The best value of the metric; ``None``: no epoch was measured.
        epoch: When that was measured.
        problem: What ended it, or kept it from starting.
    """

    kind: Literal["trial_ended"] = "trial_ended"
    time_s: float
    number: Number
    outcome: Outcome | None = None
    value: float | None = None
    epoch: int | None = None
    problem: Problem | None = None


class SweepEnded(Value):
    """No further trial begins; all that began have ended.

    Attributes:
        stopped: Somebody asked for it before all trials were done.
        problem: Why it cannot go on.
    """

    kind: Literal["sweep_ended"] = "sweep_ended"
    time_s: float
    stopped: bool = False
    problem: Problem | None = None


_OfATrial = TrialQueued | TrialStarted | TrialPaused | TrialContinued | TrialPruned | TrialEnded
SweepEvent = SweepBegun | TrialChosen | _OfATrial | SweepEnded
_LINE: Final[TypeAdapter[SweepEvent]] = TypeAdapter(
    Annotated[SweepEvent, Field(discriminator="kind")]
)


class SweepTrial(Value):
    """What the record says of one run of a trial; most trials have one.

    Attributes:
        is_started: Its run goes on, or did; ``False``: its entry waits in the queue.
        paused: Its last pause, which may be over.
        is_paused: It has not been continued since.
        events_bytes: Of its run when it was to be continued; ``None``: it never was.
    """

    number: int
    values: dict[str, SweptValue]
    entry: str
    devices: tuple[str, ...] = ()
    is_queued: bool = False
    run: str | None = None
    is_started: bool = False
    paused: TrialPaused | None = None
    is_paused: bool = False
    events_bytes: int | None = None
    pruned: TrialPruned | None = None
    ended: TrialEnded | None = None

    @property
    def is_open(self) -> bool:
        """Whether it waits in the queue or goes on, as far as is recorded."""
        return self.ended is None and not self.is_paused

    @property
    def rung(self) -> int:
        """The epoch after which it was paused last; 0: it never was."""
        return 0 if self.paused is None else self.paused.epoch


class SweepState(Value):
    """A sweep as its record has it."""

    begun: SweepBegun | None = None
    trials: tuple[SweepTrial, ...] = ()
    ended: SweepEnded | None = None

    @property
    def open_trials(self) -> tuple[SweepTrial, ...]:
        """The trials that are waiting or running."""
        return tuple(trial for trial in self.trials if trial.is_open)

    def groups(self, size: int) -> tuple[tuple[SweepTrial, ...], ...]:
        """The runs of each trial, which has so many at most."""
        places = range(0, len(self.trials), size)
        return tuple(self.trials[place : place + size] for place in places)

    def with_event(self, event: SweepEvent) -> "SweepState":
        """The state after one more event; events of unknown trials change nothing."""
        match event:
            case SweepBegun():
                return self.model_copy(update={"begun": self.begun or event})
            case SweepEnded():
                return self.model_copy(update={"ended": event})
            case TrialChosen() if event.number == len(self.trials) + 1:
                chosen = SweepTrial(
                    number=event.number,
                    values=event.values,
                    entry=event.entry,
                    devices=event.devices,
                )
                return self.model_copy(update={"trials": (*self.trials, chosen)})
            case TrialChosen():
                return self
        return self._with_trial(event)

    @property
    def paused_trials(self) -> tuple[SweepTrial, ...]:
        """The trials that are paused at a rung."""
        return tuple(trial for trial in self.trials if trial.is_paused and trial.ended is None)

    def _with_trial(self, event: _OfATrial) -> "SweepState":
        if event.number > len(self.trials):
            return self
        match event:
            case TrialQueued():
                # Also where it was taken out of the queue, which ended it, and put back.
                changes: dict[str, object] = {"is_queued": True, "ended": None}
            case TrialStarted():
                changes = {"is_queued": True, "run": event.run, "is_started": True}
            case TrialPaused():
                changes = {"paused": event, "is_paused": True}
            case TrialContinued():
                changes = {
                    "is_paused": False,
                    "is_queued": False,
                    "is_started": False,
                    "entry": event.entry,
                    "events_bytes": event.events_bytes,
                    "devices": event.devices,
                }
            case TrialPruned():
                changes = {"pruned": event}
            case TrialEnded():
                changes = {"ended": event}
        place = event.number - 1
        changed = self.trials[place].model_copy(update=changes)
        trials = (*self.trials[:place], changed, *self.trials[place + 1 :])
        return self.model_copy(update={"trials": trials})


def read_state(layout: SweepLayout) -> SweepState:
    """The sweep as its record has it now.

    Raises:
        OSError: The record cannot be read, is too large, or is no file of the sweep's.
    """
    state = SweepState()
    for event in _events(read_file(layout.record, most_bytes=MOST_RECORD_BYTES)):
        state = state.with_event(event)
    return state


def append_event(layout: SweepLayout, event: SweepEvent) -> None:
    """Add a line to the record.

    Raises:
        OSError: It cannot be written.
    """
    log = LineLog(layout.record)
    try:
        log.append(event.model_dump_json(exclude_none=True))
    finally:
        log.close()


def _events(content: bytes) -> Iterable[SweepEvent]:
    # What follows the last end of a line is half a line: whoever wrote it was killed over it.
    for line in content.split(b"\n")[:-1]:
        try:
            check_json(line, OF_A_RECORD)
            yield _LINE.validate_json(line)
        except ValueError:
            continue
