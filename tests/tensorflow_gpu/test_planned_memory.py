"""What TensorFlow gives of each card under the memory policies that planning lets start.

And what it makes of calls that a person would write instead, which planning refuses.
"""

import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.strategy import StrategyKind
from gpupanel.planning.tensorflow_calls import tensorflow_calls
from tests.tensorflow_gpu.fixtures import CardsOfThisProcess
from tests.tensorflow_gpu.planned_cards import (
    BUSES,
    CARDS,
    FIRST_MIB,
    KEYS,
    LIMITS,
    POLICIES,
    called,
    configured,
    grows,
    prepared,
    profile_of,
    started,
)

pytestmark = pytest.mark.tensorflow

Choice = tuple[str, ...]

TOGETHER: tuple[Choice, ...] = (
    ("all", "limit", "split"),
    ("growing split", "growth", "growing limit"),
)
PAIRS: tuple[Choice, ...] = tuple(itertools.product(POLICIES, repeat=2))
OTHERS = tuple(
    choice
    for choice in (*itertools.product(POLICIES), *PAIRS, *itertools.product(POLICIES, repeat=3))
    if len(set(map(grows, choice))) == 1 and choice not in TOGETHER
)
"""What else can be combined in one process."""


@pytest.fixture
def cards(cards_in_process: CardsOfThisProcess) -> CardsOfThisProcess:
    cards_in_process.tell(CARDS)
    return cards_in_process


def held_mib(name: str, limits: Sequence[int]) -> int:
    """Of a card under that policy, after something was asked of each of its logical devices."""
    # The driver gives pages of 2 MiB.
    return FIRST_MIB * len(limits) if grows(name) else sum(each + each % 2 for each in limits)


def made_of(choice: Choice) -> list[list[Any]]:
    """Name, limit in MiB and place of every logical device."""
    owners = [
        (bus, limit) for name, bus in zip(choice, BUSES, strict=False) for limit in LIMITS[name]
    ]
    return [[f"/device:GPU:{index}", limit, bus] for index, (bus, limit) in enumerate(owners)]


def assert_given(cards: CardsOfThisProcess, choice: Choice, folder: Path) -> None:
    """By the trainer, and by the calls that the window shows."""
    plan = started(profile_of(choice))
    held = {key: held_mib(name, LIMITS[name]) for name, key in zip(choice, KEYS, strict=False)}
    found = configured(cards, plan, folder)
    assert found["held"] == held, choice
    assert found["made"] == made_of(choice), choice
    answers = [each for each in found["answers"] if each["device_key"] != "cpu"]
    owners = [key for name, key in zip(choice, KEYS, strict=False) for _ in LIMITS[name]]
    assert [each["device_key"] for each in answers] == owners, choice
    assert all(each["is_as_planned"] for each in answers), choice
    shown = called(cards, tensorflow_calls(plan).partition("strategy = ")[0], folder)
    assert (shown["held"], shown["made"]) == (held, found["made"]), choice


