"""What lies in the queue's folder that is not the queue's, and schedulers that cannot work."""

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from gpupanel.cli.app import app
from gpupanel.domain.problem import Problem, ProblemError, Severity
from gpupanel.domain.profile import Profile
from gpupanel.runs.queue import orders
from gpupanel.runs.queue.queue_files import QueueFiles
from gpupanel.runs.queue.scheduler_trouble import note_trouble, queue_problems
from gpupanel.runs.queue.waking import STARTS, scheduler_lock, scheduler_log
from gpupanel.runs.scheduling import scheduler
from gpupanel.runs.scheduling.scheduler import Scheduler
from tests.fakes.queued_runs import MACHINE, QueuedRuns, prepare_without_build

FULL = Problem(code="no_space", message="No space is left.", hint="Free some space.")


def folder_in_profiles(files: QueueFiles) -> Path:
    return files.folder / "profiles" / "backup"


def folder_named_like_a_profile(files: QueueFiles) -> Path:
    return files.folder / "profiles" / "0123abcd.toml"


def folder_named_like_a_left_over(files: QueueFiles) -> Path:
    return files.folder / ".queue.json.4711"


def folder_beside_the_queue(files: QueueFiles) -> Path:
    return files.folder / "old"


STRAY = (
    folder_in_profiles,
    folder_named_like_a_profile,
    folder_named_like_a_left_over,
    folder_beside_the_queue,
)


def new_scheduler(files: QueueFiles, runs: QueuedRuns) -> Scheduler:
    return Scheduler(files, lambda: MACHINE, prepare_without_build, runs.start, poll_s=0.0)


@pytest.mark.parametrize("place", STRAY)
def test_that_a_stray_folder_ends_no_scheduler_is_left_alone_and_reported(
    place: Callable[[QueueFiles], Path], files: QueueFiles, runs: QueuedRuns, runs_dir: Path
) -> None:
    orders.add(files, Profile(), runs_dir)
    stray = place(files)
    stray.mkdir()
    (stray / "mine.txt").write_text("mine")

    files.remove_left_overs()
    new_scheduler(files, runs).step()

    assert len(runs.started) == 1
    assert (stray / "mine.txt").read_text() == "mine"
    (problem,) = queue_problems(files, files.read())
    assert (problem.code, problem.severity) == ("queue_stray_files", Severity.WARNING)
    assert str(stray.relative_to(files.folder)) in problem.message


@pytest.mark.parametrize("kind", ["file", "link", "fifo"])
def test_that_what_is_no_profile_is_not_removed_whatever_it_is(
    kind: str, files: QueueFiles, tmp_path: Path, runs_dir: Path
) -> None:
    orders.add(files, Profile(), runs_dir)
    target = tmp_path / "target.toml"
    target.write_text("mine")
    stray = files.folder / "profiles" / "my notes.toml"
    if kind == "file":
        stray.write_text("mine")
    elif kind == "link":
        stray.symlink_to(target)
    else:
        os.mkfifo(stray)
    files.remove_left_overs()
    assert stray.is_symlink() or stray.exists()
    assert files.stray_entries() == ("profiles/my notes.toml",)
    assert target.read_text() == "mine"


def test_that_left_overs_of_killed_writers_go_and_are_not_reported(
    files: QueueFiles, runs_dir: Path
) -> None:
    entry = orders.add(files, Profile(), runs_dir)
    profiles = files.folder / "profiles"
    for name in ("0123abcd.toml", ".0123abcd.toml.99"):
        (profiles / name).write_text("left")
    (files.folder / ".queue.json.99").write_text("left")
    assert files.stray_entries() == ()
    files.remove_left_overs()
    assert [path.name for path in profiles.iterdir()] == [f"{entry.id}.toml"]
    assert not (files.folder / ".queue.json.99").exists()


@pytest.mark.parametrize("name", ["queue.lock", "scheduler.lock", "profiles"])
def test_that_what_keeps_a_scheduler_from_working_is_named(
    name: str, files: QueueFiles, runs: QueuedRuns, runs_dir: Path
) -> None:
    orders.add(files, Profile(), runs_dir)
    place = files.folder / name
    if place.is_dir():
        place.rename(files.folder / "elsewhere")
        place.write_text("in the way")
    else:
        place.unlink(missing_ok=True)
        place.mkdir()
    with pytest.raises(ProblemError) as caught:
        new_scheduler(files, runs).run()
    assert name in caught.value.problems[0].message


