"""Processes that outlive whoever starts them."""

import subprocess
import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from gpupanel.runs.directory.private_files import PRIVATE_UMASK, touch_private


def start_detached(command: Sequence[str], folder: Path, log: Path, name: str) -> None:
    """Start a process in a session of its own; returns at once.

    Args:
        command: What to start.
        folder: Where it works.
        log: What it prints is appended there.
        name: Of the process, for whoever looks at the threads of this one.

    Raises:
        OSError: It cannot be started.
    """
    touch_private(log)
    with log.open("ab") as output:
        process = subprocess.Popen(
            list(command),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            cwd=folder,
            start_new_session=True,
            # All that it and its children write is the owner's alone.
            umask=PRIVATE_UMASK,
        )
    # It outlives this process; should it end before, somebody has to take its exit status. Where
    # no thread can be started it is taken with the next process: this one was started all the same.
    with suppress(RuntimeError, MemoryError):
        threading.Thread(target=process.wait, name=name, daemon=True).start()
