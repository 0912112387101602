"""Going on with a run in its own directory: when it can be, and what is told."""

import os
import shutil
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from filelock import FileLock

from gpupanel.domain.data import NpzData
from gpupanel.domain.events import (
    Event,
    RunEnded,
    RunRestarted,
    RunStarted,
    StepsDone,
    TrainingEnded,
    UnknownEvent,
    encode_event,
)
from gpupanel.domain.outcome import Outcome
from gpupanel.domain.problem import ProblemError
from gpupanel.domain.profile import Profile
from gpupanel.domain.request import Request
from gpupanel.domain.run_layout import RunLayout
from gpupanel.domain.training import TrainingSettings
from gpupanel.planning.prepare import prepare
from gpupanel.runs import launcher
from gpupanel.runs.directory.requests import ask, is_asked
from gpupanel.runs.directory.run_lock import hold_run_lock
from gpupanel.runs.following.follower import RunFollower
from gpupanel.runs.following.status import RunStage, RunStatus
from gpupanel.runs.history.summaries import list_runs, summarize_run
from gpupanel.runs.launcher import create_run, resume
from gpupanel.runs.resumable import resume_problem, run_to_resume
from tests.fakes.devices import CPU_ONLY


@pytest.fixture
def layout(runs_dir: Path) -> RunLayout:
    """A run that was stopped and has a checkpoint."""
    plan = prepare(Profile(), CPU_ONLY).plan
    assert plan is not None
    layout = create_run(Profile(), plan, runs_dir)
    write(
        layout,
        RunStarted(time_s=1.0, supervisor_pid=1),
        RunEnded(time_s=2.0, outcome=Outcome.STOPPED, exit_code=0),
    )
    (layout.checkpoints / "step-000000023").mkdir(parents=True)
    return layout


def write(layout: RunLayout, *written: Event) -> None:
    with layout.events.open("a") as file:
        file.writelines(encode_event(event) + "\n" for event in written)


STEPS = StepsDone(
    time_s=1.5,
    step=10,
    steps=10,
    epoch=1,
    step_in_epoch=10,
    examples=640,
    loss=1.0,
    examples_per_second=1000.0,
)


def age(layout: RunLayout) -> None:
    """As if the run was made a minute ago: one that was made just now may be starting."""
    for path in (layout.profile, layout.root, layout.events):
        if path.exists():
            os.utime(path, (time.time() - 60.0,) * 2)


def code_of(layout: RunLayout) -> str | None:
    problem = resume_problem(layout)
    return problem.code if problem is not None else None


def test_that_a_run_that_stopped_or_died_can_be_resumed(layout: RunLayout) -> None:
    assert resume_problem(layout) is None
    write(layout, RunEnded(time_s=3.0, outcome=Outcome.LOST, exit_code=-9))
    assert resume_problem(layout) is None


def test_that_a_run_that_goes_on_is_refused(layout: RunLayout) -> None:
    write(layout, RunRestarted(time_s=3.0, attempt=0))
    lock = hold_run_lock(layout)
    try:
        with pytest.raises(ProblemError, match="is running"):
            resume(layout)
    finally:
        lock.release()


def test_that_a_run_that_was_deleted_meanwhile_is_reported_and_does_not_come_back(
    layout: RunLayout,
) -> None:
    shutil.rmtree(layout.root)
    with pytest.raises(ProblemError) as caught:
        resume(layout)
    (problem,) = caught.value.problems
    assert (problem.code, problem.message) == ("file_missing", f"{layout.root} does not exist.")
    assert list(layout.root.parent.iterdir()) == []


def test_that_a_run_deleted_while_its_resumption_waits_does_not_come_back(
    layout: RunLayout,
) -> None:
    with ThreadPoolExecutor(1) as waiting:
        with FileLock(layout.resume_lock):
            resuming = waiting.submit(resume, layout)
            time.sleep(0.3)
            # At once: who waits makes the lock's file anew in a folder that is half removed.
            gone = layout.root.rename(layout.root.parent.parent / "gone")
            shutil.rmtree(gone)
        with pytest.raises(ProblemError, match="does not exist"):
            resuming.result(timeout=20.0)
    assert list(layout.root.parent.iterdir()) == []


def test_that_no_supervisor_makes_the_folder_of_a_deleted_run_anew(layout: RunLayout) -> None:
    shutil.rmtree(layout.root)
    with pytest.raises(FileNotFoundError):
        hold_run_lock(layout)
    assert list(layout.root.parent.iterdir()) == []


