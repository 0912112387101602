"""A sign of life once a second, from a thread of its own."""

import os
import threading
import time
from contextlib import suppress
from pathlib import Path

from gpupanel.domain.process_environment import PROCESS_VARIABLE, SUPERVISOR_PID_VARIABLE
from gpupanel.domain.run_layout import RunLayout
from gpupanel.files.guarded_files import touch

_INTERVAL_S = 1.0

_ALONE_S = 120.0
"""A process without a supervisor has this long to save and end by itself, which one that waits
for a peer cannot: then it is ended."""

_work = threading.Event()


def start_heartbeat(root: Path) -> None:
    """Touch this process's heartbeat file from now on, as long as it is not frozen."""
    place = os.environ.get(PROCESS_VARIABLE) or "0"
    heartbeat = RunLayout(root).heartbeats / place
    threading.Thread(target=_beat, args=(heartbeat,), name="heartbeat", daemon=True).start()


def work_has_begun() -> None:
    """Declare that this process or others of its run have something to save.

    Before that it ends by itself as soon as its supervisor is gone, whatever it waits for: reading
    TensorFlow, data, or a peer that is not there any more.
    """
    _work.set()


def _beat(heartbeat: Path) -> None:
    with_supervisor_s = time.monotonic()
    while True:
        # Where nobody made the folder nobody reads it; a disk that is gone is reported elsewhere.
        with suppress(OSError):
            touch(heartbeat, heartbeat.parent.parent)
        if not supervisor_is_gone():
            with_supervisor_s = time.monotonic()
        elif not _work.is_set() or time.monotonic() - with_supervisor_s > _ALONE_S:
            os._exit(1)
        time.sleep(_INTERVAL_S)


def supervisor_is_gone() -> bool:
    """Whether the supervisor that started this process has ended; none was named: no."""
    supervisor = os.environ.get(SUPERVISOR_PID_VARIABLE, "")
    return supervisor.isdigit() and os.getppid() != int(supervisor)
