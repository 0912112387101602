"""A list of a host's runs says of each what a list there says."""

import os
import random
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gpupanel.domain.events import (
    ClockJumped,
    DataReady,
    EpochDone,
    Event,
    FitBegan,
    RunEnded,
    RunRestarted,
    RunStarted,
    ScriptStarted,
    StepsDone,
    TrainingEnded,
    encode_event,
)
from gpupanel.domain.outcome import Metrics, Outcome
from gpupanel.domain.problem import Problem
from gpupanel.domain.profile import Profile
from gpupanel.domain.run_layout import RunLayout
from gpupanel.hosts.here.mirror import Mirror
from gpupanel.hosts.operations.runs import RunNews
from gpupanel.hosts.there import outlined_runs
from gpupanel.runs.directory.run_lock import hold_run_lock
from gpupanel.runs.history.run_summary import RunSummary
from gpupanel.runs.history.summaries import list_runs
from gpupanel.runs.launcher import create_run
from tests.hosts.runs_there import cpu_plan

BEGAN_S = 1_790_000_000.0
Course = Callable[[], Iterator[Event]]


def begun() -> Iterator[Event]:
    yield RunStarted(time_s=BEGAN_S, supervisor_pid=1)
    yield DataReady(
        time_s=BEGAN_S + 1.0,
        training_examples=6_400,
        validation_examples=640,
        feature_shape=(8, 8),
        class_count=10,
        steps_per_epoch=100,
    )


def steps(first: int, count: int) -> Iterator[Event]:
    noise = random.Random(first)
    for number in range(first, first + count):
        yield StepsDone(
            time_s=BEGAN_S + 2.0 + number,
            step=number + 1,
            steps=1,
            epoch=1 + number // 100,
            step_in_epoch=1 + number % 100,
            examples=64,
            loss=noise.random(),
            accuracy=noise.random(),
            examples_per_second=1000.0 * noise.random(),
        )


def epoch(number: int, **metrics: float) -> EpochDone:
    measured = Metrics(loss=1.0 / number, **metrics)
    time_s = BEGAN_S + 2.0 + 100.0 * number
    return EpochDone(
        time_s=time_s, epoch=number, step=100 * number, metrics=measured, seconds=100.0
    )


def ended(at_s: float, outcome: Outcome = Outcome.COMPLETED, **more: object) -> RunEnded:
    return RunEnded(time_s=BEGAN_S + at_s, outcome=outcome, lasted_s=at_s, **more)


def short() -> Iterator[Event]:
    yield from begun()
    yield from steps(0, 10)
    yield ended(20.0, metrics=Metrics(loss=0.25), examples_per_second=512.0)


def long() -> Iterator[Event]:
    yield from begun()
    yield from steps(0, 3_000)
    yield ended(4_000.0, metrics=Metrics(loss=0.25), examples_per_second=512.0)


def of_long_words() -> Iterator[Event]:
    yield from begun()
    yield from steps(0, 3_000)
    problem = Problem(code="trainer_crashed", message="It crashed.", detail="x" * 14_000)
    log = tuple("y" * 200 for _ in range(80))
    yield ended(4_000.0, Outcome.FAILED, problem=problem, log_tail=log)


def of_metrics_far_from_the_end() -> Iterator[Event]:
    yield from begun()
    yield from steps(0, 100)
    yield epoch(1, val_loss=0.75, accuracy=0.5)
    yield from steps(100, 400)
    yield ended(700.0, Outcome.STOPPED)


def validated_seldom() -> Iterator[Event]:
    yield from begun()
    yield epoch(1, val_loss=0.75)
    for number in range(2, 80):
        yield epoch(number)
    yield from steps(0, 30)


def lost() -> Iterator[Event]:
    yield from begun()
    yield from steps(0, 2_000)


def lost_by_its_supervisor() -> Iterator[Event]:
    yield from begun()
    yield from steps(0, 2_000)
    yield TrainingEnded(
        time_s=BEGAN_S + 2_100.0,
        outcome=Outcome.COMPLETED,
        metrics=Metrics(loss=0.5),
        examples_per_second=9.0,
    )
    yield from steps(2_000, 5)


