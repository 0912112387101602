"""Runs on the cards of the stand-in, from the terminal's command to what a person reads."""

from pathlib import Path

import pytest

from gpupanel.domain.event_details import ShortageCause
from gpupanel.domain.events import DevicesReady, MemoryExhausted, RunEnded
from gpupanel.runs.following.follower import RunFollower
from tests.tensorflow_gpu.fixtures import CardsOfThisProcess
from tests.tensorflow_gpu.profiles import BOTH, LARGE, SMALL, mirrored
from tests.unit.trainer.trained_runs import furthest

pytestmark = pytest.mark.tensorflow

TRAINING = "[training]\nepochs = 1\nglobal_batch_size = 64\n"


@pytest.mark.long
def test_that_the_card_is_named_that_a_tensor_could_not_be_copied_to(
    cards_in_process: CardsOfThisProcess, tmp_path: Path
) -> None:
    both = BOTH + mirrored([48, 16], "reduction_to_one_device") + TRAINING
    limits = f"""
[memory."{LARGE}"]
policy = "limit"
limit_mib = 4096
growth = true
[memory."{SMALL}"]
policy = "limit"
limit_mib = 640
growth = true
[model]
source = "mlp"
hidden = [6144, 6144]
"""
    layout = cards_in_process.run(both + limits, tmp_path / "both")
    events = RunFollower(layout).poll().events
    (shortage,) = (event for event in events if isinstance(event, MemoryExhausted))
    assert shortage.cause is ShortageCause.REFUSED
    assert shortage.device_key == SMALL
    assert shortage.limit_bytes == 640 * 2**20
    ended = events[-1]
    assert isinstance(ended, RunEnded)
    assert ended.problem is not None
    assert ended.problem.message.startswith("NVIDIA GeForce RTX 3060 (/device:GPU:1) ran out of")


def test_that_two_cards_learn_what_one_cpu_device_learns(
    cards_in_process: CardsOfThisProcess, tmp_path: Path
) -> None:
    """With uneven shares, and NCCL between them."""
    both = BOTH + mirrored([48, 16], "nccl") + TRAINING
    alone = '[devices]\nvisible = ["cpu"]\n' + TRAINING
    trained = {}
    for name, profile in (("both", both), ("alone", alone)):
        whole = f'{profile}[model]\nsource = "mlp"\n'
        trained[name] = cards_in_process.run(whole, tmp_path / name)
    (answers,) = (
        event.logical_devices
        for event in RunFollower(trained["both"]).poll().events
        if isinstance(event, DevicesReady)
    )
    assert [answer.device_key for answer in answers] == [LARGE, SMALL, "cpu"]
    assert furthest(trained["alone"], trained["both"]) < 1e-5
