"""The lock that a supervisor holds as long as it lives.

A released lock means a dead process, whatever a process number says.
"""

from filelock import FileLock

from gpupanel.domain.run_layout import RunLayout
from gpupanel.files.locks import is_lock_held, lock_in_folder

STARTING_S = 30.0
"""How long a run may take from its start until a supervisor holds its lock: on a machine that has
much to do Python alone takes seconds to begin."""

_LONGEST_S = 5.0
_POLL_S = 0.005
"""Whoever asks whether the run lives shares its lock for some microseconds: there is always a gap,
however many ask."""


def hold_run_lock(layout: RunLayout) -> FileLock:
    """Take the lock of a run, for good: the system releases it when the process ends.

    Raises:
        filelock.Timeout: Another supervisor holds it.
        FileNotFoundError: The run's directory is gone.
    """
    lock = lock_in_folder(layout.lock, _LONGEST_S)
    lock.acquire(poll_interval=_POLL_S)
    return lock


def is_supervised(layout: RunLayout) -> bool:
    """Whether a supervisor holds the lock of that run now."""
    return is_lock_held(layout.lock)
