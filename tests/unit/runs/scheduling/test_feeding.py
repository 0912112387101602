"""How the scheduler of the queue adds a sweep's trials, and what the record says of them."""

import shutil
import time
from pathlib import Path

import pytest

from gpupanel.domain.events import TrainingEnded, TrainingResumed, encode_event
from gpupanel.domain.outcome import Outcome
from gpupanel.domain.problem import ProblemError
from gpupanel.domain.profile_toml import parse_profile
from gpupanel.domain.request import Request
from gpupanel.domain.run_layout import RunLayout
from gpupanel.files.line_log import LineLog
from gpupanel.planning.sweep_trials import trials_of
from gpupanel.runs.directory.profile_file import read_run_profile
from gpupanel.runs.directory.requests import is_asked
from gpupanel.runs.queue import orders
from gpupanel.runs.queue.queue_files import QueueFiles
from gpupanel.runs.scheduling import running_sweep
from gpupanel.runs.sweeps.starting import places_on, resume_sweep, stop_sweep
from gpupanel.runs.sweeps.sweep_status import sweep_status
from tests.fakes.queued_runs import GPU_A, GPU_B, MACHINE, QueuedRuns
from tests.fakes.sweep_desk import Desk
from tests.fakes.sweep_desk import sweep_profile as profile


@pytest.fixture
def desk(files: QueueFiles, runs: QueuedRuns, runs_dir: Path) -> Desk:
    return Desk(files, runs, runs_dir)


def test_that_each_trial_of_a_grid_becomes_a_run_with_its_values(desk: Desk) -> None:
    sweep = desk.start(profile())
    assert sweep.root.parent == desk.runs_dir / "sweeps"
    desk.finish(sweep, 0.5, 0.25, 0.3)
    state = desk.state(sweep)
    found = [read_run_profile(RunLayout(desk.run_of(trial))) for trial in state.trials]
    assert [each.training.learning_rate for each in found] == [0.1, 0.01, 0.001]
    assert [each.name for each in found][:2] == [
        "digits 1: learning rate 0.1",
        "digits 2: learning rate 0.01",
    ]
    assert all(each.sweep is None for each in found)
    assert len(desk.runs.started) == 3
    ends = [trial.ended for trial in state.trials]
    assert [(e.outcome, e.epoch, e.value) for e in ends if e is not None] == [
        (Outcome.COMPLETED, 2, 0.25)
    ] * 3
    assert state.ended is not None
    assert not state.ended.stopped
    assert desk.files.read().sweeps == ()


def test_that_one_trial_waits_or_goes_on_for_each_device_and_no_more(desk: Desk) -> None:
    both = profile().replace(f'["{GPU_A}"]', f'["{GPU_A}", "{GPU_B}"]')
    sweep = desk.start(both)
    desk.scheduler.step()
    trials = desk.state(sweep).trials
    assert [trial.devices for trial in trials] == [(GPU_A,), (GPU_B,)]
    assert len(desk.runs.started) == 2
    desk.scheduler.step()
    assert len(desk.files.read().entries) == 2
    second = desk.state(sweep).trials[1]
    desk.runs.end(desk.run_of(second))
    desk.scheduler.step()
    desk.scheduler.step()
    assert desk.state(sweep).trials[2].devices == (GPU_B,)
    run = desk.run_of(desk.state(sweep).trials[2])
    assert read_run_profile(RunLayout(run)).devices.visible == (GPU_B,)


def test_that_a_sweep_that_says_which_devices_keeps_to_it() -> None:
    read = parse_profile(profile('"devices.cpu_replicas" = [1, 2]').replace(GPU_A, "cpu"))
    assert places_on(MACHINE, read) == ()


@pytest.mark.parametrize("seed", [1, 2])
def test_that_random_trials_go_on_with_the_same_values_after_each_scheduler(
    desk: Desk, seed: int
) -> None:
    text = profile(
        '"training.learning_rate" = {low = 1e-4, high = 0.1, log = true}',
        f"trials = 4\nseed = {seed}",
    )
    sweep = desk.start(text)
    for _ in range(20):
        desk.another_scheduler()
        if desk.scheduler.step() or desk.scheduler.step():
            break
        desk.end_started(sweep)
    found = [dict(trial.values) for trial in desk.state(sweep).trials]
    assert found == list(trials_of(parse_profile(text)))
    assert len(desk.runs.started) == 4


