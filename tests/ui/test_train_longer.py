"""A run that has come to its end is trained for more epochs, from its last checkpoint."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QApplication, QInputDialog, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from gpupanel.domain.device import DeviceInventory
from gpupanel.domain.events import CheckpointSaved
from gpupanel.domain.outcome import Outcome
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.domain.run_layout import RunLayout
from gpupanel.domain.training import TrainingSettings
from gpupanel.ui.bindings.settings_reuse import LongerTraining
from gpupanel.ui.questions import Questions
from gpupanel.ui.run_control import RunControl
from gpupanel.ui.run_page.page import LivePage
from gpupanel.ui.run_state import RunState
from gpupanel.ui.session import Session
from gpupanel.ui.workers.launch_worker import Launcher
from tests.fakes.devices import CPU_ONLY, TWO_UNEQUAL
from tests.fakes.person import Person
from tests.fakes.run_directory import STARTED_S, WrittenRun

pytestmark = pytest.mark.usefixtures("undressed")

STARTED = Profile(devices=DeviceSettings(visible=("cpu",)), training=TrainingSettings(epochs=5))


class Orders(Launcher):
    """Remembers what is to go on."""

    def __init__(self) -> None:
        super().__init__()
        self.resumes: list[tuple[Profile, LaunchPlan]] = []

    def resume(
        self,
        layout: RunLayout,
        changed: tuple[Profile, LaunchPlan] | None = None,
        *,
        accepts_changed_data: bool = False,
    ) -> None:
        assert changed is not None
        assert not accepts_changed_data
        self.resumes.append(changed)


class Desk:
    """The page with a run, and who answers."""

    def __init__(self, qtbot: QtBot, runs_dir: Path) -> None:
        self.session = Session()
        self.session.set_inventory(CPU_ONLY)
        self.orders, self.person = Orders(), Person()
        self.control = RunControl(self.session, self.orders, runs_dir)
        self.page = LivePage(self.session, self.control)
        qtbot.addWidget(self.page)
        self.page.show()
        self.owner = QObject()
        self.longer = LongerTraining(self.session, self.control, self.page, self.person, self.owner)
        self.refusals: list[object] = []
        self.longer.refused.connect(self.refusals.append)

    @property
    def button(self) -> QPushButton:
        return self.page.banner.findChild(QPushButton, "train_longer_button")

    def close(self) -> None:
        self.control.close()
        self.session.close()


@pytest.fixture
def desk(qtbot: QtBot, runs_dir: Path) -> Iterator[Desk]:
    desk = Desk(qtbot, runs_dir)
    yield desk
    desk.close()


def ended_run(
    runs_dir: Path,
    outcome: Outcome = Outcome.COMPLETED,
    *,
    with_checkpoint: bool = True,
) -> WrittenRun:
    with WrittenRun(runs_dir, STARTED) as run:
        run.begin()
        run.step(3)
        if with_checkpoint:
            path = "checkpoints/step-000000003"
            saved = {"path": path, "epoch": 5, "step": 3, "seconds": 0.1}
            run.write(CheckpointSaved(time_s=STARTED_S + 2, **saved))
        run.end(outcome)
    return run


def test_that_a_run_that_completed_goes_on_to_more_epochs(
    desk: Desk, runs_dir: Path, qtbot: QtBot
) -> None:
    assert not desk.button.isVisible()
    desk.control.open(ended_run(runs_dir).layout)
    qtbot.waitUntil(lambda: desk.button.isVisible() and desk.button.isEnabled())
    desk.button.click()
    assert desk.person.trained == [5]
    assert desk.orders.resumes == []  # thought better of it
    desk.person.epochs = 12
    desk.button.click()
    ((wanted, plan),) = desk.orders.resumes
    assert wanted.training.epochs == 12
    assert wanted == STARTED.model_copy(update={"training": wanted.training})
    assert plan.global_batch_size == STARTED.training.global_batch_size


@pytest.mark.parametrize(
    ("outcome", "with_checkpoint"), [(Outcome.STOPPED, True), (Outcome.COMPLETED, False)]
)
def test_that_it_is_not_offered_for_a_run_with_an_end_of_another_kind(
    desk: Desk, runs_dir: Path, qtbot: QtBot, outcome: Outcome, with_checkpoint: bool
) -> None:
    run = ended_run(runs_dir, outcome, with_checkpoint=with_checkpoint)
    desk.control.open(run.layout)
    qtbot.waitUntil(lambda: desk.control.shown_status is not None)
    qtbot.waitUntil(lambda: desk.control.shown_status.has_ended)
    assert not desk.button.isVisible()


def test_that_it_waits_for_a_run_that_goes_on(desk: Desk, runs_dir: Path, qtbot: QtBot) -> None:
    desk.control.open(ended_run(runs_dir).layout)
    qtbot.waitUntil(lambda: desk.button.isVisible() and desk.button.isEnabled())
    desk.session.set_run(RunState.RUNNING, None)
    assert desk.button.isVisible()
    assert not desk.button.isEnabled()


def test_that_what_keeps_it_from_going_on_is_reported(
    desk: Desk, runs_dir: Path, qtbot: QtBot
) -> None:
    desk.person.epochs = 12
    desk.control.open(ended_run(runs_dir).layout)
    qtbot.waitUntil(lambda: desk.button.isVisible() and desk.button.isEnabled())
    # As if the disk were another machine's now: it has GPUs only.
    gpus = tuple(device for device in TWO_UNEQUAL.devices if device.is_gpu)
    desk.session.set_inventory(DeviceInventory(devices=gpus))
    desk.button.click()
    assert desk.orders.resumes == []
    ((problem, *_),) = desk.refusals
    assert problem.is_error


def test_that_the_question_offers_twice_as_many_epochs(qtbot: QtBot) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    seen = []

    def answer() -> None:
        dialog = QApplication.activeModalWidget()
        assert isinstance(dialog, QInputDialog)
        seen.append((dialog.labelText(), dialog.intValue(), dialog.intMinimum()))
        dialog.setIntValue(9)
        dialog.accept() if len(seen) == 1 else dialog.reject()

    QTimer.singleShot(0, answer)
    assert Questions(window).about_epochs(4) == 9
    QTimer.singleShot(0, answer)
    assert Questions(window).about_epochs(1) is None
    assert seen == [
        ("4 epochs are done. Epochs in all:", 8, 5),
        ("1 epoch is done. Epochs in all:", 2, 2),
    ]
