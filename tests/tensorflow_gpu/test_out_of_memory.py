"""Runs that do not fit on the cards: what is offered helps, and what is kept there fits."""

from pathlib import Path

import numpy as np
import pytest

from gpupanel.domain.events import RunEnded, RunRestarted
from gpupanel.domain.outcome import Outcome
from gpupanel.domain.profile_toml import dump_profile, parse_profile
from gpupanel.planning.fixes import apply_fix
from gpupanel.runs.following.follower import RunFollower
from tests.forked.answers import forked_answers
from tests.forked.terminal import answered
from tests.nvml.standin import RTX_3060, RTX_4090
from tests.tensorflow_gpu.fixtures import TWO_CARDS, CardsOfThisProcess
from tests.tensorflow_gpu.profiles import LARGE, SMALL
from tests.unit.trainer.trained_runs import furthest

pytestmark = pytest.mark.tensorflow

WEIGHTS = f"""
[devices]
visible = ["{SMALL}"]
[memory."{SMALL}"]
policy = "limit"
limit_mib = 16
[model]
source = "mlp"
hidden = [1024, 1024]
[training]
epochs = 1
global_batch_size = 64
out_of_memory_retries = 2
"""
"""Weights of 4.3 MiB, of which Adam and the gradients make 17."""


@pytest.mark.long
def test_that_weights_that_do_not_fit_are_not_tried_again_and_the_first_fix_helps(
    cards_in_process: CardsOfThisProcess, tmp_path: Path
) -> None:
    layout = cards_in_process.run(WEIGHTS, tmp_path / "refused")
    events = RunFollower(layout).poll().events
    assert not any(isinstance(event, RunRestarted) for event in events)
    ended = events[-1]
    assert isinstance(ended, RunEnded)
    problem = ended.problem
    assert problem is not None
    assert problem.fix is not None
    labels = [fix.label for fix in (problem.fix, *problem.alternatives)]
    assert [label.split(" limit")[0] for label in labels] == [
        "Raise the",
        "Use NVIDIA GeForce RTX 4090 alone",
    ]
    better = apply_fix(parse_profile(WEIGHTS), problem.fix)
    layout = cards_in_process.run(dump_profile(better), tmp_path / "better")
    ended = RunFollower(layout).poll().events[-1]
    assert isinstance(ended, RunEnded)
    assert ended.outcome is Outcome.COMPLETED


def images(folder: Path) -> Path:
    """12,000 images, which take 19 MB where a GPU gets a copy of them."""
    random = np.random.default_rng(0)
    pixels = random.integers(0, 256, (12_000, 28, 28), dtype=np.uint8)
    np.savez(folder / "pixels.npz", x=pixels, y=np.arange(12_000) % 10)
    return folder / "pixels.npz"


@pytest.mark.parametrize(
    "compares", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["ends", "is right"]
)
def test_that_the_examples_stay_on_the_host_for_the_card_that_has_no_room(
    cards_in_process: CardsOfThisProcess, tmp_path: Path, compares: bool
) -> None:
    """Under 18 MiB a copy leaves nothing for a step; the other card has one all the same."""
    rest = f"""
[data]
source = "npz"
path = "{images(tmp_path)}"
validation_fraction = 0.2
[model]
source = "mlp"
hidden = [128]
[training]
epochs = 1
global_batch_size = 2048
"""
    both = f"""
[devices]
visible = ["{LARGE}", "{SMALL}"]
[memory."{LARGE}"]
policy = "limit"
limit_mib = 512
growth = true
[memory."{SMALL}"]
policy = "limit"
limit_mib = 18
growth = true
[strategy]
kind = "mirrored"
shares = [1024, 1024]
all_reduce = "reduction_to_one_device"
"""
    layout = cards_in_process.run(both + rest, tmp_path / "both")
    ended = RunFollower(layout).poll().events[-1]
    assert isinstance(ended, RunEnded)
    assert ended.outcome is Outcome.COMPLETED
    if compares:
        one = '[devices]\nvisible = ["cpu"]\n'
        alone = cards_in_process.run(one + rest, tmp_path / "alone")
        assert furthest(alone, layout) < 1e-5


@pytest.mark.slow
@pytest.mark.parametrize(("limit_mib", "fits"), [(24, False), (28, True)])
def test_that_no_batch_is_promised_whose_update_has_no_room(
    cards_in_process: CardsOfThisProcess, tmp_path: Path, limit_mib: int, fits: bool
) -> None:
    """Weights, gradients and Adam's averages are 17 MiB; the update makes 25 of them."""
    text = WEIGHTS.replace("limit_mib = 16", f"limit_mib = {limit_mib}")
    profile = tmp_path / "profile.toml"
    profile.write_text(text.replace("retries = 2", "retries = 0"))
    with forked_answers(server=cards_in_process.server):
        summary = answered(cards_in_process.gpupanel("summary", profile, "--json"))
    assert (summary["largest_batch"] >= 64) is fits
    ended = answered(cards_in_process.gpupanel("run", profile, "--json"))
    assert (ended["outcome"] == "completed") is fits


@pytest.mark.slow
def test_that_a_run_ends_whose_card_others_have_filled(
    cards_in_process: CardsOfThisProcess, tmp_path: Path
) -> None:
    """Beside the context 4 MiB were free, which are gone: TensorFlow would ask without end."""
    cards_in_process.tell(TWO_CARDS.with_gpu(0, memory_used_mib=24_160))
    profile = f'[devices]\nvisible = ["{LARGE}"]\n[memory.default]\npolicy = "limit"\n'
    profile += 'limit_mib = 80\ngrowth = true\n[model]\nsource = "mlp"\n'
    layout = cards_in_process.run(profile, tmp_path / "run")
    ended = RunFollower(layout).poll().events[-1]
    assert isinstance(ended, RunEnded)
    assert ended.problem is not None
    assert ended.problem.code == "out_of_memory"
    assert ended.problem.message.startswith(RTX_4090.name)
    assert ended.problem.fix is not None
    assert ended.problem.fix.label == f"Use {RTX_3060.name} alone"
    assert layout.trainer_log.stat().st_size < 50_000_000
