"""Where the time of a training goes, in figures and in words."""

import pytest

from gpupanel.domain.time_spent import ReplicaTime, TimeCategory, TimeSpent

ONE = TimeSpent(
    seconds=10.0,
    host_s=1.0,
    validating_s=1.0,
    saving_s=0.05,
    replicas=(
        ReplicaTime(computing_s=6.0, exchanging_s=1.0, waiting_for_data_s=0.95),
        ReplicaTime(
            computing_s=2.0,
            exchanging_s=1.0,
            waiting_for_replicas_s=4.0,
            waiting_for_data_s=0.95,
        ),
    ),
)


def test_that_stretches_are_added_replica_by_replica() -> None:
    both = ONE.plus(ONE)
    assert both.seconds == 20.0
    assert both.replicas[1] == ReplicaTime(
        computing_s=4.0, exchanging_s=2.0, waiting_for_replicas_s=8.0, waiting_for_data_s=1.9
    )
    assert both.fractions() == ONE.fractions()


def test_that_an_exchange_that_was_measured_later_is_added() -> None:
    unmeasured = TimeSpent(seconds=1.0, replicas=(ReplicaTime(computing_s=1.0),) * 2)
    assert unmeasured.plus(ONE).replicas[0].exchanging_s == 1.0
    assert ONE.plus(unmeasured).replicas[0].exchanging_s == 1.0
    assert unmeasured.plus(unmeasured).replicas[0].exchanging_s is None


def test_that_of_other_replicas_the_later_ones_are_kept() -> None:
    alone = TimeSpent(seconds=1.0, replicas=(ReplicaTime(computing_s=1.0),))
    assert ONE.plus(alone).replicas == alone.replicas
    assert ONE.plus(alone).seconds == 11.0


def test_that_fractions_are_means_over_the_replicas_that_are_named() -> None:
    assert ONE.fractions()[TimeCategory.COMPUTING] == pytest.approx(0.4)
    assert ONE.fractions([1])[TimeCategory.WAITING_FOR_REPLICAS] == pytest.approx(0.4)
    assert ONE.fractions([0])[TimeCategory.WAITING_FOR_REPLICAS] == 0.0
    assert sum(ONE.fractions().values()) == pytest.approx(1.0)
    assert TimeSpent().fractions() == {}
    assert TimeSpent(seconds=1.0).fractions() == {}


def test_that_what_was_not_measured_is_not_named() -> None:
    spent = TimeSpent(seconds=1.0, replicas=(ReplicaTime(computing_s=1.0),))
    assert TimeCategory.EXCHANGING not in spent.fractions()


def test_that_words_begin_with_what_takes_most_and_leave_out_what_takes_little() -> None:
    assert ONE.words.startswith("40 % computing, 20 % waiting for replicas, 10 % ")
    assert "validation" in ONE.words
    assert "checkpoints" not in ONE.words
    assert TimeSpent().words == ""


@pytest.mark.parametrize("activity", TimeCategory)
def test_that_each_activity_has_words(activity: TimeCategory) -> None:
    assert activity.label[0].isupper()
    assert activity.short_label.islower()
    assert activity.description.endswith(".")
