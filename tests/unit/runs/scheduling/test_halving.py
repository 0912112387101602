"""Successive halving: trials of a sweep are paused at rungs, and the best of them continued."""

import json
import shutil
from pathlib import Path

import pytest

from gpupanel.domain.events import RunRestarted, decode_event
from gpupanel.domain.outcome import Outcome
from gpupanel.domain.profile_toml import parse_profile
from gpupanel.domain.request import Request
from gpupanel.domain.run_layout import RunLayout
from gpupanel.runs import launcher
from gpupanel.runs.directory.requests import is_asked
from gpupanel.runs.queue import orders
from gpupanel.runs.queue.queue_files import QueueFiles
from gpupanel.runs.scheduling import running_sweep, start_entry
from gpupanel.runs.sweeps.starting import stop_sweep
from gpupanel.runs.sweeps.sweep_layout import SweepLayout
from gpupanel.runs.sweeps.sweep_record import SweepTrial
from gpupanel.runs.sweeps.sweep_status import SweepStatus, sweep_status
from gpupanel.runs.sweeps.trial_status import TrialPhase
from tests.fakes.queued_runs import GPU_A, GPU_B, QueuedRuns
from tests.fakes.sweep_desk import Desk, sweep_profile

EPOCHS = 9
HALVING = 'method = "grid"\nstopping_rule = "successive_halving"'


class HalvingDesk(Desk):
    """Lets each trial go on with the losses that its number has, to its pause or its end."""

    losses: dict[int, float]

    def pause_of(self, trial: SweepTrial) -> int | None:
        path = RunLayout(self.run_of(trial)).requests / Request.SUSPEND_AFTER_EPOCH
        return int(path.read_text()) if path.exists() else None

    def go_on(self, sweep: SweepLayout) -> None:
        for trial in self.state(sweep).open_trials:
            if trial.run is None or self.run_of(trial) not in self.runs._locks:
                continue
            until, done = self.pause_of(trial), trial.rung
            last = until or EPOCHS
            loss = self.losses[trial.number]
            self.epochs(trial, *[loss / each for each in range(done + 1, last + 1)], first=done + 1)
            outcome = Outcome.COMPLETED if until is None else Outcome.SUSPENDED
            self.runs.end(self.run_of(trial), outcome)

    def work(self, sweep: SweepLayout) -> SweepStatus:
        for _ in range(200):
            if self.scheduler.step():
                return sweep_status(sweep)
            self.go_on(sweep)
        pytest.fail("the sweep does not end")


