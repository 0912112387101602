"""Why a trace holds nothing of a run's GPUs, and what to do about it."""

import pytest

from gpupanel.domain.device import DeviceInventory
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.problem import Severity
from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.domain.strategy import StrategyKind, StrategySettings
from gpupanel.domain.trace import TracedDevice, TraceRecord
from gpupanel.planning.prepare import prepare
from gpupanel.runs.tools.tracing.untraced_gpus import gpus_not_traced
from tests.fakes.devices import CPU_ONLY, TWO_UNEQUAL

NO_RIGHT = "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES"


def plan(
    kind: StrategyKind = StrategyKind.MIRRORED, inventory: DeviceInventory = TWO_UNEQUAL
) -> LaunchPlan:
    devices = DeviceSettings(cpu_replicas=2 if inventory is CPU_ONLY else 1)
    profile = Profile(devices=devices, strategy=StrategySettings(kind=kind))
    planned = prepare(profile, inventory).plan
    assert planned is not None
    return planned


def record(**parts: object) -> TraceRecord:
    return TraceRecord.model_validate({"time_s": 1.8e9, "seconds": 0.5, **parts})


def traced(*names: str) -> tuple[TracedDevice, ...]:
    return tuple(
        TracedDevice(name=name, seconds=1.0, operation_count=0, operations=()) for name in names
    )


HOST = traced("/host:CPU", "/host:CPU")


@pytest.mark.parametrize(
    ("parts", "why", "command"),
    [
        (
            {"missing_cupti": "libcupti.so.12", "cupti_error": "CUPTI_ERROR_UNKNOWN"},
            "TensorFlow does not find libcupti.so.12, NVIDIA's library for it",
            "[and-cuda]==",
        ),
        (
            {"cupti_error": NO_RIGHT},
            "this user has no right to profile them",
            "NVreg_RestrictProfilingToAdminUsers=0",
        ),
        (
            {"cupti_error": "CUPTI_ERROR_NOT_INITIALIZED"},
            "this user has no right to profile them",
            "NVreg_RestrictProfilingToAdminUsers=0",
        ),
        (
            {"cupti_error": "CUPTI_ERROR_OUT_OF_MEMORY"},
            "CUPTI, NVIDIA's library for it, failed (CUPTI_ERROR_OUT_OF_MEMORY)",
            "",
        ),
        ({}, "the profiler saw no work of theirs", ""),
    ],
)
def test_that_the_reason_is_said_with_what_helps(
    parts: dict[str, object], why: str, command: str
) -> None:
    problem = gpus_not_traced(plan(), record(**parts), HOST)
    assert problem is not None
    assert (problem.code, problem.severity) == ("gpus_not_traced", Severity.WARNING)
    assert problem.message == (
        f"The GPUs were not traced: {why}. What is listed is the work of the host."
    )
    assert command in problem.command
    assert bool(problem.command) is bool(command)
    assert problem.hint


def test_that_the_one_gpu_of_a_worker_is_one() -> None:
    problem = gpus_not_traced(plan(StrategyKind.MULTI_WORKER), record(process=1), HOST[:1])
    assert problem is not None
    assert problem.message.startswith("The GPU was not traced: ")


def test_that_nothing_is_said_where_gpus_were_traced_or_none_is_used_or_known() -> None:
    failed = record(missing_cupti="libcupti.so.12", cupti_error=NO_RIGHT)
    assert gpus_not_traced(plan(), failed, traced("/device:GPU:0", "/host:CPU")) is None
    assert gpus_not_traced(plan(inventory=CPU_ONLY), failed, HOST) is None
    assert gpus_not_traced(None, failed, HOST) is None
    assert gpus_not_traced(plan(), failed.model_copy(update={"process": 7}), HOST) is None


@pytest.mark.parametrize("error", ["CUPTI_ERROR_\x1b[2J", "no rights", "CUPTI_ERROR_" + "A" * 65])
def test_that_a_strangers_record_says_nothing_else(error: str) -> None:
    for name in ("cupti_error", "missing_cupti"):
        with pytest.raises(ValueError, match=name):
            record(**{name: error})
