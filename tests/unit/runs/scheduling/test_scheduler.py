"""What the scheduler starts, in which order, and what it notes."""

import errno
import shutil
from pathlib import Path
from typing import Any

import pytest

from gpupanel.domain.checked_files import CheckedFiles
from gpupanel.domain.device import DeviceInventory, UnresponsiveGpu
from gpupanel.domain.gpu_failure import NO_ANSWER
from gpupanel.domain.outcome import Outcome
from gpupanel.domain.problem import ProblemError
from gpupanel.domain.profile import Profile
from gpupanel.domain.run_layout import RunLayout
from gpupanel.domain.telemetry import DeviceReading, DeviceState, TelemetrySample
from gpupanel.runs.launcher import create_run
from gpupanel.runs.queue import orders
from gpupanel.runs.queue.entry import EntryState, QueueEntry
from gpupanel.runs.queue.queue_files import QueueFiles
from gpupanel.runs.queue.waking import scheduler_lives, scheduler_lock, scheduler_log
from gpupanel.runs.readiness import Machine
from gpupanel.runs.scheduling import scheduler, start_entry
from gpupanel.runs.scheduling.scheduler import Scheduler
from tests.fakes.devices import CPU_ONLY, TWO_UNEQUAL
from tests.fakes.queued_runs import (
    GPU_A,
    GPU_B,
    MACHINE,
    QueuedRuns,
    prepare_without_build,
    profile_on,
)


class Desk:
    """A queue with its scheduler, which does one piece of work when the test says so."""

    def __init__(self, files: QueueFiles, runs: QueuedRuns, runs_dir: Path) -> None:
        self.files, self.runs, self.runs_dir = files, runs, runs_dir
        self.machine = MACHINE
        self.scheduler = self.new_scheduler()

    def new_scheduler(self) -> Scheduler:
        """Another one, which knows nothing but what the files say."""
        self.scheduler = Scheduler(
            self.files, lambda: self.machine, prepare_without_build, self.runs.start, poll_s=0.0
        )
        return self.scheduler

    def add(self, *keys: str, name: str = "queued") -> str:
        return orders.add(self.files, profile_on(*keys, name=name), self.runs_dir).id

    def entry(self, entry_id: str) -> QueueEntry:
        return self.files.read().entry(entry_id)

    def state(self, entry_id: str) -> EntryState:
        return self.entry(entry_id).state

    def end(self, entry_id: str, outcome: Outcome = Outcome.COMPLETED) -> None:
        run = self.entry(entry_id).run
        assert run is not None
        self.runs.end(run, outcome)


@pytest.fixture
def desk(files: QueueFiles, runs: QueuedRuns, runs_dir: Path) -> Desk:
    return Desk(files, runs, runs_dir)


def test_that_an_entry_becomes_a_run_with_its_profile_and_its_end_is_noted(desk: Desk) -> None:
    added = desk.add(GPU_A, name="digits")
    assert not desk.scheduler.step()
    entry = desk.entry(added)
    assert entry.state is EntryState.RUNNING
    assert entry.run in desk.runs.started
    assert entry.devices == ("RTX 4090",)
    assert entry.run is not None
    assert entry.run.parent == desk.runs_dir
    assert (
        RunLayout(entry.run).profile.read_text().startswith('schema_version = 1\nname = "digits"')
    )
    desk.end(added)
    desk.scheduler.step()
    assert (desk.state(added), desk.entry(added).outcome) == (
        EntryState.ENDED,
        Outcome.COMPLETED,
    )
    assert desk.scheduler.step()


def test_that_two_run_at_once_where_their_devices_do_not_meet(desk: Desk) -> None:
    first, second, third = desk.add(GPU_A, name="x"), desk.add(GPU_B), desk.add(GPU_A)
    desk.scheduler.step()
    assert [desk.state(each) for each in (first, second, third)] == [
        EntryState.RUNNING,
        EntryState.RUNNING,
        EntryState.WAITING,
    ]
    assert desk.entry(third).waits == "Waits for RTX 4090: “x” runs on it."
    assert desk.entry(third).devices == ("RTX 4090",)


def test_that_the_next_one_starts_when_its_device_is_free_whatever_the_outcome(desk: Desk) -> None:
    entries = [desk.add(GPU_A) for _ in range(3)]
    for entry_id, outcome in zip(entries, (Outcome.FAILED, Outcome.LOST, None), strict=True):
        desk.scheduler.step()
        run = desk.entry(entry_id).run
        assert run is not None
        desk.runs.vanish(run) if outcome is None else desk.runs.end(run, outcome)
        desk.scheduler.step()
    assert [desk.entry(each).outcome for each in entries] == [
        Outcome.FAILED,
        Outcome.LOST,
        Outcome.LOST,
    ]
    assert desk.entry(entries[2]).problems[0].code == "supervisor_lost"
    assert desk.scheduler.step()


