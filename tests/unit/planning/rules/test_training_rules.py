"""Determinism: every process is asked for it, and what takes its effect is said."""

import pytest

from gpupanel.domain.device import DeviceInventory
from gpupanel.domain.problem import Problem
from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.domain.strategy import StrategyKind, StrategySettings
from gpupanel.domain.training import TrainingSettings
from gpupanel.planning.fixes import apply_fix
from gpupanel.planning.prepare import prepare
from gpupanel.planning.script.stand_alone import stand_alone_script
from tests.fakes.devices import CPU_ONLY, TWO_UNEQUAL

ASKED = {"TF_DETERMINISTIC_OPS": "1"}


def of(kind: StrategyKind, *, deterministic: bool = True, **strategy: object) -> Profile:
    return Profile(
        devices=DeviceSettings(cpu_replicas=2),
        strategy=StrategySettings.model_validate({"kind": kind, **strategy}),
        training=TrainingSettings(deterministic=deterministic),
    )


def found(profile: Profile) -> list[Problem]:
    problems = prepare(profile, CPU_ONLY).problems
    return [each for each in problems if each.code.startswith("deterministic")]


@pytest.mark.parametrize("kind", StrategyKind)
@pytest.mark.parametrize("inventory", [TWO_UNEQUAL, CPU_ONLY], ids=["GPUs", "CPU"])
def test_that_every_process_and_the_script_are_asked_to_be_deterministic(
    kind: StrategyKind, inventory: DeviceInventory
) -> None:
    for deterministic in (True, False):
        profile = of(kind, deterministic=deterministic)
        plan = prepare(profile, inventory).plan
        assert plan is not None
        for process in plan.gang:
            together = {**plan.environment, **process.environment}
            assert (together.items() >= ASKED.items()) is deterministic
        script = stand_alone_script(profile, plan)
        said = script.find('os.environ["TF_DETERMINISTIC_OPS"] = "1"')
        # TensorFlow reads it once.
        assert (0 <= said < script.index("import tensorflow")) is deterministic


def test_that_measured_shares_take_its_effect_and_equal_ones_are_the_fix() -> None:
    profile = of(StrategyKind.MIRRORED, shares="balanced")
    (problem,) = found(profile)
    assert problem.code == "deterministic_with_measured_shares"
    assert problem.fix is not None
    for fix in (problem.fix, *problem.alternatives):
        assert found(apply_fix(profile, fix)) == []
    assert found(of(StrategyKind.MIRRORED, shares="equal")) == []
    assert found(of(StrategyKind.MIRRORED, shares="balanced", deterministic=False)) == []


def test_that_workers_that_take_turns_take_its_effect() -> None:
    profile = of(StrategyKind.PARAMETER_SERVER)
    (problem,) = found(profile)
    assert problem.code == "deterministic_with_workers_by_turns"
    assert problem.fix is not None
    assert found(apply_fix(profile, problem.fix)) == []
