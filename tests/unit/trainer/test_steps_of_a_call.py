"""A call takes as many steps as its time allows, and carries no more than devices can hold."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from gpupanel.domain.data import NpzData
from gpupanel.domain.strategy import StrategyKind, StrategySettings
from gpupanel.trainer.datasets.examples import Examples
from gpupanel.trainer.steps.feeds import MOST_CALL_BYTES, StreamedFeed, make_feed
from gpupanel.trainer.steps.order import divide_batch
from gpupanel.trainer.steps.worker_feeds import ShippedFeed
from tests.forked.processes import run_forked
from tests.unit.trainer.call_steps import plan_of
from tests.unit.trainer.conftest import MakeRun
from tests.unit.trainer.test_look_ahead import Rows
from tests.unit.trainer.trained_runs import CHILD_ENVIRONMENT, changed, profile

pytestmark = pytest.mark.tensorflow

MIB = 2**20
BATCH, STEPS, ROW_BYTES = 64, 40, 16
MIRRORED = StrategySettings(kind=StrategyKind.MIRRORED)


@pytest.fixture(scope="module")
def arrays(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Examples of 16 bytes, mapped from their file."""
    random, folder = np.random.default_rng(4), tmp_path_factory.mktemp("arrays")
    features = random.normal(size=(STEPS * BATCH, ROW_BYTES // 4)).astype(np.float32)
    np.save(folder / "x.npy", features)
    np.save(folder / "y.npy", random.integers(0, 3, STEPS * BATCH))
    return folder / "x.npy"


def calls_of(
    folder: Path,
    make_run: MakeRun,
    data: NpzData,
    most_bytes: int,
    strategy: StrategySettings,
    shares: Sequence[int],
) -> list[tuple[int, bool]]:
    """Steps of each call of two epochs, and whether what it takes was begun to be placed before."""
    layout = make_run(folder, profile(changed(epochs=2), strategy, data=data), shares)
    program = str(Path(__file__).with_name("count_call_steps.py"))
    done = run_forked(
        [sys.executable, program, str(most_bytes), str(layout.root)],
        env=CHILD_ENVIRONMENT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return [(steps, is_ahead) for steps, is_ahead in json.loads(done.stdout.splitlines()[-1])]


@pytest.mark.parametrize(
    ("strategy", "shares"), [(StrategySettings(), [64]), (MIRRORED, [40, 24])], ids=["one", "two"]
)
def test_that_a_call_carries_no_more_than_is_placed_ahead(
    arrays: Path,
    tmp_path: Path,
    make_run: MakeRun,
    strategy: StrategySettings,
    shares: Sequence[int],
) -> None:
    data = NpzData(path=str(arrays), cache="none", validation_fraction=0.0)
    many = calls_of(tmp_path / "many", make_run, data, MOST_CALL_BYTES, strategy, shares)
    # How many the next one takes is known when a call begins.
    assert [steps for steps, _ in many] == [1, 1, 4, 4, 16, 14, STEPS]
    bound = 3 * BATCH * ROW_BYTES
    few = calls_of(tmp_path / "few", make_run, data, bound, strategy, shares)
    assert [steps for steps, _ in few] == [1, 1, *[3] * 12, 2, *[3] * 13, 1]
    first_of_an_epoch = (0, 15)
    assert [number for number, (_, ahead) in enumerate(few) if not ahead] == [*first_of_an_epoch]


def of_bytes(row_bytes: int) -> Examples:
    return Examples(Rows(4, row_bytes), np.zeros(4, np.int32))


def most_steps(
    shares: Sequence[int], processes: Sequence[int] = (), *, with_neighbour: bool = False
) -> int | None:
    """Of batches of examples of 1 MiB."""
    devices = dict.fromkeys(range(len(shares)), "/device:CPU:0")
    feed = StreamedFeed(of_bytes(MIB), devices, with_neighbour=with_neighbour, processes=processes)
    return feed.most_steps(divide_batch(shares, sum(shares)).bounds)


def test_that_what_counts_is_what_goes_to_the_process_that_gets_most() -> None:
    assert most_steps([16]) == 8
    assert most_steps([12, 4]) == 8
    assert most_steps([12, 4], [0, 1]) == most_steps([4, 12], [0, 1]) == 10
    assert most_steps([4, 4, 8, 2], [0, 1, 1, 2]) == 10
    assert most_steps([15], with_neighbour=True) == 8


def test_that_a_step_that_carries_more_is_a_call_of_its_own() -> None:
    assert most_steps([1000]) == 1
    assert most_steps([1, 129], [0, 1]) == 1


def test_that_workers_carry_whole_batches() -> None:
    assert ShippedFeed(of_bytes(MIB)).most_steps(16) == 8
    assert ShippedFeed(of_bytes(MIB)).most_steps(1000) == 1


def test_that_examples_in_memory_bound_no_call() -> None:
    examples = Examples(np.zeros((4, 2**20), np.uint8), np.zeros(4, np.int32))
    assert make_feed(examples, plan_of(1)).most_steps(divide_batch((4,), 4).bounds) is None