def test_that_a_run_that_cannot_be_read_keeps_no_other_entry_waiting(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone, waiting = desk.add(GPU_A, name="on a disk that is gone"), desk.add(GPU_B)
    desk.scheduler.step()
    desk.end(waiting)
    monkeypatch.setattr(scheduler, "STARTING_S", -1.0)
    ended_entry = scheduler.ended_entry

    def stale(entry: QueueEntry) -> QueueEntry | None:
        if entry.id == gone:
            raise OSError(errno.ESTALE, "Stale file handle")
        return ended_entry(entry)

    monkeypatch.setattr(scheduler, "ended_entry", stale)
    next_one = desk.add(GPU_B)
    for _ in range(3):
        assert not desk.scheduler.step()
    assert desk.state(gone) is EntryState.RUNNING
    assert desk.entry(waiting).outcome is Outcome.COMPLETED
    assert desk.state(next_one) is EntryState.RUNNING
    monkeypatch.setattr(scheduler, "ended_entry", ended_entry)
    desk.end(gone)
    desk.scheduler.step()
    assert desk.entry(gone).outcome is Outcome.COMPLETED


def test_that_runs_which_somebody_else_started_keep_their_devices(desk: Desk) -> None:
    plan = prepare_without_build(MACHINE, profile_on(GPU_A)).plan
    assert plan is not None
    other = create_run(profile_on(GPU_A, name="by hand"), plan, desk.runs_dir)
    desk.runs.start(other)
    added = desk.add(GPU_A)
    desk.scheduler.step()
    assert desk.entry(added).waits == f"Waits for RTX 4090: “{other.name}” runs on it."
    desk.runs.end(other.root)
    desk.new_scheduler().step()
    assert desk.state(added) is EntryState.RUNNING


def test_that_order_and_pause_are_heeded(desk: Desk) -> None:
    first, second = desk.add(GPU_A), desk.add(GPU_A)
    orders.move(desk.files, second, 1)
    orders.pause(desk.files)
    assert desk.scheduler.step()
    assert desk.runs.started == []
    orders.go_on(desk.files)
    desk.scheduler.step()
    assert [desk.state(each) for each in (first, second)] == [
        EntryState.WAITING,
        EntryState.RUNNING,
    ]


def test_that_what_cannot_start_is_refused_with_its_reasons_and_the_next_goes_on(
    desk: Desk,
) -> None:
    absent, fine = desk.add("GPU-elsewhere"), desk.add(GPU_A)
    desk.scheduler.step()
    assert (desk.state(absent), desk.state(fine)) == (EntryState.REFUSED, EntryState.RUNNING)
    assert desk.entry(absent).problems[0].code == "device_not_found"
    orders.edit(desk.files, absent, profile_on(GPU_B))
    desk.scheduler.step()
    assert desk.state(absent) is EntryState.RUNNING


def test_that_a_device_which_may_come_back_is_waited_for(desk: Desk) -> None:
    lost = DeviceReading(key=GPU_A, state=DeviceState.LOST)
    desk.machine = Machine(TWO_UNEQUAL, TelemetrySample(time_s=0.0, readings=(lost,)))
    added = desk.add(GPU_A)
    desk.scheduler.step()
    assert desk.entry(added).waits.startswith("Waits: RTX 4090 stopped answering")
    silent = UnresponsiveGpu(failure=NO_ANSWER, index=0, name="RTX 4090", key=GPU_A)
    others = tuple(each for each in TWO_UNEQUAL.devices if each.key != GPU_A)
    desk.machine = Machine(DeviceInventory(devices=others, unresponsive=(silent,)))
    desk.new_scheduler().step()
    assert desk.entry(added).waits.startswith("Waits: RTX 4090 does not answer: the driver was")
    desk.machine = Machine(
        DeviceInventory(devices=CPU_ONLY.devices, problem="The driver has not answered yet.")
    )
    desk.new_scheduler().step()
    assert desk.entry(added).waits == "Waits: The driver has not answered yet."
    desk.machine = MACHINE
    desk.new_scheduler().step()
    assert desk.state(added) is EntryState.RUNNING


def test_that_an_entry_edited_just_now_is_not_started_as_it_was_before(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    added = desk.add(GPU_A, name="before")
    before = desk.entry(added)
    orders.edit(desk.files, added, profile_on(GPU_A, name="after"))
    checked = desk.files.read()
    assert not start_entry.reserve(desk.files, before, checked)
    assert desk.state(added) is EntryState.WAITING
    assert start_entry.reserve(desk.files, desk.entry(added), checked)


@pytest.mark.parametrize("act", ["pause", "move"])
def test_that_what_a_person_does_while_the_devices_are_read_counts(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, act: str
) -> None:
    first, second = desk.add(GPU_A, name="first"), desk.add(GPU_A, name="second")
    candidate_of = scheduler.candidate_of

    def act_meanwhile(entry: QueueEntry, *rest: Any) -> Any:
        if act == "pause":
            orders.pause(desk.files)
        else:
            orders.move(desk.files, second, 1)
        return candidate_of(entry, *rest)

    monkeypatch.setattr(scheduler, "candidate_of", act_meanwhile)
    desk.scheduler.step()
    assert desk.state(first) is EntryState.WAITING
    monkeypatch.undo()
    if act == "move":
        desk.scheduler.step()
        assert desk.state(second) is EntryState.RUNNING


def test_that_a_run_that_cannot_be_made_is_refused_and_leaves_nothing(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise ProblemError(*desk_full)

    desk_full = (start_entry.disk_problem(OSError(errno.ENOSPC, "full"), desk.runs_dir),)
    monkeypatch.setattr(start_entry, "fill_run", fail)
    added = desk.add(GPU_A)
    desk.scheduler.step()
    assert desk.state(added) is EntryState.REFUSED
    assert desk.entry(added).problems[0].code == "no_space"
    assert list(desk.runs_dir.iterdir()) == []


def test_that_a_supervisor_that_cannot_be_started_is_started_again(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(layout: RunLayout, _: CheckedFiles) -> None:
        raise OSError(errno.EAGAIN, "no more processes")

    added = desk.add(GPU_A)
    scheduler = Scheduler(desk.files, lambda: MACHINE, prepare_without_build, fail, poll_s=0.0)
    scheduler.step()
    assert desk.state(added) is EntryState.RUNNING
    assert desk.runs.started == []
    desk.new_scheduler().step()
    assert [desk.entry(added).run] == desk.runs.started


def test_that_another_scheduler_goes_on_with_what_runs(desk: Desk) -> None:
    added, waits = desk.add(GPU_A), desk.add(GPU_A)
    desk.scheduler.step()
    desk.new_scheduler().step()
    assert len(desk.runs.started) == 1
    desk.end(added)
    desk.new_scheduler()
    desk.scheduler.step()
    desk.scheduler.step()
    assert desk.entry(added).outcome is Outcome.COMPLETED
    assert desk.state(waits) is EntryState.RUNNING
    assert len(desk.runs.started) == 2


def test_that_a_run_removed_while_no_scheduler_was_there_is_not_started_again(desk: Desk) -> None:
    added = desk.add(GPU_A)
    desk.scheduler.step()
    run = desk.entry(added).run
    assert run is not None
    desk.end(added)
    shutil.rmtree(run)
    desk.new_scheduler().step()
    desk.scheduler.step()
    assert (desk.state(added), desk.entry(added).outcome) == (EntryState.ENDED, Outcome.LOST)
    assert desk.entry(added).problems[0].code == "run_removed"
    assert len(desk.runs.started) == 1


def test_that_there_is_one_scheduler_at_a_time(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.add(GPU_A)
    assert not scheduler_lives(desk.files.folder)
    lock = scheduler_lock(desk.files.folder)
    with lock:
        assert scheduler_lives(desk.files.folder)
        monkeypatch.setattr("gpupanel.runs.scheduling.scheduler._ANOTHER_S", 0.1)
        assert not desk.scheduler.run()
    assert desk.runs.started == []


def test_that_a_scheduler_ends_by_itself_and_lets_go_of_its_lock(desk: Desk) -> None:
    orders.remove(desk.files, desk.add(GPU_A))
    assert desk.scheduler.run()
    assert not scheduler_lives(desk.files.folder)


def test_that_one_that_has_used_its_processor_time_leaves_the_rest_to_another(
    desk: Desk, capfd: pytest.CaptureFixture[str]
) -> None:
    desk.add(GPU_A)
    desk.scheduler.note_used_time()
    assert desk.scheduler.run()
    assert desk.files.read().needs_scheduler
    assert not scheduler_lives(desk.files.folder)
    assert "scheduler: The scheduler has used nearly all" in capfd.readouterr().err


def test_that_a_damaged_queue_ends_the_scheduler_without_touching_it(desk: Desk) -> None:
    desk.add(GPU_A)
    (desk.files.folder / "queue.json").write_text("{")
    with pytest.raises(ProblemError, match="damaged"):
        desk.scheduler.run()
    assert not scheduler_lives(desk.files.folder)
    assert (desk.files.folder / "queue.json").read_text() == "{"


def test_that_a_profile_which_was_removed_is_refused(desk: Desk) -> None:
    added = orders.add(desk.files, Profile(), desk.runs_dir)
    desk.files.profile_path(added.id).unlink()
    desk.scheduler.step()
    assert desk.entry(added.id).problems[0].code == "file_missing"


def test_that_the_log_of_a_scheduler_that_prints_without_end_is_bounded(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.add(GPU_A)
    monkeypatch.setattr(scheduler, "LOG_BYTES", 2**15)
    log = scheduler_log(desk.files.folder)
    rounds, sizes = iter(range(64)), []

    def print_much(_: Scheduler) -> bool:
        with log.open("ab") as file:
            file.write(b"a line of a log\n" * 1024)
        sizes.append(log.stat().st_blocks * 512)
        return next(rounds, None) is None

    monkeypatch.setattr(Scheduler, "step", print_much)
    assert desk.scheduler.run()
    assert max(sizes) < 5 * 2**15
    assert log.stat().st_size < 5 * 2**15
    assert "are left out here" in log.read_text()
