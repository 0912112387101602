"""A scheduler that is killed in the middle of its work, again and again, and a life that is not.

``python tests/fakes/dying_scheduler.py FOLDER DEATH... [-- FOLDER DEATH...]...`` works on the
queues in these folders, one after the other. Each
death is a number of system calls and the like (audit events) after which a scheduler is killed by
SIGKILL, or, with an ``s``, a number of seconds; another scheduler follows. The last one works to
the end. The runs are real directories under real supervisors; their trainers are a shell command
that writes down when it began and ended. Prints how many were killed.
"""

import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable
from pathlib import Path

from gpupanel.domain.checked_files import CheckedFiles
from gpupanel.domain.run_layout import RunLayout
from gpupanel.runs.directory.start_claim import AlreadyClaimedError
from gpupanel.runs.queue.queue_files import QueueFiles
from gpupanel.runs.scheduling.scheduler import Scheduler
from gpupanel.runs.supervision.supervisor import Supervisor
from tests.fakes.queued_runs import MACHINE, prepare_without_build

TRAINER = """
echo "begun $(date +%s.%N)" >> "$0/starts"
echo '{"kind": "training_ended", "time_s": 1.0, "outcome": "completed"}' >> "$0/events.jsonl"
echo "ended $(date +%s.%N)" >> "$0/starts"
"""


class Death:
    """Kills its own process at a point of its work, or not at all."""

    def __init__(self) -> None:
        self._left = 0
        sys.addaudithook(self._count)

    def come_after(self, events: int) -> None:
        """Let it come after so many events; 0: never."""
        self._left = events

    def _count(self, _event: str, _arguments: tuple[object, ...]) -> None:
        if self._left:
            self._left -= 1
            if not self._left:
                os.kill(os.getpid(), signal.SIGKILL)


DEATH = Death()


def start_supervisor(layout: RunLayout, _: CheckedFiles) -> None:
    """As the launcher does, but quicker: a copy of this process, which has all modules."""
    child = os.fork()
    if child:
        os.waitpid(child, 0)
        return
    DEATH.come_after(0)
    os.setsid()
    if os.fork():
        os._exit(0)
    in_this_process(lambda: supervise(layout))


def supervise(layout: RunLayout) -> None:
    # As long as a process of its own would need at least to begin: the next scheduler comes before.
    time.sleep(0.1)
    try:
        Supervisor(layout, ("/bin/sh", "-c", TRAINER)).run()
    except AlreadyClaimedError:
        (layout.root / "not_needed").touch()


def in_this_process(work: Callable[[], object]) -> None:
    """Do it and end without going back to where this process came from."""
    try:
        work()
    except BaseException:  # noqa: BLE001 - whatever it is, this copy of the process ends here
        traceback.print_exc()
        os._exit(1)
    os._exit(0)


def one_life(folder: Path, death: str) -> bool:
    """A scheduler until it ends or is killed; says whether it was killed."""
    child = os.fork()
    if not child:
        files = QueueFiles(folder)
        scheduler = Scheduler(
            files, lambda: MACHINE, prepare_without_build, start_supervisor, poll_s=0.01
        )
        DEATH.come_after(0 if death.endswith("s") else int(death))
        in_this_process(scheduler.run)
    if death.endswith("s"):
        time.sleep(float(death[:-1]))
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return True
    if os.waitstatus_to_exitcode(status):
        sys.exit("a scheduler failed")
    return False


def main() -> None:
    assert threading.active_count() == 1, "copies of a process with threads may hang"
    killed = 0
    for queue in " ".join(sys.argv[1:]).split(" -- "):
        folder, *deaths = queue.split()
        killed += sum(one_life(Path(folder), death) for death in (*deaths, "0"))
    print(killed)


if __name__ == "__main__":
    main()
