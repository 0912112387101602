"""Whether the kernel killed for memory: read from files as it writes them, and real ones."""

import os
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from gpupanel.domain.event_details import ShortageCause
from gpupanel.domain.events import MemoryExhausted
from gpupanel.runs.supervision.memory.reading import KernelCounters
from gpupanel.runs.supervision.memory.shortage_watch import HostMemoryWatch

PID = 4_711
PAGE = os.sysconf("SC_PAGE_SIZE")


@dataclass
class Machine:
    """The kernel's files of a machine with one process of ours, and a clock."""

    root: Path
    version: int = 2
    now_s: float = 100.0
    watch: HostMemoryWatch = field(init=False)

    def __post_init__(self) -> None:
        self.group = self.root / "groups" / ("memory/run" if self.version == 1 else "user/run")
        for folder in (self.group, self.root / "proc" / str(PID)):
            folder.mkdir(parents=True)
        lines = {1: "9:name=systemd:/x\n4:cpu,memory:/run\n0::/y\n", 2: "0::/user/run\n"}
        self.process("cgroup", lines[self.version])
        self.process("statm", "9000 5000 1000 1 0 0 0\n")
        self.kills(machine=3, group=1)
        self.available(0.5)
        counters = KernelCounters(self.root / "proc", self.root / "groups")
        self.watch = HostMemoryWatch(counters, lambda: self.now_s)

    def process(self, name: str, text: str) -> None:
        (self.root / "proc" / str(PID) / name).write_text(text)

    def kills(self, *, machine: int, group: int) -> None:
        (self.root / "proc" / "vmstat").write_text(f"pgfault 9\noom_kill {machine}\nx 1\n")
        if self.version == 1:
            text, name = (
                f"oom_kill_disable 0\nunder_oom 0\noom_kill {group}\n",
                "memory.oom_control",
            )
        else:
            name, text = "memory.events", f"max 7\noom 2\noom_kill {group}\n"
        (self.group / name).write_text(text)

    def limit(self, words: str, *, above: bool = False) -> None:
        name = "memory.limit_in_bytes" if self.version == 1 else "memory.max"
        ((self.group.parent if above else self.group) / name).write_text(f"{words}\n")

    def available(self, part: float) -> None:
        total_kib = 1_000_000
        (self.root / "proc" / "meminfo").write_text(
            f"MemTotal: {total_kib} kB\nMemFree: 5 kB\nMemAvailable: {int(part * total_kib)} kB\n"
        )

    def observe(self, passed_s: float = 1.0) -> None:
        self.now_s += passed_s
        self.watch.observe([(0, PID)])

    def kill_of(self, place: int = 0) -> MemoryExhausted | None:
        for name in ("cgroup", "statm"):
            (self.root / "proc" / str(PID) / name).unlink()
        return self.watch.kill_of(place)


@pytest.fixture(params=[1, 2])
def machine(tmp_path: Path, request: pytest.FixtureRequest) -> Machine:
    return Machine(tmp_path, version=request.param)


def test_that_a_kill_by_the_limit_of_its_group_is_known(machine: Machine) -> None:
    machine.limit("4294967296")
    machine.limit("2147483648", above=True)
    machine.observe()
    machine.kills(machine=4, group=2)

    killed = machine.kill_of()

    assert killed is not None
    assert killed.cause is ShortageCause.GROUP_LIMIT
    assert killed.limit_bytes == 2_147_483_648
    assert killed.held_bytes == 4_000 * PAGE
    assert killed.device_key == "cpu"


@pytest.mark.parametrize("limit", ["max", "9223372036854771712"])
def test_that_a_kill_in_a_group_without_a_limit_is_the_machines(
    machine: Machine, limit: str
) -> None:
    machine.limit(limit)
    machine.observe()
    machine.kills(machine=4, group=2)

    killed = machine.kill_of()

    assert killed is not None
    assert (killed.cause, killed.limit_bytes) == (ShortageCause.MACHINE, None)


def test_that_a_kill_of_a_process_not_seen_before_is_the_machines(machine: Machine) -> None:
    machine.watch.observe([])
    machine.kills(machine=4, group=2)

    killed = machine.kill_of()

    assert killed is not None
    assert (killed.cause, killed.held_bytes) == (ShortageCause.MACHINE, None)


