"""A real supervisor watches a stand-in driver until the memory of an ended trainer is back."""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import pytest

from gpupanel.domain.device import DeviceInventory, DeviceKind, PhysicalDevice
from gpupanel.domain.events import Event, MemoryReturned, RunEnded, TrainerStarted
from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.domain.request import Request
from gpupanel.domain.run_layout import RunLayout
from gpupanel.domain.telemetry import DeviceProcess, DeviceReading, TelemetrySample
from gpupanel.planning.prepare import prepare
from gpupanel.runs.directory.requests import ask
from gpupanel.runs.following.follower import RunFollower
from gpupanel.runs.launcher import create_run
from gpupanel.runs.supervision.memory import gpu_watch
from gpupanel.runs.supervision.memory.gpu_watch import GpuMemoryWatch
from gpupanel.runs.supervision.supervisor import Supervisor
from tests.fakes.devices import CPU_ONLY
from tests.nvml.standin import DRIVER_NOT_LOADED, RTX_4090, TWO_UNEQUAL_GPUS, Standin, StandinState

FAKE_TRAINER = Path(__file__).parents[4] / "fakes" / "trainer.py"
TRAINER = (sys.executable, str(FAKE_TRAINER), "wait_for_stop")
CHILD = """
import sys
from pathlib import Path
from gpupanel.domain.run_layout import RunLayout
from gpupanel.runs.supervision.supervisor import Supervisor
Supervisor(RunLayout(Path(sys.argv[1])), sys.argv[2:]).run()
"""
GPU = PhysicalDevice(
    key=RTX_4090.uuid,
    kind=DeviceKind.GPU,
    name=RTX_4090.name,
    memory_total_mib=RTX_4090.memory_total_mib,
)
BEFORE = TWO_UNEQUAL_GPUS
BACK = TWO_UNEQUAL_GPUS


class GpuRun:
    """A run on the first GPU of the stand-in, until its trainer has ended."""

    def __init__(self, runs_dir: Path, standin: Standin) -> None:
        inventory = DeviceInventory(driver="570", devices=(GPU, *CPU_ONLY.devices))
        profile = Profile(devices=DeviceSettings(visible=(GPU.key,)))
        plan = prepare(profile, inventory).plan
        assert plan is not None
        self.plan = plan
        self.layout = create_run(profile, plan, runs_dir)
        self.standin = standin
        self.pid = 0
        self.ended_in_s = 0.0

    def run(
        self,
        holding: Callable[[int], StandinState],
        afterwards: Callable[[int], StandinState],
        delay_s: float = 0.0,
    ) -> tuple[Event, ...]:
        """Run until the supervisor's end; the GPU is as told by the trainer's pid."""
        with ThreadPoolExecutor(1) as pool:
            outcome = pool.submit(self._supervise)
            try:
                ended_s = self._hold_and_stop(holding)
                time.sleep(delay_s)
                self.standin.tell(afterwards(self.pid))
            finally:
                ask(self.layout, Request.STOP)
            outcome.result(timeout=20)
        events = events_of(self.layout)
        self.ended_in_s = events[-1].time_s - ended_s
        return events

    def _hold_and_stop(self, holding: Callable[[int], StandinState]) -> float:
        """Let the trainer hold memory, and stop it; when its process had ended."""
        wait_until(lambda: b"steps_done" in content(self.layout.events))
        wait_until(lambda: self.samples() > 0)  # of what others use
        (self.pid,) = (
            event.pid for event in events_of(self.layout) if isinstance(event, TrainerStarted)
        )
        self.standin.tell(holding(self.pid))
        seen = self.samples()
        wait_until(lambda: self.samples() > seen + 1)
        ask(self.layout, Request.STOP)
        wait_until(lambda: not psutil.pid_exists(self.pid))
        return time.time()

    def _supervise(self) -> None:
        Supervisor(self.layout, TRAINER).run()

    def samples(self) -> int:
        return len(content(self.layout.telemetry).splitlines())


class GpuRunOfAChild(GpuRun):
    """The same with a supervisor that can leave a thread behind: it ends with its process."""

    def _supervise(self) -> None:
        subprocess.run(
            [sys.executable, "-c", CHILD, str(self.layout.root), *TRAINER],
            env={**os.environ, **self.standin.environment},
            check=True,
            timeout=30,
        )


@pytest.fixture
def gpu_run(runs_dir: Path, nvml_in_process: Standin) -> GpuRun:
    return GpuRun(runs_dir, nvml_in_process)


