"""Other users of the machine, where a run's processes open ports to each other."""

import pytest

from gpupanel.domain.device import DeviceInventory
from gpupanel.domain.memory import AllMemory, GrowingMemory
from gpupanel.domain.network_access import NetworkAccess
from gpupanel.domain.problem import Problem, Severity
from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.domain.strategy import GANG_KINDS, StrategyKind, StrategySettings
from gpupanel.planning.fixes import apply_fix
from gpupanel.planning.prepare import prepare
from tests.fakes.devices import CPU_ONLY, TWO_UNEQUAL

REFUSED = NetworkAccess(
    other_users=("ann", "bob"),
    refusal="Operation not permitted",
    allowing_command="sudo sysctl -w kernel.unprivileged_userns_clone=1",
)


def with_kind(kind: StrategyKind, workers: int | None = 2) -> Profile:
    return Profile(strategy=StrategySettings(kind=kind, workers=workers))


def reported(
    profile: Profile, network: NetworkAccess | None, inventory: DeviceInventory = CPU_ONLY
) -> list[Problem]:
    preparation = prepare(profile, inventory.model_copy(update={"network": network}))
    return [each for each in preparation.problems if each.code == "port_open_to_other_users"]


@pytest.mark.parametrize("kind", GANG_KINDS)
@pytest.mark.parametrize("inventory", [CPU_ONLY, TWO_UNEQUAL], ids=["CPU", "GPUs"])
def test_that_open_ports_are_reported_with_who_could_use_them(
    kind: StrategyKind, inventory: DeviceInventory
) -> None:
    (problem,) = reported(with_kind(kind), REFUSED, inventory)
    assert problem.severity is Severity.WARNING
    assert problem.field == "strategy.kind"
    assert "ann and bob can log in" in problem.message
    assert "(Operation not permitted)" in problem.message
    assert problem.command == REFUSED.allowing_command
    assert problem.fix is not None
    mended = apply_fix(with_kind(kind), problem.fix)
    assert mended.strategy.kind is StrategyKind.MIRRORED
    preparation = prepare(mended, inventory.model_copy(update={"network": REFUSED}))
    assert preparation.problems == ()
    assert preparation.plan is not None
    assert len(preparation.plan.replicas) == 2
    assert len(preparation.plan.gang) == 1


@pytest.mark.parametrize(
    ("kind", "network"),
    [
        (StrategyKind.MIRRORED, REFUSED),
        (StrategyKind.MULTI_WORKER, None),
        (StrategyKind.MULTI_WORKER, NetworkAccess(other_users=("ann",))),
        (StrategyKind.MULTI_WORKER, NetworkAccess(refusal="Operation not permitted")),
    ],
    ids=["one process", "nobody asked", "a network of its own", "one person's machine"],
)
def test_that_nothing_is_reported_where_nobody_else_can_connect(
    kind: StrategyKind, network: NetworkAccess | None
) -> None:
    assert reported(with_kind(kind, None), network) == []


@pytest.mark.parametrize(
    ("users", "words"),
    [
        (("ann",), "and ann can log in"),
        (("ann", "bob", "cem"), "and ann, bob and cem can log in"),
        (("ann", "bob", "cem", "dan"), "and ann, bob and 2 more can log in"),
    ],
)
def test_that_of_many_users_a_few_are_named(users: tuple[str, ...], words: str) -> None:
    network = REFUSED.model_copy(update={"other_users": users})
    (problem,) = reported(with_kind(StrategyKind.MULTI_WORKER), network)
    assert words in problem.message


def test_that_mirrored_is_not_offered_where_one_process_cannot_have_the_gpus_so() -> None:
    profile = Profile(
        devices=DeviceSettings(visible=("GPU-4090", "GPU-3060")),
        memory={"GPU-4090": GrowingMemory(), "GPU-3060": AllMemory()},
        strategy=StrategySettings(kind=StrategyKind.MULTI_WORKER),
    )
    (problem,) = reported(profile, REFUSED, TWO_UNEQUAL)
    assert problem.fix is None
