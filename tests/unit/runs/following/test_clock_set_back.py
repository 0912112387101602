"""Runs during which somebody, or a time server, set the clock of the machine back."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from gpupanel.cli.app import app
from gpupanel.domain import events
from gpupanel.domain.outcome import Outcome
from gpupanel.domain.run_layout import RunLayout
from gpupanel.runs.following.follower import RunFollower
from gpupanel.runs.following.run_clock import RunClock, SteadyTime
from gpupanel.runs.following.status import RunStatus
from gpupanel.runs.following.steps import StepBatch
from gpupanel.runs.history.curves import CurveRecorder
from gpupanel.runs.history.summaries import list_runs
from gpupanel.ui.plots.run_curves import RunCurves
from tests.fakes.devices import CPU_ONLY
from tests.fakes.readings import busy_sample
from tests.fakes.run_directory import STARTED_S, WrittenRun

HOUR_S = 3600.0
LASTS_S = 2 * HOUR_S
STEP_S = 10.0
STEPS = int(LASTS_S / STEP_S)


@dataclass(frozen=True)
class SetBack:
    """A clock that is set back once while a run goes on; times are since its start."""

    at_s: float
    by_s: float

    def __call__(self, run_s: float) -> float:
        return STARTED_S + run_s - (self.by_s if run_s >= self.at_s else 0.0)


# By less than the run is old, and by more: to before its beginning.
CLOCKS = [SetBack(1.5 * HOUR_S, HOUR_S), SetBack(0.5 * HOUR_S, 4 * HOUR_S)]


def step(clock: SetBack, number: int) -> events.StepsDone:
    return events.StepsDone(
        time_s=clock(number * STEP_S),
        step=number,
        steps=1,
        epoch=1,
        step_in_epoch=number,
        examples=8,
        loss=1.0 / number,
        examples_per_second=0.8,
    )


@pytest.fixture(params=CLOCKS, ids=["within the run", "to before its beginning"])
def clock(request: pytest.FixtureRequest) -> SetBack:
    assert isinstance(request.param, SetBack)
    return request.param


@pytest.fixture
def layout(runs_dir: Path, clock: SetBack) -> RunLayout:
    """A run of two hours that came to its end: two of three epochs are not done yet."""
    with WrittenRun(runs_dir) as run:
        run.write(
            events.RunStarted(time_s=clock(0.0), supervisor_pid=1),
            events.DataReady(
                time_s=clock(1.0),
                training_examples=8 * STEPS,
                validation_examples=8,
                feature_shape=(8,),
                steps_per_epoch=STEPS,
            ),
            *(step(clock, number) for number in range(1, STEPS + 1)),
        )
        with run.layout.telemetry.open("w") as file:
            for run_s in np.arange(0.5, LASTS_S, 2 * STEP_S):
                file.write(busy_sample(CPU_ONLY, clock(run_s)).model_dump_json() + "\n")
        run.vanish()
    return run.layout


def end(layout: RunLayout, clock: SetBack) -> None:
    ended = events.RunEnded(time_s=clock(LASTS_S), outcome=Outcome.COMPLETED)
    with layout.events.open("a") as file:
        file.write(events.encode_event(ended) + "\n")


def test_that_the_curves_of_the_window_go_on_and_none_of_them_ends(layout: RunLayout) -> None:
    curves = RunCurves()
    curves.set_devices(CPU_ONLY)
    followed = RunFollower(layout).poll()
    curves.add_events(followed.parts)
    curves.add_samples(followed.readings)
    for buffer, count, every_s in (
        (curves.loss, STEPS, STEP_S),
        (curves.devices["cpu"].utilization, STEPS // 2, 2 * STEP_S),
    ):
        assert len(buffer.times) == count
        assert (np.diff(buffer.times) >= 0.0).all()
        assert buffer.times[-1] == pytest.approx(LASTS_S, abs=2.5 * every_s)
    assert curves.elapsed_s == pytest.approx(LASTS_S, abs=2.5 * STEP_S)


def test_that_the_curves_of_the_comparison_go_on(layout: RunLayout) -> None:
    recorder = CurveRecorder()
    recorder.add(RunFollower(layout).poll().parts)
    times_s = recorder.points()["loss"].times_s
    assert len(times_s) == STEPS
    assert times_s[-1] == pytest.approx(LASTS_S, abs=2.5 * STEP_S)
    # It stood still for one report, in which nobody knows how long it was.
    assert np.sort(np.diff(times_s))[[0, 1]].tolist() == [0.0, STEP_S]


def test_that_the_time_that_is_left_follows_from_the_time_that_passed(layout: RunLayout) -> None:
    status = RunStatus(epoch_total=3)
    for part in RunFollower(layout).poll().parts:
        status = status.after(part)
    assert status.step == STEPS
    assert status.seconds_left == pytest.approx(2 * LASTS_S, rel=0.01)


def test_that_steps_in_bulk_report_the_same_time_as_one_by_one(clock: SetBack) -> None:
    steps = [step(clock, number) for number in range(1, STEPS + 1)]
    alone = RunStatus(epoch_total=3)
    for each in steps:
        alone = alone.after(each)
    for size in (1, 7, STEPS):
        bulk = RunStatus(epoch_total=3)
        for part in _portions(steps, size):
            bulk = bulk.after(StepBatch.of(part))
        assert bulk == alone


def _portions(steps: list[events.StepsDone], size: int) -> Iterator[list[events.StepsDone]]:
    return (steps[start : start + size] for start in range(0, len(steps), size))


def test_that_the_run_is_listed_with_its_outcome_and_without_a_negative_time(
    layout: RunLayout, clock: SetBack, monkeypatch: pytest.MonkeyPatch
) -> None:
    (lost,) = list_runs(layout.root.parent)
    assert lost.outcome is Outcome.LOST
    end(layout, clock)
    (summary,) = list_runs(layout.root.parent)
    assert (summary.outcome, summary.flaw) == (Outcome.COMPLETED, None)
    assert summary.lasted_s is None or summary.lasted_s > 0.0
    # So wide that no word is folded.
    monkeypatch.setattr("gpupanel.cli.output.answers.width", 240)
    (row,) = CliRunner().invoke(app, ["runs"]).output.splitlines()[1:]
    assert "completed" in row
    assert " -" not in row


def test_that_a_run_whose_clock_is_back_is_watched_to_its_end(
    layout: RunLayout, clock: SetBack
) -> None:
    end(layout, clock)
    watched = CliRunner().invoke(app, ["watch", layout.name])
    assert watched.exit_code == 0
    assert "completed" in watched.stdout


def test_that_a_line_that_cannot_be_read_is_no_clock_that_was_set_back() -> None:
    clock = RunClock()
    damaged = events.decode_event(b"half a li")
    for event in (damaged, events.RunStarted(time_s=1000.0, supervisor_pid=1), damaged):
        clock.see(event)
    moment = clock.see(events.RunStarted(time_s=1010.0, supervisor_pid=2))
    assert clock.seconds(moment) == 0.0


def test_that_a_clock_that_is_put_right_again_goes_on_as_if_nothing_had_been() -> None:
    steady = SteadyTime()
    told = [steady.of(time_s) for time_s in (1000.0, 900.0, 910.0, 1010.0, 1020.0)]
    assert told == [1000.0, 1000.0, 1010.0, 1010.0, 1020.0]


def test_that_lines_of_several_processes_in_some_disorder_keep_their_times() -> None:
    steady = SteadyTime()
    times_s = [1000.0, 999.0, 1003.0, 1001.0]
    assert [steady.of(time_s) for time_s in times_s] == times_s
