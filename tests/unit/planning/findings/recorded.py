"""Windows of trainings: recorded ones, and what devices and host reported meanwhile.

Beside this file, ``windows`` holds lines of ``events.jsonl`` of real runs on two processors.
"""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from gpupanel.domain.data import PythonData
from gpupanel.domain.device import CPU_KEY, DeviceInventory
from gpupanel.domain.events import DataReady, TimeReported, decode_event
from gpupanel.domain.finding import Finding
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.domain.strategy import StrategyKind, StrategySettings
from gpupanel.domain.telemetry import DeviceProcess, DeviceReading, TelemetrySample
from gpupanel.domain.time_spent import ReplicaTime, TimeSpent
from gpupanel.domain.training import TrainingSettings
from gpupanel.planning.findings.context import FindingContext, TimedReport
from gpupanel.planning.findings.registry import FINDING_RULES
from gpupanel.planning.fixes import apply_fix
from gpupanel.planning.prepare import prepare
from tests.fakes.devices import CPU_ONLY, RTX_4090, TWO_UNEQUAL

WINDOWS = Path(__file__).with_name("windows")
START_S = 1_795_000_000.0
OWN_PID = 4_242
"""Of the trainer."""


def recorded(name: str, profile: Profile) -> FindingContext:
    """A window of a real run on the CPU, by the name of its file."""
    lines = (WINDOWS / f"{name}.jsonl").read_bytes().splitlines()
    reports, data = [], None
    for event in map(decode_event, lines):
        if isinstance(event, DataReady):
            data = event
        elif isinstance(event, TimeReported):
            reports.append(
                TimedReport(time_s=event.time_s, step=event.step, epoch=1, spent=event.spent)
            )
    assert data is not None
    return context_of(profile, CPU_ONLY, reports=tuple(reports), data=data)


def profile_of(
    kind: StrategyKind = StrategyKind.ONE_DEVICE,
    batch: int = 256,
    visible: tuple[str, ...] = (CPU_KEY,),
    replicas: int = 1,
) -> Profile:
    """What the recorded runs trained, and the same on GPUs."""
    return Profile(
        devices=DeviceSettings(visible=visible, cpu_replicas=replicas),
        strategy=StrategySettings(kind=kind),
        data=PythonData(path="/data.py"),
        training=TrainingSettings(global_batch_size=batch, epochs=200),
    )


def context_of(profile: Profile, machine: DeviceInventory, **facts: object) -> FindingContext:
    """What is known of a run of that profile on that machine."""
    plan = plan_of(profile, machine)
    context = FindingContext(profile, plan, inventory=machine, shares=plan.shares, first_epoch=1)
    return replace(context, **facts)  # type: ignore[arg-type]


def plan_of(profile: Profile, inventory: DeviceInventory) -> LaunchPlan:
    plan = prepare(profile, inventory).plan
    assert plan is not None
    return plan


def spent(seconds: float = 1.0, *replicas: ReplicaTime, host_s: float = 0.0) -> TimeSpent:
    """Where a stretch went; computing all of it, where nothing else is said."""
    each = replicas or (ReplicaTime(computing_s=seconds - host_s),)
    return TimeSpent(seconds=seconds, host_s=host_s, replicas=each)


def reports_of(
    spent_of: Callable[[int], TimeSpent], count: int = 30, steps: int = 100
) -> tuple[TimedReport, ...]:
    """One report a second, so many."""
    return tuple(
        TimedReport(
            time_s=START_S + second + 1, step=steps * (second + 1), epoch=2, spent=spent_of(second)
        )
        for second in range(count)
    )


def on_gpu(
    readings: Callable[[int], DeviceReading], count: int = 60, **facts: object
) -> FindingContext:
    """A training on the RTX 4090 that computes all of the time.

    Args:
        readings: Of the GPU, of each sample: two a second.
        count: Of samples.
        facts: Other ones.
    """
    profile = profile_of(visible=(RTX_4090.key,))
    samples = tuple(
        TelemetrySample(time_s=START_S + number / 2, readings=(readings(number),))
        for number in range(count)
    )
    given = {
        "reports": reports_of(lambda _: spent()),
        "samples": samples,
        "own_pids": frozenset({OWN_PID}),
        **facts,
    }
    return context_of(profile, TWO_UNEQUAL, **given)


def reading(**values: object) -> DeviceReading:
    """Of the RTX 4090 at work, with the trainer on it."""
    given = {
        "key": RTX_4090.key,
        "memory_total_mib": 24_564,
        "gpu_utilization_percent": 97.0,
        "clock_mhz": 2_500,
        "throttle_reasons": (),
        "pcie_generation": 4,
        "pcie_width": 16,
        "processes": (DeviceProcess(pid=OWN_PID, name="python", memory_used_mib=9_000),),
        **values,
    }
    return DeviceReading.model_validate(given)


def found_in(context: FindingContext) -> dict[str, Finding]:
    """What all rules find, by code; each fix leads to a run that can start."""
    findings = [finding for rule in FINDING_RULES for finding in rule(context)]
    assert context.inventory is not None
    for finding in findings:
        problem = finding.problem
        for fix in (problem.fix, *problem.alternatives):
            if fix is not None:
                changed = apply_fix(context.profile, fix)
                assert changed != context.profile
                assert prepare(changed, context.inventory).is_startable
    return {finding.problem.code: finding for finding in findings}
