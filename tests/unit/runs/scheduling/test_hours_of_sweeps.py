"""Trials of a sweep keep to its hours, and the sweep goes on with them where they were."""

import pytest

from gpupanel.domain.machine import MachineSettings
from gpupanel.domain.outcome import Outcome
from gpupanel.domain.request import Request
from gpupanel.domain.run_layout import RunLayout
from gpupanel.runs import launcher
from gpupanel.runs.directory.profile_file import read_run_profile
from gpupanel.runs.directory.requests import ask
from gpupanel.runs.machine_settings import MACHINE_FILE
from gpupanel.runs.queue import ended_hours
from gpupanel.runs.queue.ended_hours import await_hours
from gpupanel.runs.queue.queue_files import QueueFiles
from gpupanel.runs.sweeps.sweep_layout import SweepLayout
from gpupanel.runs.sweeps.sweep_record import SweepTrial
from gpupanel.runs.sweeps.sweep_status import sweep_status
from tests.fakes.hours import closed_now
from tests.fakes.queued_runs import QueuedRuns
from tests.fakes.sweep_desk import Desk, sweep_profile


@pytest.fixture
def desk(files: QueueFiles, runs: QueuedRuns, runs_dir, monkeypatch: pytest.MonkeyPatch) -> Desk:
    monkeypatch.setattr(launcher, "_check_devices", lambda plan: None)
    monkeypatch.setattr(ended_hours, "ensure_scheduler", lambda files: False)
    return Desk(files, runs, runs_dir)


def going(desk: Desk, sweep: SweepLayout) -> SweepTrial:
    (trial,) = (each for each in desk.state(sweep).open_trials if each.run is not None)
    return trial


def suspend_for_hours(desk: Desk, trial: SweepTrial) -> None:
    MACHINE_FILE.write(MachineSettings(hours=closed_now()))
    layout = RunLayout(desk.run_of(trial))
    (layout.checkpoints / "step-000000010").mkdir(parents=True)
    await_hours(desk.files, layout, read_run_profile(layout))
    ask(layout, Request.SUSPEND)
    desk.runs.end(layout.root, Outcome.SUSPENDED)


def test_that_a_trial_that_is_suspended_for_its_hours_goes_on_and_no_other_begins_meanwhile(
    desk: Desk,
) -> None:
    sweep = desk.start(sweep_profile())
    for _ in range(3):
        desk.scheduler.step()
    first = going(desk, sweep)
    desk.epochs(first, 0.5)
    suspend_for_hours(desk, first)
    for _ in range(5):
        desk.another_scheduler()
        desk.scheduler.step()
        desk.scheduler.step()

    assert going(desk, sweep).number == first.number
    assert len(desk.runs.started) == 1
    waiting = desk.files.read().waiting
    assert all(each.waits.startswith("Waits until") for each in waiting)
    assert [each.is_suspended for each in waiting].count(True) == 1

    MACHINE_FILE.write(MachineSettings())
    desk.another_scheduler()
    for _ in range(3):
        desk.scheduler.step()
    assert desk.runs.started == [desk.run_of(first)] * 2
    desk.finish(sweep, 0.4)
    status = sweep_status(sweep)
    assert [trial.state for trial in status.trials] == ["completed"] * 3
    assert len({each.run for each in desk.state(sweep).trials}) == 3


def test_that_a_sweep_that_is_stopped_leaves_its_suspended_trial_suspended(desk: Desk) -> None:
    from gpupanel.runs.sweeps.starting import stop_sweep

    sweep = desk.start(sweep_profile())
    for _ in range(3):
        desk.scheduler.step()
    first = going(desk, sweep)
    desk.epochs(first, 0.5)
    suspend_for_hours(desk, first)
    desk.scheduler.step()
    stop_sweep(desk.files, sweep)
    for _ in range(5):
        desk.scheduler.step()

    assert not desk.files.read().waiting
    assert desk.runs.started == [desk.run_of(first)]
    assert sweep_status(sweep).trials[0].state == "suspended"
