"""Entries wait for their hours, and runs that were suspended for theirs wait again, once."""

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from gpupanel.domain.events import (
    CheckpointSaved,
    Event,
    RunEnded,
    RunRestarted,
    StepsDone,
    encode_event,
)
from gpupanel.domain.machine import MachineSettings
from gpupanel.domain.outcome import Outcome, SavedWork
from gpupanel.domain.profile import Profile
from gpupanel.domain.request import Request
from gpupanel.domain.run_layout import RunLayout
from gpupanel.files.line_log import LineLog
from gpupanel.runs import launcher
from gpupanel.runs.directory.profile_file import read_run_profile
from gpupanel.runs.directory.requests import ask
from gpupanel.runs.launcher import create_run
from gpupanel.runs.machine_settings import MACHINE_FILE
from gpupanel.runs.queue import ended_hours, orders
from gpupanel.runs.queue.ended_hours import await_hours, hours_entry
from gpupanel.runs.queue.entry import EntryState, QueueEntry
from gpupanel.runs.queue.queue_files import QueueFiles
from gpupanel.runs.readiness import Machine
from gpupanel.runs.scheduling.scheduler import Scheduler
from tests.fakes.queued_runs import GPU_A, MACHINE, QueuedRuns, prepare_without_build, profile_on

NOON_S = 1_796_040_000.0  # 2026-11-30 12:00 UTC, a Monday
HOUR_S = 3_600.0
NIGHT = "22:00-07:00"


