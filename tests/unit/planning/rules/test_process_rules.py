"""Processes and replicas that one machine cannot take, or only makes wait for each other."""

import pytest

from gpupanel.domain.device import DeviceInventory
from gpupanel.domain.problem import Problem, Severity
from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.domain.strategy import StrategyKind, StrategySettings
from gpupanel.domain.telemetry import DeviceReading, TelemetrySample
from gpupanel.domain.training import TrainingSettings
from gpupanel.planning.context import Known
from gpupanel.planning.fixes import apply_fix
from gpupanel.planning.prepare import prepare
from tests.fakes.devices import CPU, CPU_ONLY, RTX_4090

CODES = ("processes_above_memory", "processes_above_free_memory", "replicas_above_cores")
ON_THE_CPU = DeviceSettings(visible=("cpu",))


def found(
    profile: Profile,
    inventory: DeviceInventory = CPU_ONLY,
    sample: TelemetrySample | None = None,
) -> list[Problem]:
    return [
        each for each in prepare(profile, inventory, Known(sample)).problems if each.code in CODES
    ]


def gang(
    workers: int | None, kind: StrategyKind = StrategyKind.MULTI_WORKER, servers: int | None = None
) -> Profile:
    return Profile(
        devices=ON_THE_CPU,
        strategy=StrategySettings(kind=kind, workers=workers, parameter_servers=servers),
        training=TrainingSettings(global_batch_size=2_048),
    )


def free(size_mib: int) -> TelemetrySample:
    reading = DeviceReading(key="cpu", memory_free_mib=size_mib)
    return TelemetrySample(time_s=0.0, readings=(reading,))


def test_that_a_thousand_workers_are_refused_with_the_figures_and_as_many_as_fit() -> None:
    (problem,) = found(gang(1_024))

    assert problem.code == "processes_above_memory"
    assert problem.is_error
    assert problem.field == "strategy.workers"
    assert "1,024 processes take 220.0 GiB for TensorFlow alone" in problem.message
    assert "this machine has 24.0 GiB" in problem.message
    assert problem.fix is not None
    mended = prepare(apply_fix(gang(1_024), problem.fix), CPU_ONLY)
    assert mended.is_startable


@pytest.mark.parametrize(
    ("profile", "has_fix"),
    [
        (gang(900, StrategyKind.PARAMETER_SERVER), True),
        (gang(None, StrategyKind.PARAMETER_SERVER, servers=900), False),
        (gang(2, StrategyKind.PARAMETER_SERVER, servers=900), False),
    ],
)
def test_that_servers_count_too_and_fewer_workers_are_offered_where_that_helps(
    profile: Profile, has_fix: bool
) -> None:
    (problem,) = found(profile)
    assert problem.code == "processes_above_memory"
    assert (problem.fix is not None) is has_fix


def test_that_what_is_free_now_is_a_warning() -> None:
    (problem,) = found(gang(8), sample=free(2_000))
    assert problem.code == "processes_above_free_memory"
    assert problem.severity is Severity.WARNING
    assert found(gang(8), sample=free(20_000)) == []
    nothing_told = TelemetrySample(time_s=0.0, readings=(DeviceReading(key="cpu"),))
    assert found(gang(8), sample=nothing_told) == []


def test_that_more_workers_than_cores_can_serve_are_a_warning() -> None:
    assert found(gang(32)) == []
    (problem,) = found(gang(33))
    assert problem.code == "replicas_above_cores"
    assert problem.severity is Severity.WARNING
    assert "33 workers share the 8 logical processors" in problem.message


def test_that_logical_devices_of_the_cpu_share_its_cores_too() -> None:
    profile = Profile(
        devices=DeviceSettings(visible=("cpu",), cpu_replicas=33),
        strategy=StrategySettings(kind=StrategyKind.MIRRORED),
    )
    (problem,) = found(profile)
    assert problem.code == "replicas_above_cores"
    assert problem.field == "devices.cpu_replicas"
    assert "33 replicas" in problem.message


def test_that_a_machine_that_reports_nothing_of_itself_is_not_evaluated() -> None:
    silent = CPU.model_copy(update={"memory_total_mib": None, "core_count": None})
    assert found(gang(1_024), DeviceInventory(devices=(silent,))) == []
    on_a_gpu = Profile(devices=DeviceSettings(visible=("GPU-4090",)))
    assert found(on_a_gpu, DeviceInventory(devices=(RTX_4090,))) == []
