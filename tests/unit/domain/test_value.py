"""Copies of values are checked as values are."""

import pytest
from pydantic import ConfigDict, ValidationError

from gpupanel.domain.profile import Profile
from gpupanel.domain.training import TrainingSettings
from gpupanel.domain.value import Value

TRAINING = TrainingSettings()


def test_that_a_changed_copy_has_the_change_and_everything_else() -> None:
    copy = TRAINING.model_copy(update={"epochs": 7})

    assert copy == TrainingSettings(epochs=7)
    assert TrainingSettings() == TRAINING


@pytest.mark.parametrize(
    ("update", "named"),
    [
        ({"epochs": "many"}, "epochs"),
        ({"epochs": -1}, "epochs"),
        ({"learning_rate": float("nan")}, "learning_rate"),
    ],
)
def test_that_a_copy_takes_what_its_value_takes(update: dict[str, object], named: str) -> None:
    with pytest.raises(ValidationError, match=named):
        TRAINING.model_copy(update=update)


def test_that_a_copy_has_no_other_fields_than_its_value() -> None:
    class OfNewerVersions(Value):
        model_config = ConfigDict(extra="ignore")

    for value in (TRAINING, OfNewerVersions()):
        with pytest.raises(TypeError, match="has no field epohcs"):
            value.model_copy(update={"epohcs": 7})


def test_that_parts_of_a_copy_are_those_of_the_original() -> None:
    profile = Profile()

    assert profile.model_copy(update={"name": "another"}).training is profile.training