def run_main(files: QueueFiles, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(sys, "argv", ["scheduler", str(files.folder)])
    monkeypatch.setattr(scheduler.signal, "signal", lambda _which, _act: None)
    return scheduler.main()


def test_that_a_scheduler_that_fails_says_why_in_the_list_and_the_next_one_takes_it_back(
    files: QueueFiles, runs: QueuedRuns, runs_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    orders.add(files, Profile(), runs_dir)

    class Failing(scheduler.Scheduler):
        def run(self) -> bool:
            raise RuntimeError("no such attribute")

    with monkeypatch.context() as patched:
        patched.setattr(scheduler, "Scheduler", Failing)
        assert run_main(files, patched) == 1
    (problem,) = queue_problems(files, files.read())
    assert "no such attribute" in problem.message
    assert "RuntimeError" in problem.detail

    monkeypatch.setattr("gpupanel.cli.verbs.queue.ensure_scheduler", lambda _files: False)
    shown = CliRunner().invoke(app, ["queue"])
    assert "no such attribute" in shown.output
    document = json.loads(CliRunner().invoke(app, ["queue", "--json"]).stdout)
    assert document["problems"][0]["code"] == problem.code

    working = new_scheduler(files, runs)
    monkeypatch.setattr(working, "step", lambda: True)
    assert working.run()
    assert queue_problems(files, files.read()) == ()


def test_that_trouble_that_may_pass_is_listed_for_as_long_as_it_lasts(
    files: QueueFiles, runs: QueuedRuns, runs_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    orders.add(files, Profile(), runs_dir)
    monkeypatch.setattr(scheduler, "_TROUBLE_S", 0.0)
    working = new_scheduler(files, runs)
    is_full = True

    def follow() -> None:
        if is_full:
            raise ProblemError(FULL)

    monkeypatch.setattr(working, "_follow_running", follow)
    working.step()
    assert queue_problems(files, files.read()) == (FULL,)
    is_full = False
    working.step()
    assert queue_problems(files, files.read()) == ()


def test_that_a_scheduler_that_could_not_even_begin_is_listed_by_its_last_words(
    files: QueueFiles, runs_dir: Path
) -> None:
    orders.add(files, Profile(), runs_dir)
    words = ("earlier words", STARTS, "Traceback (most recent call last):", "ImportError: no x")
    scheduler_log(files.folder).write_text("\n".join(words) + "\n")
    (problem,) = queue_problems(files, files.read())
    assert problem.code == "scheduler_ended"
    assert problem.message.endswith("ImportError: no x")
    assert "earlier words" not in problem.detail
    with scheduler_lock(files.folder):
        assert queue_problems(files, files.read()) == ()


@pytest.mark.parametrize("last", [STARTS, "scheduler: nothing is left to do"])
def test_that_one_that_begins_or_did_its_work_is_no_problem(
    last: str, files: QueueFiles, runs_dir: Path
) -> None:
    orders.add(files, Profile(), runs_dir)
    scheduler_log(files.folder).write_text(f"some words\n{last}\n")
    assert queue_problems(files, files.read()) == ()


def test_that_nothing_is_said_of_schedulers_while_none_is_needed(
    files: QueueFiles, runs_dir: Path
) -> None:
    orders.add(files, Profile(), runs_dir)
    note_trouble(files.folder, (FULL,))
    orders.pause(files)
    assert queue_problems(files, files.read()) == ()


def test_that_a_planted_file_of_trouble_is_not_believed_to_be_more_than_words(
    files: QueueFiles, runs_dir: Path, tmp_path: Path
) -> None:
    orders.add(files, Profile(), runs_dir)
    place = files.folder / "scheduler-trouble.json"
    for content in ("{", "[]", '{"time_s": 1, "problems": [{}]}', "x" * 2**19):
        place.write_text(content)
        assert queue_problems(files, files.read()) == ()
    place.unlink()
    place.symlink_to(tmp_path / "elsewhere.json")
    (tmp_path / "elsewhere.json").write_text("{}")
    assert queue_problems(files, files.read()) == ()