def test_that_what_was_done_without_a_checkpoint_is_not_done_again(layout: RunLayout) -> None:
    (layout.checkpoints / "step-000000023").rmdir()
    write(layout, STEPS, RunEnded(time_s=3.0, outcome=Outcome.LOST, exit_code=-9))
    assert code_of(layout) == "nothing_to_resume"


def test_that_a_run_that_died_before_its_first_step_may_begin(layout: RunLayout) -> None:
    (layout.checkpoints / "step-000000023").rmdir()
    assert resume_problem(layout) is None
    layout.events.unlink()
    age(layout)
    assert resume_problem(layout) is None


def test_that_a_run_at_its_end_is_refused(layout: RunLayout) -> None:
    write(layout, RunEnded(time_s=3.0, outcome=Outcome.COMPLETED, exit_code=0))
    assert code_of(layout) == "nothing_to_resume"


def test_that_a_resumed_run_goes_on_in_its_events_without_old_requests(layout: RunLayout) -> None:
    ask(layout, Request.STOP)
    layout.plan.write_text("so the supervisor ends at once")
    resume(layout)
    assert not is_asked(layout, Request.STOP)
    news = events_until_the_end(layout)
    assert [type(event) for event in news[2:]] == [RunRestarted, RunStarted, RunEnded]
    assert news[2] == RunRestarted(time_s=news[2].time_s, attempt=0)
    end = news[-1]
    assert isinstance(end, RunEnded)
    assert end.problem is not None
    assert end.problem.code == "trainer_not_started"


STARTED = encode_event(RunStarted(time_s=1.0, supervisor_pid=1)).encode() + b"\n"
HALF = encode_event(STEPS).encode()[:40]


@pytest.mark.parametrize(
    ("left", "known"),
    [
        (None, []),
        pytest.param(b"", [], marks=pytest.mark.slow),
        pytest.param(HALF, [UnknownEvent], marks=pytest.mark.slow),
        (STARTED, [RunStarted]),
        (STARTED + HALF, [RunStarted, UnknownEvent]),
        (b"\0" * 4096, [UnknownEvent]),
    ],
    ids=["no events", "an empty file", "half a line", "a start", "half a step", "zeros"],
)
def test_that_a_run_goes_on_from_whatever_a_machine_that_died_left(
    layout: RunLayout, left: bytes | None, known: list[type[Event]]
) -> None:
    layout.events.unlink()
    if left is not None:
        layout.events.write_bytes(left)
    layout.requests.rmdir()
    age(layout)
    layout.plan.write_text("so the supervisor ends at once")
    resume(layout)
    news = events_until_the_end(layout, ends=1)
    assert [type(event) for event in news] == [*known, RunRestarted, RunStarted, RunEnded]


def events_until_the_end(layout: RunLayout, ends: int = 2) -> tuple[Event, ...]:
    end_s = time.monotonic() + 20.0
    while time.monotonic() < end_s:
        news = RunFollower(layout).poll().events
        if sum(isinstance(event, RunEnded) for event in news) == ends:
            return news
        time.sleep(0.05)
    raise AssertionError(layout.trainer_log.read_text())


def test_that_a_resumed_run_runs_until_its_new_end(layout: RunLayout) -> None:
    write(layout, RunRestarted(time_s=time.time(), attempt=0))
    assert summarize_run(layout).is_running  # its supervisor is just starting
    write(layout, TrainingEnded(time_s=5.0, process=1, outcome=Outcome.FAILED))
    assert summarize_run(layout).is_running
    write(layout, TrainingEnded(time_s=6.0, outcome=Outcome.STOPPED))
    assert summarize_run(layout).outcome is Outcome.STOPPED
    assert summarize_run(layout).ended_s == 6.0


def test_that_a_restart_long_ago_without_a_supervisor_is_lost(layout: RunLayout) -> None:
    write(layout, RunRestarted(time_s=3.0, attempt=0))
    assert summarize_run(layout).outcome is Outcome.LOST


def test_that_the_status_begins_again(layout: RunLayout) -> None:
    status = RunStatus(epoch_total=3)
    for event in RunFollower(layout).poll().events:
        status = status.after(event)
    assert status.has_ended
    status = status.after(RunRestarted(time_s=3.0, attempt=0))
    assert (status.stage, status.outcome, status.restarts) == (RunStage.STARTING, None, 1)


