"""A run whose GPU is lost: on the others, and on the CPU where none is left."""

import pytest

from gpupanel.domain.device import DeviceInventory
from gpupanel.domain.gpu_support import GpuSupport
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.domain.strategy import StrategyKind, StrategySettings
from gpupanel.domain.telemetry import DeviceReading, DeviceState, TelemetrySample
from gpupanel.domain.tensorflow_facts import TensorFlowBuild
from gpupanel.planning.context import Known
from gpupanel.planning.fewer_gpus import on_other_gpus, resumed_without
from gpupanel.planning.fixes import apply_fix
from gpupanel.planning.prepare import prepare
from gpupanel.planning.resuming import resume_differences
from tests.fakes.devices import CPU, RTX_3060, RTX_4090, TWO_UNEQUAL

BOTH = (RTX_4090.key, RTX_3060.key)
LOST = TelemetrySample(
    time_s=1.0,
    readings=(
        DeviceReading(key=RTX_4090.key),
        DeviceReading(key=RTX_3060.key, state=DeviceState.LOST),
    ),
)


def mirrored(*visible: str, **strategy: object) -> Profile:
    return Profile(
        devices=DeviceSettings(visible=visible),
        strategy=StrategySettings.model_validate({"kind": StrategyKind.MIRRORED, **strategy}),
    )


@pytest.mark.parametrize(
    "profile",
    [
        mirrored(*BOTH),
        mirrored(),
        mirrored(*BOTH, shares=(48, 16)),
        mirrored(*BOTH, kind=StrategyKind.MULTI_WORKER, workers=2),
        mirrored(*BOTH, kind=StrategyKind.PARAMETER_SERVER),
    ],
)
def test_that_the_run_can_continue_on_the_gpu_that_is_left(profile: Profile) -> None:
    first, second = resumed_without(profile, TWO_UNEQUAL, frozenset({RTX_3060.key}), LOST)
    assert first.label == "Resume on RTX 4090"
    resumed = prepare(apply_fix(profile, first), TWO_UNEQUAL, Known(LOST))
    assert resumed.is_startable, resumed.problems
    assert resumed.plan is not None
    assert [device.key for device in resumed.plan.devices] == [RTX_4090.key]
    assert second.label == "Train on the CPU"
    for fix in (first, second):
        assert resume_differences(profile, apply_fix(profile, fix)) is None


def test_that_the_cpu_is_left_where_no_gpu_is() -> None:
    only = DeviceInventory(devices=(RTX_3060, CPU))
    profile = mirrored(RTX_3060.key)
    lost = frozenset({RTX_3060.key})
    assert on_other_gpus(profile, only, lost, LOST) is None
    (fix,) = resumed_without(profile, only, lost, LOST)
    assert apply_fix(profile, fix).devices.visible == (CPU.key,)


def test_that_nothing_is_offered_that_could_not_start() -> None:
    # A GPU is all that the machine has.
    bare = DeviceInventory(devices=(RTX_3060,))
    lost = frozenset({RTX_3060.key})
    assert resumed_without(mirrored(RTX_3060.key), bare, lost, LOST) == ()


def plan_with(build: TensorFlowBuild | None) -> LaunchPlan:
    plan = prepare(mirrored(*BOTH), TWO_UNEQUAL, Known(support=GpuSupport(build=build))).plan
    assert plan is not None
    return plan


def test_that_the_plan_knows_the_gpus_that_kernels_are_compiled_for() -> None:
    build = TensorFlowBuild(
        version="2.21.0", is_cuda_build=True, compute_capabilities=("sm_86", "compute_90")
    )
    # Code for 8.6 runs on 8.9, too.
    assert plan_with(build).compiles_for == ()
    newer = build.model_copy(update={"compute_capabilities": ("sm_89", "compute_80")})
    assert plan_with(newer).compiles_for == (RTX_3060.key,)
    assert plan_with(None).compiles_for == ()
