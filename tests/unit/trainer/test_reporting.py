"""Events, and how often steps are reported."""

import errno
import os
import time
from pathlib import Path

import pytest

from gpupanel.domain.events import (
    Phase,
    PhaseChanged,
    RequestAnswered,
    StepsDone,
    UnknownEvent,
    decode_event,
)
from gpupanel.domain.outcome import Metrics
from gpupanel.trainer import event_writer
from gpupanel.trainer.event_writer import EventWriter
from gpupanel.trainer.interruptions import Interruption, Interruptions
from gpupanel.trainer.loop.pace import Pace
from gpupanel.trainer.loop.step_reports import StepReports


class _Means:
    """Stands in for an objective, whose module needs TensorFlow."""

    def loss(self, loss_sum: float, examples: int) -> float:
        return loss_sum / examples

    def metrics(self, loss_sum: float, measure_sum: float, examples: int) -> Metrics:
        return Metrics(loss=loss_sum / examples, accuracy=measure_sum / examples)


def read(path: Path) -> list[object]:
    return [decode_event(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_that_the_same_phase_is_told_once(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    with EventWriter(path) as events:
        for phase in (Phase.TRAINING, Phase.TRAINING, Phase.SAVING, Phase.TRAINING):
            events.phase(phase)

    phases = [event.phase for event in read(path) if isinstance(event, PhaseChanged)]
    assert phases == [Phase.TRAINING, Phase.SAVING, Phase.TRAINING]


def test_that_a_full_disk_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "events.jsonl").symlink_to("/dev/full")
    with (
        EventWriter(tmp_path / "events.jsonl") as events,
        pytest.raises(OSError, match="No space left") as caught,
    ):
        events.phase(Phase.TRAINING)
    assert caught.value.errno == errno.ENOSPC


def test_that_a_torn_line_does_not_spoil_the_next_event(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "events.jsonl"
    write, calls = os.write, []

    def fills_up(file: int, data: bytes) -> int:
        calls.append(data)
        if len(calls) == 1:
            return write(file, data[:10])
        if len(calls) == 2:
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(file, data)

    monkeypatch.setattr(event_writer.os, "write", fills_up)
    with EventWriter(path) as events:
        with pytest.raises(OSError, match="No space left"):
            events.phase(Phase.TRAINING)
        events.phase(Phase.SAVING)

    torn, whole = read(path)
    assert isinstance(torn, UnknownEvent)
    assert isinstance(whole, PhaseChanged)


def test_that_steps_are_reported_at_most_20_times_a_second(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    with EventWriter(path) as events:
        reports = StepReports(events, _Means())
        end, step = time.monotonic() + 0.5, 0
        while time.monotonic() < end:
            step += 3
            reports.add(3, 30, 15.0, 20.0, 0.001)
            reports.report(step, 1, step)
        reports.report(step, 1, step, now=True)

    told = [event for event in read(path) if isinstance(event, StepsDone)]
    assert 2 <= len(told) <= 11
    assert sum(event.steps for event in told) == step
    assert told[-1].step == step
    assert {(event.loss, event.accuracy) for event in told} == {(0.5, 2 / 3)}


def test_that_nothing_is_reported_without_steps(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    with EventWriter(path) as events:
        StepReports(events, _Means()).report(0, 1, 0, now=True)

    assert read(path) == []


def test_that_a_call_comes_to_last_about_50_ms() -> None:
    pace = Pace()
    for _ in range(10):
        pace.took(pace.steps, pace.steps * 0.001)
    assert pace.steps == 50

    pace.took(50, 5.0)
    assert pace.steps == 1


@pytest.fixture
def interruptions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Interruptions:
    monkeypatch.setenv("GPUPANEL_SUPERVISOR_PID", str(os.getppid()))
    (tmp_path / "requests").mkdir()
    return Interruptions(tmp_path / "requests", EventWriter(tmp_path / "events.jsonl"))


def test_that_nothing_interrupts_by_itself(interruptions: Interruptions) -> None:
    assert interruptions.pending() is None


def test_that_a_stop_is_answered_once(interruptions: Interruptions, tmp_path: Path) -> None:
    (tmp_path / "requests" / "stop").touch()

    assert [interruptions.pending() for _ in range(3)] == [Interruption.STOP] * 3

    (answer,) = read(tmp_path / "events.jsonl")
    assert isinstance(answer, RequestAnswered)


def test_that_a_checkpoint_is_asked_for_once(interruptions: Interruptions, tmp_path: Path) -> None:
    request = tmp_path / "requests" / "checkpoint"
    request.touch()

    assert interruptions.pending() is Interruption.CHECKPOINT
    assert not request.exists()
    assert interruptions.pending() is None


def test_that_a_trainer_whose_supervisor_is_gone_notices(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GPUPANEL_SUPERVISOR_PID", str(os.getppid() + 1))
    (tmp_path / "requests").mkdir()
    with EventWriter(tmp_path / "events.jsonl") as events:
        assert (
            Interruptions(tmp_path / "requests", events).pending() is Interruption.SUPERVISOR_GONE
        )
