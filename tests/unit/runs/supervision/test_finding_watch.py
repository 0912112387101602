"""Findings are reported once, again when they come back, and no rule ends a supervision."""

import time
from collections.abc import Iterator

import psutil
import pytest

from gpupanel.devices.sampler import DeviceSampler
from gpupanel.domain.bench import Bench
from gpupanel.domain.cluster import ClusterSettings
from gpupanel.domain.device import CPU_KEY, DeviceInventory
from gpupanel.domain.event_details import AllocatedMemory
from gpupanel.domain.events import (
    DataReady,
    Event,
    FindingReported,
    MemoryReported,
    RunRestarted,
    StepsDone,
    TimeReported,
    TrainerStarted,
    decode_event,
)
from gpupanel.domain.finding import Finding
from gpupanel.domain.problem import Problem, Severity
from gpupanel.domain.profile import Profile
from gpupanel.domain.strategy import StrategyKind
from gpupanel.domain.telemetry import DeviceProcess, TelemetrySample
from gpupanel.domain.time_spent import ReplicaTime, TimeSpent
from gpupanel.planning.findings.context import FindingContext
from gpupanel.planning.findings.registry import FINDING_RULES, FindingRule
from gpupanel.runs.supervision.finding_watch import FindingWatch
from gpupanel.runs.supervision.host_load import HostLoad
from tests.fakes.devices import CPU, CPU_ONLY
from tests.nvml.standin import Standin
from tests.unit.planning.findings.recorded import WINDOWS, plan_of, profile_of

START_S = 1_795_000_000.0


class Course:
    """A training as its supervisor sees it, and a clock."""

    def __init__(
        self,
        profile: Profile,
        rules: tuple[FindingRule, ...] | None,
        is_own=lambda _: True,
        recall=lambda *_: None,
        machine: DeviceInventory = CPU_ONLY,
    ) -> None:
        self.profile = profile
        self.now_s = 0.0
        self.reported: list[FindingReported] = []
        self.watch = FindingWatch(
            profile,
            plan_of(profile, machine),
            is_own,
            rules=rules,
            clock=lambda: self.now_s,
            recall=recall,
        )
        self.step = 0

    def report(self, event: Event) -> None:
        assert isinstance(event, FindingReported)
        self.reported.append(event)

    def train(self, seconds: int, waiting: float = 0.0) -> None:
        for _ in range(seconds):
            self.now_s += 1.0
            self.step += 100
            one = ReplicaTime(computing_s=1.0 - waiting, waiting_for_data_s=waiting)
            spent = TimeSpent(seconds=1.0, replicas=(one,))
            self.watch.notice(
                TimeReported(time_s=START_S + self.now_s, step=self.step, spent=spent)
            )
            self.watch.look(self.report)

    @property
    def codes(self) -> list[str]:
        return [each.problem.code for each in self.reported]


def always(code: str, device_key: str | None = None) -> FindingRule:
    def rule(context: FindingContext) -> Iterator[Finding]:
        problem = Problem(code=code, severity=Severity.HINT, message="It is slow.")
        yield Finding(problem=problem, since_s=context.reports[0].begun_s, device_key=device_key)

    return rule


def test_that_a_finding_is_reported_once_for_each_code_and_device() -> None:
    rules = (always("a"), always("a", "GPU-1"), always("b"), always("b"))
    course = Course(profile_of(), rules)

    course.train(9)
    assert course.reported == []
    course.train(600)

    found = [(each.problem.code, each.device_key) for each in course.reported]
    assert found == [("a", None), ("a", "GPU-1"), ("b", None)]
    assert [each.identity for each in course.watch.found] == found
    assert course.reported[0].since_s == START_S
    assert time.time() - course.reported[0].time_s < 60.0


