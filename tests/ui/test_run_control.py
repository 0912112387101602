"""Start, Stop, stop again, and looking at other runs meanwhile."""

import time

import pytest
from PySide6.QtCore import QObject, Signal

from gpupanel.domain.events import (
    Phase,
    PhaseChanged,
    RequestAnswered,
    RunRestarted,
    StepsDone,
    TrainingResumed,
)
from gpupanel.domain.outcome import Outcome
from gpupanel.domain.problem import Problem
from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.domain.request import Request
from gpupanel.domain.run_layout import RunLayout
from gpupanel.ui import run_control
from gpupanel.ui.run_control import RunControl
from gpupanel.ui.run_state import RunState
from gpupanel.ui.session import Session
from tests.fakes.devices import CPU_ONLY
from tests.fakes.run_directory import WrittenRun


class _FakeLauncher(QObject):
    """Notes what was ordered; the test decides when and what comes of it."""

    launched = Signal(object)
    refused = Signal(object)
    doubted = Signal(object, object)

    def __init__(self):
        super().__init__()
        self.orders = []

    def launch(self, profile, plan, runs_dir):
        self.orders.append("launch")

    def resume(self, layout, changed=None, *, accepts_changed_data=False):
        words = "resume" if changed is None else f"resume with {changed[0].name}"
        self.orders.append(f"{words} {layout.name}")

    def ask(self, layout, request):
        self.orders.append(f"{request} {layout.name}")

    def ask_started(self, request):
        self.orders.append(f"{request} what was started")

    def stop(self):
        self.orders.append("closed")


@pytest.fixture
def launcher(qapp):
    return _FakeLauncher()


@pytest.fixture
def session(qapp):
    session = Session()
    session.set_inventory(CPU_ONLY)
    session.prepare_now()
    yield session
    session.close()


@pytest.fixture
def control(session, launcher, runs_dir):
    control = RunControl(session, launcher, runs_dir)
    yield control
    control.close()


def _wait_for(qtbot, session, state):
    qtbot.waitUntil(lambda: session.run_state is state, timeout=5000)


def test_that_start_launches_and_follows(qtbot, control, session, launcher, runs_dir):
    control.start()
    assert (session.run_state, launcher.orders) == (RunState.LAUNCHING, ["launch"])
    control.start()
    assert launcher.orders == ["launch"]
    with WrittenRun(runs_dir) as run:
        with qtbot.waitSignal(control.launched):
            launcher.launched.emit(run.layout)
        assert session.run_state is RunState.STARTING
        run.begin()
        run.step(4)
        _wait_for(qtbot, session, RunState.RUNNING)
        qtbot.waitUntil(lambda: session.run_status.step == 4)
        with qtbot.waitSignal(control.ended):
            run.end()

    assert session.run_state is RunState.ENDED
    assert session.run_status.outcome is Outcome.COMPLETED
    assert control.active is None
    assert control.shown == run.layout


def test_that_a_refused_launch_leaves_everything_ready(qtbot, control, session, launcher):
    control.start()
    problem = Problem(code="no_space", message="The disk is full.")
    with qtbot.waitSignal(control.refused) as refused:
        launcher.refused.emit((problem,))

    assert refused.args == [(problem,)]
    assert session.run_state is RunState.IDLE
    assert session.buttons.start


def test_that_a_profile_with_errors_is_not_launched(control, session, launcher):
    devices = DeviceSettings(visible=("GPU-that-is-not-there",))
    session.edit(session.profile.model_copy(update={"devices": devices}))

    control.start()

    assert launcher.orders == []


@pytest.fixture
def later(monkeypatch):
    """Lets the two seconds pass in which a run cannot be ended without saving."""
    monkeypatch.setattr(run_control, "END_NOW_AFTER_MS", 20)

    def wait(qtbot, session):
        qtbot.waitUntil(lambda: session.buttons.end_now, timeout=5000)

    return wait


def test_that_a_double_click_on_stop_asks_to_stop_and_to_nothing_else(
    qtbot, control, session, launcher, runs_dir
):
    with WrittenRun(runs_dir) as run:
        control.follow(run.layout)
        run.begin()
        _wait_for(qtbot, session, RunState.RUNNING)
        with qtbot.assertNotEmitted(control.endDoubted):
            for _ in range(5):
                control.stop()
                control.doubt_end()
        assert session.run_state is RunState.STOPPING
        assert session.buttons.is_stopping
        assert not session.buttons.end_now
        control.end_now(run.layout)

    assert launcher.orders == [f"stop {run.layout.name}"]