def test_that_a_trial_is_queued_once_wherever_its_scheduler_is_killed(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    class KilledError(Exception):
        pass

    appended, changed = running_sweep.append_event, QueueFiles.change

    def count_down(left: int) -> None:
        calls = iter(range(left))

        def dying(real):  # type: ignore[no-untyped-def]
            def call(*arguments: object, **options: object) -> object:
                if next(calls, None) is None:
                    raise KilledError
                return real(*arguments, **options)

            return call

        monkeypatch.setattr(running_sweep, "append_event", dying(appended))
        monkeypatch.setattr(QueueFiles, "change", dying(changed))

    sweep = desk.start(profile())
    for left in [*range(30), 10_000]:
        count_down(left)
        desk.another_scheduler()
        try:
            while not desk.scheduler.step():
                desk.end_started(sweep)
        except KilledError:
            desk.scheduler._let_go()
    state = desk.state(sweep)
    assert [trial.values["training.learning_rate"] for trial in state.trials] == [0.1, 0.01, 0.001]
    outcomes = [trial.ended.outcome for trial in state.trials if trial.ended is not None]
    assert outcomes == [Outcome.COMPLETED] * 3
    names = {read_run_profile(RunLayout(root)).name for root in desk.runs.started}
    assert len(names) == len(desk.runs.started) == 3
    assert state.ended is not None


def test_that_a_poor_trial_is_stopped_and_recorded_as_pruned(desk: Desk) -> None:
    values = '"training.seed" = [1, 2, 3, 4, 5]'
    above = "[training]\nepochs = 3"
    text = profile(values, 'method = "grid"\nprune_after_trials = 3', above)
    sweep = desk.start(text)
    for losses in ((0.9, 0.5, 0.4), (0.9, 0.6, 0.4), (0.9, 0.7, 0.4)):
        desk.scheduler.step()
        desk.scheduler.step()
        trial = desk.state(sweep).trials[-1]
        desk.epochs(trial, *losses)
        desk.runs.end(desk.run_of(trial))
        desk.scheduler.step()
    desk.scheduler.step()
    fourth = desk.state(sweep).trials[3]
    layout = RunLayout(desk.run_of(fourth))
    desk.epochs(fourth, 0.9)
    desk.scheduler.step()
    assert not is_asked(layout, Request.STOP)
    desk.epochs(fourth, 0.8, first=2)
    desk.scheduler.step()
    assert is_asked(layout, Request.STOP)
    pruned = desk.state(sweep).trials[3].pruned
    assert pruned is not None
    assert (pruned.epoch, pruned.best, pruned.median) == (2, 0.8, 0.6)
    # The next scheduler asks again: this one may have been killed before it asked.
    (layout.requests / Request.STOP.value).unlink()
    desk.another_scheduler()
    desk.scheduler.step()
    desk.scheduler.step()
    assert is_asked(layout, Request.STOP)
    desk.runs.end(layout.root, Outcome.STOPPED)
    desk.finish(sweep, 0.1, 0.1, 0.1)
    last = desk.state(sweep).trials[3]
    assert last.ended is not None
    assert (last.ended.outcome, last.ended.value) == (Outcome.STOPPED, 0.8)
    assert desk.state(sweep).trials[4].pruned is None


def test_that_epochs_that_are_done_again_count_once(desk: Desk) -> None:
    sweep = desk.start(profile())
    desk.scheduler.step()
    desk.scheduler.step()
    trial = desk.state(sweep).trials[0]
    desk.epochs(trial, 0.5, 0.1)
    log = LineLog(RunLayout(desk.run_of(trial)).events)
    log.append(encode_event(TrainingResumed(time_s=1.0, path="x", epoch=2, step=10)))
    log.close()
    desk.runs.end(desk.run_of(trial))
    desk.scheduler.step()
    ended = desk.state(sweep).trials[0].ended
    assert ended is not None
    assert (ended.epoch, ended.value) == (1, 0.5)


def test_that_a_trial_is_worth_what_its_model_is(desk: Desk) -> None:
    # By its best epoch of another metric.
    sweep = desk.start(profile())
    desk.scheduler.step()
    desk.scheduler.step()
    trial = desk.state(sweep).trials[0]
    desk.epochs(trial, 0.5, 0.4, 0.1)
    log = LineLog(RunLayout(desk.run_of(trial)).events)
    end = TrainingEnded(time_s=1.0, outcome=Outcome.COMPLETED, kept_epoch=2)
    log.append(encode_event(end))
    log.close()
    desk.runs.end(desk.run_of(trial))
    desk.scheduler.step()
    ended = desk.state(sweep).trials[0].ended
    assert ended is not None
    assert (ended.epoch, ended.value) == (2, 0.4)


def test_that_a_stopped_sweep_begins_nothing_more_and_stops_what_goes_on(desk: Desk) -> None:
    both = profile().replace(f'["{GPU_A}"]', f'["{GPU_A}", "{GPU_B}"]')
    other = orders.add(desk.files, parse_profile(profile().replace(GPU_A, GPU_B)), desk.runs_dir)
    desk.scheduler.step()
    sweep = desk.start(both)
    desk.scheduler.step()
    going, waiting = desk.state(sweep).trials
    stop_sweep(desk.files, sweep)
    desk.scheduler.step()
    going = desk.state(sweep).trials[0]
    assert is_asked(RunLayout(desk.run_of(going)), Request.STOP)
    assert waiting.entry not in {entry.id for entry in desk.files.read().entries}
    desk.runs.end(desk.run_of(going), Outcome.STOPPED)
    desk.scheduler.step()
    desk.scheduler.step()
    state = desk.state(sweep)
    assert len(state.trials) == 2
    assert state.trials[1].ended is not None
    assert state.trials[1].ended.problem is not None
    assert state.ended is not None
    assert state.ended.stopped
    assert desk.files.read().entry(other.id).is_running
    with pytest.raises(ProblemError, match="has ended"):
        resume_sweep(desk.files, sweep)


def test_that_a_paused_queue_gets_no_trials_until_it_goes_on(desk: Desk) -> None:
    sweep = desk.start(profile())
    orders.pause(desk.files)
    assert desk.scheduler.step()
    assert desk.state(sweep).trials == ()
    orders.go_on(desk.files)
    desk.another_scheduler()
    desk.scheduler.step()
    assert len(desk.state(sweep).trials) == 1


def test_that_a_cleared_queue_loses_no_trial(desk: Desk) -> None:
    sweep = desk.start(profile())
    desk.scheduler.step()
    desk.scheduler.step()
    trial = desk.state(sweep).trials[0]
    desk.runs.end(desk.run_of(trial))
    # Another one notes the end, is killed before it records it, and the person clears the queue.
    line = desk.files.read()
    entry = line.entry(trial.entry)
    desk.files.change(lambda line: line.model_copy(update={"entries": ()}))
    assert entry.is_running
    desk.another_scheduler()
    desk.finish(sweep)
    outcomes = [each.ended.outcome for each in desk.state(sweep).trials if each.ended]
    assert outcomes == [Outcome.COMPLETED] * 3


def test_that_a_trial_that_is_taken_out_of_the_queue_is_passed_over(desk: Desk) -> None:
    orders.add(desk.files, parse_profile(profile()), desk.runs_dir)
    desk.scheduler.step()
    sweep = desk.start(profile())
    desk.scheduler.step()
    orders.remove(desk.files, desk.state(sweep).trials[0].entry)
    desk.scheduler.step()
    first, second = desk.state(sweep).trials
    assert first.ended is not None
    assert first.ended.problem is not None
    assert first.ended.problem.code == "sweep_trial_removed"
    assert second.is_open


def test_that_a_trial_that_is_put_back_counts_again(desk: Desk) -> None:
    before = orders.add(desk.files, parse_profile(profile()), desk.runs_dir)
    desk.scheduler.step()
    sweep = desk.start(profile())
    desk.scheduler.step()
    removed = orders.take_out(desk.files, desk.state(sweep).trials[0].entry)
    assert removed is not None
    desk.scheduler.step()
    assert not desk.state(sweep).trials[0].is_open
    orders.put_back(desk.files, removed)
    desk.scheduler.step()
    assert desk.state(sweep).trials[0].is_open
    desk.another_scheduler()
    run = desk.files.read().entry(before.id).run
    assert run is not None
    desk.runs.end(run)
    desk.finish(sweep)
    outcomes = [each.ended.outcome for each in desk.state(sweep).trials if each.ended]
    assert outcomes == [Outcome.COMPLETED] * 3


def test_that_a_trial_that_cannot_start_says_why_and_the_next_one_does(desk: Desk) -> None:
    text = profile('"devices.visible" = [["GPU-gone"], ["GPU-4090"]]')
    sweep = desk.start(text)
    for _ in range(3):
        desk.scheduler.step()
    first, second = desk.state(sweep).trials
    assert first.ended is not None
    assert first.ended.problem is not None
    assert first.ended.problem.code == "device_not_found"
    assert second.run is not None


def test_that_a_removed_sweep_is_forgotten_and_its_last_trial_goes_on(desk: Desk) -> None:
    sweep = desk.start(profile())
    desk.scheduler.step()
    shutil.rmtree(sweep.root)
    desk.scheduler.step()
    assert desk.files.read().sweeps == ()
    assert len(desk.files.read().running) == 1


def test_that_a_damaged_profile_ends_the_sweep_with_its_problem(desk: Desk) -> None:
    sweep = desk.start(profile())
    sweep.profile.write_text("[sweep", encoding="utf-8")
    desk.scheduler.step()
    ended = desk.state(sweep).ended
    assert ended is not None
    assert ended.problem is not None
    assert ended.problem.code == "profile_not_toml"
    assert desk.files.read().sweeps == ()


def test_that_a_link_or_a_giant_in_the_place_of_the_record_holds_nobody_up(
    desk: Desk, tmp_path: Path
) -> None:
    precious = tmp_path / "precious"
    precious.write_text("mine", encoding="utf-8")
    linked, fine = desk.start(profile()), desk.start(profile())
    linked.record.unlink()
    linked.record.symlink_to(precious)
    begun = time.monotonic()
    desk.scheduler.step()
    assert time.monotonic() - begun < 5.0
    assert precious.read_text(encoding="utf-8") == "mine"
    assert len(desk.state(fine).trials) == 1


def test_that_each_trial_is_trained_with_its_seeds_and_worth_their_mean(desk: Desk) -> None:
    rates = '"training.learning_rate" = [0.1, 0.01]'
    sweep = desk.start(profile(rates, 'method = "grid"\nseeds = 3'))
    assert sweep_status(sweep).trial_count == 2
    losses = iter([0.1, 0.2, 0.6, 0.4, 0.2, 0.25])
    while not desk.scheduler.step():
        for trial in desk.state(sweep).open_trials:
            if trial.run is not None and desk.run_of(trial) in desk.runs._locks:
                desk.epochs(trial, next(losses))
                desk.runs.end(desk.run_of(trial))
                if trial.number == 4:
                    early = sweep_status(sweep)
    found = [read_run_profile(RunLayout(desk.run_of(each))) for each in desk.state(sweep).trials]
    assert [each.training.seed for each in found] == [7, 8, 9] * 2
    assert [each.training.learning_rate for each in found] == [0.1] * 3 + [0.01] * 3
    assert found[4].name == "digits 2: learning rate 0.01, seed 8"
    # While the second one is not measured as often, it is not the best.
    assert early.best == 1
    assert [trial.state for trial in early.trials] == ["completed", "running"]
    first, second = sweep_status(sweep).trials
    assert (first.number, second.number, sweep_status(sweep).best) == (1, 2, 2)
    assert first.values == {"training.learning_rate": 0.1}
    assert first.value == pytest.approx(0.3)
    assert first.spread == pytest.approx(0.07**0.5)
    assert (first.measured, first.epoch, first.run) == (3, None, desk.state(sweep).trials[0].run)
    assert [run.values for run in first.runs] == [{"training.seed": seed} for seed in (7, 8, 9)]
    assert [run.value for run in second.runs] == [0.4, 0.2, 0.25]


def test_that_a_bayesian_trial_is_trained_with_its_seeds_before_the_next_is_chosen(
    desk: Desk,
) -> None:
    pytest.importorskip("optuna")
    text = profile('"model.hidden" = [[8], [16]]', 'method = "bayesian"\nseeds = 2')
    sweep = desk.start(text)
    desk.finish(sweep, 0.5)
    values = [dict(trial.values) for trial in desk.state(sweep).trials]
    assert [each["training.seed"] for each in values] == [7, 8, 7, 8]
    assert values[0]["model.hidden"] == values[1]["model.hidden"] != values[2]["model.hidden"]


def test_that_a_profile_is_cross_validated_without_other_values(desk: Desk) -> None:
    sweep = desk.start(profile("", 'method = "grid"\nfolds = 3'))
    desk.finish(sweep, 0.5, 0.25)
    found = [read_run_profile(RunLayout(desk.run_of(each))) for each in desk.state(sweep).trials]
    assert [each.data.fold for each in found] == [1, 2, 3]
    assert {each.data.validation_fraction for each in found} == {1 / 3}
    (trial,) = sweep_status(sweep).trials
    assert (trial.values, trial.value, trial.spread, trial.measured) == ({}, 0.25, 0.0, 3)
    assert [run.values["data.fold"] for run in trial.runs] == [1, 2, 3]
