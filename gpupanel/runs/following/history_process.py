"""The process that reads the history of a run aside.

``python -m`` this, the file, how far to read it, the size of a portion; both in bytes.

It writes portion after portion to its standard output, and ends.
"""

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from queue import Queue
from threading import Thread

from gpupanel.runs.directory.tails import LineTail
from gpupanel.runs.following.gathered_lines import (
    BLOCK_BYTES,
    GatheredLines,
    Portion,
    write_portion,
)

_MOST_WAITING = 8
"""Portions that wait for whoever asked, who may be busy at first: a third of their bytes each."""


def portions(path: Path, end: int, size: int) -> Iterator[Portion]:
    """The file as far as its byte ``end``, or as far as it goes; one portion at least.

    Args:
        path: The file.
        end: How far.
        size: Of a portion, bytes.
    """
    tail = LineTail(path, BLOCK_BYTES)
    is_over = False
    while not is_over:
        # Nobody reads a million events one by one.
        lines = GatheredLines(keeps_lines=False)
        goal = min(tail.place.offset + size, end)
        while not is_over and tail.place.offset < goal:
            lines.add(tail.read_block())
            is_over = not tail.has_more
        is_over = is_over or tail.place.offset >= end
        yield Portion(lines.parts, tail.place)


def _put(read: Iterator[Portion], waiting: "Queue[Portion | None]") -> None:
    for portion in read:
        waiting.put(portion)
    waiting.put(None)


def main() -> None:
    """Read what the command line names."""
    read = portions(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
    waiting: Queue[Portion | None] = Queue(_MOST_WAITING)
    Thread(target=_put, args=(read, waiting), daemon=True).start()
    try:
        while (portion := waiting.get()) is not None:
            write_portion(portion, sys.stdout.buffer)
    except BrokenPipeError:
        # Whoever asked is gone, and Python would complain that it cannot flush.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


if __name__ == "__main__":
    main()