@pytest.fixture
def desk(
    files: QueueFiles, runs: QueuedRuns, runs_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> HalvingDesk:
    monkeypatch.setattr(launcher, "_check_devices", lambda plan: None)
    return HalvingDesk(files, runs, runs_dir)


def started(desk: HalvingDesk, *losses: float, more: str = "", both: bool = False) -> SweepLayout:
    seeds = ", ".join(str(seed) for seed, _ in enumerate(losses))
    text = sweep_profile(
        f'"training.seed" = [{seeds}]', f"{HALVING}\n{more}", f"[training]\nepochs = {EPOCHS}"
    )
    desk.losses = dict(enumerate(losses, 1))
    return desk.start(text.replace(f'["{GPU_A}"]', f'["{GPU_A}", "{GPU_B}"]') if both else text)


def restarts(desk: HalvingDesk, trial: SweepTrial) -> int:
    lines = RunLayout(desk.run_of(trial)).events.read_bytes().splitlines()
    return sum(isinstance(decode_event(line), RunRestarted) for line in lines)


def test_that_the_best_trials_go_on_from_rung_to_rung_in_their_own_runs(desk: HalvingDesk) -> None:
    sweep = started(desk, 0.1, 0.8, 0.9, 0.2, 0.7, 0.85, 0.3, 0.75, 0.95)
    status = desk.work(sweep)
    assert status.state == "completed"
    assert [trial.number for trial in status.trials if trial.state == "completed"] == [1]
    assert status.best == 1
    trials = desk.state(sweep).trials
    # After one epoch 3 of 9 go on, after three the best of these.
    assert [trial.rung for trial in trials] == [3, 1, 1, 3, 1, 1, 3, 1, 1]
    assert len(desk.runs.started) == 9 + 3 + 1
    assert len({trial.run for trial in trials}) == 9
    assert restarts(desk, trials[0]) == 2


def test_that_a_trial_that_never_goes_on_says_why(desk: HalvingDesk) -> None:
    sweep = started(desk, 0.9, 0.3, 0.6)
    first, best, third = desk.work(sweep).trials
    assert (first.state, first.pruned_after) == (TrialPhase.PRUNED, 1)
    assert first.reason == "number 3 of 3 there, of which 1 continued"
    assert (first.value, first.epoch) == (0.9, 1)
    assert third.state is TrialPhase.PRUNED
    # The best one goes to the end, though it is alone at the second rung.
    assert (best.state, best.reason, best.epoch) == (TrialPhase.COMPLETED, "", 9)


def test_that_a_paused_trial_holds_no_device_and_waits(desk: HalvingDesk) -> None:
    sweep = started(desk, 0.9, 0.3, 0.6)
    for _ in range(3):
        desk.scheduler.step()
    first = desk.state(sweep).trials[0]
    assert desk.pause_of(first) == 1
    desk.go_on(sweep)
    for _ in range(3):
        desk.scheduler.step()
    status = sweep_status(sweep)
    assert [trial.state for trial in status.trials] == [TrialPhase.PAUSED, TrialPhase.RUNNING]
    assert status.ended_count == 0
    assert status.trials[0].value == 0.9


def test_that_a_trial_goes_on_at_whichever_place_is_free(desk: HalvingDesk) -> None:
    sweep = started(desk, *[0.9, 0.8, 0.7, 0.6, 0.5, 0.1], both=True)
    status = desk.work(sweep)
    assert status.state == "completed"
    assert {trial.devices for trial in status.trials} == {(GPU_A,), (GPU_B,)}


def test_that_nothing_is_done_twice_wherever_a_scheduler_is_killed(
    desk: HalvingDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    class KilledError(Exception):
        pass

    appended, changed = running_sweep.append_event, QueueFiles.change
    resumed = start_entry.resume

    def count_down(left: int) -> None:
        calls = iter(range(left))

        def dying(real):  # type: ignore[no-untyped-def]
            def call(*arguments: object, **options: object) -> object:
                if next(calls, None) is None:
                    raise KilledError
                done = real(*arguments, **options)
                if next(calls, None) is None:
                    raise KilledError
                return done

            return call

        monkeypatch.setattr(running_sweep, "append_event", dying(appended))
        monkeypatch.setattr(QueueFiles, "change", dying(changed))
        monkeypatch.setattr(start_entry, "resume", dying(resumed))

    sweep = started(desk, 0.9, 0.3, 0.6, 0.8)
    for left in [*range(60), 10_000]:
        count_down(left)
        desk.another_scheduler()
        try:
            while not desk.scheduler.step():
                desk.go_on(sweep)
        except KilledError:
            desk.scheduler._let_go()
    status = sweep_status(sweep)
    assert status.state == "completed"
    assert [trial.state for trial in status.trials] == ["pruned", "completed", "pruned", "pruned"]
    # One start each, and two more of the best one.
    assert len(desk.runs.started) == 4 + 2
    kinds = [json.loads(line)["kind"] for line in sweep.record.read_text().splitlines()]
    assert kinds.count("trial_continued") == 2


def test_that_the_same_sweep_decides_the_same_each_time(desk: HalvingDesk) -> None:
    losses = [0.4, 0.9, 0.2, 0.6, 0.5, 0.1, 0.8, 0.3]
    first = desk.work(started(desk, *losses))
    desk.another_scheduler()
    again = desk.work(started(desk, *losses))
    assert [(t.state, t.pruned_after, t.reason) for t in first.trials] == [
        (t.state, t.pruned_after, t.reason) for t in again.trials
    ]


def test_that_a_stopped_sweep_leaves_its_paused_trials_suspended(desk: HalvingDesk) -> None:
    sweep = started(desk, 0.9, 0.3, 0.6)
    for _ in range(3):
        desk.scheduler.step()
    desk.go_on(sweep)
    for _ in range(3):
        desk.scheduler.step()
    stop_sweep(desk.files, sweep)
    desk.scheduler.step()
    going = desk.state(sweep).trials[1]
    assert is_asked(RunLayout(desk.run_of(going)), Request.STOP)
    desk.runs.end(desk.run_of(going), Outcome.STOPPED)
    for _ in range(2):
        desk.scheduler.step()
    status = sweep_status(sweep)
    assert status.state == "stopped"
    assert [trial.state for trial in status.trials] == ["suspended", "stopped"]
    assert status.trials[0].reason == ""


def test_that_a_paused_queue_does_not_end_a_sweep_with_paused_trials(desk: HalvingDesk) -> None:
    sweep = started(desk, 0.9, 0.3, 0.6)
    for _ in range(100):
        desk.scheduler.step()
        if len(desk.state(sweep).trials) == 3 and desk.state(sweep).trials[2].run is not None:
            break
        desk.go_on(sweep)
    orders.pause(desk.files)
    desk.go_on(sweep)
    for _ in range(3):
        desk.scheduler.step()
    assert sweep_status(sweep).state == "in progress"
    orders.go_on(desk.files)
    desk.another_scheduler()
    assert desk.work(sweep).state == "completed"


def waiting_to_continue(desk: HalvingDesk) -> tuple[SweepLayout, SweepTrial]:
    """A sweep whose best trial is to go on, and waits for its device."""
    sweep = started(desk, 0.9, 0.3, 0.6)
    other = parse_profile(sweep_profile())
    for _ in range(100):
        desk.scheduler.step()
        trials = desk.state(sweep).trials
        if len(trials) == 3 and trials[2].run is not None:
            # Its turn comes before that of the trial.
            orders.add(desk.files, other, desk.runs_dir)
            desk.go_on(sweep)
            break
        desk.go_on(sweep)
    desk.scheduler.step()
    best = desk.state(sweep).trials[1]
    assert best.events_bytes is not None
    assert desk.files.read().entry(best.entry).is_waiting
    return sweep, best


def end_other(desk: HalvingDesk) -> None:
    (other,) = (each for each in desk.files.read().running if each.name == "digits")
    assert other.run is not None
    desk.runs.end(other.run)


def test_that_a_trial_that_waits_to_go_on_says_so_and_does(desk: HalvingDesk) -> None:
    sweep, _ = waiting_to_continue(desk)
    assert sweep_status(sweep).trials[1].state is TrialPhase.WAITING
    assert sweep_status(sweep).trials[1].value == 0.3
    end_other(desk)
    assert desk.work(sweep).trials[1].state is TrialPhase.COMPLETED


def test_that_a_trial_that_is_taken_out_before_it_goes_on_stays_suspended(
    desk: HalvingDesk,
) -> None:
    sweep, best = waiting_to_continue(desk)
    removed = orders.take_out(desk.files, best.entry)
    desk.scheduler.step()
    ended = desk.state(sweep).trials[1].ended
    assert ended is not None
    assert ended.problem is not None
    assert ended.problem.message == "Trial 2 was taken out of the queue before it was continued."
    assert (ended.outcome, ended.value) == (Outcome.SUSPENDED, 0.3)
    assert desk.run_of(best).exists()
    assert removed is not None
    orders.put_back(desk.files, removed)
    desk.another_scheduler()
    end_other(desk)
    assert desk.work(sweep).trials[1].state is TrialPhase.COMPLETED


def test_that_one_that_somebody_has_continued_meanwhile_is_only_followed(
    desk: HalvingDesk,
) -> None:
    sweep, best = waiting_to_continue(desk)
    end_other(desk)
    layout = RunLayout(desk.run_of(best))
    launcher.resume(layout, start=desk.runs.start)
    for _ in range(3):
        desk.scheduler.step()
    # It goes to its end, as the person said.
    assert desk.pause_of(best) is None
    desk.go_on(sweep)
    desk.another_scheduler()
    assert desk.work(sweep).trials[1].state is TrialPhase.COMPLETED
    assert restarts(desk, best) == 1


def test_that_a_trial_whose_run_was_removed_ends_with_the_reason(desk: HalvingDesk) -> None:
    sweep, best = waiting_to_continue(desk)
    shutil.rmtree(desk.run_of(best))
    end_other(desk)
    status = desk.work(sweep)
    assert status.state == "completed"
    assert status.trials[1].state is not TrialPhase.COMPLETED
    assert status.trials[1].problem is not None
    # The next best one goes to the end in its place.
    assert status.trials[2].state is TrialPhase.COMPLETED


def test_that_all_runs_of_a_trial_go_on_by_their_mean(desk: HalvingDesk) -> None:
    # Trial 2 has the best run, and trial 1 the best mean of two.
    text = sweep_profile(
        '"training.learning_rate" = [0.1, 0.01, 0.001]',
        f"{HALVING}\nseeds = 2",
        f"[training]\nepochs = {EPOCHS}",
    )
    desk.losses = {1: 0.4, 2: 0.4, 3: 0.1, 4: 0.9, 5: 0.8, 6: 0.8}
    sweep = desk.start(text)
    status = desk.work(sweep)
    assert status.state == "completed"
    assert [trial.state for trial in status.trials] == ["completed", "pruned", "pruned"]
    assert status.trials[1].reason == "number 2 of 3 there, of which 1 continued"
    assert status.trials[1].value == 0.5
    state = desk.state(sweep)
    assert [trial.rung for trial in state.trials] == [3, 3, 1, 1, 1, 1]
    assert [restarts(desk, trial) for trial in state.trials] == [2, 2, 0, 0, 0, 0]


def test_that_a_failed_run_does_not_hold_up_the_others_of_its_trial(desk: HalvingDesk) -> None:
    text = sweep_profile(
        '"training.learning_rate" = [0.1]', f"{HALVING}\nseeds = 2", "[training]\nepochs = 3"
    )
    desk.losses = {1: 0.4, 2: 0.4}
    sweep = desk.start(text)
    for _ in range(3):
        desk.scheduler.step()
    desk.runs.end(desk.run_of(desk.state(sweep).trials[0]), Outcome.FAILED)
    (trial,) = desk.work(sweep).trials
    assert [run.state for run in trial.runs] == ["failed", "completed"]
    assert (trial.state, trial.measured, trial.value) == (TrialPhase.FAILED, 1, 0.4 / 9)
