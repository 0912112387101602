"""What TensorFlow answers to a plan, by its lists of devices and by its own log."""

import json
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gpupanel.domain.events import (
    DevicesReady,
    Event,
    RunEnded,
    TrainingEnded,
)
from gpupanel.domain.memory import Allocator
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.problem import Problem
from gpupanel.domain.process_environment import PROCESS_VARIABLE, SUPERVISOR_PID_VARIABLE
from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.domain.strategy import StrategyKind, StrategySettings
from gpupanel.runs.following.follower import RunFollower
from gpupanel.runs.launcher import create_run
from tests.forked.processes import run_forked
from tests.nvml.machines import INSTANCES, MIG
from tests.nvml.standin import RTX_3060, RTX_4090, StandinState
from tests.patience import PATIENCE_S
from tests.tensorflow_gpu.fixtures import TWO_CARDS, CardsOfThisProcess
from tests.tensorflow_gpu.planned_cards import (
    BUSES,
    CARDS,
    CONTEXT_MIB,
    KEYS,
    WHOLE_MIB,
    configured,
    profile_of,
    started,
)
from tests.tensorflow_gpu.test_strategies_on_cards import BOTH, TRAINING

pytestmark = pytest.mark.tensorflow

WHOLE = ("growth", "growth")
FOREIGN = (
    "I0000 00:00:1795252530.166748   30453 gpu_device.cc:2040] Created device /job:localhost/"
    f"replica:0/task:0/device:GPU:0 with 999 MB memory:  -> device: 0, name: NVIDIA H2, "
    f"pci bus id: {BUSES[2]}, compute capability: 9.0\n"
)
"""Of a process that is not asked."""


@pytest.fixture
def cards(cards_in_process: CardsOfThisProcess) -> CardsOfThisProcess:
    cards_in_process.tell(CARDS)
    return cards_in_process


@pytest.fixture
def whole(cards: CardsOfThisProcess) -> LaunchPlan:
    """Of two cards."""
    return started(profile_of(WHOLE))


def gpus(found: dict[str, Any]) -> list[dict[str, Any]]:
    return [each for each in found["answers"] if each["device_key"] != "cpu"]


