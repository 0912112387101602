"""Layers that are to learn from a later epoch on: what is reported before a run."""

import pytest

from gpupanel.domain.data import ImagesData
from gpupanel.domain.model import ApplicationModel
from gpupanel.domain.problem import Problem, Severity
from gpupanel.domain.profile import Profile
from gpupanel.domain.schedule import ScheduleSettings
from gpupanel.domain.training import TrainingSettings
from gpupanel.planning.fixes import apply_fix
from gpupanel.planning.prepare import prepare
from gpupanel.planning.script.stand_alone import stand_alone_script
from tests.fakes.devices import CPU_ONLY

MODEL = ApplicationModel(source="MobileNet", weights="imagenet", fine_tune_from_epoch=3)
CODES = {
    "fine_tuning_unused",
    "fine_tune_learning_rate_unused",
    "fine_tuning_beyond_training",
    "early_stopping_before_fine_tuning",
    "head_learns_from_drawn_base",
}


def session(epochs: int = 5, patience: int | None = None, **changes: object) -> Profile:
    return Profile(
        data=ImagesData(path="/pictures", image_size=(64, 64)),
        model=MODEL.model_copy(update=changes),
        training=TrainingSettings(epochs=epochs, early_stopping_patience=patience),
    )


def found(profile: Profile) -> dict[str, Problem]:
    problems = prepare(profile, CPU_ONLY).problems
    return {each.code: each for each in problems if each.code in CODES}


def fixed(profile: Profile, code: str, severity: Severity) -> Profile:
    """With the fix of the only problem."""
    problems = found(profile)
    assert list(problems) == [code]
    assert problems[code].severity is severity
    assert problems[code].fix is not None
    after = apply_fix(profile, problems[code].fix)
    assert found(after) == {}
    return after


def test_that_nothing_is_reported_of_what_works() -> None:
    assert found(session()) == {}
    assert found(session(patience=2, fine_tune_learning_rate=1e-5)) == {}


def test_that_nothing_is_reported_of_tasks_that_do_not_train() -> None:
    for changes in ({"frozen_layers": "base"}, {"fine_tune_from_epoch": 9, "weights": "none"}):
        profile = session(**changes).model_copy(update={"task": "evaluate"})
        assert found(profile) == {}


def test_that_a_base_that_is_frozen_as_a_whole_is_never_fine_tuned() -> None:
    after = fixed(session(frozen_layers="base"), "fine_tuning_unused", Severity.HINT)
    assert after.model == MODEL


def test_that_nothing_changes_with_the_first_epoch() -> None:
    profile = session(fine_tune_from_epoch=1, fine_tune_learning_rate=1e-5)
    after = fixed(profile, "fine_tuning_unused", Severity.HINT)
    assert after.model == MODEL.model_copy(update={"fine_tune_from_epoch": None})


def test_that_a_learning_rate_needs_its_epoch() -> None:
    profile = session(fine_tune_from_epoch=None, fine_tune_learning_rate=1e-5)
    after = fixed(profile, "fine_tune_learning_rate_unused", Severity.HINT)
    assert after.model == MODEL.model_copy(update={"fine_tune_from_epoch": None})


@pytest.mark.parametrize(("epochs", "begins"), [(2, 2), (1, None)])
def test_that_an_epoch_that_never_comes_is_brought_forward(epochs: int, begins: int | None) -> None:
    after = fixed(session(epochs), "fine_tuning_beyond_training", Severity.WARNING)
    assert after.model == MODEL.model_copy(update={"fine_tune_from_epoch": begins})


def test_that_early_stopping_may_come_before() -> None:
    after = fixed(session(patience=1), "early_stopping_before_fine_tuning", Severity.HINT)
    assert after.training.early_stopping_patience == 3


def test_that_a_head_does_not_learn_from_random_weights() -> None:
    profile = session(weights="none", fine_tune_learning_rate=1e-5)
    after = fixed(profile, "head_learns_from_drawn_base", Severity.WARNING)
    assert after.model == ApplicationModel(source="MobileNet")


def script(epochs: int = 5, training: dict[str, object] | None = None, **changes: object) -> str:
    profile = session(epochs, **changes)
    settings = profile.training.model_copy(update=training or {})
    profile = profile.model_copy(update={"training": settings})
    plan = prepare(profile, CPU_ONLY).plan
    assert plan is not None
    text = stand_alone_script(profile, plan)
    compile(text, "script.py", "exec")
    return text


def test_that_a_script_has_a_second_optimizer_from_that_epoch_on() -> None:
    text = script(fine_tune_learning_rate=1e-5)
    assert "for layer in layers:\n        layer.trainable = False" in text
    assert "later_layers = layers  # learn from epoch 3 on" in text
    assert "if epoch == 3:" in text
    assert "optimizer = FusedAdam(1e-05" in text
    assert "later_layers = layers[-4 :]" in script(frozen_layers=4)
    falling = script(training={"schedule": ScheduleSettings(kind="step", every_epochs=2)})
    assert "later_rate = Onward(tuning_rate, 2 * STEPS)" in falling


def test_that_a_script_whose_training_ends_before_only_trains_the_head() -> None:
    text = script(2)
    assert "for layer in layers:\n        layer.trainable = False" in text
    assert "later_layers" not in text
    assert "if epoch ==" not in text
