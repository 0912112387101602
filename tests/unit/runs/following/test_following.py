"""Tails, follower, status, history: what is read from a run's directory."""

import json
import os
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gpupanel.domain import events
from gpupanel.domain.events import Event, Phase, RunStarted, UnknownEvent, encode_event
from gpupanel.domain.outcome import Metrics, Outcome
from gpupanel.domain.problem import Problem
from gpupanel.domain.profile import Profile
from gpupanel.domain.request import Request
from gpupanel.domain.run_layout import RunLayout
from gpupanel.domain.telemetry import DeviceReading, TelemetrySample
from gpupanel.planning.prepare import prepare
from gpupanel.runs.directory.run_lock import hold_run_lock
from gpupanel.runs.directory.tails import (
    MOST_BYTES_A_READ,
    MOST_TEXT_A_READ,
    MOST_TEXT_WAITING,
    ByteTail,
    LineTail,
    TextTail,
)
from gpupanel.runs.following.follower import RunFollower
from gpupanel.runs.following.status import RunStage, RunStatus
from gpupanel.runs.history.summaries import list_runs, summarize_run
from gpupanel.runs.launcher import create_run
from tests.fakes.devices import CPU_ONLY


@pytest.fixture
def layout(runs_dir: Path) -> RunLayout:
    return new_run(runs_dir, "digits")


def new_run(runs_dir: Path, name: str) -> RunLayout:
    profile = Profile(name=name)
    plan = prepare(profile, CPU_ONLY).plan
    assert plan is not None
    return create_run(profile, plan, runs_dir)


def write(layout: RunLayout, *written: Event) -> None:
    with layout.events.open("a") as file:
        file.writelines(encode_event(event) + "\n" for event in written)


def steps(step: int, time_s: float) -> events.StepsDone:
    return events.StepsDone(
        time_s=time_s,
        step=step,
        steps=1,
        epoch=1,
        step_in_epoch=step,
        examples=64,
        loss=0.5,
        examples_per_second=100.0,
    )


def status_after(*happened: Event) -> RunStatus:
    status = RunStatus(epoch_total=2)
    for event in happened:
        status = status.after(event)
    return status


def test_that_the_epochs_that_fit_into_the_time_are_all_there_are() -> None:
    ready = events.DataReady(
        time_s=1.0,
        training_examples=640,
        validation_examples=0,
        feature_shape=(8, 8, 1),
        class_names=("0", "1"),
        steps_per_epoch=10,
    )
    assert status_after(ready).step_total == 20
    status = status_after(ready, events.EpochsFitted(time_s=2.0, epochs=1))
    assert (status.epoch_total, status.step_total) == (1, 10)
    assert status_after(events.EpochsFitted(time_s=2.0, epochs=1)).step_total is None


def test_that_half_a_line_waits_for_its_other_half(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    tail = LineTail(path)
    assert tail.read() == []
    with path.open("ab", buffering=0) as file:
        file.write(b"one\ntw")
        assert tail.read() == [b"one"]
        file.write(b"o\n\nthree\n")
        assert tail.read() == [b"two", b"three"]
    assert tail.read() == []


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.binary(max_size=20), max_size=8))
def test_that_lines_cut_anywhere_arrive_whole(tmp_path: Path, parts: list[bytes]) -> None:
    path = tmp_path / "lines"
    path.unlink(missing_ok=True)
    tail, got = LineTail(path), []
    with path.open("ab", buffering=0) as file:
        for part in parts:
            file.write(part)
            got += tail.read()
        file.write(b"\n")
        got += tail.read()
    assert got == [line for line in b"".join(parts).split(b"\n") if line.strip()]


def test_that_a_file_written_anew_is_read_from_its_start(tmp_path: Path) -> None:
    path = tmp_path / "log"
    tail = ByteTail(path)
    path.write_bytes(b"long ago")
    assert tail.read() == b"long ago"
    path.write_bytes(b"new")
    assert tail.read() == b"new"


def test_that_one_read_takes_a_mebibyte_at_most_and_says_that_more_waits(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"x" * (MOST_BYTES_A_READ + 1))
    tail = ByteTail(path)
    assert len(tail.read()) == MOST_BYTES_A_READ
    assert tail.has_more
    assert tail.read() == b"x"
    assert not tail.has_more


def test_that_a_character_cut_in_two_is_read_whole(tmp_path: Path) -> None:
    path = tmp_path / "log"
    tail = TextTail(path)
    content = "é".encode()
    path.write_bytes(content[:1])
    assert tail.read() == ""
    path.write_bytes(content)
    assert tail.read() == "é"


