"""How the run of an entry ended, also where nobody can tell any more."""

import shutil
from pathlib import Path

import pytest

from gpupanel.domain.outcome import Outcome
from gpupanel.domain.run_layout import RunLayout
from gpupanel.runs.directory.run_lock import is_supervised
from gpupanel.runs.queue import running_runs
from gpupanel.runs.queue.entry import EntryState, QueueEntry
from gpupanel.runs.queue.running_runs import ended_entry
from tests.fakes.run_directory import WrittenRun


def entry_of(run: Path) -> QueueEntry:
    return QueueEntry(
        id="0123abcd",
        name="queued",
        runs_dir=run.parent,
        added_s=1.0,
        state=EntryState.RUNNING,
        run=run,
        is_filled=True,
    )


def test_that_a_run_whose_folder_goes_while_it_is_read_is_lost(
    runs_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with WrittenRun(runs_dir) as run:
        run.begin()

    def goes_with_its_folder(layout: RunLayout) -> bool:
        shutil.rmtree(layout.root)
        return False

    monkeypatch.setattr(running_runs, "goes_on", goes_with_its_folder)

    ended = ended_entry(entry_of(run.layout.root))

    assert ended is not None
    assert (ended.state, ended.outcome) == (EntryState.ENDED, Outcome.LOST)
    assert [problem.code for problem in ended.problems] == ["run_removed"]


def test_that_a_run_whose_events_cannot_be_read_is_lost_and_says_why(
    runs_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with WrittenRun(runs_dir) as run:
        run.begin()
    run.layout.events.unlink()
    run.layout.events.mkdir()
    monkeypatch.setattr(running_runs, "goes_on", lambda layout: False)

    ended = ended_entry(entry_of(run.layout.root))

    assert ended is not None
    assert (ended.state, ended.outcome) == (EntryState.ENDED, Outcome.LOST)
    assert [problem.code for problem in ended.problems] == ["run_folder_unsafe"]


def test_that_a_run_that_is_claimed_while_it_is_read_goes_on(
    runs_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with WrittenRun(runs_dir) as run:
        run.begin()
        answers = iter([False])
        monkeypatch.setattr(
            running_runs, "is_supervised", lambda layout: next(answers, is_supervised(layout))
        )
        assert running_runs.goes_on(run.layout)
    assert not running_runs.goes_on(run.layout)