def of_segments() -> Iterator[Event]:
    """Two pauses and a sleep, thousands of lines from both ends."""
    yield from begun()
    yield from steps(0, 900)
    yield ended(1_000.0, Outcome.SUSPENDED)
    yield RunRestarted(time_s=BEGAN_S + 50_000.0, attempt=0)
    yield RunStarted(time_s=BEGAN_S + 50_010.0, supervisor_pid=2)
    yield from (
        event.model_copy(update={"time_s": event.time_s + 49_200.0}) for event in steps(900, 900)
    )
    yield ClockJumped(time_s=BEGAN_S + 51_500.0, gap_s=300.0)
    yield RunRestarted(time_s=BEGAN_S + 90_000.0, attempt=0)
    yield RunStarted(time_s=BEGAN_S + 90_010.0, supervisor_pid=3)
    yield from (
        event.model_copy(update={"time_s": event.time_s + 88_400.0}) for event in steps(1_800, 900)
    )


def of_a_program() -> Iterator[Event]:
    yield RunStarted(time_s=BEGAN_S, supervisor_pid=1)
    yield ScriptStarted(time_s=BEGAN_S, pid=7, program="train.py")
    yield FitBegan(time_s=BEGAN_S + 1.0, epochs=40, steps_per_epoch=100)
    yield from steps(0, 2_500)


def restarted_by_hand() -> Iterator[Event]:
    yield from lost()
    yield RunRestarted(time_s=time.time(), attempt=0)


COURSES: tuple[Course, ...] = (
    short,
    long,
    of_long_words,
    of_metrics_far_from_the_end,
    validated_seldom,
    lost,
    lost_by_its_supervisor,
    of_segments,
    of_a_program,
    restarted_by_hand,
)


@pytest.fixture
def mirror(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Mirror]:
    monkeypatch.setenv("GPUPANEL_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("GPUPANEL_RUNS_DIR", str(tmp_path / "runs"))
    found = Mirror("lab")
    yield found
    found.close()


def told(mirror: Mirror, runs_dir: Path, watch: outlined_runs._RunsWatch | None = None) -> None:
    """Copy what a window is told."""
    watch = watch or outlined_runs._RunsWatch(runs_dir, {})

    def take(news: RunNews) -> None:
        if news.outline is not None:
            news = RunNews.model_validate_json(news.model_dump_json())
            mirror.take_outline(news.outline)

    watch.look(take, threading.Event())


def as_there(run: RunSummary, runs_dir: Path) -> RunSummary:
    return run.model_copy(update={"path": runs_dir / run.path.name})


@pytest.mark.parametrize("goes_on", [False, True])
@pytest.mark.parametrize("course", COURSES, ids=lambda course: course.__name__)
def test_that_a_list_here_says_what_a_list_there_says(mirror, tmp_path, course, goes_on):
    runs_dir = tmp_path / "runs"
    layout = create_run(Profile(name=course.__name__), cpu_plan(), runs_dir)
    layout.events.write_text("".join(f"{encode_event(event)}\n" for event in course()))
    lock = hold_run_lock(layout) if goes_on else None
    told(mirror, runs_dir)
    (here,) = list_runs(mirror.runs_dir)
    (there,) = list_runs(runs_dir)
    if lock is not None:
        lock.release()
    assert as_there(here, runs_dir) == there
    copied = RunLayout(mirror.runs_dir / layout.root.name).events.stat().st_size
    assert copied < 60_000


def test_that_a_run_that_has_not_begun_is_dated_as_there(mirror, tmp_path):
    runs_dir = tmp_path / "runs"
    layout = create_run(Profile(name="waiting"), cpu_plan(), runs_dir)
    os.utime(layout.profile, (BEGAN_S, BEGAN_S))
    told(mirror, runs_dir)
    (here,) = list_runs(mirror.runs_dir)
    assert here.started_s == BEGAN_S
    assert as_there(here, runs_dir) == list_runs(runs_dir)[0]


def test_that_segments_are_those_of_now_when_a_run_is_told_again_and_again(mirror, tmp_path):
    runs_dir = tmp_path / "runs"
    layout = create_run(Profile(name="growing"), cpu_plan(), runs_dir)
    lines = [encode_event(event) + "\n" for event in of_segments()]
    lock, watch = hold_run_lock(layout), outlined_runs._RunsWatch(runs_dir, {})
    for count in range(100, len(lines), 700):
        with layout.events.open("a") as file:
            file.write("".join(lines[max(0, count - 700) : count]))
        # As if the seconds had passed after which it is told anew.
        watch._running = dict.fromkeys(watch._running, -60.0)
        told(mirror, runs_dir, watch)
        (here,), (there,) = list_runs(mirror.runs_dir), list_runs(runs_dir)
        assert here.since_s == there.since_s
        assert as_there(here, runs_dir) == there
    lock.release()
