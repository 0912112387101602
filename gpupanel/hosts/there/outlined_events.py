"""The lines of a run's events that a list of runs reads, few of what may be millions."""

import re
from itertools import islice
from typing import Final

from gpupanel.domain.run_layout import RunLayout
from gpupanel.files.guarded_files import read_file, size_of
from gpupanel.runs.directory.tails import LineTail
from gpupanel.runs.history.run_record import lines_of_record
from gpupanel.runs.history.run_segments import SEGMENT_LINES
from gpupanel.runs.history.segments_so_far import MOST_BYTES_OF_A_LOST_RUN, MOST_READS

_FEW_BYTES: Final = 16 * 1024
"""So short a file is told whole."""
_LONGEST_LINE: Final = 2**22
_KIND: Final = re.compile(rb'"kind":"([a-z_]+)"')
_KIND_WITHIN: Final = 80
_OFTEN: Final = frozenset(
    (b"steps_done", b"examples_done", b"figures_reported", b"time_reported", b"memory_reported")
)
_MOST_OF_A_KIND: Final = 32
_NOT_VALIDATED: Final = b'"val_loss":null'


class OutlinedEvents:
    """The events of one run, which may go on.

    What a list says of a run follows from the ends of its events, and how long it has lasted from
    all starts and ends of its segments, which may stand anywhere.

    Args:
        layout: The run.
    """

    def __init__(self, layout: RunLayout) -> None:
        self._layout = layout
        self._tail = LineTail(layout.events)
        self._of_segments: dict[int, bytes] = {}
        self._before = (0, b"")

    def told(self, *, is_running: bool) -> bytes:
        """The lines that are told, whole ones.

        Raises:
            OSError: They cannot be read.
        """
        size = size_of(self._layout.events)
        if size <= _FEW_BYTES:
            return read_file(self._layout.events)
        lines, has_ended = lines_of_record(self._layout)
        told = _few(lines)
        if is_running or not (has_ended or size > MOST_BYTES_OF_A_LOST_RUN):
            self._read_segments()
            told |= self._of_segments
        return b"".join(told[at] for at in sorted(told) if len(told[at]) < _LONGEST_LINE)

    def _read_segments(self) -> None:
        for _ in range(MOST_READS):
            block = self._tail.read_block()
            start = self._tail.place.offset - len(block)
            for found in SEGMENT_LINES.finditer(block):
                self._take_segment(block, start, found.start())
            if block:
                last = block.rfind(b"\n", 0, len(block) - 1) + 1
                self._before = start + last, block[last:]
            if not self._tail.has_more:
                return

    def _take_segment(self, block: bytes, start: int, place: int) -> None:
        """A line that begins or ends a segment, and the one before it, which has its moment."""
        line = block.rfind(b"\n", 0, place) + 1
        before = block.rfind(b"\n", 0, max(0, line - 1)) + 1
        self._of_segments[start + line] = block[line : block.find(b"\n", place) + 1]
        if line:
            self._of_segments[start + before] = block[before:line]
        elif self._before[1]:
            self._of_segments[self._before[0]] = self._before[1]


def _few(lines: dict[int, bytes]) -> dict[int, bytes]:
    """Of each kind the first and the last ones, and of the kinds that come often the last one."""
    told: set[int] = {*islice(lines, 1), *islice(reversed(lines), 1)}
    kinds: dict[bytes, list[int]] = {}
    for at, line in lines.items():
        found = _KIND.search(line, 0, _KIND_WITHIN)
        kinds.setdefault(found[1] if found else b"", []).append(at)
    for kind, places in kinds.items():
        told |= {places[-1]} if kind in _OFTEN else {places[0], *places[-_MOST_OF_A_KIND:]}
    validated = [at for at in kinds.get(b"epoch_done", ()) if _NOT_VALIDATED not in lines[at]]
    told |= {*validated[-1:]}
    return {at: lines[at] for at in told}
