"""The events of processes on other nodes, brought into the one file of the run."""

from collections.abc import Callable
from pathlib import Path

from gpupanel.domain.run_layout import RunLayout
from gpupanel.files.guarded_files import open_to_read, remove
from gpupanel.runs.directory.tails import last_bytes_lines

_LAST_BYTES = 4 * 2**20
"""More than processes write while a supervisor ends: of what is older all was taken."""

Append = Callable[[str], None]
"""Appends one line to the run's events."""


class ProcessEvents:
    """Takes the events of each process once, in their order, whoever hands them over.

    Args:
        layout: The run.
        count: Of its processes.
        append: Appends a line to the run's events.
    """

    def __init__(self, layout: RunLayout, count: int, append: Append) -> None:
        self._layout = layout
        self._append = append
        self._read_bytes = dict.fromkeys(range(count), 0)

    def begin(self) -> None:
        """Take what processes of a former start have left, and remove their files.

        A supervisor that was killed has not said how much of them it had taken: a line that stands
        in the run's events was.
        """
        files = sorted(self._layout.root.glob("events-*.jsonl"))
        known = set(last_bytes_lines(self._layout.events, _LAST_BYTES)) if files else set()
        for file in files:
            for line in last_bytes_lines(file, _LAST_BYTES):
                if line.strip() and line not in known:
                    self._append(line.decode(errors="replace"))
            remove(file, self._layout.root)

    def take(self, place: int, lines: tuple[str, ...], read_bytes: int) -> None:
        """Take what the node of a process has read of its events."""
        for line in lines:
            self._append(line)
        self._read_bytes[place] = max(read_bytes, self._read_bytes[place])

    def finish(self) -> None:
        """Take what nobody has handed over, as of a node that was lost, and remove the files."""
        for place, read_bytes in self._read_bytes.items():
            file = self._layout.process_events(place)
            for line in _whole_lines(_content_from(file, read_bytes)):
                self._append(line)
            remove(file, self._layout.root)


def _content_from(file: Path, offset: int) -> bytes:
    """What a file has from there on; nothing where it cannot be read."""
    try:
        with open_to_read(file) as opened:
            opened.seek(offset)
            return opened.read(_LAST_BYTES)
    except OSError:
        return b""


def _whole_lines(content: bytes) -> list[str]:
    """Half a line, of a process that was killed while it wrote, says nothing."""
    lines = content[: content.rfind(b"\n") + 1].split(b"\n")
    return [line.decode(errors="replace") for line in lines if line.strip()]