def test_that_each_card_gives_what_its_policy_says_beside_others(
    cards: CardsOfThisProcess, tmp_path: Path
) -> None:
    for choice in TOGETHER:
        assert_given(cards, choice, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("first", POLICIES)
def test_that_each_card_gives_what_its_policy_says_in_every_combination(
    cards: CardsOfThisProcess, tmp_path: Path, first: str
) -> None:
    for choice in (each for each in OTHERS if each[0] == first):
        assert_given(cards, choice, tmp_path)


def configurations(plan: LaunchPlan) -> list[tuple[dict[str, str], list[tuple[object, ...]]]]:
    """Variables and settings of each process that has GPUs."""
    return [
        (
            {**plan.environment, **process.environment},
            [(each.memory_growth, each.logical_limits_mib) for each in process.devices],
        )
        for process in plan.gang
        if process.logical_gpus
    ]


def test_that_processes_of_other_strategies_are_configured_alike(
    cards: CardsOfThisProcess,
) -> None:
    """So what is seen of one process of mirrored replicas holds for each of these."""
    for choice in TOGETHER:
        mirrored = configurations(started(profile_of(choice)))
        for kind in (StrategyKind.CENTRAL_STORAGE, StrategyKind.MODEL_PARALLEL):
            assert configurations(started(profile_of(choice, kind))) == mirrored, kind
        first = configurations(started(profile_of(choice[:1])))
        assert configurations(started(profile_of(choice, StrategyKind.ONE_DEVICE))) == first
    # Workers have equally many logical devices.
    for choice in (("growth", "limit", "all"), ("growing limit",) * 2, ("split", "growing split")):
        workers = configurations(started(profile_of(choice, StrategyKind.MULTI_WORKER)))
        for found, name, key in zip(workers, choice, KEYS[: len(choice)], strict=True):
            ((environment, devices),) = configurations(started(profile_of((name,))))
            assert found == ({**environment, "CUDA_VISIBLE_DEVICES": key}, devices), choice


def test_that_a_worker_that_serves_is_given_what_its_policy_says(
    cards: CardsOfThisProcess, tmp_path: Path
) -> None:
    """Growing beside fixed: each has a process of its own."""
    for choice in (("growing limit", "growing split", "limit"), ("all", "growth", "split")):
        plan = started(profile_of(choice, StrategyKind.PARAMETER_SERVER))
        first, *_, last = plan.gang
        assert not first.logical_gpus
        assert not last.logical_gpus
        for worker, (name, key, bus) in enumerate(zip(choice, KEYS, BUSES, strict=True)):
            # Such a worker has one replica: of a split GPU it takes the first part.
            limits = LIMITS[name][:1]
            made = [["/device:GPU:0", limits[0], bus]]
            found = configured(cards, plan, tmp_path, worker + 1, way="server")
            assert found["made"] == made, name
            assert found["held"] == {key: held_mib(name, limits)}, name
            (gpu, _) = found["answers"]
            assert (gpu["device_key"], gpu["memory_taken_mib"]) == (key, limits[0]), name
            if name not in ("growing limit", "split"):
                continue
            text = tensorflow_calls(plan).partition("resolver = ")[0]
            shown = called(cards, text.replace("PROCESS = 0", f"PROCESS = {worker + 1}"), tmp_path)
            assert (shown["held"], shown["made"]) == (found["held"], made), name


def written(*choice: str, limits_first: bool = False) -> str:
    """Calls by which a person would give each card what its policy says."""
    lines = ["import tensorflow as tf", 'gpus = tf.config.list_physical_devices("GPU")']
    visible = ", ".join(f"gpus[{place}]" for place in range(len(choice)))
    lines.append(f'tf.config.set_visible_devices([{visible}], "GPU")')
    for place, name in enumerate(choice):
        calls = []
        if grows(name):
            calls.append(f"tf.config.experimental.set_memory_growth(gpus[{place}], True)")
        if name not in ("all", "growth"):
            limits = ", ".join(
                f"tf.config.LogicalDeviceConfiguration({limit})" for limit in LIMITS[name]
            )
            calls.append(f"tf.config.set_logical_device_configuration(gpus[{place}], [{limits}])")
        lines += reversed(calls) if limits_first else calls
    return "\n".join(lines)


DIFFERS = "ValueError: Memory growth cannot differ between GPU devices"
TOO_LATE = "ValueError: Cannot set memory growth on device when virtual devices configured"
NO_LIMIT = "ValueError: Setting memory limit is required for GPU virtual devices"


def assert_refused_or_dropped(cards: CardsOfThisProcess, choice: Choice, folder: Path) -> None:
    """What planning does not let start is what TensorFlow does otherwise than it is asked."""
    made = prepared(profile_of(choice))
    found = called(cards, written(*choice), folder)
    limited = [name for name in choice if name not in ("all", "growth")]
    differs = len(set(map(grows, choice))) > 1
    if differs and not limited:
        assert found["refused"] == DIFFERS, choice
    else:
        assert "refused" not in found, choice
        assert found["made"] == made_of(choice), choice
        # With a limit growth is dropped for every GPU, while each still says what was asked of it.
        grown = not limited and grows(choice[0])
        expected = {
            key: FIRST_MIB if grown else held_mib("", LIMITS[name])
            for name, key in zip(choice, KEYS, strict=False)
        }
        assert found["held"] == expected, choice
    assert found["said"][: len(choice)] == [grows(name) for name in choice], choice
    assert made.is_startable is not differs, choice
    if differs:
        fixed = {"limit", "split"} & set(choice)
        code = "memory_limit_cancels_growth" if fixed else "memory_growth_differs"
        assert {each.code for each in made.problems if each.is_error} == {code}, choice


def test_that_planning_refuses_what_tensorflow_refuses_or_drops_without_a_word(
    cards: CardsOfThisProcess, tmp_path: Path
) -> None:
    for choice in (("growth", "all"), ("growth", "split"), ("growing limit",)):
        assert_refused_or_dropped(cards, choice, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("first", POLICIES)
def test_that_planning_refuses_every_pair_that_tensorflow_does(
    cards: CardsOfThisProcess, tmp_path: Path, first: str
) -> None:
    for choice in (each for each in PAIRS if each[0] == first):
        assert_refused_or_dropped(cards, choice, tmp_path)


def test_that_tensorflow_says_no_to_what_the_trainer_never_calls(
    cards: CardsOfThisProcess, tmp_path: Path
) -> None:
    late = called(cards, written("growing limit", limits_first=True), tmp_path)
    assert late["refused"] == TOO_LATE
    whole = written("growing limit").replace("Configuration(24)", "Configuration(None)")
    assert called(cards, whole, tmp_path)["refused"] == NO_LIMIT
    (device,) = started(profile_of(("growing limit",))).devices
    assert (device.memory_growth, device.logical_limits_mib) == (False, (24,))