def test_that_of_a_long_log_only_the_end_is_read_in_portions(tmp_path: Path) -> None:
    path = tmp_path / "log"
    lines = [f"line {number:06}\n" for number in range(100_000)]
    path.write_text("".join(lines))
    tail = TextTail(path)
    portions, skipped = [tail.read()], tail.skipped_bytes
    while tail.has_more:
        portions.append(tail.read())
        assert tail.skipped_bytes == 0
    read = "".join(portions)
    assert read.splitlines(keepends=True) == lines[-(len(read) // len(lines[0])) :]
    assert MOST_TEXT_WAITING - len(lines[0]) < len(read) <= MOST_TEXT_WAITING
    assert skipped == path.stat().st_size - len(read)
    assert max(map(len, portions)) <= MOST_TEXT_A_READ


def test_that_a_follower_gives_each_thing_once(layout: RunLayout) -> None:
    follower = RunFollower(layout)
    assert follower.poll().is_empty
    write(layout, RunStarted(time_s=1.0, supervisor_pid=1))
    sample = TelemetrySample(time_s=1.0, readings=(DeviceReading(key="cpu"),))
    layout.telemetry.write_text(sample.model_dump_json() + "\nnot a sample\n")
    layout.trainer_log.write_text("hello")
    news = follower.poll()
    assert news.events == (RunStarted(time_s=1.0, supervisor_pid=1),)
    assert news.samples == (sample,)
    assert news.log == "hello"
    assert follower.poll().is_empty


def test_that_a_damaged_line_is_shown_and_the_next_one_read(layout: RunLayout) -> None:
    layout.events.write_text('{"kind": "steps_do\n')
    write(layout, RunStarted(time_s=1.0, supervisor_pid=1))
    found = RunFollower(layout).poll().events
    assert [type(event) for event in found] == [UnknownEvent, RunStarted]


def test_that_time_left_follows_from_the_steps_so_far() -> None:
    ready = events.DataReady(
        time_s=0.0,
        training_examples=640,
        validation_examples=0,
        feature_shape=(1,),
        steps_per_epoch=10,
    )
    assert status_after(ready, steps(2, 10.0)).seconds_left is None
    status = status_after(ready, steps(2, 10.0), steps(6, 14.0))
    assert status.step_total == 20
    assert status.seconds_left == 14.0
    ended = status.after(events.RunEnded(time_s=15.0, outcome=Outcome.STOPPED))
    assert ended.seconds_left is None


def test_that_time_left_follows_from_the_examples_so_far() -> None:
    status = RunStatus().after(events.PhaseChanged(time_s=0.0, phase=Phase.EVALUATING))
    assert (status.evaluates, status.stage, status.seconds_left) == (True, RunStage.RUNNING, None)
    done = events.ExamplesDone(
        time_s=1.0, examples=250, examples_total=1000, examples_per_second=50.0
    )
    status = status.after(done)
    assert status.seconds_left == 15.0
    assert not RunStatus().evaluates


def test_that_stages_follow_each_other() -> None:
    training = events.PhaseChanged(time_s=1.0, phase=Phase.TRAINING)
    stop = events.RequestAnswered(time_s=2.0, request=Request.STOP)
    end = events.RunEnded(time_s=3.0, outcome=Outcome.STOPPED)
    assert status_after().stage is RunStage.STARTING
    assert status_after(training).stage is RunStage.RUNNING
    testing = events.PhaseChanged(time_s=1.0, phase=Phase.TESTING)
    assert status_after(testing).stage is RunStage.RUNNING
    assert status_after(training, stop).stage is RunStage.STOPPING
    assert status_after(training, stop, training).stage is RunStage.STOPPING
    assert status_after(training, stop, end).stage is RunStage.ENDED
    checkpoint = events.RequestAnswered(time_s=2.0, request=Request.CHECKPOINT)
    assert status_after(training, checkpoint).stage is RunStage.RUNNING


def test_that_the_same_problem_is_not_reported_twice() -> None:
    problem = Problem(code="x", message="It broke.")
    said = events.TrainingEnded(time_s=1.0, outcome=Outcome.FAILED, problem=problem)
    end = events.RunEnded(time_s=2.0, outcome=Outcome.FAILED, problem=problem)
    status = status_after(said, end)
    assert status.problems == (problem,)
    assert status.ending_problem == problem


def test_that_download_and_decoding_are_shown_until_the_data_is_ready() -> None:
    download = events.DownloadProgressed(time_s=1.0, name="mnist", bytes_done=1, bytes_total=2)
    decoded = events.DataProgressed(time_s=1.5, doing="decoding images", done=1, total=2)
    status = status_after(download, decoded)
    assert status.download is not None
    assert status.data_progress == decoded
    ready = events.DataReady(
        time_s=2.0,
        training_examples=1,
        validation_examples=0,
        feature_shape=(1,),
        steps_per_epoch=1,
    )
    assert status.after(ready).download is None
    assert status.after(ready).data_progress is None
    restarted = status.after(events.RunRestarted(time_s=2.0, attempt=1))
    assert (restarted.download, restarted.data_progress) == (None, None)


def test_that_runs_are_listed_newest_first_with_how_they_ended(runs_dir: Path) -> None:
    old, new = new_run(runs_dir, "old"), new_run(runs_dir, "new")
    write(old, RunStarted(time_s=100.0, supervisor_pid=1))
    write(
        old,
        events.RunEnded(time_s=160.0, outcome=Outcome.COMPLETED, metrics=Metrics(val_accuracy=0.9)),
    )
    write(new, RunStarted(time_s=200.0, supervisor_pid=1))
    (runs_dir / "not a run").mkdir()
    newest, oldest = list_runs(runs_dir)
    assert (newest.profile_name, oldest.profile_name) == ("new", "old")
    assert oldest.outcome is Outcome.COMPLETED
    assert oldest.metrics.val_accuracy == 0.9
    assert oldest.devices == ("a CPU",)
    assert newest.outcome is Outcome.LOST
    assert newest.problem is not None
    assert newest.problem.code == "supervisor_lost"


def test_that_a_run_whose_lock_is_held_is_running(layout: RunLayout) -> None:
    write(layout, RunStarted(time_s=100.0, supervisor_pid=1))
    with hold_run_lock(layout):
        assert summarize_run(layout).is_running
    assert not summarize_run(layout).is_running


def test_that_a_run_just_launched_is_not_taken_for_lost(layout: RunLayout) -> None:
    assert summarize_run(layout).is_running
    long_ago = layout.profile.stat().st_mtime - 60
    os.utime(layout.profile, (long_ago, long_ago))
    assert summarize_run(layout).outcome is Outcome.LOST


def test_that_the_trainers_last_word_counts_where_its_supervisor_died(layout: RunLayout) -> None:
    write(
        layout,
        RunStarted(time_s=100.0, supervisor_pid=1),
        events.TrainingEnded(time_s=120.0, outcome=Outcome.STOPPED),
    )
    assert summarize_run(layout).outcome is Outcome.STOPPED


def test_that_a_damaged_run_is_still_listed(layout: RunLayout) -> None:
    layout.profile.write_text("no profile")
    layout.plan.write_text(json.dumps({"no": "plan"}))
    layout.events.write_bytes(b"\xff\xfe\n")
    summary = summarize_run(layout)
    assert summary.profile_name == layout.name
    assert summary.devices == ()


def test_that_no_folder_means_no_runs(tmp_path: Path) -> None:
    assert list_runs(tmp_path / "nowhere") == ()


def test_that_events_other_than_steps_come_a_thousand_at_a_time(layout: RunLayout) -> None:
    written = [events.PhaseChanged(time_s=float(at), phase=Phase.TRAINING) for at in range(2_500)]
    write(layout, *written)
    follower = RunFollower(layout)
    portions = [follower.poll()]
    while portions[-1].has_more:
        portions.append(follower.poll())
    assert [len(each.parts) for each in portions] == [1_000, 1_000, 500]
    assert [event for each in portions for event in each.events] == written


def test_that_a_status_after_many_events_is_that_after_each_of_them(layout: RunLayout) -> None:
    written = [
        RunStarted(time_s=1.0, supervisor_pid=1),
        steps(2, 10.0),
        events.EpochDone(time_s=11.0, epoch=1, step=2, metrics=Metrics(val_loss=0.5), seconds=1.0),
        steps(6, 14.0),
        events.RunEnded(time_s=15.0, outcome=Outcome.STOPPED),
    ]
    one_by_one = RunStatus()
    for event in written:
        one_by_one = one_by_one.after(event)
    assert RunStatus().after_all(written) == one_by_one
    assert RunStatus().after_all(()) == RunStatus()


def test_that_of_very_many_problems_the_last_are_kept_in_time_that_grows_in_proportion() -> None:
    problems = [Problem(code="one_of_many", message=str(number)) for number in range(50_000)]
    reported = [events.ProblemReported(time_s=1.0, problem=each) for each in problems]
    ended = events.TrainingEnded(
        time_s=1.0, process=3, outcome=Outcome.FAILED, problem=problems[0], metrics=Metrics()
    )
    begun_s = time.process_time()
    status = RunStatus().after_all([*reported, *[ended] * 5_000])
    assert time.process_time() - begun_s < 10.0
    assert len(status.problems) < 1_000
    assert status.problems[-1] == problems[-1]
    assert status.failures == ((3, problems[0]),)
    again = status.after(events.RunRestarted(time_s=2.0, attempt=1))
    assert again.problems_before == len(again.problems)
    assert again.after(reported[0]).problems[again.problems_before - 1 :] == (problems[0],)