def test_that_what_tensorflow_says_in_its_log_is_reported(
    cards: CardsOfThisProcess, whole: LaunchPlan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Of somebody's shell: a plan has its own word for each.
    for name, value in (
        ("TF_DEVICE_MIN_SYS_MEMORY_IN_MB", "64"),
        ("TF_MIN_GPU_MULTIPROCESSOR_COUNT", "64"),
        ("TF_GPU_ALLOCATOR", Allocator.CUDA_MALLOC_ASYNC.value),
        ("TF_FORCE_GPU_ALLOW_GROWTH", "false"),
    ):
        monkeypatch.setenv(name, value)
    found = configured(cards, whole, tmp_path)
    first, second, cpu = found["answers"]
    assert first == {
        "name": "/device:GPU:0",
        "device_key": KEYS[0],
        "memory_limit_mib": None,
        "memory_taken_mib": WHOLE_MIB,
        "pci_bus_id": BUSES[0],
        "is_as_planned": True,
    }
    assert (second["device_key"], second["pci_bus_id"]) == (KEYS[1], BUSES[1])
    assert (cpu["name"], cpu["device_key"]) == ("/device:CPU:0", "cpu")
    assert (cpu["memory_taken_mib"], cpu["is_as_planned"]) == (None, None)
    # By a variable and, where no limit is beside it, by a call, too.
    assert found["held"] == {KEYS[0]: 2, KEYS[1]: 2}
    assert found["said"] == [True, True]


def test_that_gpus_that_the_plan_does_not_use_stay_hidden(
    cards: CardsOfThisProcess, tmp_path: Path
) -> None:
    alone = started(profile_of(("growth",)))
    found = configured(cards, alone, tmp_path, CUDA_VISIBLE_DEVICES=",".join(KEYS))
    assert [each["name"] for each in found["answers"]] == ["/device:GPU:0", "/device:CPU:0"]
    assert found["held"] == {KEYS[0]: 2}


def test_that_no_more_is_reported_of_a_limit_than_the_gpu_can_give(
    cards: CardsOfThisProcess, tmp_path: Path
) -> None:
    """TensorFlow repeats the limit, and takes what there is: in pieces from nine tenths down."""
    free_mib = 16
    plan = started(profile_of(("split",))).with_available({KEYS[0]: free_mib})
    cards.tell(CARDS.with_gpu(0, memory_total_mib=free_mib + CONTEXT_MIB))
    found = configured(cards, plan, tmp_path)
    assert [limit for _, limit, _ in found["made"]] == [12, 8]
    answers = [(each["memory_limit_mib"], each["memory_taken_mib"]) for each in gpus(found)]
    assert answers == [(12, 12), (8, 4)]
    assert 12 + 0.9 * 4 < found["held"][KEYS[0]] <= free_mib


@pytest.mark.parametrize("kind", [StrategyKind.MIRRORED, StrategyKind.PARAMETER_SERVER])
def test_that_cudas_allocator_does_not_keep_to_what_tensorflow_says(
    cards: CardsOfThisProcess, tmp_path: Path, kind: StrategyKind
) -> None:
    profile = profile_of(("growth", "growth"), kind, allocator=Allocator.CUDA_MALLOC_ASYNC)
    plan = started(profile).with_available({KEYS[0]: 700})
    serves = kind is StrategyKind.PARAMETER_SERVER
    way, place = ("server", 1) if serves else ("plan", 0)
    found = configured(cards, plan, tmp_path, place, way=way)
    taken = [each["memory_taken_mib"] for each in gpus(found)]
    assert taken == [700] if serves else [700, None]
    # In advance it takes nothing.
    assert max(found["held"].values()) <= 4


def test_that_a_log_of_another_process_says_nothing(
    cards: CardsOfThisProcess, whole: LaunchPlan, tmp_path: Path
) -> None:
    foreign = tmp_path / "trainer-1.log"
    foreign.write_text(FOREIGN, encoding="utf-8")
    found = configured(cards, whole, tmp_path, log=foreign)
    assert "problem" not in found
    for answer in found["answers"]:
        assert (answer["memory_taken_mib"], answer["pci_bus_id"]) == (None, None)
        assert answer["is_as_planned"] is None


def test_that_a_plan_without_places_leaves_it_open_which_gpu_is_meant(
    cards: CardsOfThisProcess, whole: LaunchPlan, tmp_path: Path
) -> None:
    devices = tuple(each.model_copy(update={"pci_bus_id": None}) for each in whole.devices)
    found = configured(cards, whole.model_copy(update={"devices": devices}), tmp_path)
    first = found["answers"][0]
    assert (first["pci_bus_id"], first["is_as_planned"]) == (BUSES[0], None)


def test_that_the_instances_of_a_gpu_are_where_their_gpu_is(
    cards: CardsOfThisProcess, tmp_path: Path
) -> None:
    free = tuple(replace(each, memory_used_mib=0, compute=()) for each in INSTANCES)
    cards.tell(StandinState(gpus=(replace(MIG, instances=free, memory_used_mib=0),)))
    keys = tuple(each.uuid for each in free)
    workers = started(
        Profile(
            devices=DeviceSettings(visible=keys),
            strategy=StrategySettings(kind=StrategyKind.MULTI_WORKER),
        )
    )
    for place, key in enumerate(keys):
        (instance,) = gpus(configured(cards, workers, tmp_path, place))
        assert (instance["device_key"], instance["is_as_planned"]) == (key, True)


def test_that_a_run_on_another_gpu_than_planned_ends_and_names_both(
    cards: CardsOfThisProcess, whole: LaunchPlan, tmp_path: Path
) -> None:
    found = configured(cards, whole, tmp_path, CUDA_VISIBLE_DEVICES=f"{KEYS[1]},{KEYS[0]}")
    assert [answer["is_as_planned"] for answer in gpus(found)] == [False, False]
    problem = found["problem"]
    assert problem["code"] == "device_is_another"
    assert problem["message"] == (
        f"TensorFlow means {RTX_3060.name} (PCI bus 0000:02:00.0) by /device:GPU:0, but the plan "
        f"means {RTX_4090.name} (PCI bus 0000:01:00.0)."
    )
    assert "GPU:1" in problem["detail"]
    elsewhere = configured(cards, whole, tmp_path, CUDA_VISIBLE_DEVICES=f"{KEYS[0]},{KEYS[2]}")
    assert f"means another GPU (PCI bus {BUSES[2]})" in elsewhere["problem"]["message"]


def test_that_gpus_which_tensorflow_does_not_find_are_reported(
    cards: CardsOfThisProcess, whole: LaunchPlan, tmp_path: Path
) -> None:
    for visible, words in ((KEYS[0], "only 1 of the planned GPUs"), ("-1", "sees no GPU")):
        problem = configured(cards, whole, tmp_path, CUDA_VISIBLE_DEVICES=visible)["problem"]
        assert problem["code"] == "device_not_seen_by_tensorflow"
        assert words in problem["message"]


def test_that_a_gpu_which_tensorflow_leaves_out_is_named_with_its_reason(
    cards: CardsOfThisProcess, whole: LaunchPlan, tmp_path: Path
) -> None:
    cards.tell(CARDS.with_gpu(0, capability="3.0"))
    old = configured(cards, whole, tmp_path)["problem"]
    cards.tell(CARDS.with_gpu(0, multiprocessors=3))
    # A plan asks for one, so that a small GPU is used beside others.
    assert len(gpus(configured(cards, whole, tmp_path))) == 2
    small = configured(cards, whole, tmp_path, TF_MIN_GPU_MULTIPROCESSOR_COUNT="8")["problem"]
    assert old["code"] == small["code"] == "device_not_seen_by_tensorflow"
    for problem, words in ((old, "Cuda compute capability 3.0"), (small, "core count: 3")):
        assert f"leaves {RTX_4090.name} out: it is a GPU with {words}" in problem["message"]


def ended(
    cards: CardsOfThisProcess, plan: LaunchPlan, folder: Path, **environment: str
) -> tuple[list[Event], Problem]:
    """What the training process of a plan reported, and why it ended."""
    layout = create_run(Profile(), plan, folder)
    place = int(environment.get(PROCESS_VARIABLE, 0))
    own = {**plan.environment, **plan.gang[place].environment, **environment}
    with layout.process_log(place).open("ab") as log:
        done = run_forked(
            [sys.executable, "-m", "gpupanel.trainer", str(layout.root)],
            env={**os.environ, SUPERVISOR_PID_VARIABLE: str(os.getpid()), **own},
            stdout=log,
            stderr=log,
            timeout=PATIENCE_S,
            server=cards.server,
        )
    assert done.returncode == 1, layout.process_log(place).read_text(encoding="utf-8")[-4000:]
    *reported, end = RunFollower(layout).poll().events
    assert isinstance(end, TrainingEnded)
    assert end.problem is not None
    return reported, end.problem


def test_that_a_trainer_on_another_gpu_reports_the_answer_and_ends(
    cards: CardsOfThisProcess, tmp_path: Path
) -> None:
    plan = started(profile_of(("growth",)))
    reported, problem = ended(cards, plan, tmp_path, CUDA_VISIBLE_DEVICES=KEYS[2])
    ready = reported[-1]
    assert isinstance(ready, DevicesReady)
    assert (ready.process, ready.logical_devices[0].is_as_planned) == (0, False)
    assert problem.code == "device_is_another"


def test_that_a_worker_that_serves_does_not_do_without_its_gpu(
    cards: CardsOfThisProcess, tmp_path: Path
) -> None:
    """Its server would carry out the same steps on the CPU. Of equal GPUs one is named."""
    equal = CARDS.with_gpu(1, name=RTX_4090.name)
    cards.tell(equal)
    plan = started(profile_of(WHOLE, StrategyKind.PARAMETER_SERVER))
    cluster = {"worker": ["127.0.0.1:0"] * 2, "chief": ["127.0.0.1:0"], "ps": ["127.0.0.1:0"]}
    joins = {
        PROCESS_VARIABLE: "2",
        "TF_CONFIG": json.dumps({"cluster": cluster, "task": {"type": "worker", "index": 1}}),
    }
    name = f"{RTX_4090.name} #2"
    for number, (gpu, code, words) in enumerate(
        (
            ({"capability": "3.0"}, "device_not_seen_by_tensorflow", f"leaves {name} out"),
            ({"lost": True}, "device_not_seen_by_tensorflow", f"no GPU, so {name} cannot be used"),
            ({"compute_mode": 2}, "devices_not_configured", f"configuration of {name}: cudaSet"),
        )
    ):
        cards.tell(equal.with_gpu(1, **gpu))
        _, problem = ended(cards, plan, tmp_path / str(number), **joins)
        assert problem.code == code
        assert words in problem.message


@pytest.mark.slow
@pytest.mark.parametrize("kind", [StrategyKind.MULTI_WORKER, StrategyKind.PARAMETER_SERVER])
def test_that_a_run_names_the_gpu_that_one_worker_does_not_get(
    cards_in_process: CardsOfThisProcess, tmp_path: Path, kind: StrategyKind
) -> None:
    held = TWO_CARDS.with_gpu(1, compute_mode=3, compute=((4_000_001, 900),))
    cards_in_process.tell(held)
    strategy = f'[strategy]\nkind = "{kind}"\n'
    layout = cards_in_process.run(BOTH + strategy + TRAINING, tmp_path / "run")
    end = RunFollower(layout).poll().events[-1]
    assert isinstance(end, RunEnded)
    assert end.problem is not None
    assert end.problem.code == "devices_not_configured"
    assert f"configuration of {RTX_3060.name}: cudaSetDevice()" in end.problem.message
    assert "its compute mode lets one at a time use it" in end.problem.hint