def test_that_a_kill_that_the_kernel_has_not_counted_is_none(machine: Machine) -> None:
    machine.limit("4294967296")
    machine.observe()
    machine.observe()

    assert machine.kill_of() is None


def test_that_memory_nearly_full_makes_it_likely(machine: Machine) -> None:
    machine.observe()
    machine.available(0.02)
    machine.observe()
    machine.available(0.6)

    killed = machine.kill_of()

    assert killed is not None
    assert killed.cause is ShortageCause.LIKELY


def test_that_what_was_counted_long_before_is_of_another_process(machine: Machine) -> None:
    machine.observe()
    machine.kills(machine=4, group=2)
    machine.available(0.02)
    machine.observe()
    machine.available(0.6)
    for _ in range(15):
        machine.observe()

    assert machine.kill_of() is None


@pytest.mark.parametrize(("left_mib", "is_short"), [(300, False), (200, True)])
def test_that_a_crash_with_nearly_all_its_address_space_taken_is_for_lack_of_it(
    machine: Machine, left_mib: int, is_short: bool
) -> None:
    limit = 2 * 2**30
    pages = (limit - left_mib * 2**20) // PAGE
    counters = KernelCounters(machine.root / "proc", machine.root / "groups")
    watch = HostMemoryWatch(counters, lambda: machine.now_s, address_space_limit=limit)
    machine.process("statm", f"{pages} 5000 1000 1 0 0 0\n")
    watch.observe([(0, PID)])
    (machine.root / "proc" / str(PID) / "statm").unlink()

    crashed = watch.crash_of(0)

    assert (crashed is not None) is is_short
    if crashed is not None:
        assert crashed.cause is ShortageCause.ADDRESS_SPACE
        assert (crashed.held_bytes, crashed.limit_bytes) == (pages * PAGE, limit)


def test_that_a_crash_without_a_limit_of_the_address_space_is_not_for_lack_of_it(
    machine: Machine,
) -> None:
    machine.observe()

    assert machine.watch.crash_of(0) is None


def test_that_it_does_not_observe_all_the_time(machine: Machine) -> None:
    machine.observe()
    machine.process("statm", "9000 9000 1000 1 0 0 0\n")
    machine.observe(passed_s=0.1)
    machine.kills(machine=4, group=2)

    killed = machine.kill_of()

    assert killed is not None
    assert killed.held_bytes == 4_000 * PAGE


def test_that_a_process_that_is_put_into_its_group_after_its_start_is_found_there(
    machine: Machine,
) -> None:
    lines = (machine.root / "proc" / str(PID) / "cgroup").read_text()
    (machine.group.parent / "starter").mkdir()
    machine.process("cgroup", lines.replace("/run", "/starter"))
    machine.limit(str(2**30))
    machine.observe()
    machine.process("cgroup", lines)
    machine.observe()
    machine.kills(machine=4, group=2)

    killed = machine.kill_of()

    assert killed is not None
    assert killed.cause is ShortageCause.GROUP_LIMIT


def test_that_without_the_kernels_files_nothing_is_claimed(tmp_path: Path) -> None:
    watch = HostMemoryWatch(KernelCounters(tmp_path / "proc", tmp_path / "groups"))
    watch.observe([(0, PID)])

    assert watch.kill_of(0) is None


def test_that_in_a_container_the_mounted_end_of_the_path_is_read(tmp_path: Path) -> None:
    (tmp_path / "proc" / str(PID)).mkdir(parents=True)
    (tmp_path / "proc" / str(PID) / "cgroup").write_text("0::/docker/abc\n")
    groups = tmp_path / "groups"
    groups.mkdir()
    counters = KernelCounters(tmp_path / "proc", groups)

    assert counters.group_of(PID) == groups


def test_that_this_process_is_found_in_the_real_files() -> None:
    counters = KernelCounters()

    held, memory = counters.held_by(os.getpid()), counters.available()

    assert held is not None
    assert held > 2**20
    assert memory is not None
    assert 0 < memory[0] < memory[1]
    address_space = counters.address_space_of(os.getpid())
    assert address_space is not None
    assert address_space > held
    assert counters.kills_on_machine() is not None
