"""Layers that begin to learn later: what the settings of a model come to."""

import pytest

from gpupanel.domain.events import FineTuningBegan
from gpupanel.domain.fine_tuning import FineTuning
from gpupanel.domain.model import ApplicationModel, MlpModel, SavedModel
from gpupanel.domain.profile import Profile
from gpupanel.domain.schedule import ScheduleSettings
from gpupanel.domain.training import TrainingSettings

MODEL = ApplicationModel(
    source="ResNet50", fine_tune_from_epoch=3, fine_tune_learning_rate=1e-5, weights="imagenet"
)


def test_that_layers_begin_to_learn_where_some_are_not_frozen() -> None:
    assert MODEL.fine_tuning == FineTuning(from_epoch=3, learning_rate=1e-5)
    some = MODEL.model_copy(update={"frozen_layers": 7})
    assert some.fine_tuning == FineTuning(from_epoch=3, layers=7, learning_rate=1e-5)
    for key, value in (
        ("frozen_layers", "base"),
        ("fine_tune_from_epoch", None),
        ("fine_tune_from_epoch", 1),
    ):
        assert MODEL.model_copy(update={key: value}).fine_tuning is None
    assert MlpModel().fine_tuning is None
    saved = SavedModel(path="/a.keras", frozen_layers=7, fine_tune_from_epoch=3)
    assert saved.fine_tuning == FineTuning(from_epoch=3, layers=7)


@pytest.mark.parametrize(
    ("epochs", "task", "begins"), [(3, "train", True), (2, "train", False), (3, "evaluate", False)]
)
def test_that_it_begins_in_a_training_that_lasts_as_long(
    epochs: int, task: str, begins: bool
) -> None:
    profile = Profile(task=task, model=MODEL, training=TrainingSettings(epochs=epochs))
    assert profile.fine_tuning == (MODEL.fine_tuning if begins else None)


@pytest.mark.parametrize(
    ("tuning", "sentence"),
    [
        (
            FineTuning(from_epoch=2),
            "In epoch 1 only the head learns, from epoch 2 on all layers of the base do, too.",
        ),
        (
            FineTuning(from_epoch=3, layers=1, learning_rate=1e-5),
            (
                "Until epoch 2 only the head learns, from epoch 3 on the last layer of the base "
                "does, too, at a learning rate of 1e-05 in place of the first one."
            ),
        ),
        (
            FineTuning(from_epoch=1001, layers=1000),
            (
                "Until epoch 1,000 only the head learns, from epoch 1,001 on the last 1,000 layers "
                "of the base do, too."
            ),
        ),
    ],
)
def test_that_a_sentence_says_what_learns_when(tuning: FineTuning, sentence: str) -> None:
    assert tuning.sentence == sentence


@pytest.mark.parametrize(
    ("layers", "words"), [(1, "1 layer of the base learns"), (30, "30 layers of the base learn")]
)
def test_that_a_run_says_what_began_to_learn(layers: int, words: str) -> None:
    event = FineTuningBegan(
        time_s=1.0, epoch=5, layers=layers, trainable_parameters=1234, learning_rate=1e-5
    )
    assert event.words == f"{words}, 1,234 parameters with the head, learning rate 1e-05"


def test_that_the_schedule_goes_on_scaled() -> None:
    schedule = ScheduleSettings(kind="cosine", warmup_epochs=1.0)
    training = TrainingSettings(learning_rate=0.5, epochs=4, schedule=schedule)
    before = training.rate_curve(10)
    tuned = training.rate_curve(10, MODEL.fine_tuning)
    for step in range(42):
        scale = 1.0 if step < 20 else 1e-5 / 0.5
        assert tuned.at(step) == pytest.approx(before.at(step) * scale)
    same = MODEL.model_copy(update={"fine_tune_learning_rate": None}).fine_tuning
    assert training.rate_curve(10, same) == before
