"""The events appended to a run's file."""

import os
import subprocess
from collections import deque
from collections.abc import Iterable
from pathlib import Path
from typing import TypeAlias

from gpupanel.domain.child_command import (
    WORKING_DIRECTORY,
    child_environment,
    python_module_command,
)
from gpupanel.domain.events import Event, decode_event
from gpupanel.files.guarded_files import status
from gpupanel.runs.directory.tails import LineTail
from gpupanel.runs.following.figures import FigureBatch
from gpupanel.runs.following.gathered_lines import BLOCK_BYTES, GatheredLines, Portion, read_portion
from gpupanel.runs.following.steps import StepBatch

_PROCESS = "gpupanel.runs.following.history_process"


class HistoryReader:
    """Reads a file of events as far as it goes now.

    Python's threads take turns: a window whose thread decodes a million lines meanwhile cannot
    draw. A process takes another processor.

    Args:
        path: The file.
        end: How far to read it, bytes.
        portion_bytes: Of the file, in each portion.

    Attributes:
        end: How far it reads, bytes.

    Raises:
        OSError: No process can be started.
    """

    def __init__(self, path: Path, end: int, portion_bytes: int) -> None:
        self.end = end
        self._process = subprocess.Popen(
            python_module_command(_PROCESS, str(path.absolute()), str(end), str(portion_bytes)),
            env=child_environment(os.environ),
            cwd=WORKING_DIRECTORY,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )

    def read(self) -> Portion | None:
        """The next portion, once it is there; ``None`` after the last, and if the process died."""
        assert self._process.stdout is not None
        try:
            return read_portion(self._process.stdout)
        except (ValueError, OSError):
            return None

    def close(self) -> None:
        """End the process, whether it is done or not."""
        self._process.kill()
        # With what it still had to say.
        self._process.communicate()


Part: TypeAlias = Event | StepBatch | FigureBatch
"""An event, or steps or figures in bulk."""

PORTION_BYTES = 8 * 2**20
"""Read here at once, while other threads of this process wait for their turns."""
PORTION_BYTES_ASIDE = 8 * 2**20
"""Read aside at once: whoever draws it takes it in within a frame or two."""
MOST_PARTS = 1_000
"""Given at once: a hundred thousand epochs are half a million events in few bytes, and each is
something to be drawn or said."""
LONG_BYTES = 48 * 2**20
"""From there on a process of its own is done before this one would be, its start included."""


class EventTail:
    """Events in the order in which they were written, those of steps in bulk.

    Args:
        path: The file.
        reads_aside: Whether a long history may be read by a process of its own, so that the
            threads of this one go on meanwhile: :meth:`close` ends it.
    """

    def __init__(self, path: Path, *, reads_aside: bool = False) -> None:
        self._path = path
        self._tail = LineTail(path, BLOCK_BYTES)
        self._may_begin_aside = reads_aside
        self._history: HistoryReader | None = None
        self._waiting: deque[bytes | StepBatch | FigureBatch] = deque()

    @property
    def has_more(self) -> bool:
        """Whether more waits than one read takes."""
        return bool(self._waiting) or self._history is not None or self._tail.has_more

    def begin(self) -> None:
        """Begin to read aside now, if at all, and not with the first read."""
        if self._may_begin_aside:
            self._may_begin_aside = False
            self._begin_aside()

    def read(self) -> tuple[Part, ...]:
        """What was written since the last read, at most a portion, and :data:`MOST_PARTS` of it.

        Raises:
            OSError: The file cannot be read.
        """
        self.begin()
        if not self._waiting:
            self._waiting.extend(self._read_aside() or self._read_here())
        count = min(MOST_PARTS, len(self._waiting))
        return _decoded(self._waiting.popleft() for _ in range(count))

    def close(self) -> None:
        """End what reads aside; what is read after that is read here."""
        if self._history is not None:
            self._history.close()
            self._history = None

    def _begin_aside(self) -> None:
        try:
            found = status(self._path)
            size = 0 if found is None else found.st_size
            if size >= LONG_BYTES:
                self._history = HistoryReader(self._path, size, PORTION_BYTES_ASIDE)
        except OSError:
            return  # then it is read here, and who asked hears what is wrong with the file

    def _read_aside(self) -> list[bytes | StepBatch | FigureBatch]:
        portion = None if self._history is None else self._history.read()
        if portion is None:
            # It is done, or it died: then what it did not read is read here.
            self.close()
            return []
        self._tail.move_to(portion.place)
        if self._history is not None and portion.place.offset >= self._history.end:
            self.close()
        return portion.parts

    def _read_here(self) -> list[bytes | StepBatch | FigureBatch]:
        lines = GatheredLines()
        for _ in range(PORTION_BYTES // BLOCK_BYTES):
            lines.add(self._tail.read_block())
            if not self._tail.has_more:
                break
        return lines.parts


def decode_parts(block: bytes) -> tuple[Part, ...]:
    """The events of whole lines, with their ends, those of steps that follow each other in bulk.

    Steps whose numbers have an unusual form stay events, as
    :func:`~gpupanel.domain.events.decode_event` reads them.
    """
    lines = GatheredLines()
    lines.add(block)
    return _decoded(lines.parts)


def _decoded(parts: Iterable[bytes | StepBatch | FigureBatch]) -> tuple[Part, ...]:
    return tuple(decode_event(part) if isinstance(part, bytes) else part for part in parts)
