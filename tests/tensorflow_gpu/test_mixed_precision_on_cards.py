"""Mixed precision on cards of which one has no bfloat16."""

from pathlib import Path

import pytest

from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.training import HalfPrecision
from tests.tensorflow_gpu.fixtures import TWO_CARDS, CardsOfThisProcess
from tests.tensorflow_gpu.profiles import BOTH, mirrored
from tests.unit.trainer.trained_runs import last_metrics, variables

pytestmark = [pytest.mark.tensorflow, pytest.mark.long]

TRAINING = "[training]\nepochs = 1\nglobal_batch_size = 64\n"
MIXED = "mixed_precision = true\n"


def test_that_an_older_card_has_both_learn_in_float16(
    cards_in_process: CardsOfThisProcess, tmp_path: Path
) -> None:
    both = BOTH + mirrored([48, 16], "reduction_to_one_device") + TRAINING
    whole = cards_in_process.run(both, tmp_path / "whole")
    cards_in_process.tell(TWO_CARDS.with_gpu(1, capability="7.5"))

    mixed = cards_in_process.run(both + MIXED, tmp_path / "mixed")

    plan = LaunchPlan.model_validate_json(mixed.plan.read_text())
    assert plan.half_precision is HalfPrecision.FLOAT16
    assert variables(mixed)["loss_scale/scale"] == 2.0**15
    loss = last_metrics(whole).loss
    assert last_metrics(mixed).loss == pytest.approx(loss, rel=0.02)
    assert last_metrics(mixed).loss != loss
