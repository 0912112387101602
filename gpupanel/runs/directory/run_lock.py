"""The lock that a supervisor holds as long as it lives.

A released lock means a dead process, whatever a process number says.
"""

from filelock import FileLock, Timeout

from gpupanel.domain.run_layout import RunLayout
from gpupanel.runs.directory.private_files import PRIVATE_FILE


def hold_run_lock(layout: RunLayout) -> FileLock:
    """Take the lock of a run, for good: the system releases it when the process ends.

    Raises:
        filelock.Timeout: Another supervisor holds it.
    """
    lock = FileLock(layout.lock, mode=PRIVATE_FILE)
    # Whoever asks whether the run lives holds the lock for an instant: wait that long.
    lock.acquire(timeout=5.0)
    return lock


def is_supervised(layout: RunLayout) -> bool:
    """Whether a supervisor holds the lock of that run now."""
    if not layout.lock.exists():
        return False
    try:
        with FileLock(layout.lock, mode=PRIVATE_FILE).acquire(timeout=0.0):
            return False
    except Timeout:
        return True
    except OSError:
        # A folder that may only be read: nobody can hold its lock for writing either.
        return False
