"""A process whose supervisor is gone: it ends at once where there is nothing to save yet."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from time import sleep

import psutil
import pytest

from gpupanel.trainer.leader import LeadersHeart

CHILD = (
    "import sys, time\n"
    "from pathlib import Path\n"
    "from gpupanel.trainer.heartbeat import start_heartbeat, work_has_begun\n"
    "start_heartbeat(Path(sys.argv[1]))\n"
    "if sys.argv[2] == 'begun': work_has_begun()\n"
    "Path(sys.argv[1], 'ready').touch()\n"
    "time.sleep(60)\n"
)
SUPERVISOR = (
    "import os, subprocess, sys, time\n"
    "from pathlib import Path\n"
    "os.environ['GPUPANEL_SUPERVISOR_PID'] = str(os.getpid())\n"
    "child = subprocess.Popen([sys.executable, '-c', *sys.argv[1:]])\n"
    "while not Path(sys.argv[2], 'ready').exists(): time.sleep(0.01)\n"
    "print(child.pid, flush=True)\n"
    "time.sleep(60)\n"
)


class Orphan:
    def __init__(self, root: Path, state: str) -> None:
        self._supervisor = subprocess.Popen(
            [sys.executable, "-c", SUPERVISOR, CHILD, str(root), state], stdout=subprocess.PIPE
        )
        assert self._supervisor.stdout is not None
        self.process = psutil.Process(int(self._supervisor.stdout.readline()))
        self._supervisor.stdout.close()

    def lose_its_supervisor(self) -> None:
        self._supervisor.kill()
        self._supervisor.wait()

    def close(self) -> None:
        self.lose_its_supervisor()
        if self.process.is_running():
            self.process.kill()


@pytest.fixture
def starting(tmp_path: Path) -> Iterator[Orphan]:
    orphan = Orphan(tmp_path, "starting")
    yield orphan
    orphan.close()


@pytest.fixture
def begun(tmp_path: Path) -> Iterator[Orphan]:
    orphan = Orphan(tmp_path, "begun")
    yield orphan
    orphan.close()


def test_that_one_that_still_starts_ends_at_once(starting: Orphan) -> None:
    starting.lose_its_supervisor()
    gone, _ = psutil.wait_procs([starting.process], timeout=10.0)
    assert gone


def test_that_one_that_has_something_to_save_is_left_to_do_so(begun: Orphan) -> None:
    begun.lose_its_supervisor()
    sleep(2.5)
    assert begun.process.is_running()
    assert begun.process.status() != psutil.STATUS_ZOMBIE


@pytest.mark.parametrize("set_by_s", [0.0, -3600.0, 3600.0])
def test_that_a_leader_whose_heart_beats_is_there_whatever_its_clock_says(
    tmp_path: Path, set_by_s: float
) -> None:
    beat, now_s = tmp_path / "0", 1000.0
    beat.touch()
    heart = LeadersHeart(beat, now_s)
    for second in range(20):
        os.utime(beat, (0.0, 2e9 + second + (set_by_s if second >= 10 else 0.0)))
        assert not heart.has_ceased(now_s + second)
    last_s = now_s + 19.0
    assert not heart.has_ceased(last_s + 4.0)
    assert heart.has_ceased(last_s + 6.0)


def test_that_a_leader_that_left_no_heartbeat_is_gone(tmp_path: Path) -> None:
    assert LeadersHeart(tmp_path / "0", 1000.0).has_ceased(1000.0)
