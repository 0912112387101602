"""What can interrupt a training: requests, SIGTERM, and a supervisor that is gone."""

import os
import signal
import time
from enum import Enum, auto
from pathlib import Path
from types import FrameType

from gpupanel.domain.events import RequestAnswered
from gpupanel.domain.process_environment import SUPERVISOR_PID_VARIABLE
from gpupanel.domain.request import Request
from gpupanel.trainer.event_writer import EventWriter


class Interruption(Enum):
    """What the loop does next, other than another step."""

    STOP = auto()
    """Save and end: somebody asked."""
    SUPERVISOR_GONE = auto()
    """Save and end: nobody watches any more, and an orphan must not keep a GPU."""
    CHECKPOINT = auto()
    """Save a checkpoint and go on."""


class Interruptions:
    """Looked at between calls; answers each request with an event, once."""

    def __init__(self, requests: Path, events: EventWriter) -> None:
        self._requests = requests
        self._events = events
        supervisor = os.environ.get(SUPERVISOR_PID_VARIABLE, "")
        self._supervisor_pid = int(supervisor) if supervisor.isdigit() else None
        self._told_to_end = False
        self._stop_is_answered = False

    def listen_to_sigterm(self) -> None:
        """Take SIGTERM as a stop request from now on.

        Before training starts its default action is right: there is nothing to save.
        """
        signal.signal(signal.SIGTERM, self._on_sigterm)

    def pending(self) -> Interruption | None:
        """What to do now, the most urgent first."""
        if self._told_to_end or (self._requests / Request.STOP).exists():
            self._answer_stop()
            return Interruption.STOP
        if self._supervisor_pid is not None and os.getppid() != self._supervisor_pid:
            return Interruption.SUPERVISOR_GONE
        checkpoint = self._requests / Request.CHECKPOINT
        if checkpoint.exists():
            # Deleted first: one that comes while the checkpoint is saved asks for another.
            checkpoint.unlink(missing_ok=True)
            self._answer(Request.CHECKPOINT)
            return Interruption.CHECKPOINT
        return None

    def _on_sigterm(self, _signal: int, _frame: FrameType | None) -> None:
        self._told_to_end = True

    def _answer_stop(self) -> None:
        if not self._stop_is_answered:
            self._stop_is_answered = True
            self._answer(Request.STOP)

    def _answer(self, request: Request) -> None:
        self._events.write(RequestAnswered(time_s=time.time(), request=request))