@pytest.fixture
def long_wait_s(monkeypatch: pytest.MonkeyPatch) -> float:
    """Whoever waits in vain waits for so long: more than a busy machine delays anybody."""
    for name in ("LIMIT_S", "SILENCE_S"):
        monkeypatch.setattr(gpu_watch, name, 15.0)
    return 15.0


def events_of(layout: RunLayout) -> tuple[Event, ...]:
    return RunFollower(layout).poll().events


def content(path: Path) -> bytes:
    return path.read_bytes() if path.exists() else b""


def wait_until(is_so: Callable[[], bool], timeout_s: float = 20.0) -> None:
    end_s = time.monotonic() + timeout_s
    while not is_so():
        assert time.monotonic() < end_s, "it did not come to that"
        time.sleep(0.01)


def holding(pid: int) -> StandinState:
    return BEFORE.with_gpu(0, memory_used_mib=21_200, compute=((pid, 20_000),))


def back(_pid: int) -> StandinState:
    return BACK


def told(events: tuple[Event, ...]) -> MemoryReturned:
    *_, returned, last = events
    assert isinstance(last, RunEnded)
    assert isinstance(returned, MemoryReturned)
    return returned


def test_that_memory_that_comes_back_at_once_is_reported_before_the_end(
    gpu_run: GpuRun, long_wait_s: float
) -> None:
    returned = told(gpu_run.run(holding, back))
    (device,) = returned.devices
    assert (device.device_key, device.freed_mib) == (GPU.key, 20_000)
    assert (device.still_held_mib, device.holders) == (0, ())
    assert returned.seconds < long_wait_s / 2


def test_that_memory_that_comes_back_after_a_while_is_waited_for(
    gpu_run: GpuRun, long_wait_s: float
) -> None:
    returned = told(gpu_run.run(holding, back, delay_s=1.0))
    assert returned.devices[0].freed_mib == 20_000
    assert 0.7 < returned.seconds < long_wait_s / 2


def test_that_what_another_process_takes_as_the_run_ends_is_not_waited_for(
    gpu_run: GpuRun, long_wait_s: float
) -> None:
    """The next run of the queue begins at once, and is not blamed for what this one held."""
    other = os.getpid()

    def taken(_pid: int) -> StandinState:
        return BEFORE.with_gpu(0, memory_used_mib=21_200, compute=((other, 20_000),))

    returned = told(gpu_run.run(holding, taken))
    (device,) = returned.devices
    assert (device.freed_mib, device.still_held_mib, device.holders) == (20_000, 0, ())
    assert returned.seconds < long_wait_s / 2


def test_that_memory_that_nobody_is_seen_to_hold_is_reported(
    gpu_run: GpuRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gpu_watch, "LIMIT_S", 0.6)

    def kept(_pid: int) -> StandinState:
        return BEFORE.with_gpu(0, memory_used_mib=21_200)

    returned = told(gpu_run.run(holding, kept))
    (device,) = returned.devices
    assert (device.freed_mib, device.still_held_mib, device.holders) == (0, 20_000, ())
    assert 0.5 < returned.seconds < 1.5


def test_that_memory_is_seen_to_come_back_where_nvml_lists_no_pids(gpu_run: GpuRun) -> None:
    unlisted = BEFORE.with_gpu(0, memory_used_mib=9_200)
    returned = told(gpu_run.run(lambda _pid: unlisted, back, delay_s=0.5))
    assert returned.devices[0].freed_mib == 8_000
    assert returned.seconds > 0.3


def test_that_a_driver_that_goes_away_delays_nothing_and_nothing_is_reported(
    gpu_run: GpuRun,
) -> None:
    gone = StandinState(gpus=(), init=DRIVER_NOT_LOADED)
    events = gpu_run.run(holding, lambda _pid: gone)
    assert isinstance(events[-1], RunEnded)
    assert not any(isinstance(event, MemoryReturned) for event in events)
    assert gpu_run.ended_in_s < 1.5


def test_that_a_driver_that_is_slow_delays_the_end_within_reason_and_nothing_is_guessed(
    runs_dir: Path, nvml_standin: Standin
) -> None:
    gpu_run = GpuRunOfAChild(runs_dir, nvml_standin)
    events = gpu_run.run(holding, lambda _pid: BACK.with_gpu(0, slow_ms=500))
    assert isinstance(events[-1], RunEnded)
    # A reading of many calls is not done in time; what was said before it is old.
    assert not any(isinstance(event, MemoryReturned) for event in events)
    assert gpu_run.ended_in_s < gpu_watch.SILENCE_S + 1.0


