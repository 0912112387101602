"""Where the time of a training goes: all of it is accounted for, replica by replica."""

from collections.abc import Sequence
from dataclasses import dataclass

import pytest

from gpupanel.domain.events import Event, TimeReported
from gpupanel.domain.time_spent import ReplicaTime, TimeSpent
from gpupanel.trainer.loop.time_account import TimeAccount
from gpupanel.trainer.progress import TrainingRecord
from tests.fakes.clock import Clock


@dataclass
class Sums:
    """What a call gives, as far as its times go."""

    waited_s: float = 0.0
    replica_seconds: Sequence[float] = ()
    replica_waits: Sequence[float] = ()


class Written:
    """Keeps events."""

    def __init__(self) -> None:
        self.events: list[Event] = []

    def write(self, event: Event) -> None:
        self.events.append(event)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def written() -> Written:
    return Written()


@pytest.fixture
def record() -> TrainingRecord:
    return TrainingRecord()


def account(written: Written, record: TrainingRecord, replicas: int, clock: Clock) -> TimeAccount:
    made = TimeAccount(written, record, replicas, clock)  # type: ignore[arg-type]
    made.restart()
    with made.validating():
        clock.now_s += 5.0
    return made


def spent(written: Written) -> TimeSpent:
    (event,) = written.events
    assert isinstance(event, TimeReported)
    return event.spent


def test_that_a_first_validation_in_which_the_graph_is_optimised_is_counted_nowhere(
    clock, written, record
):
    counted = TimeAccount(written, record, 1, clock)  # type: ignore[arg-type]
    with counted.validating():
        clock.now_s += 9.0
    counted.restart()
    clock.now_s += 1.0
    with counted.validating():
        clock.now_s += 0.5
    counted.report(12)
    assert spent(written).seconds == 1.5
    assert spent(written).validating_s == 0.5


def test_that_one_device_computes_waits_for_data_validates_and_saves(clock, written, record):
    counted = account(written, record, 1, clock)
    clock.now_s += 0.7
    counted.add(Sums(waited_s=0.2), 0.4)
    with counted.validating():
        clock.now_s += 0.3
    with counted.saving():
        clock.now_s += 0.5
    counted.report(12)
    assert spent(written) == TimeSpent(
        seconds=1.5,
        host_s=0.1,
        validating_s=0.3,
        saving_s=0.5,
        replicas=(ReplicaTime(computing_s=0.4, waiting_for_data_s=0.2),),
    )
    assert written.events[0].step == 12
    assert record.time_spent == spent(written)


def test_that_nothing_is_reported_more_often_than_once_a_second(clock, written, record):
    counted = account(written, record, 1, clock)
    for _ in range(10):
        clock.now_s += 0.4
        counted.add(Sums(), 0.3)
        counted.report(1)
    counted.report(1, now=True)
    assert [round(event.spent.seconds, 6) for event in written.events] == [1.2, 1.2, 1.2, 0.4]
    assert record.time_spent is not None
    assert record.time_spent.seconds == pytest.approx(4.0)
    assert record.time_spent.replicas[0].computing_s == pytest.approx(3.0)


def test_that_what_comes_after_the_slowest_replica_is_the_exchange(clock, written, record):
    counted = account(written, record, 2, clock)
    clock.now_s += 1.0
    counted.add(Sums(replica_seconds=(0.05, 0.15)), 0.2)
    counted.add(Sums(replica_seconds=(0.45, 0.15)), 0.6)
    counted.report(1)
    first, second = spent(written).replicas
    # Each was the slowest once: 0.05 and 0.15 s came after it.
    assert first == ReplicaTime(computing_s=0.5, exchanging_s=0.2, waiting_for_replicas_s=0.1)
    assert second == ReplicaTime(computing_s=0.3, exchanging_s=0.2, waiting_for_replicas_s=0.3)


def test_that_a_replica_waits_for_the_data_of_its_own_process(clock, written, record):
    counted = account(written, record, 2, clock)
    clock.now_s += 1.0
    counted.add(
        Sums(waited_s=0.0, replica_waits=(0.0, 0.6), replica_seconds=(0.2, 0.2)),
        0.9,
    )
    counted.report(1)
    quick, starved = spent(written).replicas
    assert quick.waiting_for_replicas_s == pytest.approx(0.6)
    assert starved.waiting_for_data_s == pytest.approx(0.6)
    assert starved.waiting_for_replicas_s == pytest.approx(0.0)


def test_that_workers_beside_each_other_compute_and_wait(clock, written, record):
    counted = account(written, record, 2, clock)
    clock.now_s += 2.0
    counted.add_asynchronous(Sums(replica_seconds=(1.0,), waited_s=0.0))
    counted.add_asynchronous(Sums(replica_seconds=(1.4,), waited_s=0.1))
    counted.report(1)
    assert (
        spent(written).replicas
        == (ReplicaTime(computing_s=1.2, waiting_for_replicas_s=0.7, waiting_for_data_s=0.1),) * 2
    )


def test_that_all_of_the_time_is_accounted_for(clock, written, record):
    counted = account(written, record, 3, clock)
    for number in range(7):
        clock.now_s += 0.9
        seconds = (0.1, 0.2, 0.3 + 0.01 * number)
        waits = (0.1,) * 3
        counted.add(Sums(waited_s=0.1, replica_waits=waits, replica_seconds=seconds), 0.5)
        with counted.validating():
            clock.now_s += 0.05
        counted.report(number)
    counted.report(7, now=True)
    for replica in range(3):
        for event in written.events:
            whole = sum(event.spent.of_replica(replica).values())
            assert whole == pytest.approx(event.spent.seconds, abs=1e-5)
        assert record.time_spent is not None
        assert sum(record.time_spent.of_replica(replica).values()) == pytest.approx(7 * 0.95)


def test_that_nothing_is_counted_before_the_first_call(clock, written, record):
    counted = TimeAccount(written, record, 1, clock)  # type: ignore[arg-type]
    clock.now_s += 60.0
    counted.report(0, now=True)
    assert written.events == []
    counted.restart()
    clock.now_s += 2.0
    counted.report(1)
    assert spent(written).seconds == 2.0
