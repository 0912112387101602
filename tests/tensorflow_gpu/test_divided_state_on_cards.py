"""An optimizer whose state is divided among cards learns what one on each card does."""

from pathlib import Path

import pytest

from tests.tensorflow_gpu.fixtures import CardsOfThisProcess
from tests.tensorflow_gpu.profiles import BOTH
from tests.unit.trainer.trained_runs import furthest

pytestmark = [pytest.mark.tensorflow, pytest.mark.long]

PROFILE = """
[strategy]
kind = "mirrored"
shares = [40, 24]
optimizer_state = "{state}"
[model]
source = "cnn"
[training]
epochs = 1
global_batch_size = 64
"""


def test_that_convolutions_learn_what_they_do_undivided(
    cards_in_process: CardsOfThisProcess, tmp_path: Path
) -> None:
    trained = [
        cards_in_process.run(BOTH + PROFILE.format(state=state), tmp_path / state)
        for state in ("replicated", "sharded")
    ]
    assert furthest(*trained) < 1e-6
