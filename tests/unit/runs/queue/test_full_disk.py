"""A queue on a disk that fills up: what waits goes on waiting, and who asks is told."""

from pathlib import Path

import pytest

from gpupanel.domain.problem import ProblemError
from gpupanel.domain.profile import Profile
from gpupanel.runs.queue import orders
from gpupanel.runs.queue.entry import EntryState
from gpupanel.runs.queue.queue_files import QueueFiles
from gpupanel.runs.scheduling.scheduler import Scheduler
from tests.fakes.queued_runs import GPU_A, MACHINE, QueuedRuns, prepare_without_build, profile_on
from tests.fakes.small_disks import fill, full_page, logging_to, small_disk  # noqa: F401 - a fixture


@pytest.fixture
def queue(files: QueueFiles, small_disk: Path, runs_dir: Path) -> QueueFiles:  # noqa: F811
    """One on a small disk, with one entry; its orders start no process."""
    queue = QueueFiles(small_disk / "queue")
    orders.add(queue, profile_on(GPU_A, name="first"), runs_dir)
    return queue


def test_that_each_order_reports_that_there_is_no_space_and_changes_nothing(
    queue: QueueFiles,
    small_disk: Path,  # noqa: F811
    runs_dir: Path,
) -> None:
    (first,) = queue.read().entries
    filler = fill(small_disk)
    acts = (
        lambda: orders.add(queue, Profile(name="second"), runs_dir),
        lambda: orders.edit(queue, first.id, Profile(name="other")),
        lambda: orders.remove(queue, first.id),
        lambda: orders.pause(queue),
    )
    for act in acts:
        with pytest.raises(ProblemError) as caught:
            act()
        (problem,) = caught.value.problems
        assert problem.code == "no_space"
        assert str(queue.folder) in problem.message
        assert queue.read().entries == (first,)
        assert queue.profile(first.id).name == "first"

    filler.unlink()
    second = orders.add(queue, Profile(name="second"), runs_dir)
    assert queue.read().entries == (first, second)
    queue.remove_left_overs()
    left = {path.name for path in queue.folder.rglob("*") if path.is_file()}
    assert left == {"queue.json", "queue.lock", f"{first.id}.toml", f"{second.id}.toml"}


def test_that_the_scheduler_waits_for_space_and_then_starts_the_entry_once(
    queue: QueueFiles,
    small_disk: Path,  # noqa: F811
    runs: QueuedRuns,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("gpupanel.runs.scheduling.scheduler._TROUBLE_S", 0.0)
    scheduler = Scheduler(queue, lambda: MACHINE, prepare_without_build, runs.start, poll_s=0.0)
    log = full_page(small_disk / "scheduler.log")
    filler = fill(small_disk)
    with logging_to(log):
        for _ in range(3):
            assert not scheduler.step()
        assert queue.read().entries[0].state is EntryState.WAITING
        assert runs.started == []
        filler.unlink()
        scheduler.step()
        # What could not be reserved is selected again after a while.
        monkeypatch.setattr("gpupanel.runs.scheduling.scheduler._SELECT_S", -1.0)
        scheduler.step()
    (entry,) = queue.read().entries
    assert entry.state is EntryState.RUNNING
    assert runs.started == [entry.run]
