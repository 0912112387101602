"""Being there for the process that leads a gang, until that one is done."""

import signal
import time

from gpupanel.trainer.heartbeat import supervisor_is_gone
from gpupanel.trainer.started_run import StartedRun

_LOOK_S = 0.5

_LAST_BEAT_S = 5.0
"""The leader's heart beats once a second; after so long without a beat it has ended."""


def stay_for_leader(run: StartedRun) -> None:
    """Wait to be ended by the supervisor, or, without one, for the end of the leader.

    What the leader still has to fetch may be here: weights that it saves, or its part of a sum
    that this process has finished already.
    """
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    while not (supervisor_is_gone() and _leader_is_gone(run)):
        time.sleep(_LOOK_S)


def _leader_is_gone(run: StartedRun) -> bool:
    try:
        last_beat_s = (run.layout.heartbeats / "0").stat().st_mtime
    except OSError:
        return True
    return time.time() - last_beat_s > _LAST_BEAT_S
