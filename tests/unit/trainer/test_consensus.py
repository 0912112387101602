"""Processes in step: what one of them hears takes effect in all of them at the same call."""

import os
from pathlib import Path

import pytest

from gpupanel.domain.process_environment import SUPERVISOR_PID_VARIABLE
from gpupanel.domain.request import Request
from gpupanel.trainer.event_writer import EventWriter
from gpupanel.trainer.interruptions import Interruption, Interruptions
from gpupanel.trainer.loop.consensus import Pace, SeveralProcesses, SingleProcess


class Workers:
    """A leader and another one, and the sums that their calls would give them."""

    def __init__(self, folder: Path) -> None:
        self.requests = folder / "requests"
        self.requests.mkdir()
        self.events = folder / "events.jsonl"
        self.interruptions = [
            Interruptions(self.requests, EventWriter(self.events, leads=leads), leads=leads)
            for leads in (True, False)
        ]
        self.processes = [
            SeveralProcesses(each, leads=leads)
            for each, leads in zip(self.interruptions, (True, False), strict=True)
        ]
        self.paces = [Pace(), Pace()]
        self.trained_s = (0.0, 0.0)

    def call(
        self, seconds: tuple[float, float] = (0.001, 0.001), *, is_due: bool = False
    ) -> list[Interruption | None]:
        """One call of all; gives what each of them does next.

        Args:
            seconds: How long it takes each.
            is_due: The leader has found that all are to take part in a checkpoint.
        """
        pairs = list(zip(self.processes, self.paces, strict=True))
        due = (is_due, False)
        handed_in = [
            consensus.vote(pace, checkpoint=wanted, trained_s=trained_s)
            for (consensus, pace), wanted, trained_s in zip(pairs, due, self.trained_s, strict=True)
        ]
        summed = tuple(sum(each) for each in zip(*handed_in, strict=True))
        for (consensus, pace), took_s in zip(pairs, seconds, strict=True):
            consensus.take_votes(summed, pace, pace.steps, took_s)
        return [consensus.pending() for consensus in self.processes]


@pytest.fixture
def workers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workers:
    monkeypatch.delenv(SUPERVISOR_PID_VARIABLE, raising=False)
    return Workers(tmp_path)


def test_that_nothing_interrupts_where_nobody_asked(workers: Workers) -> None:
    assert workers.call() == [None, None]


def test_that_a_stop_takes_effect_in_all_and_is_answered_once(workers: Workers) -> None:
    (workers.requests / Request.STOP).touch()
    assert workers.call() == [Interruption.STOP, Interruption.STOP]
    assert workers.events.read_text().count('"request_answered"') == 1


def test_that_a_signal_to_any_of_them_stops_all(workers: Workers) -> None:
    workers.interruptions[1]._on_sigterm(15, None)
    assert workers.call() == [Interruption.STOP, Interruption.STOP]
    assert workers.events.read_text().count('"request_answered"') == 1


def test_that_used_processor_time_of_any_of_them_stops_all_and_is_reported_once(
    workers: Workers,
) -> None:
    workers.interruptions[1]._on_used_time()
    assert workers.call() == [Interruption.STOP, Interruption.STOP]
    workers.call()
    written = workers.events.read_text()
    assert written.count('"processor_time_limited"') == written.count('"request_answered"') == 1


def test_that_a_supervisor_gone_for_one_is_gone_for_all(
    workers: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Nobody is a child of itself; of process 1 many are.
    monkeypatch.setenv(SUPERVISOR_PID_VARIABLE, str(os.getpid()))
    assert workers.call() == [Interruption.SUPERVISOR_GONE] * 2


def test_that_all_are_suspended_alike_after_the_epoch_that_was_named(workers: Workers) -> None:
    (workers.requests / Request.SUSPEND_AFTER_EPOCH).write_text("2")
    for epoch in (0, 1):
        for each in workers.interruptions:
            each.end_epoch(epoch)
        assert workers.call() == [None, None]
    for each in workers.interruptions:
        each.end_epoch(2)
    assert workers.call() == [Interruption.SUSPEND_AFTER_EPOCH] * 2
    assert '"suspend"' in workers.events.read_text()


@pytest.mark.parametrize("content", ["", "soon", "9" * 40])
def test_that_a_file_that_names_no_epoch_suspends_nobody(workers: Workers, content: str) -> None:
    (workers.requests / Request.SUSPEND_AFTER_EPOCH).write_text(content)
    workers.interruptions[0].end_epoch(1)
    assert workers.call() == [None, None]


def test_that_a_plain_suspension_saves_no_model_in_any_of_them(workers: Workers) -> None:
    (workers.requests / Request.SUSPEND).touch()
    assert workers.call() == [Interruption.SUSPEND] * 2


def test_that_a_checkpoint_is_saved_at_the_same_step_once(workers: Workers) -> None:
    (workers.requests / Request.CHECKPOINT).touch()
    assert workers.call() == [Interruption.CHECKPOINT] * 2
    assert workers.call() == [None, None]
    assert not (workers.requests / Request.CHECKPOINT).exists()


def test_that_a_checkpoint_that_is_due_for_the_leader_is_one_of_all(workers: Workers) -> None:
    assert workers.call(is_due=True) == [Interruption.CHECKPOINT] * 2
    assert workers.call() == [None, None]
    # Nobody asked for it, so that nobody is answered.
    assert not workers.events.read_text()


def test_that_the_leaders_pace_is_that_of_all(workers: Workers) -> None:
    # The other one finds calls slow, the leader does not: what counts is the leader.
    for _ in range(6):
        workers.call(seconds=(0.001, 10.0))
        assert workers.paces[0].steps == workers.paces[1].steps
    assert workers.paces[0].steps > 20


def test_that_the_leaders_clock_is_that_of_all(workers: Workers) -> None:
    workers.trained_s = (12.5, 99.0)
    workers.call()
    assert [each.trained_s(own_s=50.0) for each in workers.processes] == [12.5, 12.5]


def test_that_one_process_has_its_own_clock(workers: Workers) -> None:
    assert SingleProcess(workers.interruptions[0]).trained_s(own_s=50.0) == 50.0
