"""What other tests start with TensorFlow in it already is the training process all the same."""

from pathlib import Path

import pytest

from gpupanel.domain.data import DigitsData
from gpupanel.domain.model import MlpModel
from gpupanel.domain.outcome import Outcome
from gpupanel.domain.profile import Profile
from gpupanel.domain.training import TrainingSettings
from tests.unit.trainer.conftest import MakeRun, StartTrainer
from tests.unit.trainer.trained_runs import last_metrics, variables

pytestmark = pytest.mark.tensorflow

EVERYTHING = Profile(
    data=DigitsData(validation_fraction=0.2),
    model=MlpModel(hidden=(128,), batch_norm=True, dropout=0.2),
    training=TrainingSettings(epochs=2, clip_norm=1.0),
)


@pytest.mark.slow
def test_that_a_forked_trainer_learns_the_same_bits_as_a_new_one(
    tmp_path: Path,
    make_run: MakeRun,
    start_trainer: StartTrainer,
    start_new_trainer: StartTrainer,
) -> None:
    trainers = [
        start(make_run(tmp_path / name, EVERYTHING, [48, 16]))
        for name, start in (("new", start_new_trainer), ("forked", start_trainer))
    ]

    assert [one.ended().outcome for one in trainers] == [Outcome.COMPLETED] * 2

    new, forked = (variables(one.layout) for one in trainers)
    assert new.keys() == forked.keys()
    assert [name for name in new if new[name].tobytes() != forked[name].tobytes()] == []
    # How many steps one call adds up depends on the time, and so do a loss's last bits.
    metrics = [last_metrics(one.layout) for one in trainers]
    assert metrics[0].val_accuracy == metrics[1].val_accuracy
    assert metrics[0].val_loss == pytest.approx(metrics[1].val_loss, rel=1e-5)
