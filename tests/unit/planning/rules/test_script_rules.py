"""What a program of a person's own can be given, and what is refused by name."""

import pytest

from gpupanel.domain.cluster import ClusterSettings
from gpupanel.domain.memory import LimitedMemory
from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.domain.script import ScriptSettings
from gpupanel.domain.strategy import StrategyKind, StrategySettings
from gpupanel.domain.sweep import SweepSettings
from gpupanel.planning.fixes import apply_fix
from gpupanel.planning.prepare import prepare
from tests.fakes.devices import CPU_ONLY, RTX_3060, RTX_4090, TWO_UNEQUAL


def program(path: str = "/work/train.py", **changes: object) -> Profile:
    base = Profile(task="script", script=ScriptSettings(path=path))
    return base.model_copy(update=changes)


def codes(profile: Profile) -> list[str]:
    return [each.code for each in prepare(profile, TWO_UNEQUAL).problems]


def test_that_a_program_sees_every_chosen_device_in_its_order() -> None:
    keys = (RTX_3060.key, RTX_4090.key)
    preparation = prepare(program(devices=DeviceSettings(visible=keys)), TWO_UNEQUAL)
    assert preparation.problems == ()
    assert preparation.plan is not None
    assert preparation.plan.environment["CUDA_VISIBLE_DEVICES"] == ",".join(keys)
    assert [device.key for device in preparation.plan.devices] == [*keys]
    assert preparation.memory == ()
    assert preparation.is_startable


def test_that_nothing_is_said_of_data_and_models_that_it_does_not_have() -> None:
    assert prepare(program(), CPU_ONLY).problems == ()


@pytest.mark.parametrize("kind", [kind for kind in StrategyKind if kind not in ("one_device",)])
def test_that_strategies_of_gpupanels_own_loop_are_refused(kind: StrategyKind) -> None:
    profile = program(strategy=StrategySettings(kind=kind))
    if kind is StrategyKind.MIRRORED:
        assert codes(profile) == []
        assert codes(program("/work/train.sh", strategy=profile.strategy)) == ["script_strategy"]
        return
    (problem,) = [each for each in prepare(profile, TWO_UNEQUAL).problems if each.is_error]
    assert problem.code == "script_strategy"
    assert problem.fix is not None
    assert "script_strategy" not in codes(apply_fix(profile, problem.fix))


def test_that_a_cluster_and_a_sweep_are_refused_with_what_to_do() -> None:
    for profile in (
        program(cluster=ClusterSettings()),
        program(sweep=SweepSettings(values={"training.learning_rate": (0.1, 0.2)})),
    ):
        (problem,) = (each for each in prepare(profile, TWO_UNEQUAL).problems if each.is_error)
        assert problem.fix is not None
        assert problem.code in ("script_strategy", "script_sweep")
        assert problem.code not in codes(apply_fix(profile, problem.fix))


def test_that_uneven_shares_are_refused_for_fit() -> None:
    strategy = StrategySettings(kind=StrategyKind.MIRRORED, shares=(48, 16))
    assert codes(program(strategy=strategy)) == ["script_shares"]


def test_that_it_is_said_whom_a_limit_does_not_reach() -> None:
    memory = {RTX_4090.key: LimitedMemory(policy="limit", limit_mib=4096, growth=True)}
    hint, warning = (
        prepare(program(path, memory=memory), TWO_UNEQUAL).problems[0]
        for path in ("/work/train.py", "/work/train.sh")
    )
    assert (hint.code, hint.severity) == ("script_memory_limit", "hint")
    assert (warning.code, warning.severity) == ("script_memory_limit", "warning")


def test_that_without_a_program_that_alone_is_said() -> None:
    mirrored = StrategySettings(kind=StrategyKind.MIRRORED)
    limited = {"default": LimitedMemory(limit_mib=4096)}
    (problem,) = prepare(program("", strategy=mirrored, memory=limited), TWO_UNEQUAL).problems
    assert (problem.code, problem.field) == ("script_missing", "script.path")
    assert problem.is_error
