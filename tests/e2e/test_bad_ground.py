"""Real runs on disks that fill up, in folders that may only be read, and under somebody's broom."""

import fnmatch
import os
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gpupanel.domain.events import DataReady, ProblemReported
from gpupanel.domain.outcome import Outcome
from gpupanel.domain.problem import ProblemError
from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.domain.request import Request
from gpupanel.domain.run_layout import RunLayout
from gpupanel.domain.training import TrainingSettings
from gpupanel.planning.prepare import prepare
from gpupanel.runs.directory.requests import ask
from gpupanel.runs.directory.run_lock import is_supervised
from gpupanel.runs.following.follower import RunFollower
from gpupanel.runs.history.label import change_label
from gpupanel.runs.history.summaries import list_runs, summarize_run
from gpupanel.runs.launcher import launch, resume
from tests.fakes.devices import CPU_ONLY
from tests.fakes.run_directory import WrittenRun
from tests.fakes.small_disks import disk_for_a_run, fill  # noqa: F401 - a fixture
from tests.forked.terminal import forked_trainers
from tests.patience import PATIENCE_S


def profile(epochs: int, *, tensorboard: bool = False) -> Profile:
    return Profile(
        name="on bad ground",
        devices=DeviceSettings(visible=("cpu",)),
        training=TrainingSettings(
            epochs=epochs, checkpoint_every_epochs=1, tensorboard=tensorboard
        ),
    )


def launched(epochs: int, runs_dir: Path, *, tensorboard: bool = False) -> RunLayout:
    wanted = profile(epochs, tensorboard=tensorboard)
    plan = prepare(wanted, CPU_ONLY).plan
    assert plan is not None
    return launch(wanted, plan, runs_dir)


@pytest.fixture
def trainers() -> Iterator[None]:
    """What writes is forked; a disk that fills up under real processes is seen in a test, too."""
    with forked_trainers():
        yield


def until(seen: Callable[[], bool], what: str, longest_s: float = PATIENCE_S) -> None:
    end_s = time.monotonic() + longest_s
    while not seen():
        assert time.monotonic() < end_s, what
        time.sleep(0.05)


def codes(layout: RunLayout) -> list[str]:
    follower, found = RunFollower(layout), []
    while not (followed := follower.poll()).is_empty:
        found += [e.problem.code for e in followed.events if isinstance(e, ProblemReported)]
    return found


def has_data(layout: RunLayout) -> bool:
    return any(isinstance(event, DataReady) for event in RunFollower(layout).poll().events)


def is_saving(layout: RunLayout) -> bool:
    return any(layout.checkpoints.glob("step-*"))


def keep_full(disk: Path, layout: RunLayout, *, while_missing: str | None = None) -> Path:
    """Fill the disk until the run can write no event; gives the file that holds the space.

    Once is not enough: a checkpoint that finds no space gives back what it took.

    Args:
        while_missing: A pattern; the disk is kept full until a file in the run's folder matches,
            and for a second after it.
    """
    size, since_s = -1, time.monotonic()
    while time.monotonic() - since_s < 1.0:
        filler = fill(disk)
        is_awaited = while_missing is not None and not _has(layout.root, while_missing)
        if is_awaited or layout.events.stat().st_size != size:
            size, since_s = layout.events.stat().st_size, time.monotonic()
        time.sleep(0.05)
    return filler


def _has(folder: Path, pattern: str) -> bool:
    """Whether a file matches; folders may go away meanwhile."""
    return any(fnmatch.filter(files, pattern) for _, _, files in os.walk(folder))


def is_over(layout: RunLayout) -> bool:
    return not is_supervised(layout)


@pytest.mark.slow  # test_process.py and supervision/test_full_disk.py have one that goes on
def test_that_a_run_outlives_a_full_disk(disk_for_a_run: Path) -> None:  # noqa: F811
    layout = launched(100_000, disk_for_a_run / "runs")
    until(lambda: is_saving(layout), "the first checkpoint")
    filler = keep_full(disk_for_a_run, layout)
    assert is_supervised(layout)
    filler.unlink()
    until(lambda: "disk_was_full" in codes(layout), "the word that the disk was full")
    ask(layout, Request.STOP)
    until(lambda: is_over(layout), "the end")

    assert summarize_run(layout).outcome is Outcome.STOPPED
    assert "checkpoint_not_saved" in codes(layout)
    assert layout.model.exists()


