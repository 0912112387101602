"""Events, and how often steps are reported."""

import errno
import math
import os
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from gpupanel.domain.events import (
    ModelSaved,
    Phase,
    PhaseChanged,
    ProblemReported,
    RequestAnswered,
    StepsDone,
    TrainingEnded,
    UnknownEvent,
    decode_event,
)
from gpupanel.domain.outcome import Metrics
from gpupanel.domain.profile import Profile
from gpupanel.files import line_log
from gpupanel.trainer import event_writer, process
from gpupanel.trainer.event_writer import EventWriter
from gpupanel.trainer.interruptions import Interruption, Interruptions
from gpupanel.trainer.loop.consensus import Pace
from gpupanel.trainer.progress import StepReports
from tests.fakes.small_disks import fill, small_disk  # noqa: F401 - a fixture
from tests.unit.trainer.conftest import MakeRun


class _Means:
    """Stands in for an objective, whose module needs TensorFlow."""

    size = 2

    def metrics(self, sums: Sequence[float], examples: int) -> Metrics:
        loss, right = sums
        return Metrics(loss=loss / examples, accuracy=right / examples)


def read(path: Path) -> list[object]:
    return [decode_event(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_that_the_same_phase_is_reported_once(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    with EventWriter(path) as events:
        for phase in (Phase.TRAINING, Phase.TRAINING, Phase.SAVING, Phase.TRAINING):
            events.phase(phase)

    phases = [event.phase for event in read(path) if isinstance(event, PhaseChanged)]
    assert phases == [Phase.TRAINING, Phase.SAVING, Phase.TRAINING]


def test_that_events_wait_while_the_disk_is_full(small_disk: Path) -> None:  # noqa: F811
    path = small_disk / "events.jsonl"
    with EventWriter(path) as events:
        filler = fill(small_disk)
        for number in range(20):
            events.write(ModelSaved(time_s=time.time(), path=f"{number} {'far ' * 300}"))
        with pytest.raises(OSError, match="No space left"):
            events.flush()
        filler.unlink()
        events.phase(Phase.SAVING)

    written = [event for event in read(path) if not isinstance(event, UnknownEvent)]
    assert [type(event) for event in written] == [
        *[ModelSaved] * 20,
        PhaseChanged,
        ProblemReported,
    ]
    assert isinstance(written[-1], ProblemReported)
    assert written[-1].problem.code == "disk_was_full"


def test_that_a_clock_set_back_while_the_disk_is_full_is_no_negative_time(
    small_disk: Path,  # noqa: F811
) -> None:
    path = small_disk / "events.jsonl"
    now_s = time.time()
    with EventWriter(path) as events:
        filler = fill(small_disk)
        events.write(ModelSaved(time_s=now_s, path="far " * 2_000))
        filler.unlink()
        events.write(ModelSaved(time_s=now_s - 3600.0, path="after"))
    written = read(path)[-1]
    assert isinstance(written, ProblemReported)
    assert "was full for 0 s" in written.problem.message


@pytest.mark.parametrize("for_s", [1.0, 60.0], ids=["for a moment", "for long"])
def test_that_the_last_word_is_tried_again_where_the_disk_does_not_answer(
    tmp_path: Path, make_run: MakeRun, monkeypatch: pytest.MonkeyPatch, for_s: float
) -> None:
    layout = make_run(tmp_path / "run", Profile(), [64])
    look, since_s = line_log.status, time.monotonic()

    def stumble(path: Path) -> os.stat_result | None:
        if time.monotonic() - since_s < for_s:
            raise OSError(errno.ESTALE, "Stale file handle")
        return look(path)

    monkeypatch.setattr(line_log, "status", stumble)
    monkeypatch.setattr(process, "_LAST_WORDS_S", 3.0)
    status = process.train_run(layout.root, lambda *_: None)

    if for_s > 3.0:
        assert status == 1
        assert read(layout.events) == []
    else:
        assert status == 0
        (ended,) = read(layout.events)
        assert isinstance(ended, TrainingEnded)


def test_that_deleted_events_are_reported(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    with EventWriter(path) as events:
        events.phase(Phase.TRAINING)
        path.unlink()
        events.phase(Phase.SAVING)

    phase, problem = read(path)
    assert isinstance(phase, PhaseChanged)
    assert isinstance(problem, ProblemReported)
    assert problem.problem.code == "events_deleted"


def test_that_a_run_whose_folder_is_gone_is_an_error(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    with EventWriter(folder / "events.jsonl") as events:
        (folder / "events.jsonl").unlink()
        folder.rmdir()
        with pytest.raises(FileNotFoundError):
            events.phase(Phase.TRAINING)


def test_that_a_long_phase_is_reported_again_as_a_sign_of_life(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "events.jsonl"
    with EventWriter(path) as events:
        events.phase(Phase.VALIDATING)
        events.phase(Phase.VALIDATING)
        monkeypatch.setattr(event_writer, "_SIGN_OF_LIFE_S", 0.0)
        time.sleep(0.001)
        events.phase(Phase.VALIDATING)

    assert [event.phase for event in read(path)] == [Phase.VALIDATING, Phase.VALIDATING]


def test_that_steps_are_reported_at_most_20_times_a_second(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    with EventWriter(path) as events:
        reports = StepReports(events, _Means())
        end, step = time.monotonic() + 0.5, 0
        while time.monotonic() < end:
            step += 3
            reports.add(3, 30, (15.0, 20.0), 0.001, 0.0, of_updates={"gradient_norm": 1.5})
            reports.report(step, 1, step)
        reports.report(step, 1, step, now=True)

    written = [event for event in read(path) if isinstance(event, StepsDone)]
    assert 2 <= len(written) <= 11
    assert sum(event.steps for event in written) == step
    assert written[-1].step == step
    assert {(event.loss, event.accuracy) for event in written} == {(0.5, 2 / 3)}
    assert [event.gradient_norm for event in written] == pytest.approx([0.5] * len(written))


def test_that_a_norm_that_is_not_finite_is_none_and_leaves_the_next_alone(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    with EventWriter(path) as events:
        reports = StepReports(events, _Means())
        for step, norms in enumerate([math.inf, 2.0, math.nan, 4.0], start=1):
            reports.add(2, 20, (5.0, 5.0), 1.0, 0.0, of_updates={"gradient_norm": norms})
            reports.report(2 * step, 1, 2 * step, now=True)

    written = [event for event in read(path) if isinstance(event, StepsDone)]
    assert [event.gradient_norm for event in written] == [None, 1.0, None, 2.0]


def test_that_waiting_for_data_is_of_about_the_last_ten_seconds(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    with EventWriter(path) as events:
        reports = StepReports(events, _Means())
        for step, waited_s in enumerate([1.0, 0.0, *[0.5] * 60], start=1):
            reports.add(1, 10, (5.0, 5.0), 1.0, waited_s, of_updates={"gradient_norm": 1.0})
            reports.report(step, 1, step, now=True)

    written = [event for event in read(path) if isinstance(event, StepsDone)]
    assert written[0].waiting_for_data == pytest.approx(1.0)
    assert {event.step_time_ms for event in written} == {1_000.0}, "each step took a second"
    assert 0.45 < written[1].waiting_for_data < 0.5, "the last second counts a little more"
    assert written[-1].waiting_for_data == pytest.approx(0.5, abs=1e-3)


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
