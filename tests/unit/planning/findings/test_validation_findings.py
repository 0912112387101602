"""What is said of a training that is validated for much of its time."""

from dataclasses import replace

import pytest

from gpupanel.domain.data import DigitsData
from gpupanel.domain.finding import Finding
from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.domain.time_spent import ReplicaTime, TimeSpent
from gpupanel.domain.training import TrainingSettings
from gpupanel.planning.findings.context import FindingContext
from gpupanel.planning.findings.validation_findings import validation_takes_long
from gpupanel.planning.fixes import apply_fix
from tests.fakes.devices import CPU_ONLY
from tests.unit.planning.findings.recorded import (
    START_S,
    context_of,
    found_in,
    profile_of,
    recorded,
    reports_of,
    spent,
)


def validating(
    part: float, seconds: float = 100.0, every: int = 1, epochs: int = 200
) -> FindingContext:
    """A training that spends that part of its time in validation."""
    profile = Profile(
        devices=DeviceSettings(visible=("cpu",)),
        data=DigitsData(validation_fraction=0.2),
        training=TrainingSettings(epochs=epochs, validate_every=every),
    )
    data = recorded("clean", profile_of()).data
    assert data is not None
    total = TimeSpent(
        seconds=seconds,
        validating_s=part * seconds,
        replicas=(ReplicaTime(computing_s=(1.0 - part) * seconds),),
    )
    data = data.model_copy(update={"validation_examples": 359})
    reports = reports_of(lambda _: spent())
    return context_of(profile, CPU_ONLY, reports=reports, data=data, total=total)


def only(context: FindingContext) -> Finding:
    (finding,) = validation_takes_long(context)
    return finding


def test_that_more_than_a_quarter_of_the_time_is_named_with_a_pace_that_takes_a_tenth() -> None:
    context = validating(0.31)
    finding = found_in(context)["validation_takes_long"]
    assert finding.problem.message == (
        "Validation takes 31 % of the time: after each epoch the model is measured on 359 examples."
    )
    assert (finding.cost_fraction, finding.since_s) == (0.31, START_S)
    assert finding.problem.fix is not None
    assert finding.problem.fix.label == "Validate every 5 epochs"
    assert apply_fix(context.profile, finding.problem.fix).training.validate_every == 5
    without_data = only(replace(context, data=None))
    assert without_data.problem.message.endswith("after each epoch the model is measured.")


@pytest.mark.parametrize("part", [0.0, 0.25])
def test_that_a_quarter_is_no_finding(part: float) -> None:
    assert not list(validation_takes_long(validating(part)))


def test_that_half_a_minute_has_to_pass_first() -> None:
    assert not list(validation_takes_long(validating(0.5, seconds=29.0)))
    assert list(validation_takes_long(validating(0.5, seconds=30.0)))
    assert not list(validation_takes_long(replace(validating(0.5), reports=())))


@pytest.mark.parametrize("part", [0.26, 0.31, 0.5, 0.7, 0.9])
@pytest.mark.parametrize("every", [1, 2, 5, 7])
def test_that_what_is_offered_takes_a_tenth_at_most(part: float, every: int) -> None:
    fix = only(validating(part, every=every, epochs=100_000)).problem.fix
    assert fix is not None
    (change,) = fix.changes
    assert isinstance(change.value, int)
    assert change.value > every
    a_validation = every * part / (1.0 - part)
    assert a_validation / (change.value + a_validation) <= 0.1 + 1e-9
    assert str(change.value).rstrip("0") in ("1", "2", "5")


@pytest.mark.parametrize(("epochs", "is_offered"), [(9, False), (10, True)])
def test_that_two_validations_are_left_of_what_is_offered(epochs: int, is_offered: bool) -> None:
    problem = only(validating(0.31, epochs=epochs)).problem
    assert (problem.fix is not None) is is_offered
    assert "hold out fewer examples" in problem.hint


def test_that_the_pace_of_now_is_named() -> None:
    assert "after every 2 epochs" in only(validating(0.31, every=2)).problem.message


def test_that_a_training_that_only_validates_is_told_something_finite() -> None:
    assert only(validating(1.0)).problem.fix is None
