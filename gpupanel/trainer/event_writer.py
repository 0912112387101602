"""Appends events to ``events.jsonl``."""

import os
import time
from pathlib import Path
from types import TracebackType
from typing import Self

from gpupanel.domain.events import (
    DevicesReady,
    KnownEvent,
    MemoryExhausted,
    Phase,
    PhaseChanged,
    ProblemReported,
    TrainingEnded,
    encode_event,
)

_OF_EACH_PROCESS = (DevicesReady, MemoryExhausted, ProblemReported, TrainingEnded)


class EventWriter:
    """Appends events, one write a line, so that readers never see two lines mixed.

    Safe to use from several threads and beside the supervisor, which appends to the same file:
    the system keeps appending writes apart. A process that does not lead its gang tells its
    devices and its problems only: the rest is the same on every one of them.
    """

    def __init__(self, path: Path, *, leads: bool = True) -> None:
        self._leads = leads
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)
        self._line_is_torn = False
        self._phase: Phase | None = None

    def write(self, event: KnownEvent) -> None:
        """Append an event.

        Raises:
            OSError: It cannot be written whole, for one because no space is left. What was torn
                off then is ended by the next write, so that the next event stays readable.
        """
        if not (self._leads or isinstance(event, _OF_EACH_PROCESS)):
            return
        line = f"{encode_event(event)}\n".encode()
        if self._line_is_torn:
            line = b"\n" + line
        written = os.write(self._file, line)
        self._line_is_torn = written < len(line)
        if self._line_is_torn:
            # The rest is tried once: a full disk then says so with an error of its own.
            rest = os.write(self._file, line[written:])
            self._line_is_torn = rest < len(line) - written

    def phase(self, phase: Phase) -> None:
        """Tell that the trainer turned to something else; the same phase again is not told."""
        if phase is not self._phase:
            self._phase = phase
            self.write(PhaseChanged(time_s=time.time(), phase=phase))

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
