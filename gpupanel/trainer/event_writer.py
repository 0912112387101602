"""Appends events to ``events.jsonl``."""

import time
from pathlib import Path
from typing import Self

from gpupanel.domain.clock_jumps import ClockWatch
from gpupanel.domain.events import (
    DataProgressed,
    DevicesReady,
    ExamplesDone,
    KnownEvent,
    MemoryExhausted,
    MemoryReported,
    Phase,
    PhaseChanged,
    ProblemReported,
    StepsDone,
    TrainingEnded,
    encode_event,
)
from gpupanel.domain.problem import Problem, Severity
from gpupanel.files.patient_log import PatientLog

_OF_EACH_PROCESS = (
    DevicesReady,
    MemoryExhausted,
    MemoryReported,
    ProblemReported,
    TrainingEnded,
)
_MAY_BE_DROPPED = (StepsDone, ExamplesDone, DataProgressed, PhaseChanged, MemoryReported)
"""Events that may be dropped: the next one of the kind says nearly the same."""


_SIGN_OF_LIFE_S = 60.0
"""Without an event for some times as long, whoever watches takes the process for one that hangs."""


class EventWriter:
    """Appends events, one write a line, so that readers never see two lines mixed.

    Safe to use from several threads and beside the supervisor, which appends to the same file:
    the system keeps appending writes apart. A process that does not lead its gang reports its
    devices and its problems only: the rest is the same on every one of them.

    While the disk is full events wait in memory, and the training goes on; once there is space
    they are written, and it is reported. So it is when the file was deleted under the run.
    """

    def __init__(self, path: Path, *, leads: bool = True) -> None:
        self._leads = leads
        self._log = PatientLog(path)
        self._phase: Phase | None = None
        self._last_event_s = float("-inf")
        self._waits_since_s: float | None = None
        self._reported_made_anew = 0
        self._clocks = ClockWatch(time.time(), time.monotonic())

    def write(self, event: KnownEvent) -> None:
        """Append an event; it waits where there is no space for it.

        Raises:
            OSError: It cannot be written for another reason, such as a run's directory that is
                gone.
        """
        if not (self._leads or isinstance(event, _OF_EACH_PROCESS)):
            return
        self._append(event)
        if self._log.waiting:
            self._waits_since_s = self._waits_since_s or time.monotonic()
        elif self._waits_since_s is not None:
            since_s, self._waits_since_s = self._waits_since_s, None
            waited_s = time.monotonic() - since_s
            self._append(_reported(_space_is_back(waited_s, self._log.dropped)))
        if self._leads and self._log.times_made_anew > self._reported_made_anew:
            self._reported_made_anew = self._log.times_made_anew
            self._append(_reported(_EVENTS_DELETED))

    def flush(self) -> None:
        """Write what still waits.

        Raises:
            OSError: There is no space for it yet.
        """
        self._log.flush()

    def _append(self, event: KnownEvent) -> None:
        self._last_event_s = time.monotonic()
        # Before what it is to be left out of.
        jump = self._clocks.jump(time.time(), self._last_event_s)
        if jump is not None:
            self._log.append(encode_event(jump))
        self._log.append(encode_event(event), may_be_dropped=isinstance(event, _MAY_BE_DROPPED))

    def phase(self, phase: Phase) -> None:
        """Report that the trainer turned to something else.

        The same phase again is left out, unless nothing was reported for a minute: a validation
        may last for hours, and is no process that hangs.
        """
        is_silent = time.monotonic() - self._last_event_s > _SIGN_OF_LIFE_S
        if phase is not self._phase or is_silent:
            self._phase = phase
            self.write(PhaseChanged(time_s=time.time(), phase=phase))

    def close(self) -> None:
        """Close the file."""
        self._log.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


_EVENTS_DELETED = Problem(
    code="events_deleted",
    severity=Severity.WARNING,
    message="events.jsonl was deleted or replaced during the run: what the run had reported "
    "before is gone from its history.",
    hint="The training itself is not affected; leave the run's folder alone while it runs.",
)


def _space_is_back(seconds: float, dropped: int) -> Problem:
    lost = f"; {dropped:,} reports of steps found no room and are missing" if dropped else ""
    return Problem(
        code="disk_was_full",
        severity=Severity.WARNING,
        message=f"The disk of the run was full for {seconds:.0f} s, or did not answer; what the "
        f"run had to report was kept meanwhile{lost}.",
        hint="Keep more space free on it: the trained model needs some, too.",
    )


def _reported(problem: Problem) -> ProblemReported:
    return ProblemReported(time_s=time.time(), problem=problem)
