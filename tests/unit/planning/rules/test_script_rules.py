"""What a program of a person's own can be given, and what is refused by name."""

import pytest

from gpupanel.domain.cluster import ClusterSettings
from gpupanel.domain.memory import LimitedMemory
from gpupanel.domain.problem import ProblemError
from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.domain.script import ScriptSettings
from gpupanel.domain.strategy import StrategyKind, StrategySettings
from gpupanel.domain.sweep import SweepSettings
from gpupanel.planning.fixes import apply_fix
from gpupanel.planning.prepare import prepare
from gpupanel.planning.script.stand_alone import stand_alone_script
from gpupanel.planning.sweep_trials import trial_profile, trials_of
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


def test_that_a_cluster_is_refused_with_what_to_do() -> None:
    profile = program(cluster=ClusterSettings())
    (problem,) = (each for each in prepare(profile, TWO_UNEQUAL).problems if each.is_error)
    assert problem.fix is not None
    assert problem.code == "script_strategy"
    assert problem.code not in codes(apply_fix(profile, problem.fix))


def swept(**changes: object) -> Profile:
    script = ScriptSettings(path="/work/train.py", arguments=("--lr={lr}", "--size", "{n}"))
    sweep = SweepSettings.model_validate({"values": {"lr": (0.1, 0.2)}, **changes})
    return Profile(task="script", script=script, sweep=sweep)


def test_that_arguments_are_swept_by_their_names_in_braces() -> None:
    profile = swept(
        method="grid", values={"lr": (0.1, "auto"), "n": {"low": 2, "high": 3, "steps": 2}}
    )
    assert codes(profile) == []
    trials = [trial_profile(profile, 1, values) for values in trials_of(profile)]
    filled = [each.script.filled_arguments for each in trials if each.script]
    assert filled == [
        ("--lr=0.1", "--size", "2"),
        ("--lr=0.1", "--size", "3"),
        ("--lr=auto", "--size", "2"),
        ("--lr=auto", "--size", "3"),
    ]
    assert trials[0].name == "untitled 1: lr 0.1, n 2"
    assert trials[0].sweep is None
    floats = swept(values={"lr": {"low": 1e-4, "high": 1.0, "log": True}}, trials=3)
    assert all(0.0 < values["lr"] <= 1.0 for values in trials_of(floats))


@pytest.mark.parametrize(
    ("changes", "code", "field"),
    [
        ({"values": {"rate": (0.1,)}}, "sweep_key_unknown", "sweep.values.rate"),
        ({"values": {"lr": ((1, 2),)}}, "sweep_values_invalid", "sweep.values.lr"),
        ({"seeds": 3}, "script_sweep", "sweep.seeds"),
        ({"folds": 3}, "script_sweep", "sweep.folds"),
        ({"stopping_rule": "successive_halving"}, "script_sweep", "sweep.stopping_rule"),
    ],
)
def test_that_what_a_program_cannot_be_swept_by_is_refused(
    changes: dict[str, object], code: str, field: str
) -> None:
    profile = swept(**changes)
    problems = [(each.code, each.field) for each in prepare(profile, TWO_UNEQUAL).problems]
    assert problems == [(code, field)]


def test_that_uneven_shares_are_refused_for_fit() -> None:
    strategy = StrategySettings(kind=StrategyKind.MIRRORED, shares=(48, 16))
    assert codes(program(strategy=strategy)) == ["script_shares"]


def test_that_it_is_no_script_to_be_exported() -> None:
    plan = prepare(program(), CPU_ONLY).plan
    assert plan is not None
    with pytest.raises(ProblemError) as refused:
        stand_alone_script(program(), plan)
    assert [each.code for each in refused.value.problems] == ["own_program"]


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
