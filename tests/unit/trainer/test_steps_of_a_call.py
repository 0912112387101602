"""A call takes as many steps as its time allows, and carries no more than devices can hold."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from gpupanel.domain.data import NpzData
from gpupanel.domain.run_layout import RunLayout
from gpupanel.domain.strategy import StrategyKind, StrategySettings
from tests.forked.processes import run_forked
from tests.unit.trainer.conftest import MakeRun
from tests.unit.trainer.test_multi_worker import assert_same_bits, on_workers, train_gang
from tests.unit.trainer.trained_runs import (
    CHILD_ENVIRONMENT,
    changed,
    furthest,
    profile,
)

pytestmark = pytest.mark.tensorflow

BATCH, STEPS, ROW_BYTES = 64, 40, 20
MIRRORED = StrategySettings(kind=StrategyKind.MIRRORED)
WITH_COUNTED_CALLS = str(Path(__file__).with_name("with_counted_calls.py"))
TRAIN = str(Path(__file__).with_name("train_several.py"))


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> NpzData:
    """Examples of 16 bytes, mapped from their file, with labels of 4."""
    random, folder = np.random.default_rng(4), tmp_path_factory.mktemp("arrays")
    features = random.normal(size=(STEPS * BATCH, ROW_BYTES // 4 - 1)).astype(np.float32)
    np.save(folder / "x.npy", features)
    np.save(folder / "y.npy", random.integers(0, 3, STEPS * BATCH))
    return NpzData(path=str(folder / "x.npy"), cache="none", validation_fraction=0.0)


def trained(
    folder: Path,
    make_run: MakeRun,
    data: NpzData,
    shares: Sequence[int],
    most_bytes: int,
    strategy: StrategySettings,
) -> RunLayout:
    """A run of two epochs whose calls carry so many bytes at most."""
    layout = make_run(folder, profile(changed(epochs=2), strategy, data=data), shares)
    done = run_forked(
        [sys.executable, WITH_COUNTED_CALLS, str(most_bytes), TRAIN, str(layout.root)],
        env=CHILD_ENVIRONMENT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return layout


def steps_of_calls(layout: RunLayout, place: int = 0) -> list[int]:
    return [steps for steps, _ in calls_of(layout, place)]


def waited_for(layout: RunLayout, place: int = 0) -> list[int]:
    """The calls beside whose reading nothing was computed."""
    calls = enumerate(calls_of(layout, place))
    return [number for number, (_, was_beside_others) in calls if not was_beside_others]


def calls_of(layout: RunLayout, place: int) -> list[tuple[int, bool]]:
    lines = (layout.root / f"calls-{place}.jsonl").read_text(encoding="utf-8").splitlines()
    return [(steps, was_beside_others) for steps, was_beside_others in map(json.loads, lines)]


@pytest.mark.parametrize(
    ("strategy", "shares"),
    [
        pytest.param(StrategySettings(), [64], id="one", marks=pytest.mark.slow),
        pytest.param(MIRRORED, [40, 24], id="two"),
    ],
)
def test_that_a_call_carries_no_more_than_is_placed_ahead(
    data: NpzData,
    tmp_path: Path,
    make_run: MakeRun,
    strategy: StrategySettings,
    shares: Sequence[int],
) -> None:
    bound = 3 * BATCH * ROW_BYTES
    many = trained(tmp_path / "many", make_run, data, shares, 2**27, strategy)
    few = trained(tmp_path / "few", make_run, data, shares, bound, strategy)

    # How many the next one takes is known when a call begins.
    assert steps_of_calls(many) == [1, 1, 4, 4, 16, 14, STEPS]
    assert steps_of_calls(few) == [1, 1, *[3] * 12, 2, *[3] * 13, 1]
    assert waited_for(few) == [0, 15], "the first of each epoch"
    assert furthest(many, few) < 1e-6


def test_that_workers_with_unequal_shares_take_as_many_steps_as_each_other(
    data: NpzData, tmp_path: Path, make_run: MakeRun
) -> None:
    # What the other one gets of a batch would let it take 9 steps at once.
    bound = 3 * 48 * ROW_BYTES
    alone = trained(tmp_path / "alone", make_run, data, [64], 2**27, StrategySettings())
    one = on_workers(profile(changed(epochs=2), data=data), [48, 16])
    (run,) = train_gang(tmp_path, {"workers": one}, WITH_COUNTED_CALLS, str(bound)).values()

    # How many steps a call has is agreed upon two calls later than in a single process.
    expected = [1, 1, 1, 1, *[3] * 12, *[3] * 13, 1]
    assert steps_of_calls(run, 0) == steps_of_calls(run, 1) == expected
    assert waited_for(run, 0) == waited_for(run, 1) == [0, 16]
    assert_same_bits(run, workers=2)
    assert furthest(alone, run) < 1e-5