def test_that_nothing_ends_without_saving_before_somebody_says_so(
    qtbot, later, session, launcher, runs_dir
):
    control = RunControl(session, launcher, runs_dir)
    with WrittenRun(runs_dir) as run:
        control.follow(run.layout)
        run.begin()
        _wait_for(qtbot, session, RunState.RUNNING)
        control.stop()
        later(qtbot, session)
        with qtbot.assertNotEmitted(control.endDoubted):
            control.stop()
        with qtbot.waitSignal(control.endDoubted):
            control.doubt_end()
        assert session.run_state is RunState.STOPPING
        control.end_now(RunLayout(runs_dir / "another"))
        assert session.run_state is RunState.STOPPING
        control.end_now(run.layout)
        assert session.run_state is RunState.KILLING
        control.stop()
    control.close()

    name = run.layout.name
    assert launcher.orders == [f"stop {name}", f"end {name}", "closed"]


def test_that_the_two_seconds_are_two_seconds(qtbot, control, session, runs_dir):
    with WrittenRun(runs_dir) as run:
        control.follow(run.layout)
        run.begin()
        _wait_for(qtbot, session, RunState.RUNNING)
        control.stop()
        begin = time.monotonic()
        qtbot.waitUntil(lambda: session.buttons.end_now, timeout=5000)
    assert time.monotonic() - begin > 1.9


def test_that_suspend_asks_and_that_a_stop_wins_over_it(
    qtbot, control, session, launcher, runs_dir
):
    with WrittenRun(runs_dir) as run:
        control.follow(run.layout)
        run.begin()
        _wait_for(qtbot, session, RunState.RUNNING)
        assert session.buttons.suspend
        control.suspend()
        assert session.run_state is RunState.SUSPENDING
        control.suspend()
        assert session.buttons.stop
        control.stop()
        assert session.run_state is RunState.STOPPING
        assert not session.buttons.suspend
        control.suspend()

    name = run.layout.name
    assert launcher.orders == [f"suspend {name}", f"stop {name}"]


def test_that_a_suspend_from_elsewhere_shows(qtbot, control, session, runs_dir):
    with WrittenRun(runs_dir) as run:
        control.follow(run.layout)
        run.begin(Phase.TRAINING)
        run.write(RequestAnswered(time_s=9.0, request=Request.SUSPEND))
        _wait_for(qtbot, session, RunState.SUSPENDING)
        with qtbot.waitSignal(control.ended):
            run.end(Outcome.SUSPENDED)

    assert session.state_text == "Suspended"


def test_that_a_suspended_run_goes_on_with_other_devices(
    qtbot, control, session, launcher, runs_dir
):
    with WrittenRun(runs_dir) as run:
        run.begin()
        run.end(Outcome.SUSPENDED)
    with qtbot.waitSignal(
        control.shownStatusChanged, check_params_cb=lambda status: status.has_ended
    ):
        control.open(run.layout)
    plan = session.preparation.plan
    control.resume_with(Profile(name="elsewhere"), plan)
    assert session.run_state is RunState.LAUNCHING
    assert launcher.orders == [f"resume with elsewhere {run.layout.name}"]


def test_that_stop_during_the_launch_reaches_the_run(qtbot, control, session, launcher, runs_dir):
    control.start()
    control.stop()
    assert session.run_state is RunState.STOPPING
    with WrittenRun(runs_dir) as run:
        launcher.launched.emit(run.layout)

        assert launcher.orders == ["launch", f"stop {run.layout.name}"]
        assert session.run_state is RunState.STOPPING


def test_that_stop_during_the_launch_reaches_the_run_though_the_window_is_closed(
    control, session, launcher
):
    control.start()
    control.stop()
    control.close()

    assert launcher.orders == ["launch", "stop what was started", "closed"]


