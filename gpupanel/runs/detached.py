"""Processes that outlive whoever starts them."""

import os
import subprocess
import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from gpupanel.domain.child_command import WORKING_DIRECTORY, child_environment
from gpupanel.files.guarded_files import open_to_append
from gpupanel.runs.directory.private_files import PRIVATE_UMASK


def start_detached(command: Sequence[str], log: Path, name: str) -> None:
    """Start a process in a session of its own; returns at once.

    Args:
        command: What to start; paths in it are absolute.
        log: What it prints is appended there.
        name: Of the process, in the list of threads of this one.

    Raises:
        OSError: It cannot be started.
    """
    with os.fdopen(open_to_append(log), "ab") as output:
        process = subprocess.Popen(
            list(command),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            cwd=WORKING_DIRECTORY,
            env=child_environment(os.environ),
            start_new_session=True,
            # All that it and its children write is the owner's alone.
            umask=PRIVATE_UMASK,
        )
    # It outlives this process; should it end before, somebody has to take its exit status. Where
    # no thread can be started it is taken with the next process: this one was started all the same.
    with suppress(RuntimeError, MemoryError):
        threading.Thread(target=process.wait, name=name, daemon=True).start()