def test_that_of_a_cluster_only_what_the_training_reports_is_asked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(*_: object) -> None:
        raise AssertionError("what this machine does says nothing about other nodes")

    monkeypatch.setattr(HostLoad, "observe", fail)
    nodes = tuple(
        CPU.model_copy(update={"key": f"cpu@{name}", "node": name}) for name in ("a", "b")
    )
    profile = profile_of(StrategyKind.MULTI_WORKER)
    profile = profile.model_copy(update={"cluster": ClusterSettings()})
    course = Course(profile, None, recall=fail, machine=DeviceInventory(devices=nodes))
    sample = TelemetrySample(time_s=START_S, readings=())
    course.watch.take_sample(sample, DeviceInventory(devices=nodes))
    course.train(60, waiting=0.5)
    assert course.codes == ["training_waits_for_data"]


def test_that_a_finding_that_was_gone_for_a_minute_is_reported_again() -> None:
    course = Course(profile_of(), FINDING_RULES)
    course.train(60, waiting=0.5)
    assert course.codes == ["training_waits_for_data"]
    # The window of half a minute remembers it for so long, and a minute more has to pass.
    course.train(50)
    course.train(40, waiting=0.5)
    assert course.codes == ["training_waits_for_data"]
    course.train(120)
    course.train(40, waiting=0.5)
    assert course.codes == ["training_waits_for_data"] * 2
    assert len(course.watch.found) == 1


def test_that_nothing_is_asked_while_the_trainer_reports_nothing() -> None:
    asked: list[float] = []

    def rule(_context: FindingContext) -> Iterator[Finding]:
        asked.append(course.now_s)
        yield from ()

    course = Course(profile_of(), (rule,))
    for _ in range(60):
        course.now_s += 1.0
        course.watch.look(course.report)
    assert asked == []
    course.train(30)
    assert len(asked) == 3


def test_that_a_rule_that_fails_is_noted_once_and_the_others_are_asked(
    capfd: pytest.CaptureFixture[str],
) -> None:
    def broken(_context: FindingContext) -> Iterator[Finding]:
        raise ZeroDivisionError("no seconds")
        yield

    course = Course(profile_of(), (broken, always("a")))
    course.train(100)

    assert course.codes == ["a"]
    assert capfd.readouterr().err.count("broken: ZeroDivisionError") == 1


