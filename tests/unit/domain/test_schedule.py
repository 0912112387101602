"""The learning rate over the steps of a training."""

import math

import pytest

from gpupanel.domain.schedule import ScheduleKind, ScheduleSettings
from gpupanel.domain.training import TrainingSettings


def rates(epochs: int = 4, steps_an_epoch: int = 10, **schedule: object) -> list[float]:
    """Of every update, and of two after the last one."""
    training = TrainingSettings(
        learning_rate=0.5, epochs=epochs, schedule=ScheduleSettings(**schedule)
    )
    curve = training.rate_curve(steps_an_epoch)
    return [curve.at(step) for step in range(epochs * steps_an_epoch + 2)]


@pytest.mark.parametrize("kind", [ScheduleKind.CONSTANT, ScheduleKind.REDUCE_ON_PLATEAU])
def test_that_a_rate_that_no_step_changes_stays_what_it_is(kind: ScheduleKind) -> None:
    assert set(rates(kind=kind)) == {0.5}


def test_that_a_step_falls_at_once_when_its_epochs_are_over() -> None:
    found = rates(kind="step", every_epochs=2, factor=0.5)
    assert found[:20] == [0.5] * 20
    assert found[20:40] == [0.25] * 20
    assert found[40] == 0.125


def test_that_an_exponential_rate_has_fallen_by_its_factor_after_its_epochs() -> None:
    found = rates(kind="exponential", every_epochs=2, factor=0.25)
    assert found[10] == pytest.approx(0.25)
    assert found[20] == pytest.approx(0.125)
    assert found == sorted(found, reverse=True)


def test_that_a_cosine_falls_from_its_rate_to_its_least_and_stays_there() -> None:
    found = rates(kind="cosine", least=0.1)
    assert found[0] == 0.5
    assert found[20] == pytest.approx(0.5 * 0.55)
    assert found[40:] == pytest.approx([0.05, 0.05])


def test_that_a_warm_up_rises_in_a_line_before_the_cosine() -> None:
    found = rates(kind="cosine", warmup_epochs=1.5)
    assert found[:16] == pytest.approx([0.5 * step / 15 for step in range(16)])
    assert max(found) == found[15] == 0.5
    assert found[-1] == pytest.approx(0.0, abs=1e-12)


def test_that_a_cycle_rises_from_a_25th_and_falls_to_almost_nothing() -> None:
    found = rates(kind="one_cycle", rise=0.25)
    assert found[0] == pytest.approx(0.5 / 25)
    assert found[:11] == sorted(found[:11])
    assert found[10] == max(found) == 0.5
    assert found[10:] == sorted(found[10:], reverse=True)
    assert found[-1] == pytest.approx(0.5 / 25 / 1e4)


@pytest.mark.parametrize("kind", ScheduleKind)
def test_that_the_shortest_training_has_a_rate(kind: ScheduleKind) -> None:
    schedule = {"kind": kind, "warmup_epochs": 3.0 if kind is ScheduleKind.COSINE else 0.0}
    assert all(math.isfinite(rate) for rate in rates(1, 1, **schedule))


def test_that_a_schedule_says_what_it_depends_on() -> None:
    follows = [kind for kind in ScheduleKind if ScheduleSettings(kind=kind).follows_loss]
    assert follows == [ScheduleKind.REDUCE_ON_PLATEAU]