class Clock:
    """The time of day, as the test sets it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now_s = NOON_S
        monkeypatch.setattr(time, "time", lambda: self.now_s)

    def go_to(self, hour: float) -> None:
        """An hour of that Monday, counted from its midnight."""
        self.now_s = NOON_S + (hour - 12.0) * HOUR_S


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> Iterator[Clock]:
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield Clock(monkeypatch)
    monkeypatch.undo()
    time.tzset()


class Night:
    """A queue whose scheduler works when the test says so."""

    def __init__(self, files: QueueFiles, runs: QueuedRuns, runs_dir: Path) -> None:
        self.files, self.runs, self.runs_dir = files, runs, runs_dir
        self.looks = 0
        self.scheduler = self.another()

    def another(self) -> Scheduler:
        self.scheduler = Scheduler(
            self.files, self.read, prepare_without_build, self.runs.start, poll_s=0.0
        )
        return self.scheduler

    def read(self) -> Machine:
        self.looks += 1
        return MACHINE

    def add(self, hours: str | None = NIGHT, name: str = "queued") -> str:
        profile = profile_on(GPU_A, name=name).model_copy(update={"hours": hours})
        return orders.add(self.files, profile, self.runs_dir).id

    def entry(self, entry_id: str) -> QueueEntry:
        return self.files.read().entry(entry_id)

    def step(self) -> None:
        """Another scheduler each time: it knows nothing but what the files say.

        At first it only takes over what goes on.
        """
        scheduler = self.another()
        scheduler.step()
        scheduler.step()


@pytest.fixture
def night(
    files: QueueFiles, runs: QueuedRuns, runs_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> Night:
    monkeypatch.setattr(ended_hours, "ensure_scheduler", lambda files: False)
    # This machine does not have the GPUs.
    monkeypatch.setattr(launcher, "_check_devices", lambda plan: None)
    return Night(files, runs, runs_dir)


def write(run: Path, *events: Event) -> None:
    log = LineLog(RunLayout(run).events)
    for event in events:
        log.append(encode_event(event))
    log.close()


def trained(run: Path) -> None:
    """It has made a step, and saved a checkpoint."""
    folder = RunLayout(run).checkpoints / "step-000000005"
    folder.mkdir(parents=True)
    (folder / "state").write_bytes(b"x")
    write(
        run,
        StepsDone(
            time_s=1.0,
            step=5,
            steps=5,
            epoch=1,
            step_in_epoch=5,
            examples=64,
            loss=1.0,
            learning_rate=0.1,
            examples_per_second=1.0,
        ),
        CheckpointSaved(
            time_s=1.0, path="checkpoints/step-000000005", step=5, epoch=1, seconds=0.1
        ),
    )


def begun(night: Night, hours: str | None = NIGHT) -> tuple[str, Path]:
    """An entry whose run goes on, and has saved something."""
    entry_id = night.add(hours)
    night.step()
    run = night.entry(entry_id).run
    assert run is not None
    trained(run)
    return entry_id, run


def suspended_for_hours(night: Night, run: Path, outcome: Outcome = Outcome.SUSPENDED) -> None:
    layout = RunLayout(run)
    await_hours(night.files, layout, read_run_profile(layout))
    ask(layout, Request.SUSPEND)
    night.runs.end(run, outcome)


def test_that_an_entry_waits_for_its_hours_and_says_until_when_without_waking_a_gpu(
    night: Night, clock: Clock
) -> None:
    waiting = night.add()
    night.step()

    entry = night.entry(waiting)
    assert entry.state is EntryState.WAITING
    assert entry.waits == "Waits until 22:00: its hours are 22:00-07:00."
    assert entry.begin_s == NOON_S + 10 * HOUR_S
    assert night.looks == 0

    clock.go_to(22.0)
    night.step()
    assert night.entry(waiting).state is EntryState.RUNNING
    assert night.entry(waiting).begin_s is None


def test_that_it_keeps_no_device_from_one_behind_it(night: Night) -> None:
    closed, open_now = night.add(), night.add(hours=None)
    night.step()

    assert night.entry(closed).state is EntryState.WAITING
    assert night.entry(open_now).state is EntryState.RUNNING


def test_that_hours_of_the_machine_hold_for_all_and_both_where_both_are_set(
    night: Night, clock: Clock
) -> None:
    MACHINE_FILE.write(MachineSettings(hours=NIGHT))
    any_time, week = night.add(hours=None), night.add(hours="Tue-Fri")
    night.step()

    assert night.entry(any_time).waits == "Waits until 22:00: its hours are 22:00-07:00."
    assert "Tue-Fri and 22:00-07:00" in night.entry(week).waits
    clock.go_to(23.0)
    night.step()
    assert night.entry(any_time).state is EntryState.RUNNING
    assert night.entry(week).waits.startswith("Waits until 00:00")


def test_that_hours_that_never_come_are_refused(night: Night) -> None:
    MACHINE_FILE.write(MachineSettings(hours=NIGHT))
    never = night.add(hours="08:00-20:00")
    # As the scheduler itself prepares: with the settings of the machine.
    night.scheduler._prepare = lambda machine, profile: _prepared_with_machine(machine, profile)
    night.scheduler.step()

    assert night.entry(never).state is EntryState.REFUSED
    assert night.entry(never).problems[0].code == "hours_do_not_meet"


def _prepared_with_machine(machine: Machine, profile: Profile):  # type: ignore[no-untyped-def]
    from gpupanel.planning.context import Known
    from gpupanel.planning.prepare import prepare

    known = Known(machine.sample, machine=MACHINE_FILE.read())
    return prepare(profile, machine.inventory, known)


def test_that_settings_of_the_machine_that_cannot_be_read_start_nothing(night: Night) -> None:
    MACHINE_FILE.write(MachineSettings())
    MACHINE_FILE.path().write_text('hours = "at night"\n')
    waiting = night.add(hours=None)
    night.step()

    assert night.entry(waiting).state is EntryState.WAITING
    assert "cannot be used: hours" in night.entry(waiting).waits


def test_that_a_run_that_is_suspended_for_its_hours_waits_in_its_own_entry_and_continues(
    night: Night, clock: Clock
) -> None:
    clock.go_to(23.0)
    entry_id, run = begun(night)
    clock.go_to(31.0)
    suspended_for_hours(night, run)
    night.step()

    entry = night.entry(entry_id)
    assert entry.is_suspended
    assert (entry.outcome, entry.hours_ended_s, entry.run) == (None, None, run)
    night.step()
    assert night.entry(entry_id).waits == "Waits until 22:00: its hours are 22:00-07:00."
    assert len(night.files.read().entries) == 1

    clock.go_to(46.5)
    night.step()
    assert night.entry(entry_id).is_running
    assert night.runs.started == [run, run]
    assert not (RunLayout(run).requests / Request.SUSPEND).exists()


def test_that_a_run_that_was_never_in_the_queue_gets_an_entry_once(
    night: Night, clock: Clock, runs_dir: Path
) -> None:
    profile = profile_on(GPU_A, name="single").model_copy(update={"hours": NIGHT})
    plan = prepare_without_build(MACHINE, profile).plan
    assert plan is not None
    layout = create_run(profile, plan, runs_dir)
    night.runs.start(layout)
    trained(layout.root)
    clock.go_to(31.0)
    await_hours(night.files, layout, profile)  # and its supervisor was killed
    suspended_for_hours(night, layout.root)
    night.step()

    (entry,) = night.files.read().entries
    assert (entry.name, entry.run, entry.is_suspended) == ("single", layout.root, True)
    assert hours_entry(night.files.read(), layout.root) == entry
    clock.go_to(46.5)
    night.step()
    assert night.runs.started == [layout.root, layout.root]


def test_that_one_whose_supervisor_is_killed_while_it_saves_is_not_lost(
    night: Night, clock: Clock
) -> None:
    clock.go_to(23.0)
    entry_id, run = begun(night)
    clock.go_to(31.0)
    layout = RunLayout(run)
    await_hours(night.files, layout, read_run_profile(layout))
    night.runs.vanish(run)
    night.step()

    assert night.entry(entry_id).is_suspended


@pytest.mark.parametrize("outcome", [Outcome.COMPLETED, Outcome.FAILED])
def test_that_one_that_came_to_its_end_meanwhile_waits_for_nothing(
    night: Night, clock: Clock, outcome: Outcome
) -> None:
    clock.go_to(23.0)
    entry_id, run = begun(night)
    suspended_for_hours(night, run, outcome)
    night.step()

    assert (night.entry(entry_id).state, night.entry(entry_id).outcome) == (
        EntryState.ENDED,
        outcome,
    )


def test_that_a_trial_that_came_to_its_epoch_at_that_moment_is_no_further_trained(
    night: Night, clock: Clock
) -> None:
    clock.go_to(23.0)
    entry_id, run = begun(night)
    paused = night.entry(entry_id).model_copy(update={"suspend_after_epoch": 1})
    night.files.change(lambda line: line.with_changed(paused))
    layout = RunLayout(run)
    await_hours(night.files, layout, read_run_profile(layout))
    saved = SavedWork(model=True, checkpoint_step=5)
    write(run, RunEnded(time_s=clock.now_s, outcome=Outcome.SUSPENDED, saved=saved))
    night.runs.vanish(run)
    night.step()

    assert night.entry(entry_id).outcome is Outcome.SUSPENDED


def test_that_one_that_a_person_stopped_meanwhile_stays_stopped(night: Night, clock: Clock) -> None:
    clock.go_to(23.0)
    entry_id, run = begun(night)
    ask(RunLayout(run), Request.STOP)
    suspended_for_hours(night, run, Outcome.STOPPED)
    night.step()

    assert night.entry(entry_id).outcome is Outcome.STOPPED


def test_that_one_that_a_person_suspended_stays_suspended(night: Night, clock: Clock) -> None:
    clock.go_to(23.0)
    entry_id, run = begun(night)
    ask(RunLayout(run), Request.SUSPEND)
    night.runs.end(run, Outcome.SUSPENDED)
    night.step()

    assert night.entry(entry_id).outcome is Outcome.SUSPENDED


def test_that_one_whose_folder_is_gone_is_said_to_be_lost(night: Night, clock: Clock) -> None:
    clock.go_to(23.0)
    entry_id, run = begun(night)
    suspended_for_hours(night, run)
    os.rename(run, run.with_name("elsewhere"))  # noqa: PTH104 - as a person moves it
    night.step()

    assert night.entry(entry_id).outcome is Outcome.LOST


def test_that_one_that_a_person_resumes_meanwhile_is_followed_and_not_started_twice(
    night: Night, clock: Clock
) -> None:
    clock.go_to(23.0)
    entry_id, run = begun(night)
    clock.go_to(31.0)
    suspended_for_hours(night, run)
    night.step()
    write(run, RunRestarted(time_s=clock.now_s, attempt=0))
    night.runs.start(RunLayout(run))
    night.step()

    assert night.entry(entry_id).is_running
    clock.go_to(46.5)
    night.step()
    assert night.runs.started == [run, run]
    night.runs.end(run)
    night.step()
    assert night.entry(entry_id).outcome is Outcome.COMPLETED


def test_that_it_continues_as_it_was_changed_meanwhile(night: Night, clock: Clock) -> None:
    clock.go_to(23.0)
    entry_id, run = begun(night)
    changed = read_run_profile(RunLayout(run)).model_copy(update={"name": "changed"})
    from gpupanel.domain.profile_toml import dump_profile

    RunLayout(run).profile.write_text(dump_profile(changed))
    clock.go_to(31.0)
    suspended_for_hours(night, run)
    night.step()

    assert night.files.profile(entry_id).name == "changed"


def test_that_a_run_is_put_into_the_queue_by_a_person_once_to_continue(
    night: Night, clock: Clock
) -> None:
    clock.go_to(23.0)
    entry_id, run = begun(night)
    ask(RunLayout(run), Request.SUSPEND)
    night.runs.end(run, Outcome.SUSPENDED)
    night.step()
    orders.clear(night.files)
    clock.go_to(36.0)

    first = orders.continue_run(night.files, RunLayout(run))
    assert orders.continue_run(night.files, RunLayout(run)) == first
    night.step()
    assert night.entry(first.id).waits.startswith("Waits until 22:00")
    clock.go_to(46.5)
    night.step()
    assert night.runs.started == [run, run]
    assert entry_id != first.id
