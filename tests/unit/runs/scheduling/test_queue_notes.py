"""What a person is told of the queue while they are elsewhere."""

from pathlib import Path

import pytest

from gpupanel.domain.notes import NoteSettings, PostedNote
from gpupanel.domain.outcome import Outcome
from gpupanel.runs.locations import notes_dir
from gpupanel.runs.notes import posting
from gpupanel.runs.notes.note_settings import NOTES_FILE
from gpupanel.runs.notes.outbox import Outbox
from gpupanel.runs.queue import orders
from gpupanel.runs.queue.queue_files import QueueFiles
from gpupanel.runs.scheduling.scheduler import Scheduler
from tests.fakes.queued_runs import (
    GPU_A,
    MACHINE,
    QueuedRuns,
    prepare_without_build,
    profile_on,
)


@pytest.fixture
def scheduler(files: QueueFiles, runs: QueuedRuns, monkeypatch: pytest.MonkeyPatch) -> Scheduler:
    NOTES_FILE.write(NoteSettings(command="true"))
    monkeypatch.setattr(posting, "wake_courier", lambda outbox: None)
    return Scheduler(files, lambda: MACHINE, prepare_without_build, runs.start, poll_s=0.0)


def posted() -> list[PostedNote]:
    return [letter.note for letter in Outbox(notes_dir()).letters()]


def test_that_the_end_of_the_last_run_is_told_once(
    files: QueueFiles, runs: QueuedRuns, runs_dir: Path, scheduler: Scheduler
) -> None:
    added = [orders.add(files, profile_on(GPU_A, name=name), runs_dir).id for name in "ab"]
    for entry_id in added:
        scheduler.step()
        assert posted() == []
        run = files.read().entry(entry_id).run
        assert run is not None
        runs.end(run, Outcome.FAILED)
        scheduler.step()
    scheduler.run()
    (note,) = posted()
    assert note.kind == "queue_empty"
    assert note.text == "The last was b: failed."
    scheduler.run()
    assert len(posted()) == 1


def test_that_a_queue_that_had_no_run_is_not_told_to_be_empty(
    files: QueueFiles, runs_dir: Path, scheduler: Scheduler
) -> None:
    orders.remove(files, orders.add(files, profile_on(GPU_A), runs_dir).id)
    scheduler.run()
    assert posted() == []


def test_that_what_cannot_be_started_is_told_once_and_again_when_it_was_edited(
    files: QueueFiles, runs_dir: Path, scheduler: Scheduler
) -> None:
    entry = orders.add(files, profile_on("GPU-gone", name="mine"), runs_dir)
    scheduler.step()
    scheduler.step()
    (note,) = posted()
    assert note.kind == "needs_you"
    assert note.title.startswith("mine: cannot be started on ")
    assert note.text
    orders.edit(files, entry.id, profile_on("GPU-gone-too", name="mine"))
    scheduler.step()
    assert len(posted()) == 2
