"""Being there for the process that leads a gang, until that one is done."""

import signal
import time
from collections.abc import Callable
from pathlib import Path

from gpupanel.files.guarded_files import status
from gpupanel.trainer.heartbeat import supervisor_is_gone
from gpupanel.trainer.started_run import StartedRun

_LOOK_S = 0.5

_LAST_BEAT_S = 5.0
"""The leader's heart beats once a second; after so long without a beat it has ended."""


def stay_for_leader(run: StartedRun, meanwhile: Callable[[], None] | None = None) -> None:
    """Wait to be ended by the supervisor, or, without one, for the end of the leader.

    What the leader still has to fetch may be here: weights that it saves, or its part of a sum
    that this process has finished already.
    """
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    leader = LeadersHeart(run.layout.heartbeats / "0", time.monotonic())
    while not (leader.has_ceased(time.monotonic()) and supervisor_is_gone()):
        if meanwhile is not None:
            meanwhile()
        time.sleep(_LOOK_S)


class LeadersHeart:
    """Whether the leader's heart has ceased to beat, since somebody listens to it.

    Its beats are only compared with each other: the clock that they carry may be set.

    Args:
        heartbeat: The file that it touches.
        now_s: By a clock that nobody sets.
    """

    def __init__(self, heartbeat: Path, now_s: float) -> None:
        self._heartbeat = heartbeat
        self._beat: float | None = None
        self._heard_s = now_s

    def has_ceased(self, now_s: float) -> bool:
        """Whether it is so now."""
        try:
            found = status(self._heartbeat, self._heartbeat.parent.parent)
        except OSError:
            return True
        if found is None:
            return True
        beat = found.st_mtime
        if beat != self._beat:
            self._beat, self._heard_s = beat, now_s
        return now_s - self._heard_s > _LAST_BEAT_S
