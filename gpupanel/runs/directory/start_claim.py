"""Each start of a run is claimed by one supervisor only, however many are started for it.

Whoever starts a supervisor may die in the middle of it, and cannot know afterwards whether it did:
so it starts one again, and the second one finds that there is nothing to do.
"""

from filelock import FileLock, Timeout

from gpupanel.domain.events import RunRestarted, RunStarted, decode_event
from gpupanel.domain.run_layout import RunLayout
from gpupanel.runs.directory.run_lock import hold_run_lock
from gpupanel.runs.directory.tails import last_bytes_lines

_MOST_BYTES = 4 * 2**20
"""More than the longest change to a profile, whose file has a mebibyte at most."""


class AlreadyClaimedError(Exception):
    """Another supervisor has begun with this start of the run."""


def claim_start(layout: RunLayout) -> FileLock:
    """Take the lock of a run whose start nobody has claimed, for good.

    Raises:
        AlreadyClaimedError: Somebody has.
    """
    try:
        lock = hold_run_lock(layout)
    except Timeout as error:
        raise AlreadyClaimedError from error
    if is_start_claimed(layout):
        lock.release()
        raise AlreadyClaimedError
    return lock


def is_start_claimed(layout: RunLayout) -> bool:
    """Whether a supervisor has begun with the run since it was last started by anybody.

    It stays so when that supervisor has ended or was killed; only the holder of the run's lock
    can rely on the contrary.
    """
    # A trainer whose supervisor died may still write a few last words behind the restart.
    lines = last_bytes_lines(layout.events, _MOST_BYTES)
    for line in reversed(lines):
        event = decode_event(line)
        if isinstance(event, RunRestarted):
            return event.attempt > 0
        if isinstance(event, RunStarted):
            return True
    return bool(lines)
