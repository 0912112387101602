"""A call takes as many steps as its time allows, and carries no more than devices can hold."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from gpupanel.domain.data import NpzData
from gpupanel.domain.strategy import StrategyKind, StrategySettings
from tests.forked.processes import run_forked
from tests.unit.trainer.conftest import MakeRun
from tests.unit.trainer.trained_runs import CHILD_ENVIRONMENT, changed, profile

pytestmark = pytest.mark.tensorflow

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
    many = calls_of(tmp_path / "many", make_run, data, 2**27, strategy, shares)
    # How many the next one takes is known when a call begins.
    assert [steps for steps, _ in many] == [1, 1, 4, 4, 16, 14, STEPS]
    bound = 3 * BATCH * ROW_BYTES
    few = calls_of(tmp_path / "few", make_run, data, bound, strategy, shares)
    assert [steps for steps, _ in few] == [1, 1, *[3] * 12, 2, *[3] * 13, 1]
    first_of_an_epoch = (0, 15)
    assert [number for number, (_, ahead) in enumerate(few) if not ahead] == [*first_of_an_epoch]