def test_that_a_run_that_cannot_be_followed_any_more_leaves_start_on(
    qtbot, control, session, runs_dir
):
    with WrittenRun(runs_dir) as run:
        control.follow(run.layout)
        run.begin()
        _wait_for(qtbot, session, RunState.RUNNING)
        with qtbot.waitSignal(control.refused) as refused:
            run.layout.events.rename(run.layout.root / "away")
            run.layout.events.mkdir()

    assert refused.args[0][0].message
    assert session.run_state is RunState.IDLE
    assert session.buttons.start
    assert (control.active, control.shown) == (None, run.layout)


def test_that_a_stop_that_could_not_be_asked_is_taken_back(
    qtbot, control, session, launcher, runs_dir
):
    with WrittenRun(runs_dir) as run:
        control.follow(run.layout)
        run.begin()
        _wait_for(qtbot, session, RunState.RUNNING)
        control.stop()
        launcher.refused.emit((Problem(code="no_space", message="The disk is full."),))

        assert session.run_state is RunState.RUNNING


def test_that_a_stop_from_elsewhere_shows(qtbot, control, session, runs_dir):
    with WrittenRun(runs_dir) as run:
        control.follow(run.layout)
        run.begin(Phase.TRAINING)
        run.write(RequestAnswered(time_s=9.0, request=Request.STOP))

        _wait_for(qtbot, session, RunState.STOPPING)


def test_that_a_run_opened_during_a_start_that_is_then_refused_is_taken_over(
    qtbot, control, session, launcher, runs_dir
):
    with WrittenRun(runs_dir) as going:
        going.begin()
        going.step(3)
        control.start()
        with qtbot.waitSignal(
            control.shownStatusChanged, check_params_cb=lambda status: status.step == 3
        ):
            control.open(going.layout)
        assert (control.active, session.run_state) == (None, RunState.LAUNCHING)
        launcher.refused.emit((Problem(code="no_space", message="The disk is full."),))

        _wait_for(qtbot, session, RunState.RUNNING)
        assert control.active == going.layout
        assert session.buttons.stop
        with qtbot.waitSignal(control.ended):
            going.end()


def test_that_a_past_run_is_shown_while_another_goes_on(qtbot, control, session, runs_dir):
    with WrittenRun(runs_dir) as past:
        past.begin()
        past.step(7)
        past.end()
    with WrittenRun(runs_dir) as going:
        going.begin()
        control.follow(going.layout)
        _wait_for(qtbot, session, RunState.RUNNING)
        events = []
        control.followed.connect(lambda followed: events.extend(followed.events))
        with qtbot.waitSignal(
            control.shownStatusChanged, check_params_cb=lambda status: status.has_ended
        ):
            control.open(past.layout)
        going.step(2)
        qtbot.waitUntil(lambda: session.run_status.step == 2)

        assert session.run_state is RunState.RUNNING
        assert (control.active, control.shown) == (going.layout, past.layout)
        assert sum(isinstance(event, StepsDone) for event in events) == 7
        with qtbot.waitSignal(control.shownStatusChanged):
            control.open(going.layout)
        qtbot.waitUntil(lambda: sum(isinstance(event, StepsDone) for event in events) == 9)
        assert control.shown == going.layout
        with qtbot.waitSignal(control.ended):
            going.end()


def test_that_a_past_run_is_not_taken_for_the_one_that_goes_on_when_that_has_been_read(
    qtbot, control, session, runs_dir
):
    with WrittenRun(runs_dir) as past:
        past.begin()
        past.end()
    with WrittenRun(runs_dir) as going:
        going.begin()
        control.follow(going.layout)
        _wait_for(qtbot, session, RunState.RUNNING)
        with qtbot.waitSignal(
            control.shownStatusChanged, check_params_cb=lambda status: status.has_ended
        ):
            control.open(past.layout)

        control._active.caughtUp.emit()

        assert (control.active, control.shown) == (going.layout, past.layout)
        assert session.run_state is RunState.RUNNING


def test_that_a_run_that_was_opened_and_goes_on_can_be_stopped(
    qtbot, control, session, launcher, runs_dir
):
    with WrittenRun(runs_dir) as run:
        run.begin()
        control.open(run.layout)
        _wait_for(qtbot, session, RunState.RUNNING)
        control.stop()

    assert launcher.orders == [f"stop {run.layout.name}"]


