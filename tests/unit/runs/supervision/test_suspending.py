"""A suspend is supervised like a stop: also against a trainer that does not hear it."""

import signal
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import monotonic, sleep

import pytest

from gpupanel.domain.events import (
    Phase,
    PhaseChanged,
    ProblemReported,
    RequestAnswered,
    RunEnded,
    StepsDone,
)
from gpupanel.domain.outcome import Outcome
from gpupanel.domain.problem import Problem, Severity
from gpupanel.domain.profile import Profile
from gpupanel.domain.request import Request
from gpupanel.domain.run_layout import RunLayout
from gpupanel.planning.prepare import prepare
from gpupanel.runs.directory.requests import ask
from gpupanel.runs.following.follower import RunFollower
from gpupanel.runs.following.status import RunStatus
from gpupanel.runs.launcher import create_run
from gpupanel.runs.processes.run_processes import processes_of
from gpupanel.runs.supervision.supervisor import Supervisor
from gpupanel.runs.supervision.watchdogs import Action, Observation, Patience, decide
from tests.fakes.devices import CPU_ONLY

FAKE_TRAINER = Path(__file__).parents[3] / "fakes" / "trainer.py"
HASTY = Patience(stop_s=0.3, term_s=0.3)


@pytest.fixture
def layout(runs_dir: Path) -> RunLayout:
    plan = prepare(Profile(), CPU_ONLY).plan
    assert plan is not None
    return create_run(Profile(), plan, runs_dir)


def supervisor(layout: RunLayout, mode: str, patience: Patience = HASTY) -> Supervisor:
    return Supervisor(layout, (sys.executable, str(FAKE_TRAINER), mode), patience)


def run_until(supervisor: Supervisor, layout: RunLayout, act: Callable[[], None]) -> RunEnded:
    """Runs it, acts once the first step was reported, and gives its end."""
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(supervisor.run)
        end_s = monotonic() + 20.0
        while not layout.events.exists() or b"steps_done" not in layout.events.read_bytes():
            assert monotonic() < end_s
            sleep(0.01)
        act()
        running.result(timeout=30)
    assert not processes_of(layout)
    end = RunFollower(layout).poll().events[-1]
    assert isinstance(end, RunEnded)
    return end


def suspended(layout: RunLayout, mode: str) -> RunEnded:
    return run_until(supervisor(layout, mode), layout, lambda: ask(layout, Request.SUSPEND))


def warnings_of(layout: RunLayout) -> list[Problem]:
    events = RunFollower(layout).poll().events
    return [event.problem for event in events if isinstance(event, ProblemReported)]


def answered(layout: RunLayout) -> list[Request]:
    events = RunFollower(layout).poll().events
    return [event.request for event in events if isinstance(event, RequestAnswered)]


def test_that_saving_for_a_suspend_may_take_longer_than_a_stop(layout: RunLayout) -> None:
    end = suspended(layout, "save_slowly")
    assert (end.outcome, end.exit_code, end.problem) == (Outcome.SUSPENDED, 0, None)
    assert not warnings_of(layout)


@pytest.mark.parametrize("mode", ["ignore_sigterm", "hang_in_a_step"])
def test_that_a_trainer_that_does_not_hear_it_is_ended_and_that_is_reported(
    layout: RunLayout, mode: str
) -> None:
    end = suspended(layout, mode)
    assert (end.outcome, end.problem) == (Outcome.STOPPED, None)  # nothing to go on from
    (warning,) = warnings_of(layout)
    assert (warning.code, warning.severity) == ("no_end", Severity.WARNING)
    assert "nothing of it was saved" in warning.message
    assert answered(layout) == [Request.SUSPEND]


def test_that_one_with_a_checkpoint_is_suspended_all_the_same(layout: RunLayout) -> None:
    (layout.checkpoints / "step-000000005").mkdir(parents=True)
    end = suspended(layout, "ignore_sigterm")
    assert (end.outcome, end.exit_code) == (Outcome.SUSPENDED, -signal.SIGKILL)
    assert [each.code for each in warnings_of(layout)] == ["no_end"]


def test_that_a_suspend_before_the_first_step_ends_at_once(layout: RunLayout) -> None:
    ask(layout, Request.SUSPEND)
    begun_s = monotonic()
    assert supervisor(layout, "hang_at_start", Patience()).run() is Outcome.STOPPED
    assert monotonic() - begun_s < 5.0
    assert answered(layout) == [Request.SUSPEND]
    assert not warnings_of(layout)


def test_that_a_stop_after_a_suspend_wins(layout: RunLayout) -> None:
    (layout.checkpoints / "step-000000005").mkdir(parents=True)

    def ask_both() -> None:
        ask(layout, Request.SUSPEND)
        ask(layout, Request.STOP)

    end = run_until(supervisor(layout, "ignore_sigterm"), layout, ask_both)
    assert end.outcome is Outcome.STOPPED


def test_that_a_suspended_run_is_not_started_again_by_itself(runs_dir: Path) -> None:
    profile = Profile(training=Profile().training.model_copy(update={"max_restarts": 3}))
    plan = prepare(profile, CPU_ONLY).plan
    assert plan is not None
    layout = create_run(profile, plan, runs_dir)
    suspended(layout, "hang_in_a_step")
    started = [line for line in layout.events.read_bytes().splitlines() if b"trainer_st" in line]
    assert len(started) == 1


def test_that_sigterm_reaches_trainers_where_no_request_can_be_written(layout: RunLayout) -> None:
    layout.requests.rmdir()
    layout.requests.write_text("in the way")
    running = supervisor(layout, "hang_in_a_step", Patience())
    begun_s = monotonic()
    end = run_until(running, layout, running.signal_stop)
    assert monotonic() - begun_s < 15.0
    assert (end.outcome, end.exit_code) == (Outcome.STOPPED, -signal.SIGTERM)


STEPPING = RunStatus().after(PhaseChanged(time_s=0.0, phase=Phase.TRAINING))
STEPPED = STEPPING.after(
    StepsDone(
        time_s=1.0,
        step=10,
        steps=10,
        epoch=1,
        step_in_epoch=10,
        examples=640,
        loss=1.0,
        examples_per_second=1000.0,
    )
)
SAVING = STEPPED.after(PhaseChanged(time_s=2.0, phase=Phase.SAVING))


@pytest.mark.parametrize(
    ("status", "asked_s", "silent_s", "act"),
    [
        (STEPPED, 59.0, 59.0, Action.NOTHING),
        (STEPPED, 61.0, 61.0, Action.TERMINATE),
        (SAVING, 61.0, 61.0, Action.NOTHING),
        (SAVING, 901.0, 901.0, Action.TERMINATE),
    ],
)
def test_that_a_stop_has_a_limit_and_saving_a_longer_one(
    status: RunStatus, asked_s: float, silent_s: float, act: Action
) -> None:
    watched = Observation(
        now_s=2000.0, last_event_s=2000.0 - silent_s, stop_requested_s=2000.0 - asked_s
    )
    assert decide(status, watched, Patience())[0] is act