@pytest.mark.slow
@pytest.mark.usefixtures("trainers")
def test_that_tensorboard_files_without_space_do_not_end_a_run(
    disk_for_a_run: Path,  # noqa: F811
) -> None:
    layout = launched(100_000, disk_for_a_run / "runs", tensorboard=True)
    until(lambda: has_data(layout), "the data")
    # The first epoch has not begun: TensorFlow still traces.
    filler = keep_full(disk_for_a_run, layout, while_missing="*.v2")
    assert {path.stat().st_size for path in layout.tensorboard.rglob("*.v2")} == {0}
    filler.unlink()
    until(lambda: "tensorboard_not_written" in codes(layout), "the word about TensorBoard")
    ask(layout, Request.STOP)
    until(lambda: is_over(layout), "the end")

    summary = summarize_run(layout)
    assert summary.outcome is Outcome.STOPPED, summary.problem
    assert codes(layout).count("tensorboard_not_written") == 1
    assert layout.model.exists()


@pytest.mark.usefixtures("trainers")
def test_that_a_disk_that_stays_full_is_reported_by_the_end(disk_for_a_run: Path) -> None:  # noqa: F811
    layout = launched(100_000, disk_for_a_run / "runs")
    until(lambda: is_saving(layout), "the first checkpoint")
    keep_full(disk_for_a_run, layout)
    # A file without content finds its place even now.
    (layout.requests / Request.STOP).touch()
    until(lambda: is_over(layout), "the end")

    summary = summarize_run(layout)
    assert summary.outcome is Outcome.FAILED
    assert summary.problem is not None
    assert summary.problem.code == "no_space", summary.problem
    assert summary.problem.hint
    assert summarize_run(layout).flaw is None, "the last word is whole"


@pytest.mark.usefixtures("trainers")
def test_that_events_deleted_under_a_run_are_reported(runs_dir: Path) -> None:
    layout = launched(100_000, runs_dir)
    until(lambda: is_saving(layout), "the first checkpoint")
    layout.events.unlink()
    until(lambda: "events_deleted" in codes(layout), "the word that events were deleted")
    ask(layout, Request.STOP)
    until(lambda: is_over(layout), "the end")

    assert summarize_run(layout).outcome is Outcome.STOPPED


def test_that_a_run_whose_folder_is_deleted_leaves_no_process_behind(
    runs_dir: Path, tmp_path: Path
) -> None:
    layout = launched(100_000, runs_dir)
    until(lambda: is_saving(layout), "the first checkpoint")
    # As a file manager does that moves it to a bin.
    layout.root.rename(tmp_path / "bin")
    until(lambda: not _processes_of(layout), "the end of its processes")

    assert list_runs(runs_dir) == ()


def test_that_a_folder_that_may_only_be_read_is_reported(disk_for_a_run: Path) -> None:  # noqa: F811
    run = WrittenRun(disk_for_a_run / "runs")
    run.begin()
    subprocess.run(["mount", "-o", "remount,ro", str(disk_for_a_run)], check=True)

    assert [summary.name for summary in list_runs(disk_for_a_run / "runs")] == [run.layout.name]
    assert RunFollower(run.layout).poll().events
    for act in (
        lambda: launched(1, disk_for_a_run / "runs"),
        lambda: change_label(run.layout, name="another"),
        lambda: resume(run.layout),
        lambda: ask(run.layout, Request.END),
    ):
        with pytest.raises(ProblemError) as caught:
            act()
        assert caught.value.problems[0].hint


def _processes_of(layout: RunLayout) -> list[str]:
    words = subprocess.run(["ps", "-eo", "args"], check=True, capture_output=True, text=True)
    return [line for line in words.stdout.splitlines() if str(layout.root) in line]
