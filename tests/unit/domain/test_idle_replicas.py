"""Replicas without a share are left out of a plan where that is the same mathematics."""

from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.domain.strategy import StrategyKind, StrategySettings
from gpupanel.planning.prepare import prepare
from tests.fakes.devices import CPU_ONLY


def planned(kind: StrategyKind) -> LaunchPlan:
    profile = Profile(
        devices=DeviceSettings(visible=("cpu",), cpu_replicas=3),
        strategy=StrategySettings(kind=kind, shares=(0, 64, 0), workers=3),
    )
    plan = prepare(profile, CPU_ONLY).plan
    assert plan is not None
    return plan


def test_that_one_process_works_with_the_replicas_that_have_a_share() -> None:
    working = planned(StrategyKind.MIRRORED).without_idle_replicas()
    assert [replica.logical_device for replica in working.replicas] == ["/device:CPU:1"]
    assert working.shares == (64,)


def test_that_every_process_takes_part_in_sums() -> None:
    plan = planned(StrategyKind.MULTI_WORKER)
    assert plan.without_idle_replicas() == plan
    assert plan.shares == (0, 64, 0)
