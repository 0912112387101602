"""Any split of a batch is the same mathematics in mixed precision, too, but for its rounding.

What each replica adds to a gradient is rounded to 16 bits, so that another split gives another
step, and a training makes the difference greater from step to step. One step has nothing else.
"""

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from gpupanel.domain.model import CnnModel, MlpModel
from tests.deaths.small_sources import EXAMPLES, small_source
from tests.unit.trainer.conftest import MakeRun
from tests.unit.trainer.test_the_rule import MIRRORED
from tests.unit.trainer.trained_runs import changed, profile, train_all, variables

pytestmark = [pytest.mark.slow, pytest.mark.tensorflow]

ROUNDED = 2.0**-8
"""Of 16 bits 8 are those of the number: the last of them, as a part of it."""

EQUAL, UNEVEN = (EXAMPLES // 2, EXAMPLES // 2), (EXAMPLES - 30, 30)


@pytest.mark.parametrize("source", ["table", "text", "images"])
def test_that_other_shares_change_a_step_by_no_more_than_its_rounding(
    tmp_path: Path, make_run: MakeRun, source: str
) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    data = small_source(source, folder)
    mlp = MlpModel(hidden=(32,), dropout=0.2, batch_norm=True)
    cnn = CnnModel(filters=(4,), hidden=(8,), dropout=0.2, batch_norm=True)
    one_step = {"epochs": 1, "momentum": 0.0, "global_batch_size": EXAMPLES}
    plans = {
        name: (
            profile(
                changed(**one_step, mixed_precision=mixed, learning_rate=rate),
                MIRRORED,
                model=cnn if source == "images" else mlp,
                data=data,
            ),
            shares,
        )
        for name, shares, mixed, rate in (
            ("equal, 32 bits", EQUAL, False, 0.1),
            ("uneven, 32 bits", UNEVEN, False, 0.1),
            ("equal, mixed", EQUAL, True, 0.1),
            ("uneven, mixed", UNEVEN, True, 0.1),
            ("further", EQUAL, False, 0.2),
        )
    }
    runs = train_all(tmp_path / "runs", make_run, plans)
    ended = {name: learned(variables(layout)) for name, layout in runs.items()}
    # Twice the rate goes one step further.
    step = np.linalg.norm(ended["further"] - ended["equal, 32 bits"])
    whole, mixed = (
        np.linalg.norm(ended[f"uneven, {bits}"] - ended[f"equal, {bits}"]) / step
        for bits in ("32 bits", "mixed")
    )
    print(f"{source}: {whole:.2g} of a step apart in 32 bits, {mixed:.2g} in mixed precision")
    assert whole < 1e-5
    assert whole < mixed < ROUNDED


def learned(weights: dict[str, np.ndarray]) -> NDArray[np.float64]:
    """All weights that learn, one after the other."""
    moving = ("moving_mean", "moving_variance")
    return np.concatenate(
        [
            array.ravel().astype(np.float64)
            for name, array in weights.items()
            if name.startswith("model/") and not name.endswith(moving)
        ]
    )