def test_that_going_on_with_changed_data_is_written_down_and_holds_for_this_start_only(
    layout: RunLayout, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(launcher, "start_supervisor", lambda *_: None)

    resume(layout, accepts_changed_data=True)

    restarted = RunFollower(layout).poll().events[-1]
    assert isinstance(restarted, RunRestarted)
    assert restarted.accepts_changed_data
    assert layout.accepted_data.stat().st_mode & 0o777 == 0o600

    write(layout, RunStarted(time_s=3.0, supervisor_pid=1))
    write(layout, RunEnded(time_s=4.0, outcome=Outcome.FAILED, exit_code=1))
    resume(layout)

    restarted = RunFollower(layout).poll().events[-1]
    assert isinstance(restarted, RunRestarted)
    assert not restarted.accepts_changed_data
    assert not layout.accepted_data.exists()


def test_that_data_may_be_elsewhere_only_where_it_is_known_what_it_was(runs_dir: Path) -> None:
    started = Profile(data=NpzData(path="/here/x.npz"))
    moved = Profile(data=NpzData(path="/there/x.npz"))
    plan = prepare(started, CPU_ONLY).plan
    assert plan is not None
    layout = create_run(started, plan, runs_dir)
    write(layout, RunStarted(time_s=1.0, supervisor_pid=1))
    write(layout, RunEnded(time_s=2.0, outcome=Outcome.SUSPENDED, exit_code=0))
    (layout.checkpoints / "step-000000023").mkdir(parents=True)

    refused = resume_problem(layout, moved)
    assert refused is not None
    assert (refused.code, refused.field) == ("resume_does_not_fit", "data.path")
    layout.data_fingerprint.write_text("what it was")
    assert resume_problem(layout, moved) is None


def other_run(runs_dir: Path, outcome: Outcome, started_s: float, task: str = "train") -> RunLayout:
    profile = Profile(name=f"{task} {outcome}")
    plan = prepare(profile, CPU_ONLY).plan
    assert plan is not None
    layout = create_run(profile, plan, runs_dir)
    write(
        layout,
        RunStarted(time_s=started_s, supervisor_pid=1),
        RunEnded(time_s=started_s + 1.0, outcome=outcome, exit_code=0),
    )
    return layout


def waiting(runs_dir: Path) -> Path | None:
    found = run_to_resume(list_runs(runs_dir))
    return None if found is None else found.path


def test_that_the_newest_training_waits_where_it_has_a_checkpoint(
    layout: RunLayout, runs_dir: Path
) -> None:
    assert waiting(runs_dir) == layout.root
    newer = other_run(runs_dir, Outcome.LOST, 10.0)
    assert waiting(runs_dir) is None  # it would begin anew
    (newer.checkpoints / "step-000000001").mkdir(parents=True)
    assert waiting(runs_dir) == newer.root
    newer.profile.write_text("no = [")
    assert waiting(runs_dir) is None


def test_that_a_training_that_was_suspended_waits_behind_one_that_is_done(
    layout: RunLayout, runs_dir: Path
) -> None:
    done = other_run(runs_dir, Outcome.COMPLETED, 10.0)
    (done.checkpoints / "step-000000001").mkdir(parents=True)
    assert waiting(runs_dir) is None
    suspended = other_run(runs_dir, Outcome.SUSPENDED, 0.5)
    (suspended.checkpoints / "step-000000001").mkdir(parents=True)
    assert waiting(runs_dir) == suspended.root


@pytest.mark.parametrize(
    ("before", "after", "trains_on"),
    [("1h", "2h", True), ("1h", None, True), ("1h", "1h", False), (None, "2h", False)],
)
def test_that_a_run_that_ended_for_its_time_goes_on_with_more_of_it(
    runs_dir: Path, before: str | None, after: str | None, *, trains_on: bool
) -> None:
    started, wanted = (
        Profile(training=TrainingSettings(time_limit=limit)) for limit in (before, after)
    )
    plan = prepare(started, CPU_ONLY).plan
    assert plan is not None
    layout = create_run(started, plan, runs_dir)
    (layout.checkpoints / "step-000000023").mkdir(parents=True)
    write(layout, RunStarted(time_s=1.0, supervisor_pid=1))
    write(layout, RunEnded(time_s=2.0, outcome=Outcome.COMPLETED, exit_code=0))
    problem = resume_problem(layout, wanted)
    assert (problem is None) is trains_on
