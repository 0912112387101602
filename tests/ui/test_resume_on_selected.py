"""Going on with the devices of the session: what is offered, what is reported, what is ordered."""

import pytest
from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QPushButton

from gpupanel.domain.events import CheckpointSaved, EpochDone, RunRestarted, TrainingResumed
from gpupanel.domain.outcome import Metrics, Outcome
from gpupanel.domain.problem import Change
from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.domain.strategy import StrategyKind, StrategySettings
from gpupanel.domain.training import TrainingSettings
from gpupanel.runs.following.status import RunStatus
from gpupanel.ui.resume_on_selected import resume_on_selected
from gpupanel.ui.run_actions import restart_text
from gpupanel.ui.run_control import RunControl
from gpupanel.ui.run_page.page import LivePage
from gpupanel.ui.run_state import RunState
from gpupanel.ui.session import Session
from tests.fakes.devices import CPU_ONLY
from tests.fakes.run_directory import WrittenRun

pytestmark = pytest.mark.usefixtures("undressed")

STARTED = Profile(name="as started")
MOVED = STARTED.model_copy(
    update={
        "devices": DeviceSettings(cpu_replicas=2),
        "strategy": StrategySettings(kind=StrategyKind.MIRRORED, shares=(48, 16)),
    }
)


class _NotedLauncher(QObject):
    launched = Signal(object)
    refused = Signal(object)
    doubted = Signal(object, object)

    def __init__(self):
        super().__init__()
        self.resumed = []

    def resume(self, layout, changed=None, *, accepts_changed_data=False):
        self.resumed.append((layout, changed))

    def stop(self):
        pass


@pytest.fixture
def session(qapp):
    session = Session()
    session.set_inventory(CPU_ONLY)
    yield session
    session.close()


@pytest.fixture
def launcher(qapp):
    return _NotedLauncher()


@pytest.fixture
def page(qtbot, session, launcher, runs_dir):
    control = RunControl(session, launcher, runs_dir)
    page = LivePage(session, control)
    qtbot.addWidget(page)
    yield page
    control.close()


def suspended(runs_dir):
    with WrittenRun(runs_dir, STARTED) as run:
        run.begin()
        run.step(4)
        run.write(
            CheckpointSaved(time_s=9, path="checkpoints/step-4", epoch=1, step=4, seconds=0.1)
        )
        run.end(Outcome.SUSPENDED)
    return run


def opened(qtbot, page, run):
    control = page._control
    with qtbot.waitSignal(
        control.shownStatusChanged, check_params_cb=lambda status: status.has_ended
    ):
        control.open(run.layout)
    return page.findChild(QPushButton, "resume_elsewhere_button")


def test_that_what_changes_is_shown_before_it_is_done(session):
    session.edit(MOVED)
    found = resume_on_selected(session, STARTED)
    assert found.order is not None
    assert found.order[0] == MOVED
    assert found.order[1].shares == (48, 16)
    for words in ("Logical replicas: 2", "Strategy: A copy on each device", "Shares: 48 + 16"):
        assert words in found.tip


def test_that_the_run_stays_the_same_training_whatever_the_session_holds(session):
    other = MOVED.model_copy(update={"training": TrainingSettings(seed=99, epochs=50)})
    session.edit(other)
    order = resume_on_selected(session, STARTED).order
    assert order is not None
    assert order[0].training == STARTED.training


def test_that_devices_that_do_not_fit_say_why(session):
    shares = StrategySettings(kind=StrategyKind.MIRRORED, shares=(1, 2))
    session.edit(MOVED.model_copy(update={"strategy": shares}))
    found = resume_on_selected(session, STARTED)
    assert found.order is None
    assert "64" in found.tip


def test_that_nothing_else_chosen_says_where_to_choose(session):
    assert resume_on_selected(session, session.profile).order is None
    assert "choose other devices" in resume_on_selected(session, session.profile).tip
    assert "cannot be read" in resume_on_selected(session, None).tip


def test_that_a_suspended_run_goes_on_with_the_sessions_devices_by_a_click(
    qtbot, page, session, launcher, runs_dir
):
    run = suspended(runs_dir)
    button = opened(qtbot, page, run)
    qtbot.waitUntil(lambda: not button.isHidden())
    assert not button.isEnabled()
    with qtbot.waitSignal(session.preparationChanged):
        session.edit(MOVED)
    assert button.isEnabled()
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    ((layout, changed),) = launcher.resumed
    assert layout == run.layout
    assert changed is not None
    assert changed[0].strategy == MOVED.strategy
    assert changed[0].name == STARTED.name
    assert session.run_state is RunState.LAUNCHING
    assert not button.isEnabled()
    assert "Another run is in progress" in button.toolTip()


def test_that_a_run_that_goes_on_elsewhere_is_shown_with_its_new_facts(
    qtbot, page, session, runs_dir
):
    run = suspended(runs_dir)
    opened(qtbot, page, run)
    changes = (Change(path=("training", "epochs"), value=9),)
    with run, qtbot.waitSignal(page._control.shownOpened):
        run.write(RunRestarted(time_s=20.0, attempt=0, changes=changes))
    qtbot.waitUntil(lambda: page._control.shown_status.restarts == 1)
    assert page._control.shown_status.epoch_total == 9


def test_that_the_story_says_with_what_it_went_on():
    status = RunStatus(epoch_total=3)
    changes = (Change(path=("strategy", "kind"), value="mirrored"),)
    for event in (
        EpochDone(time_s=1.0, epoch=1, step=23, metrics=Metrics(), seconds=1.0),
        RunRestarted(time_s=2.0, attempt=0, changes=changes),
        TrainingResumed(time_s=3.0, path="checkpoints/step-23", epoch=2, step=23),
    ):
        status = status.after(event)
    words = "Resumed from step 23. Changed: Strategy: A copy on each device."
    assert restart_text(status) == words
