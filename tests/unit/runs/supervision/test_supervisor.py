"""The supervisor against a trainer that behaves, misbehaves, and dies."""

import errno
import itertools
import json
import os
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from io import BufferedReader
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import psutil
import pytest

from gpupanel.domain.cuda_variables import CudaVariables
from gpupanel.domain.events import (
    Event,
    ProblemReported,
    RequestAnswered,
    RunEnded,
    RunRestarted,
    RunStarted,
    StepsDone,
    TrainerStarted,
    TrainingEnded,
    encode_event,
)
from gpupanel.domain.outcome import Outcome, SavedWork
from gpupanel.domain.profile import Profile
from gpupanel.domain.request import Request
from gpupanel.domain.run_layout import RunLayout
from gpupanel.files import guarded_files
from gpupanel.planning.prepare import prepare
from gpupanel.runs.directory import tails
from gpupanel.runs.directory.requests import ask
from gpupanel.runs.directory.run_lock import is_supervised
from gpupanel.runs.following.follower import RunFollower
from gpupanel.runs.following.status import RunStatus
from gpupanel.runs.history.run_text import run_outcome_text, searched_text
from gpupanel.runs.history.summaries import list_runs
from gpupanel.runs.launcher import create_run
from gpupanel.runs.processes import liveness
from gpupanel.runs.supervision import supervisor as supervisor_module
from gpupanel.runs.supervision.attempt_setup import StopRequests
from gpupanel.runs.supervision.supervisor import Supervisor
from gpupanel.runs.supervision.telemetry import TelemetryRecorder
from gpupanel.runs.supervision.watchdogs import Patience
from tests.fakes.devices import CPU_ONLY
from tests.fakes.trainer import ENOUGH
from tests.patience import wait_until

FAKE_TRAINER = Path(__file__).parents[3] / "fakes" / "trainer.py"


@pytest.fixture
def layout(runs_dir: Path) -> RunLayout:
    plan = prepare(Profile(), CPU_ONLY).plan
    assert plan is not None
    return create_run(Profile(), plan, runs_dir)


def supervisor(layout: RunLayout, mode: str, patience: Patience | None = None) -> Supervisor:
    return Supervisor(layout, (sys.executable, str(FAKE_TRAINER), mode), patience)


def events_of(layout: RunLayout) -> tuple[Event, ...]:
    return RunFollower(layout).poll().events


def end_of(layout: RunLayout) -> RunEnded:
    end = events_of(layout)[-1]
    assert isinstance(end, RunEnded)
    return end


def trainer_pid(layout: RunLayout) -> int:
    (pid,) = (event.pid for event in events_of(layout) if isinstance(event, TrainerStarted))
    return pid


def while_it_runs(supervisor: Supervisor, layout: RunLayout, act: Callable[[], None]) -> Outcome:
    """Runs the supervisor, acts once the first step was reported, and waits for the end."""
    with ThreadPoolExecutor(1) as pool:
        running: Future[Outcome] = pool.submit(supervisor.run)
        wait_until(lambda: b"steps_done" in layout.events.read_bytes())
        act()
        return running.result(timeout=30)