def test_that_a_past_run_that_was_opened_leaves_start_on(qtbot, control, session, runs_dir):
    with WrittenRun(runs_dir) as run:
        run.begin()
        run.end(Outcome.FAILED, Problem(code="bad", message="It went wrong."))
    with qtbot.waitSignal(
        control.shownStatusChanged, check_params_cb=lambda status: status.has_ended
    ):
        control.open(run.layout)

    assert session.run_state is RunState.IDLE
    assert session.buttons.start


def test_that_an_ended_run_can_be_followed_by_the_next(qtbot, control, session, launcher, runs_dir):
    with WrittenRun(runs_dir) as first:
        control.follow(first.layout)
        first.begin()
        with qtbot.waitSignal(control.ended):
            first.end()
    control.start()
    with WrittenRun(runs_dir) as second:
        launcher.launched.emit(second.layout)
        second.begin()
        _wait_for(qtbot, session, RunState.RUNNING)

        assert control.active == second.layout
        assert session.run_status.outcome is None


def test_that_a_run_that_was_cut_short_goes_on_where_it_was(
    qtbot, control, session, launcher, runs_dir
):
    with WrittenRun(runs_dir) as run:
        run.begin()
        run.step(12)
        run.end(Outcome.LOST, Problem(code="killed", message="It was killed."))
    with qtbot.waitSignal(
        control.shownStatusChanged, check_params_cb=lambda status: status.has_ended
    ):
        control.open(run.layout)
    control.resume()
    assert session.run_state is RunState.LAUNCHING
    control.resume()
    assert launcher.orders == [f"resume {run.layout.name}"]
    run.write(RunRestarted(time_s=99.0, attempt=0))
    with run:
        launcher.launched.emit(run.layout)
        run.write(
            TrainingResumed(time_s=99.1, path="checkpoints/step-10", epoch=2, step=10),
            PhaseChanged(time_s=99.2, phase=Phase.TRAINING),
        )
        _wait_for(qtbot, session, RunState.RUNNING)
        qtbot.waitUntil(lambda: session.run_status.step == 10)
        assert (control.active, control.shown) == (run.layout, run.layout)
        control.stop()
    assert launcher.orders[-1] == f"stop {run.layout.name}"


def test_that_a_resume_that_is_refused_leaves_everything_ready(
    qtbot, control, session, launcher, runs_dir
):
    with WrittenRun(runs_dir) as run:
        run.begin()
        run.end(Outcome.FAILED)
    control.open(run.layout)
    control.resume()
    with qtbot.waitSignal(control.refused):
        launcher.refused.emit((Problem(code="nothing_to_resume", message="No checkpoint."),))
    assert session.run_state is RunState.IDLE


def test_that_there_is_nothing_to_resume_without_a_run(control, launcher):
    control.resume()
    assert launcher.orders == []


def test_that_a_shown_run_that_is_resumed_elsewhere_can_be_stopped_here(
    qtbot, control, session, launcher, runs_dir
):
    run = WrittenRun(runs_dir)
    with run:
        control.follow(run.layout)
        run.begin()
        _wait_for(qtbot, session, RunState.RUNNING)
        with qtbot.waitSignal(control.ended):
            run.end(Outcome.STOPPED)
    with run:
        run.write(RunRestarted(time_s=99.0, attempt=0))
        run.write(PhaseChanged(time_s=99.2, phase=Phase.TRAINING))
        _wait_for(qtbot, session, RunState.RUNNING)
        control.stop()
    assert launcher.orders == [f"stop {run.layout.name}"]


def test_that_of_two_runs_that_go_on_stop_means_the_one_that_is_shown(
    qtbot, control, session, launcher, runs_dir
):
    with WrittenRun(runs_dir, Profile(name="x")) as one, WrittenRun(runs_dir) as other:
        for run in (one, other):
            run.begin(Phase.TRAINING)
            run.step()
        control.follow(one.layout)
        _wait_for(qtbot, session, RunState.RUNNING)
        control.open(other.layout)
        qtbot.waitUntil(lambda: control.active == other.layout, timeout=5000)
        control.stop()
        assert launcher.orders == [f"stop {other.layout.name}"]
        control.open(one.layout)
        qtbot.waitUntil(lambda: control.active == one.layout, timeout=5000)
        assert session.run_state is RunState.RUNNING
        control.stop()
        assert launcher.orders[1:] == [f"stop {one.layout.name}"]
