"""Memory runs out in each phase of a run, and on the first card as on the second: it is named.

TensorFlow waits ten seconds for memory before it says that there is none.
"""

from pathlib import Path

import pytest

from gpupanel.domain.events import MemoryExhausted, Phase, PhaseChanged, RunEnded
from gpupanel.domain.outcome import Outcome
from gpupanel.domain.run_layout import RunLayout
from tests.forked.terminal import answered
from tests.nvml.standin import RTX_3060, RTX_4090, StandinGpu
from tests.tensorflow_gpu.fixtures import CardsOfThisProcess
from tests.tensorflow_gpu.profiles import BOTH, LARGE, SMALL, memory, mirrored
from tests.tensorflow_gpu.test_strategies_on_cards import TRAINING
from tests.unit.trainer.trained_runs import all_events

pytestmark = [pytest.mark.tensorflow, pytest.mark.slow]

WIDE = TRAINING.replace("[32]", "[1024, 1024]").replace("epochs = 2", "epochs = 1")


def limits(full: StandinGpu, limit_mib: int) -> str:
    """That card has so much, and the other one enough."""
    return "".join(
        memory(key, policy="limit", limit_mib=limit_mib if key == full.uuid else 4096, growth=True)
        for key in (LARGE, SMALL)
    )


def assert_named(
    cards: CardsOfThisProcess, profile: Path, full: StandinGpu, limit_mib: int, last: Phase
) -> None:
    """A run of that profile fails in that phase, and this card is named."""
    found = answered(cards.gpupanel("run", profile, "--json"))
    assert found["problem"]["code"] == "out_of_memory"
    assert found["problem"]["message"].startswith(full.name)
    events = all_events(RunLayout(Path(found["run"])))
    (shortage,) = (each for each in events if isinstance(each, MemoryExhausted))
    assert shortage.device_key == full.uuid
    assert shortage.limit_bytes == limit_mib * 2**20
    assert [each.phase for each in events if isinstance(each, PhaseChanged)][-1] is last


CARDS = pytest.mark.parametrize("full", [RTX_4090, RTX_3060], ids=["first", "second"])


@CARDS
@pytest.mark.parametrize(
    ("hidden", "limit_mib", "batch", "last"),
    [
        # One matrix of weights has 144 MiB.
        ("[6144, 6144]", 64, 64, Phase.BUILDING_MODEL),
        # Weights and averages have 13 MiB; gradients and activations want more than the rest.
        ("[1024, 1024]", 20, 1024, Phase.TRAINING),
    ],
    ids=["model", "step"],
)
def test_that_the_card_is_named_on_which_no_model_or_no_step_fits(
    cards_in_process: CardsOfThisProcess,
    tmp_path: Path,
    full: StandinGpu,
    hidden: str,
    limit_mib: int,
    batch: int,
    last: Phase,
) -> None:
    text = WIDE.replace("[1024, 1024]", hidden).replace("size = 64", f"size = {batch}")
    profile = tmp_path / "profile.toml"
    strategy = mirrored("equal", "reduction_to_one_device")
    more = "out_of_memory_retries = 0\n"
    profile.write_text(BOTH + strategy + limits(full, limit_mib) + text + more)
    assert_named(cards_in_process, profile, full, limit_mib, last)


def test_that_what_is_validated_takes_no_more_at_a_time_than_what_is_accumulated(
    cards_in_process: CardsOfThisProcess, tmp_path: Path
) -> None:
    """Outputs of the hidden layer have 1 MiB for 32 examples, and 28 for all that validate."""
    layout = cards_in_process.run(
        f'[devices]\nvisible = ["{SMALL}"]\n{memory(SMALL, policy="limit", limit_mib=32)}'
        '[data]\nsource = "digits"\nvalidation_fraction = 0.5\n'
        '[model]\nsource = "mlp"\nhidden = [8192]\n'
        "[training]\nepochs = 1\nglobal_batch_size = 896\naccumulation_steps = 28\n",
        tmp_path / "run",
    )
    ended = list(all_events(layout))[-1]
    assert isinstance(ended, RunEnded)
    assert ended.outcome is Outcome.COMPLETED, ended.problem


@CARDS
def test_that_the_card_is_named_on_which_no_saved_model_can_be_read(
    cards_in_process: CardsOfThisProcess, tmp_path: Path, full: StandinGpu
) -> None:
    profile = tmp_path / "profile.toml"
    profile.write_text(BOTH + WIDE.replace("[1024, 1024]", "[1024, 4096]"))
    trained = answered(cards_in_process.gpupanel("run", profile, "--json"))
    model = RunLayout(Path(trained["run"])).model
    # Weights of 17 MiB, which are there more than twice while they are read.
    profile.write_text(
        f'task = "evaluate"\n{BOTH}{mirrored()}{limits(full, 36)}[data]\nsource = "digits"\n'
        f'[model]\nsource = "saved"\npath = "{model}"\n[inference]\nbatch_size = 64\n'
    )
    assert_named(cards_in_process, profile, full, 36, Phase.BUILDING_MODEL)
