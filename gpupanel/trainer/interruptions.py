"""What can interrupt a training: requests, signals, and a supervisor that is gone."""

import signal
import time
from contextlib import suppress
from enum import Enum, auto
from pathlib import Path
from types import FrameType
from typing import Final

from gpupanel.domain.events import ProblemReported, RequestAnswered
from gpupanel.domain.problem import Problem, Severity
from gpupanel.domain.request import Request
from gpupanel.files.guarded_files import read_file, remove, status
from gpupanel.files.process_limits import hear_of_used_time, time_limit_text
from gpupanel.trainer.event_writer import EventWriter
from gpupanel.trainer.heartbeat import supervisor_is_gone, work_has_begun

_MOST_EPOCH_BYTES: Final = 32
"""Of a file that holds the number of an epoch."""


class Interruption(Enum):
    """What the loop does next, other than another step."""

    STOP = auto()
    """Save and end: somebody asked."""
    SUSPEND = auto()
    """Save a checkpoint and end: somebody asked, and goes on later."""
    SUSPEND_AFTER_EPOCH = auto()
    """Save a checkpoint and the model, and end: the epoch has ended that was named for it. Whether
    the training goes on later is decided by others."""
    TIME_IS_UP = auto()
    """End as at the last step: the training has taken as long as it may."""
    SUPERVISOR_GONE = auto()
    """Save and end: nobody watches any more, and an orphan must not keep a GPU."""
    CHECKPOINT = auto()
    """Save a checkpoint and go on."""


class Interruptions:
    """Checked between calls; answers each request with an event, once.

    People's requests are for the process that leads; another one of a gang hears signals and sees
    whether its supervisor is there.
    """

    def __init__(self, requests: Path, events: EventWriter, *, leads: bool = True) -> None:
        self._requests = requests
        self._events = events
        self._leads = leads
        self._asked_to_end = False
        self._has_used_time = False
        self._answered: set[Request] = set()
        self._is_after_epoch = False

    def listen_to_sigterm(self) -> None:
        """Take SIGTERM as a stop request from now on, and the limit of processor time.

        Before training starts their default action is right: there is nothing to save.
        """
        signal.signal(signal.SIGTERM, self._on_sigterm)
        hear_of_used_time(self._on_used_time)
        work_has_begun()

    def ending(self) -> Interruption | None:
        """What ends the work now, the most urgent first; a stop wins over all others."""
        if self._has_used_time:
            self._report_used_time()
        if self._asked_to_end:
            self.answer_stop()
        if self._asked_to_end or self.is_stopped():
            return Interruption.STOP
        if self._is_asked(Request.SUSPEND):
            self._answer_once(Request.SUSPEND)
            return Interruption.SUSPEND
        if self._is_after_epoch:
            self._answer_once(Request.SUSPEND)
            return Interruption.SUSPEND_AFTER_EPOCH
        if supervisor_is_gone():
            return Interruption.SUPERVISOR_GONE
        return None

    def end_epoch(self, epoch: int) -> None:
        """Hear that an epoch has ended, counted from 1: the run may be suspended after it."""
        if not self._is_asked(Request.SUSPEND_AFTER_EPOCH):
            return
        path = self._requests / Request.SUSPEND_AFTER_EPOCH
        with suppress(OSError, ValueError):  # what names no epoch asks for nothing
            asked = int(read_file(path, self._requests.parent, _MOST_EPOCH_BYTES))
            self._is_after_epoch = epoch >= asked

    def pending(self) -> Interruption | None:
        """What to do now instead of another step; a checkpoint is asked for after what ends it."""
        ending = self.ending()
        if ending is not None:
            return ending
        if self._is_asked(Request.CHECKPOINT):
            # Deleted first: one that comes while the checkpoint is saved asks for another.
            try:
                remove(self._requests / Request.CHECKPOINT, self._requests.parent)
            except OSError:
                return None  # it stays asked for; a training does not end for that
            self._answer(Request.CHECKPOINT)
            return Interruption.CHECKPOINT
        return None

    @property
    def has_heard_sigterm(self) -> bool:
        """Whether this process was asked to end by a signal."""
        return self._asked_to_end

    def wants_suspend(self) -> bool:
        """Whether somebody asks to suspend; nothing is answered yet."""
        return self._is_asked(Request.SUSPEND)

    def answer_suspend(self) -> None:
        """Report, once, that a request to suspend was heard."""
        self._answer_once(Request.SUSPEND)

    def answer_stop(self) -> None:
        """Report, once, that a stop was heard: by this process or another one of its gang."""
        self._answer_once(Request.STOP)

    def _is_asked(self, request: Request) -> bool:
        if not self._leads:
            return False
        with suppress(OSError):  # a folder that is none holds no requests
            return status(self._requests / request, self._requests.parent) is not None
        return False

    def _on_sigterm(self, _signal: int, _frame: FrameType | None) -> None:
        self._asked_to_end = True

    def _on_used_time(self) -> None:
        self._has_used_time = self._asked_to_end = True

    def _report_used_time(self) -> None:
        self._has_used_time = False
        problem = Problem(
            code="processor_time_limited",
            severity=Severity.WARNING,
            message=f"{time_limit_text('A process of the run')} The run was saved and stopped.",
            hint="Resume it from there: it continues from its last checkpoint.",
        )
        self._events.write(ProblemReported(time_s=time.time(), problem=problem))

    def is_stopped(self) -> bool:
        """Whether somebody asked to stop by now; reports that it was heard."""
        if self._is_asked(Request.STOP):
            self.answer_stop()
            return True
        return False

    def _answer_once(self, request: Request) -> None:
        if request not in self._answered:
            self._answered.add(request)
            self._answer(request)

    def _answer(self, request: Request) -> None:
        self._events.write(RequestAnswered(time_s=time.time(), request=request))
