"""What planning decides about memory, held against what TensorFlow makes of it, without a GPU."""

import itertools
from collections.abc import Sequence
from typing import Any

import pytest

from gpupanel.domain.device import DeviceKind
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.strategy import StrategyKind
from gpupanel.planning.tensorflow_calls import tensorflow_calls
from tests.unit.trainer.gpu_cases import (
    GPUS,
    POLICIES,
    WANTED,
    Answers,
    Case,
    Cases,
    ask,
    case,
    prepared,
    started,
)

pytestmark = pytest.mark.tensorflow

EVERY_CHOICE = tuple(
    choice for count in (1, 2, 3) for choice in itertools.product(POLICIES, repeat=count)
)
PAIRS = tuple(itertools.product(POLICIES, repeat=2))
KINDS: dict[StrategyKind, tuple[tuple[str, ...], ...]] = {
    StrategyKind.MIRRORED: EVERY_CHOICE,
    **dict.fromkeys((kind for kind in StrategyKind if kind is not StrategyKind.MIRRORED), PAIRS),
}
DIFFERS = "ValueError: Memory growth cannot differ between GPU devices"
TOO_LATE = "ValueError: Cannot set memory growth on device when virtual devices configured"

NO_LIMIT = "ValueError: Setting memory limit is required for GPU virtual devices"


def processes_with_gpus(plan: LaunchPlan) -> list[int]:
    return [
        place
        for place, process in enumerate(plan.gang)
        if any(device.kind is DeviceKind.GPU for device in process.devices)
    ]


def written(*wanted: dict[str, Any]) -> Case:
    """Calls that a person would write for each GPU."""
    return {"gpus": len(wanted), "wanted": wanted}


def cases_of_plans() -> Cases:
    """Every combination that planning lets start."""
    cases: Cases = {}
    for kind, choices in KINDS.items():
        for choice in choices:
            made = prepared(choice, kind)
            if made.is_startable and made.plan is not None:
                for place in processes_with_gpus(made.plan):
                    cases[kind, choice, place] = case(made.plan, place)
    return cases


def cases_of_shown_calls() -> Cases:
    """The calls that the window shows for each plan of one process."""
    return {
        ("shown", choice): {"gpus": len(choice), "calls": tensorflow_calls(made.plan)}
        for choice in EVERY_CHOICE
        if (made := prepared(choice)).is_startable and made.plan is not None
    }


def cases_of_persons() -> Cases:
    """The same choices made by calls, as a person would write them who knows no better."""
    growing = {"growth": True, "limits": [4096]}
    return {
        **{choice: written(*(WANTED[name] for name in choice)) for choice in EVERY_CHOICE},
        "limit, then growth": written({**growing, "limits_first": True}),
        "no limit": written({"growth": False, "limits": [None, None]}),
    }


@pytest.fixture(scope="module")
def tensorflow(tmp_path_factory: pytest.TempPathFactory) -> Answers:
    """What it makes of every plan, and of what a person would write instead."""
    cases = {**cases_of_plans(), **cases_of_shown_calls(), **cases_of_persons()}
    return ask(cases, tmp_path_factory.mktemp("run"))


def taken(environment: dict[str, str], found: dict[str, Any], gpus: int) -> list[dict[str, Any]]:
    """What TensorFlow's C++ makes of the options and the environment, for each visible GPU.

    ``GPUBFCAllocator::GetAllowGrowthValue`` lets the environment overrule the options; a GPU whose
    entry of limits is empty is left whole; with ``cuda_malloc_async`` no limit would hold.
    """
    assert environment["TF_GPU_ALLOCATOR"] == ""
    forced = environment["TF_FORCE_GPU_ALLOW_GROWTH"]
    assert forced in ("true", "false")
    return [
        {"growth": forced == "true", "limits": limits} for limits in found["limits"] or [[]] * gpus
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_that_tensorflow_does_with_each_gpu_what_its_policy_says(
    tensorflow: Answers, kind: StrategyKind
) -> None:
    held = 0
    for key in cases_of_plans():
        if not isinstance(key, tuple) or key[0] is not kind:
            continue
        _, choice, place = key
        plan, found = started(choice, kind), tensorflow[key]
        process = plan.gang[place]
        assert "problem" not in found, (choice, found)
        assert found["visible"] == ",".join(str(index) for index in range(len(process.devices)))
        policies = dict(zip((gpu.key for gpu in GPUS), choice, strict=False))
        wanted = [WANTED[policies[device.key]] for device in process.devices]
        if kind is StrategyKind.PARAMETER_SERVER:
            # Such a worker has one replica: of a split GPU it takes the first part.
            wanted = [{**each, "limits": each["limits"][:1]} for each in wanted]
        environment = {**plan.environment, **process.environment}
        assert taken(environment, found, len(process.devices)) == wanted, (choice, found)
        # Where it can be said by a call, too, both say the same.
        calls_decide = kind is not StrategyKind.PARAMETER_SERVER and not found["limits"]
        assert not calls_decide or found["growth"] is wanted[0]["growth"], choice
        held += 1
    assert held >= len(POLICIES)


def growth_differs(choice: Sequence[str]) -> bool:
    return len({WANTED[name]["growth"] for name in choice}) > 1


@pytest.mark.parametrize("count", [1, 2, 3])
def test_that_planning_refuses_what_tensorflow_refuses_or_drops_without_a_word(
    tensorflow: Answers, count: int
) -> None:
    for choice in (each for each in EVERY_CHOICE if len(each) == count):
        found, made = tensorflow[choice], prepared(choice)
        assert made.is_startable is not growth_differs(choice), choice
        codes = {problem.code for problem in made.problems if problem.is_error}
        bounded = {"limit", "split"} & set(choice)
        if any(WANTED[name]["limits"] for name in choice):
            # Growth is dropped for every GPU, while each still says what was asked of it.
            assert found["growth"] is False, choice
            assert found["said"] == [WANTED[name]["growth"] for name in choice], choice
        elif growth_differs(choice):
            assert found == {"refused": DIFFERS}, choice
        else:
            assert found["growth"] is WANTED[choice[0]]["growth"], choice
        if growth_differs(choice):
            code = "memory_limit_cancels_growth" if bounded else "memory_growth_differs"
            assert codes == {code}, choice


def test_that_the_calls_that_are_shown_are_those_that_are_made(tensorflow: Answers) -> None:
    shown = [key for key in tensorflow if isinstance(key, tuple) and key[0] == "shown"]
    assert len(shown) > len(POLICIES)
    for _, choice in shown:
        made = tensorflow[StrategyKind.MIRRORED, choice, 0]
        assert tensorflow["shown", choice] == {
            name: value for name, value in made.items() if name != "answers"
        }, choice


def test_that_tensorflow_says_no_to_what_the_trainer_never_calls(tensorflow: Answers) -> None:
    assert tensorflow["limit, then growth"] == {"refused": TOO_LATE}
    assert tensorflow["no limit"] == {"refused": NO_LIMIT}
    growing_limit = started(("growing limit",))
    (device,) = growing_limit.devices
    assert (device.memory_growth, device.logical_limits_mib) == (False, (6144,))
