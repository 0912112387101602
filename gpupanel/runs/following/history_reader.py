"""A long history, read by a process of its own while the threads of this one do their work."""

import os
import subprocess
from pathlib import Path

from gpupanel.domain.child_command import child_environment, python_module_command
from gpupanel.runs.following.history_portion import Portion, read_portion

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
            python_module_command(_PROCESS, str(path), str(end), str(portion_bytes)),
            env=child_environment(os.environ),
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
