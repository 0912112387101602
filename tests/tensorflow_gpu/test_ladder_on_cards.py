"""Ways to fit that are offered for unequal cards do train there, and hold what was predicted."""

import os
import sys
from pathlib import Path

import pytest

from tests.tensorflow_gpu.fitted import MODELS, SIZES, tell, too_large, trained, write_data
from tests.tensorflow_gpu.fixtures import CardsOfThisProcess

pytestmark = [pytest.mark.tensorflow, pytest.mark.slow]


@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("model", MODELS)
def test_that_the_first_way_trains_and_holds_what_was_predicted(
    model: str, sizes: str, cards_in_process: CardsOfThisProcess, tmp_path: Path
) -> None:
    cards = cards_in_process
    tell(cards, sizes)
    write_data(tmp_path)
    ladder = too_large(cards, tmp_path, model, sizes)
    assert not ladder.rungs[0].fits
    count = int(os.environ.get("GPUPANEL_WAYS", "1"))
    ways = [each for each in ladder.fitting if each.fix]
    if MODELS[model].convolves:
        # The processor's kernels of 16-bit convolutions hold an unfolded image, those of CUDA not.
        ways = [each for each in ways if "precision" not in each.title]
    found = []
    for number, rung in enumerate(ways[:count]):
        ratios, did_train = trained(cards, tmp_path, MODELS[model], rung, f"way_{number}")
        found.append((ratios, did_train))
        told = ", ".join(f"{ratio:.2f}" for ratio in ratios.values())
        sys.stderr.write(
            f"{model} | {sizes} | {rung.title} | {rung.time} | {told} | {did_train} | "
            f"{[round(each.counted_mib) for each in rung.memory]}\n"
        )
    assert found
    most = 1.5 if MODELS[model].convolves else 1.15
    for rung, (ratios, did_train) in zip(ways, found, strict=False):
        assert did_train
        # Central storage is estimated as if no weight left a card before the others.
        least = 0.3 if "on the host" in rung.title else 0.85
        assert all(least <= ratio <= most for ratio in ratios.values()), ratios