def test_that_a_trainer_that_has_begun_before_a_stop_is_not_taken_for_one_that_starts(
    layout: RunLayout, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ending(requests: StopRequests) -> Request | None:
        # The first step is done, and the stop asked, between two looks at the run.
        wait_until(lambda: b"steps_done" in layout.events.read_bytes())
        ask(layout, Request.STOP)
        return read_ending(requests)

    read_ending = StopRequests.ending
    monkeypatch.setattr(StopRequests, "ending", ending)
    assert supervisor(layout, "wait_for_stop").run() is Outcome.STOPPED
    assert end_of(layout).exit_code == 0


def test_that_a_run_that_completes_is_reported_with_its_metrics(layout: RunLayout) -> None:
    assert supervisor(layout, "complete").run() is Outcome.COMPLETED
    first, *_, last = events_of(layout)
    assert first == RunStarted(time_s=first.time_s, supervisor_pid=os.getpid())
    assert isinstance(last, RunEnded)
    assert (last.outcome, last.exit_code, last.problem) == (Outcome.COMPLETED, 0, None)
    assert last.metrics.accuracy == 0.9
    assert last.examples_per_second == 1234.0
    assert "the fake trainer says complete" in layout.trainer_log.read_text()


@pytest.mark.parametrize("readable_after_s", [0.6, 3.0], ids=["while it trains", "at its end"])
def test_that_events_that_cannot_be_read_for_a_while_end_no_training(
    layout: RunLayout,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    readable_after_s: float,
) -> None:
    reads: list[float] = []

    def open_to_read(path: Path) -> BufferedReader:
        if path == layout.events:
            reads.append(monotonic())
        # Twice what was there before the run's trainer is read: whether its start was claimed, and
        # what is over. Then the trouble begins.
        if path == layout.events and len(reads) > 2 and reads[-1] - reads[2] < readable_after_s:
            raise OSError(errno.ESTALE, "Stale file handle")
        return guarded_files.open_to_read(path)

    monkeypatch.setattr(tails, "open_to_read", open_to_read)
    assert supervisor(layout, "complete").run() is Outcome.COMPLETED
    assert reads[-1] - reads[2] >= readable_after_s
    monkeypatch.undo()
    assert end_of(layout).metrics.accuracy == 0.9
    assert capfd.readouterr().err.count("events cannot be read now") == 1


def test_that_the_last_words_of_an_orphan_are_not_those_of_the_run_that_goes_on(
    layout: RunLayout, monkeypatch: pytest.MonkeyPatch
) -> None:
    layout.events.write_text(encode_event(RunRestarted(time_s=1.0, attempt=0)) + "\n")

    def speaks_before_it_ends(_: RunLayout) -> None:
        ended = TrainingEnded(time_s=2.0, outcome=Outcome.STOPPED)
        with layout.events.open("a") as events:
            events.write(encode_event(ended) + "\n")

    monkeypatch.setattr(supervisor_module, "end_processes_of", speaks_before_it_ends)
    assert supervisor(layout, "complete").run() is Outcome.COMPLETED


def test_that_a_trainer_that_finds_no_space_for_its_events_is_not_taken_for_one_that_hangs(
    layout: RunLayout,
) -> None:
    run = supervisor(layout, "find_no_space", Patience(step_s=1.0))
    assert run.run() is Outcome.COMPLETED


def test_that_events_that_cannot_be_read_for_long_are_no_hang(
    layout: RunLayout, monkeypatch: pytest.MonkeyPatch
) -> None:
    first_s: list[float] = []

    def open_to_read(path: Path) -> BufferedReader:
        if path == layout.events and b"steps_done" in path.read_bytes():
            first_s.append(monotonic())
            if monotonic() - first_s[0] < 3.0:
                raise OSError(errno.ESTALE, "Stale file handle")
        return guarded_files.open_to_read(path)

    monkeypatch.setattr(tails, "open_to_read", open_to_read)
    (layout.root / ENOUGH).touch()
    run = supervisor(layout, "find_no_space", Patience(step_s=1.0))
    assert run.run() is Outcome.COMPLETED


def test_that_a_line_of_megabytes_before_the_last_word_makes_no_run_lost(
    layout: RunLayout,
) -> None:
    assert supervisor(layout, "say_much").run() is Outcome.COMPLETED

    assert end_of(layout).metrics.accuracy == 0.9


def test_that_words_of_before_behind_a_line_of_megabytes_are_over(layout: RunLayout) -> None:
    failed = TrainingEnded(time_s=1.0, outcome=Outcome.FAILED, problem=None)
    long_line = json.dumps({"kind": "much", "numbers": [0] * 2**20})
    restarted = RunRestarted(time_s=2.0, attempt=0)
    lines = (long_line, encode_event(failed), encode_event(restarted), "")
    layout.events.write_text("\n".join(lines))

    assert supervisor(layout, "vanish").run() is Outcome.LOST


def test_that_a_clock_that_is_set_to_and_fro_wakes_no_watchdog(
    layout: RunLayout, monkeypatch: pytest.MonkeyPatch
) -> None:
    offsets = itertools.cycle((0.0, -3600.0, 3600.0))
    real = time.time
    monkeypatch.setattr(time, "time", lambda: real() + next(offsets))
    patience = Patience(first_step_s=10.0, step_s=10.0, stop_s=10.0, term_s=10.0)

    def go_on_for_a_while() -> None:
        sleep(1.0)
        (layout.root / ENOUGH).touch()

    begun_s = monotonic()
    watched = supervisor(layout, "train_on", patience)
    assert while_it_runs(watched, layout, go_on_for_a_while) is Outcome.COMPLETED
    assert monotonic() - begun_s < 8.0
    told = events_of(layout)
    said = [event.problem.code for event in told if isinstance(event, ProblemReported)]
    assert said in ([], ["machine_slept"], ["machine_slept"] * 2)
    times_s = [event.time_s for event in told]
    assert max(times_s) - min(times_s) > 3600.0, "the clock was not set at all"


def test_that_the_problem_of_a_failed_run_is_its_own(layout: RunLayout) -> None:
    assert supervisor(layout, "fail").run() is Outcome.FAILED
    end = end_of(layout)
    assert end.problem is not None
    assert end.problem.code == "loss_not_finite"
    assert end.log_tail == ("the fake trainer says fail",)


def test_that_a_killed_trainer_is_lost_and_its_signal_named(layout: RunLayout) -> None:
    assert supervisor(layout, "kill_itself").run() is Outcome.LOST
    end = end_of(layout)
    assert end.exit_code == -9
    assert end.problem is not None
    assert end.problem.code == "trainer_killed"
    assert "SIGKILL" in end.problem.message
    assert "ran out of memory" in end.problem.hint
    assert "the fake trainer says kill_itself" in end.problem.detail


def test_that_a_trainer_that_leaves_without_a_word_is_lost(layout: RunLayout) -> None:
    assert supervisor(layout, "vanish").run() is Outcome.LOST
    problem = end_of(layout).problem
    assert problem is not None
    assert problem.code == "trainer_vanished"
    assert "exit code 3" in problem.message


def test_that_what_a_trainer_leaves_behind_is_ended(layout: RunLayout) -> None:
    supervisor(layout, "leave_a_child").run()
    group = trainer_pid(layout)
    wait_until(lambda: not _members(group))


def _members(group: int) -> list[psutil.Process]:
    members = []
    for process in psutil.process_iter():
        try:
            alive = process.status() != psutil.STATUS_ZOMBIE
            if alive and os.getpgid(process.pid) == group:
                members.append(process)
        except (psutil.Error, ProcessLookupError):
            continue
    return members


def test_that_a_stop_lets_the_trainer_finish_and_save(layout: RunLayout) -> None:
    running = supervisor(layout, "wait_for_stop")
    outcome = while_it_runs(running, layout, lambda: ask(layout, Request.STOP))
    assert outcome is Outcome.STOPPED
    assert end_of(layout).exit_code == 0


def test_that_a_stop_during_start_up_ends_at_once(layout: RunLayout) -> None:
    ask(layout, Request.STOP)
    begun_s = monotonic()
    assert supervisor(layout, "hang_at_start").run() is Outcome.STOPPED
    assert monotonic() - begun_s < 5.0
    assert end_of(layout).problem is None
    assert any(isinstance(event, RequestAnswered) for event in events_of(layout))


def test_that_a_run_saves_and_stops_before_its_supervisor_has_used_its_processor_time(
    layout: RunLayout,
) -> None:
    running = supervisor(layout, "wait_for_stop")
    assert while_it_runs(running, layout, running.note_used_time) is Outcome.STOPPED
    said = [event.problem for event in events_of(layout) if isinstance(event, ProblemReported)]
    assert [each.code for each in said] == ["processor_time_limited"]
    assert "The supervisor of the run has used nearly all the processor time" in said[0].message


def test_that_a_second_click_ends_it_now(layout: RunLayout) -> None:
    running = supervisor(layout, "ignore_sigterm")
    assert while_it_runs(running, layout, lambda: ask(layout, Request.END)) is Outcome.STOPPED
    assert end_of(layout).exit_code == -9


def test_that_stop_kills_a_trainer_that_ignores_sigterm(layout: RunLayout) -> None:
    running = supervisor(layout, "ignore_sigterm", Patience(stop_s=0.1, term_s=0.1))
    outcome = while_it_runs(running, layout, lambda: ask(layout, Request.STOP))
    assert outcome is Outcome.STOPPED
    assert end_of(layout).exit_code == -9


def test_that_a_trainer_that_makes_no_first_step_is_ended_and_reported(layout: RunLayout) -> None:
    running = supervisor(layout, "hang_at_start", Patience(first_step_s=1.0))
    assert running.run() is Outcome.FAILED
    problem = end_of(layout).problem
    assert problem is not None
    assert problem.code == "no_first_step"


def test_that_a_trainer_that_is_at_work_before_its_first_step_is_waited_for(
    layout: RunLayout, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Other tests at the same time leave it less than it would have alone.
    monkeypatch.setattr(liveness, "_MUCH_USE", 0.02)
    running = supervisor(layout, "compile_at_start", Patience(first_step_s=3.0))
    assert running.run() is Outcome.COMPLETED
    (hint,) = (event.problem for event in events_of(layout) if isinstance(event, ProblemReported))
    assert hint.code == "first_step_takes_long"
    assert "while tracing, but the processor is at work" in hint.message


def test_that_a_trainer_that_hangs_in_a_step_is_ended_and_reported(layout: RunLayout) -> None:
    running = supervisor(layout, "hang_in_a_step", Patience(step_s=0.5))
    assert running.run() is Outcome.FAILED
    problem = end_of(layout).problem
    assert problem is not None
    assert problem.code == "no_step"
    assert "after step 10" in problem.message


def test_that_a_trainer_that_cannot_be_started_is_reported(layout: RunLayout) -> None:
    assert Supervisor(layout, ("/nowhere/python",)).run() is Outcome.FAILED
    problem = end_of(layout).problem
    assert problem is not None
    assert problem.code == "trainer_not_started"


def test_that_the_lock_is_held_while_it_supervises_and_free_after(layout: RunLayout) -> None:
    seen = threading.Event()

    def look() -> None:
        if is_supervised(layout):
            seen.set()
        ask(layout, Request.END)

    while_it_runs(supervisor(layout, "hang_in_a_step"), layout, look)
    assert seen.is_set()
    assert not is_supervised(layout)


def test_that_telemetry_is_written_beside_the_events(layout: RunLayout) -> None:
    running = supervisor(layout, "wait_for_stop")

    def wait_for_samples() -> None:
        wait_until(lambda: layout.telemetry.exists() and layout.telemetry.stat().st_size > 0)
        ask(layout, Request.STOP)

    while_it_runs(running, layout, wait_for_samples)
    samples = RunFollower(layout).poll().samples
    assert samples
    assert samples[0].reading("cpu") is not None


def test_that_the_status_of_a_run_follows_from_its_events(layout: RunLayout) -> None:
    supervisor(layout, "complete").run()
    status = RunStatus(epoch_total=3)
    for event in events_of(layout):
        status = status.after(event)
    assert status.has_ended
    assert status.outcome is Outcome.COMPLETED
    assert status.step == 10
    assert status.metrics.accuracy == 0.9
    assert status.examples_per_second == 1234.0
    assert status.ending_problem is None


def test_that_the_last_word_says_what_an_end_at_once_has_lost(layout: RunLayout) -> None:
    def steps() -> list[int]:
        return [event.step for event in events_of(layout) if isinstance(event, StepsDone)]

    def stop_and_end() -> None:
        wait_until(lambda: len(steps()) > 3)
        ask(layout, Request.STOP)
        ask(layout, Request.END)

    assert while_it_runs(supervisor(layout, "train_on"), layout, stop_and_end) is Outcome.STOPPED
    saved = end_of(layout).saved
    assert saved == SavedWork(unsaved_steps=steps()[-1], ended_at_once=True)
    (summary,) = list_runs(layout.root.parent)
    assert summary.saved == saved
    assert run_outcome_text(summary) == "ended without saving"
    assert {"stopped", "without", "saving"} <= set(searched_text(summary).split())


def test_that_a_run_means_the_devices_of_its_plan_whatever_the_shell_leaves(
    layout: RunLayout, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0,1")
    asked: list[CudaVariables | None] = []

    class Recorder(TelemetryRecorder):
        def __init__(self, *given: Any) -> None:
            asked.append(given[-1])
            super().__init__(*given)

    monkeypatch.setattr(supervisor_module, "TelemetryRecorder", Recorder)
    assert Supervisor(layout, ("/nowhere/python",)).run() is Outcome.FAILED
    assert asked == [CudaVariables(visible_devices="")]