def test_that_a_host_that_cannot_be_observed_ends_nothing(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def observe(*_: object) -> None:
        raise OSError("no /proc")

    monkeypatch.setattr("gpupanel.runs.supervision.host_load.HostLoad.observe", observe)
    course = Course(profile_of(), (always("a"),))
    course.train(40)

    assert course.codes == []
    assert capfd.readouterr().err.count("no /proc") == 1


def test_that_a_restart_begins_a_new_window() -> None:
    course = Course(profile_of(), FINDING_RULES)
    course.train(9, waiting=0.9)
    course.watch.notice(RunRestarted(time_s=START_S, attempt=1))
    course.train(40)
    assert course.codes == []


def test_that_the_window_has_half_a_minute_and_the_epoch_of_each_report() -> None:
    seen: list[FindingContext] = []

    def rule(context: FindingContext) -> Iterator[Finding]:
        seen.append(context)
        yield from ()

    course = Course(profile_of(), (rule,))
    data = DataReady(
        time_s=START_S,
        training_examples=7,
        validation_examples=0,
        feature_shape=(1,),
        steps_per_epoch=1,
    )
    course.watch.notice(data)
    course.watch.notice(TrainerStarted(time_s=START_S, pid=psutil.Process().pid))
    course.watch.notice(_step(3))
    course.train(40)
    course.watch.notice(_step(4))
    course.train(10)

    context = seen[-1]
    assert len(context.reports) == 30
    assert [each.epoch for each in context.reports] == [3] * 20 + [4] * 10
    assert (context.first_epoch, context.data) == (3, data)
    assert len(context.hosts) == 4


def _step(epoch: int) -> StepsDone:
    return StepsDone(
        time_s=START_S,
        step=1,
        steps=1,
        epoch=epoch,
        step_in_epoch=1,
        examples=1,
        loss=1.0,
        examples_per_second=1.0,
    )


def test_that_a_recorded_run_is_read_as_its_supervisor_reads_it() -> None:
    profile = profile_of(batch=2)
    course = Course(profile, FINDING_RULES)
    for line in (WINDOWS / "tiny_batch.jsonl").read_bytes().splitlines():
        course.now_s += 1.0
        course.watch.notice(decode_event(line))
        course.watch.look(course.report)
    assert course.codes == ["batch_too_small"]
    assert course.reported[0].device_key == CPU_KEY


class GpuCourse:
    """A training on the first of the stand-in's GPUs, sampled by the real sampler."""

    def __init__(self, standin: Standin) -> None:
        self.standin = standin
        self.now_s = 0.0
        self.reported: list[FindingReported] = []
        self.own_pid = psutil.Process().pid
        self.sampler = DeviceSampler(
            clock=lambda: START_S + self.now_s, wait_s=5.0, seconds=lambda: self.now_s
        )
        self.inventory = self.sampler.inventory()
        profile = profile_of(visible=(self.inventory.gpus[0].key,))
        self.watch = FindingWatch(
            profile,
            plan_of(profile, self.inventory),
            self._is_own,
            clock=lambda: self.now_s,
        )

    def _is_own(self, process: DeviceProcess) -> bool:
        return process.pid == self.own_pid

    def train(self, seconds: int, **gpu: object) -> list[str]:
        """What is found of so many seconds in which the first GPU answers that."""
        given = {"utilization_percent": 97, "throttle_mask": 0, **gpu}
        given.setdefault("compute", ((self.own_pid, 9_000),))
        self.standin.tell(self.standin.state.with_gpu(0, **given))
        before = len(self.reported)
        for _ in range(2 * seconds):
            self.now_s += 0.5
            self.watch.take_sample(self.sampler.sample(), self.inventory)
            spent = TimeSpent(seconds=0.5, replicas=(ReplicaTime(computing_s=0.5),))
            self.watch.notice(
                TimeReported(time_s=START_S + self.now_s, step=int(self.now_s * 20), spent=spent)
            )
            self.watch.look(self.report)
        return [each.problem.code for each in self.reported[before:]]

    def report(self, event: Event) -> None:
        assert isinstance(event, FindingReported)
        self.reported.append(event)


@pytest.fixture
def gpu_course(nvml_in_process: Standin) -> Iterator[GpuCourse]:
    course = GpuCourse(nvml_in_process)
    yield course
    course.sampler.close()


def test_that_a_gpu_of_a_driver_that_is_well_has_no_findings(gpu_course: GpuCourse) -> None:
    assert gpu_course.train(60) == []


def test_that_heat_that_a_driver_reports_is_found_with_its_cost(gpu_course: GpuCourse) -> None:
    assert gpu_course.train(20, clock_mhz=2_500) == []
    # "SW Thermal Slowdown" of nvml.h.
    assert gpu_course.train(40, clock_mhz=2_000, throttle_mask=0x20, temperature_c=87) == [
        "thermal_throttling"
    ]
    finding = gpu_course.reported[0]
    assert finding.cost_fraction == pytest.approx(0.2, abs=0.05)
    assert "at 87 °C" in finding.problem.message
    assert START_S + 20 <= finding.since_s <= START_S + 21
    # Once, for as long as it lasts.
    assert gpu_course.train(120, clock_mhz=2_000, throttle_mask=0x20) == []


def test_that_a_slow_link_that_a_driver_reports_is_found(gpu_course: GpuCourse) -> None:
    assert gpu_course.train(40, pcie_width=4) == ["slow_pcie_link"]
    message = gpu_course.reported[0].problem.message
    assert "4 lanes while it trains (card and slot can have 4 with 16)" in message


def test_that_another_process_that_a_driver_lists_is_found(gpu_course: GpuCourse) -> None:
    # A real process of this machine that is not the run's: whoever started the test.
    other = psutil.Process().parent()
    assert other is not None
    both = ((gpu_course.own_pid, 9_000), (other.pid, 8_000))

    assert gpu_course.train(40, compute=both) == ["other_process_on_gpu"]

    finding = gpu_course.reported[0]
    assert f"{other.name()} (process {other.pid})" in finding.problem.message
    assert "8,000 MiB of its memory" in finding.problem.message


def test_that_a_process_that_uses_a_gpu_little_is_no_finding(gpu_course: GpuCourse) -> None:
    other = psutil.Process().parent()
    assert other is not None
    both = ((gpu_course.own_pid, 9_000), (other.pid, 900))
    assert gpu_course.train(40, compute=both) == []


PROVOKED = {
    "thermal_throttling": {"clock_mhz": 2_000, "throttle_mask": 0x20},
    "slow_pcie_link": {"pcie_width": 4},
    "other_process_on_gpu": {},
}


@pytest.mark.slow
def test_that_what_a_driver_reports_is_found_in_twenty_of_twenty_trainings(
    nvml_in_process: Standin,
) -> None:
    other = psutil.Process().parent()
    assert other is not None
    for repetition in range(20):
        for code, answers in PROVOKED.items():
            course = GpuCourse(nvml_in_process)
            given = dict(answers)
            if code == "other_process_on_gpu":
                given["compute"] = ((course.own_pid, 9_000), (other.pid, 8_000))
            # As long as nothing holds it up, nothing is found; then that and nothing else.
            assert course.train(20 + repetition, clock_mhz=2_500, pcie_width=16) == []
            assert course.train(40, **given) == [code]
            course.sampler.close()


@pytest.mark.alone
def test_that_asking_costs_well_under_a_percent_of_a_core() -> None:
    course = Course(profile_of(batch=2), FINDING_RULES)
    course.watch.notice(TrainerStarted(time_s=START_S, pid=psutil.Process().pid))
    course.train(40, waiting=0.5)
    begun_s = time.thread_time()
    course.train(600, waiting=0.5)
    assert time.thread_time() - begun_s < 0.003 * 600


def test_that_what_trainers_report_of_their_memory_reaches_the_rules() -> None:
    seen: list[FindingContext] = []

    def rule(context: FindingContext) -> Iterator[Finding]:
        seen.append(context)
        yield from ()

    course = Course(profile_of(), (rule,))
    first, second = (
        AllocatedMemory(device_key="GPU-1", in_use_mib=number, peak_mib=2 * number)
        for number in (10, 20)
    )
    for process, memory in ((0, second), (0, first), (1, second)):
        event = MemoryReported(time_s=START_S, process=process, devices=(memory,))
        course.watch.notice(event)
    course.train(10)
    assert seen[-1].allocated == (first, second)
    # A process that is started again has nothing yet.
    course.watch.notice(RunRestarted(time_s=START_S, attempt=2))
    course.train(10)
    assert seen[-1].allocated == ()


def test_that_what_was_measured_of_the_training_is_recalled_once() -> None:
    asked: list[Profile] = []
    bench = Bench(measured_s=1.0)

    def recall(profile: Profile, _: object) -> Bench:
        asked.append(profile)
        return bench

    seen: list[FindingContext] = []

    def rule(context: FindingContext) -> Iterator[Finding]:
        seen.append(context)
        yield from ()

    course = Course(profile_of(), (rule,), recall=recall)
    course.train(10)
    assert (asked, seen[-1].bench) == ([], None)
    # The machine is known from the first sample on.
    sample = TelemetrySample(time_s=START_S, readings=())
    course.watch.take_sample(sample, CPU_ONLY)
    course.train(30)
    assert asked == [course.profile]
    assert seen[-1].bench is bench
