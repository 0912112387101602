"""That a run is on the very cards that its profile names by UUID, however CUDA orders them."""

from dataclasses import replace
from pathlib import Path

import pytest

from gpupanel.domain.events import DevicesReady, RunEnded, TrainerStarted
from gpupanel.domain.outcome import Outcome
from gpupanel.domain.run_layout import RunLayout
from gpupanel.runs.following.follower import RunFollower
from tests.nvml.machines import INSTANCES, MIG
from tests.nvml.standin import RTX_3060, RTX_4090, StandinState
from tests.tensorflow_gpu.fixtures import CardsOfThisProcess

pytestmark = pytest.mark.tensorflow

CONTEXT_MIB = 256
"""Of the stand-in CUDA."""
FOUR_EQUAL = StandinState(
    gpus=tuple(
        replace(
            RTX_3060,
            uuid=f"GPU-{place:08x}-aaaa-4aaa-8aaa-000000003060",
            bus=f"00000000:{1 + place:02X}:00.0",
            memory_used_mib=0,
            # CUDA has the fastest first, so the other way round than NVML.
            multiprocessors=30 + place,
        )
        for place in range(4)
    )
)
TRAINED_SHORTLY = """
[model]
source = "mlp"
[training]
epochs = 1
global_batch_size = 64
"""


def held_by_trainer(cards: CardsOfThisProcess, layout: RunLayout) -> dict[str, int]:
    """What the run's trainer held of each card when it ended, in MiB by UUID."""
    events = RunFollower(layout).poll().events
    ended = events[-1]
    assert isinstance(ended, RunEnded)
    assert ended.outcome is Outcome.COMPLETED, ended.problem
    (started,) = (event for event in events if isinstance(event, TrainerStarted))
    return cards.held_mib(of_process=started.pid)


def devices_seen(layout: RunLayout) -> list[str]:
    """The keys of the devices that the trainer found, by what CUDA said of them."""
    events = RunFollower(layout).poll().events
    (ready,) = (event for event in events if isinstance(event, DevicesReady))
    return [each.device_key for each in ready.logical_devices if each.device_key != "cpu"]


def test_that_two_of_four_equal_cards_hold_each_what_its_own_policy_says(
    cards_in_process: CardsOfThisProcess, tmp_path: Path
) -> None:
    cards_in_process.tell(FOUR_EQUAL)
    third, first = FOUR_EQUAL.gpus[2].uuid, FOUR_EQUAL.gpus[0].uuid
    profile = f"""
[devices]
visible = ["{third}", "{first}"]
[memory."{third}"]
policy = "limit"
limit_mib = 700
[memory."{first}"]
policy = "limit"
limit_mib = 300
[strategy]
kind = "mirrored"
shares = [48, 16]
all_reduce = "reduction_to_one_device"
"""
    layout = cards_in_process.run(profile + TRAINED_SHORTLY, tmp_path / "run")
    held = held_by_trainer(cards_in_process, layout)
    assert held == {third: 700 + CONTEXT_MIB, first: 300 + CONTEXT_MIB}
    assert devices_seen(layout) == [third, first]


def test_that_a_run_on_a_mig_instance_holds_memory_of_that_instance_alone(
    cards_in_process: CardsOfThisProcess, tmp_path: Path
) -> None:
    free = tuple(replace(each, memory_used_mib=0, compute=()) for each in INSTANCES)
    split = replace(MIG, instances=free, memory_used_mib=0)
    cards_in_process.tell(StandinState(gpus=(replace(RTX_4090, memory_used_mib=0), split)))
    second = free[1].uuid
    profile = f"""
[devices]
visible = ["{second}"]
[memory."{second}"]
policy = "limit"
limit_mib = 400
"""
    layout = cards_in_process.run(profile + TRAINED_SHORTLY, tmp_path / "run")
    assert held_by_trainer(cards_in_process, layout) == {second: 400 + CONTEXT_MIB}
    assert devices_seen(layout) == [second]
