"""Other programs, swap and quotas, from files as the kernel writes them, and real ones."""

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from gpupanel.planning.findings.context import QuotaCounters
from gpupanel.runs.supervision.host_load import HostLoad
from tests.patience import PATIENCE_S

OWN, OTHER, CHILD = 100, 200, 101
BUSY_LOOP = "while True: pass"


@dataclass
class Machine:
    """The kernel's files of a machine with a trainer of ours and another program."""

    root: Path
    all_ticks: int = 10_000
    idle_ticks: int = 5_000

    def __post_init__(self) -> None:
        self.processes = {OWN: 0, OTHER: 0, CHILD: 0}
        (self.root / "proc").mkdir()
        (self.root / "groups").mkdir()
        self.load = HostLoad(self.root / "proc", self.root / "groups")
        self.pass_time({})

    def pass_time(self, used: dict[int, int], idle: int = 0, passed: int = 1_000) -> None:
        self.all_ticks += passed
        self.idle_ticks += idle
        user = self.all_ticks - self.idle_ticks
        # Guests are in user already.
        self.write("stat", f"cpu  {user} 0 0 {self.idle_ticks} 0 0 0 0 77 0\ncpu0 1 2 3 4\n")
        for pid, ticks in used.items():
            self.processes[pid] += ticks
        for pid, ticks in self.processes.items():
            group = OWN if pid == CHILD else pid
            name = "ffm (peg) 2" if pid == OTHER else "python"
            fields = f"R 1 {group} {group} 0 -1 0 0 0 0 0 {ticks} 0 999 999 20 0 1 0 {pid}7 0 0"
            self.write(f"{pid}/stat", f"{pid} ({name}) {fields}\n")

    def write(self, name: str, text: str) -> None:
        path = self.root / "proc" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)

    def group(self, name: str, text: str) -> None:
        path = self.root / "groups" / name
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_text(text)


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_that_others_are_what_is_not_the_runs_and_the_busiest_is_named(machine: Machine) -> None:
    assert machine.load.observe([OWN]).others_fraction is None
    machine.pass_time({OWN: 500, OTHER: 400}, idle=100)
    seen = machine.load.observe([OWN])
    assert seen.others_fraction == pytest.approx(0.4)
    assert seen.free_fraction == pytest.approx(0.1)
    assert seen.busiest is None
    machine.pass_time({OWN: 500, OTHER: 350, CHILD: 100}, idle=50)

    busiest = machine.load.observe([OWN]).busiest

    assert busiest is not None
    assert (busiest.pid, busiest.name) == (OTHER, "ffm (peg) 2")
    assert busiest.fraction == pytest.approx(0.35)