def test_that_a_run_on_the_cpu_waits_for_nothing() -> None:
    plan = prepare(Profile(), CPU_ONLY).plan
    assert plan is not None
    watch = GpuMemoryWatch(plan)
    reading = DeviceReading(
        key="cpu",
        memory_used_mib=9000,
        processes=(DeviceProcess(pid=os.getpid(), memory_used_mib=100),),
    )
    watch.take(TelemetrySample(time_s=1.0, readings=(reading,)), 1.0)
    assert not watch.run_ended()


def test_that_what_the_runs_process_started_in_a_session_of_its_own_is_the_runs(
    gpu_run: GpuRun,
) -> None:
    watch = GpuMemoryWatch(gpu_run.plan)
    watch.notice(TrainerStarted(time_s=1.0, pid=os.getpid()))
    child = psutil.Popen([sys.executable, "-c", "input()"], stdin=-1, start_new_session=True)
    try:
        listed = DeviceProcess(pid=child.pid, memory_used_mib=700)
        reading = DeviceReading(key=GPU.key, memory_used_mib=900, processes=(listed,))
        watch.take(TelemetrySample(time_s=1.0, readings=(reading,)), 1.0)
        assert watch.run_ended()
    finally:
        child.communicate(b"\n")


def test_that_memory_is_seen_to_come_back_though_the_clock_was_set_back(
    gpu_run: GpuRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    watch = GpuMemoryWatch(gpu_run.plan)
    watch.notice(TrainerStarted(time_s=1.0, pid=os.getpid()))
    listed = DeviceProcess(pid=os.getpid(), memory_used_mib=700)
    reading = DeviceReading(key=GPU.key, memory_used_mib=900, processes=(listed,))
    watch.take(TelemetrySample(time_s=time.time(), readings=(reading,)), time.monotonic())
    assert watch.run_ended()
    hour_ago_s = time.time() - 3600.0
    monkeypatch.setattr(time, "time", lambda: hour_ago_s)
    empty = DeviceReading(key=GPU.key, memory_used_mib=0)
    watch.take(TelemetrySample(time_s=hour_ago_s, readings=(empty,)), time.monotonic())
    returned = watch.wait()
    assert returned is not None
    assert [(each.freed_mib, each.still_held_mib) for each in returned.devices] == [(700, 0)]
    assert returned.seconds < 1.0


def test_that_a_reading_from_before_the_end_does_not_count(
    gpu_run: GpuRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gpu_watch, "SILENCE_S", 0.3)
    watch = GpuMemoryWatch(gpu_run.plan)
    watch.notice(TrainerStarted(time_s=1.0, pid=os.getpid()))
    listed = DeviceProcess(pid=os.getpid(), memory_used_mib=700)
    reading = DeviceReading(key=GPU.key, memory_used_mib=900, processes=(listed,))
    watch.take(TelemetrySample(time_s=1.0, readings=(reading,)), 1.0)
    assert watch.run_ended()
    now_s = time.monotonic()
    empty = DeviceReading(key=GPU.key, memory_used_mib=0)
    watch.take(TelemetrySample(time_s=now_s + 1.0, readings=(empty,)), now_s - 1.0)
    repeated = empty.model_copy(update={"age_s": 5.0})
    watch.take(TelemetrySample(time_s=now_s + 1.0, readings=(repeated,)), now_s + 0.9)
    begun_s = time.monotonic()
    assert watch.wait() is None
    assert 0.2 < time.monotonic() - begun_s < 1.0


def test_that_what_the_gpu_counted_meanwhile_stands_in_the_last_event(gpu_run: GpuRun) -> None:
    gpu_run.standin.tell(BEFORE.with_gpu(0, energy_mj=1_000_000))
    counted = {"energy_mj": 37_000_000}  # 36,000 J later: 10 Wh
    *_, last = gpu_run.run(
        lambda pid: BEFORE.with_gpu(0, **counted, compute=((pid, 20_000),)),
        lambda _pid: BACK.with_gpu(0, **counted),
    )
    assert isinstance(last, RunEnded)
    assert last.energy is not None
    (device,) = last.energy.devices
    assert (device.device_key, device.measured_by) == (GPU.key, "counter")
    assert device.watt_hours == pytest.approx(10.0)