def test_that_nobody_is_asked_for_while_others_take_little(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine.load.observe([OWN])
    monkeypatch.setattr(Path, "iterdir", lambda _: pytest.fail("the list of processes was read"))
    for _ in range(3):
        machine.pass_time({OWN: 900, OTHER: 100})
        assert machine.load.observe([OWN]).others_fraction == pytest.approx(0.1)


def test_that_a_process_of_the_run_that_just_came_leaves_others_unknown(machine: Machine) -> None:
    machine.load.observe([OWN])
    machine.pass_time({OWN: 500, CHILD: 500})
    assert machine.load.observe([OWN, CHILD]).others_fraction is None


def test_that_a_machine_without_such_files_says_nothing(tmp_path: Path) -> None:
    load = HostLoad(tmp_path / "nowhere", tmp_path / "nowhere")
    for _ in range(2):
        seen = load.observe([OWN])
    known = (seen.others_fraction, seen.free_fraction, seen.busiest, seen.swap_used_mib, seen.quota)
    assert known == (None,) * 5


def test_that_swap_is_what_is_not_free(machine: Machine) -> None:
    machine.write("meminfo", "MemTotal: 9 kB\nSwapTotal: 4194304 kB\nSwapFree: 3145728 kB\n")
    assert machine.load.observe([OWN]).swap_used_mib == 1_024


@pytest.mark.parametrize(
    ("lines", "folder", "files", "throttled_s"),
    [
        (
            "0::/run\n",
            "run",
            {
                "cpu.max": "50000 100000\n",
                "cpu.stat": "user_usec 9\nnr_periods 40\nnr_throttled 30\nthrottled_usec 2500000",
            },
            2.5,
        ),
        (
            "4:cpu,cpuacct:/run\n0::/y\n",
            "cpu/run",
            {
                "cpu.cfs_quota_us": "50000\n",
                "cpu.cfs_period_us": "100000\n",
                "cpu.stat": "nr_periods 40\nnr_throttled 30\nthrottled_time 2500000000\n",
            },
            2.5,
        ),
    ],
    ids=["version 2", "version 1"],
)
def test_that_the_tightest_quota_of_the_groups_above_counts(
    machine: Machine, lines: str, folder: str, files: dict[str, str], throttled_s: float
) -> None:
    machine.write(f"{OWN}/cgroup", lines.replace("/run", "/run/below"))
    machine.group(f"{folder}/below/cpu.max", "max 100000\n")
    for name, text in files.items():
        machine.group(f"{folder}/{name}", text)
    expected = QuotaCounters(
        processors=0.5, periods=40, throttled_periods=30, throttled_s=throttled_s
    )
    assert machine.load.observe([OWN]).quota == expected


@pytest.mark.parametrize("quota", ["max 100000", "50000 0", "", "x y", "50000"])
def test_that_no_quota_is_none(machine: Machine, quota: str) -> None:
    machine.write(f"{OWN}/cgroup", "0::/run\n")
    machine.group("run/cpu.max", quota)
    machine.group("run/cpu.stat", "nr_periods 40\nnr_throttled 30\n")
    assert machine.load.observe([OWN]).quota is None


@contextmanager
def quota_of(processors: float) -> Iterator[Path]:
    """A control group with that quota; skips where this machine lets nobody make one."""
    for base in (Path("/sys/fs/cgroup/cpu"), Path("/sys/fs/cgroup")):
        folder = base / f"gpupanel-test-{time.monotonic_ns()}"
        try:
            folder.mkdir()
            if (folder / "cpu.cfs_quota_us").exists():
                (folder / "cpu.cfs_quota_us").write_text(f"{int(processors * 100_000)}\n")
            else:
                (folder / "cpu.max").write_text(f"{int(processors * 100_000)} 100000\n")
        except OSError:
            if folder.is_dir():
                folder.rmdir()
            continue
        try:
            yield folder
        finally:
            folder.rmdir()
        return
    pytest.skip("no control group with a quota can be made here")


@contextmanager
def busy_process() -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen([sys.executable, "-c", BUSY_LOOP])
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def test_that_a_real_quota_of_a_real_group_is_seen_to_hold_a_process_back() -> None:
    # So little that it is reached on a busy machine, too.
    with quota_of(0.02) as folder, busy_process() as process:
        (folder / "cgroup.procs").write_text(f"{process.pid}\n")
        load = HostLoad()
        before = load.observe([process.pid]).quota
        assert before is not None
        end_s = time.monotonic() + PATIENCE_S
        after = before
        # The kernel counts the time of a period when it lets go of the process again.
        while after.throttled_s == before.throttled_s:
            assert time.monotonic() < end_s, "it was never held back"
            time.sleep(0.2)
            after = load.observe([process.pid]).quota
            assert after is not None
        process.kill()
        process.wait()
    assert after.processors == pytest.approx(0.02)
    assert after.periods > before.periods
    assert after.throttled_periods > before.throttled_periods
    assert after.throttled_s > before.throttled_s


def test_that_a_real_busy_process_is_found_among_others() -> None:
    with busy_process() as own, busy_process() as other:
        load = HostLoad()
        load.observe([own.pid])
        for _ in range(2):
            time.sleep(0.5)
            seen = load.observe([own.pid])
        assert seen.others_fraction is not None
        assert seen.others_fraction > 0.0
        if seen.busiest is not None:  # of many processors one is too little to ask for
            assert seen.busiest.pid != own.pid
            assert seen.busiest.fraction > 0.0
        assert other.poll() is None
