"""One click after a run that ran out of memory: it goes on with less, or starts again."""

from pathlib import Path

import pytest
from PySide6.QtCore import QObject, QSettings
from PySide6.QtWidgets import QPushButton

from gpupanel.domain.events import CheckpointSaved
from gpupanel.domain.outcome import Outcome
from gpupanel.domain.problem import Change, Fix, Problem
from gpupanel.domain.profile import Profile
from gpupanel.domain.training import TrainingSettings
from gpupanel.ui.bindings.settings_reuse import RetryWithFix
from gpupanel.ui.profile_actions import ProfileActions
from gpupanel.ui.questions import SaveChoice
from gpupanel.ui.run_control import RunControl
from gpupanel.ui.run_page.page import LivePage
from gpupanel.ui.session import Session
from gpupanel.ui.workers.launch_worker import Launcher
from tests.fakes.devices import CPU_ONLY
from tests.fakes.person import Person
from tests.fakes.run_directory import STARTED_S, WrittenRun
from tests.ui.new_window import new_window

pytestmark = pytest.mark.usefixtures("preview_without_process", "undressed")

HALF = Fix(
    label="Double the accumulation steps",
    changes=(Change(path=("training", "accumulation_steps"), value=2),),
)
TOO_FAR = Fix(
    label="Take it apart", changes=(Change(path=("training", "accumulation_steps"), value=1_000),)
)
PROBLEM = Problem(
    code="out_of_memory",
    message="RTX 3060 ran out of memory.",
    hint="Take less.",
    fix=HALF,
    alternatives=(TOO_FAR,),
)
STARTED = Profile(name="written", training=TrainingSettings(epochs=5))


class Orders(Launcher):
    """Notes what is to be started, and starts nothing."""

    def __init__(self) -> None:
        super().__init__()
        self.launches: list[Profile] = []
        self.resumes: list[Profile] = []
        self.with_changed_data: list[Path] = []

    def launch(self, profile, plan, runs_dir) -> None:
        self.launches.append(profile)

    def resume(self, layout, changed=None, *, accepts_changed_data=False) -> None:
        if accepts_changed_data:
            assert changed is None
            self.with_changed_data.append(layout.root)
            return
        assert changed is not None
        assert changed[1].accumulation_steps == changed[0].training.accumulation_steps
        self.resumes.append(changed[0])


class Desk:
    """The page of runs' ways on, with what stands behind it."""

    def __init__(self, qtbot, tmp_path: Path, runs_dir: Path) -> None:
        self.session = Session()
        self.session.set_inventory(CPU_ONLY)
        self.orders = Orders()
        self.person = Person()
        self.control = RunControl(self.session, self.orders, runs_dir)
        settings = QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat)
        self.profiles = ProfileActions(self.session, settings, self.person)
        self.page = LivePage(self.session, self.control)
        qtbot.addWidget(self.page)
        self.page.show()
        self.owner = QObject()
        self.retry_with_fix = RetryWithFix(
            self.session, self.control, self.profiles, self.page, self.owner
        )
        self.qtbot = qtbot

    def show(self, run: WrittenRun) -> None:
        self.control.open(run.layout)
        self.qtbot.waitUntil(
            lambda: self.button(HALF).isVisible() and self.button(HALF).isEnabled()
        )

    def button(self, fix: Fix) -> QPushButton:
        ways = self.page.banner.findChild(QObject, "ways_out")
        buttons = ways.findChildren(QPushButton)
        return next((each for each in buttons if each.text() == fix.label), QPushButton())

    def close(self) -> None:
        self.control.close()
        self.session.close()


@pytest.fixture
def desk(qtbot, tmp_path: Path, runs_dir: Path):
    desk = Desk(qtbot, tmp_path, runs_dir)
    yield desk
    desk.close()


def failed_run(runs_dir: Path, *, with_checkpoint: bool, problem: Problem = PROBLEM) -> WrittenRun:
    run = WrittenRun(runs_dir, STARTED)
    with run:
        run.begin()
        run.step(3)
        if with_checkpoint:
            run.write(
                CheckpointSaved(
                    time_s=STARTED_S + 2,
                    path="checkpoints/step-000000002",
                    epoch=1,
                    step=2,
                    seconds=0.1,
                )
            )
        run.end(Outcome.FAILED, problem)
    return run


def test_that_a_run_with_a_checkpoint_goes_on_with_the_change(desk: Desk, runs_dir) -> None:
    desk.show(failed_run(runs_dir, with_checkpoint=True))

    desk.button(HALF).click()

    (wanted,) = desk.orders.resumes
    assert wanted.training.accumulation_steps == 2
    assert wanted.training.epochs == 5
    assert desk.session.profile == Profile()
    assert desk.orders.launches == []


def test_that_a_run_whose_data_changed_goes_on_by_the_button_beside_the_refusal(
    desk: Desk, runs_dir, qtbot
) -> None:
    problem = Problem(code="data_changed", message="The training labels differ.")
    run = failed_run(runs_dir, with_checkpoint=True, problem=problem)
    button = desk.page.banner.findChild(QPushButton, "accept_data_button")
    assert not button.isVisible()
    desk.control.open(run.layout)
    qtbot.waitUntil(button.isVisible)

    button.click()

    assert desk.orders.with_changed_data == [run.layout.root]
    assert desk.orders.resumes == []


def test_that_a_run_without_a_checkpoint_starts_again_with_the_change(desk, runs_dir) -> None:
    desk.show(failed_run(runs_dir, with_checkpoint=False))

    desk.button(HALF).click()

    (launched,) = desk.orders.launches
    assert launched == desk.session.profile
    assert launched.training.accumulation_steps == 2
    assert launched.training.epochs == 5
    assert desk.orders.resumes == []


def test_that_the_sessions_file_stays_where_it_holds_the_runs_profile(
    desk, runs_dir, tmp_path
) -> None:
    desk.session.open_profile(STARTED, tmp_path / "mine.toml")
    desk.show(failed_run(runs_dir, with_checkpoint=False))

    desk.button(HALF).click()

    assert desk.session.path == tmp_path / "mine.toml"
    assert desk.session.is_dirty
    assert desk.orders.launches[0].training.accumulation_steps == 2


def test_that_changes_of_another_profile_are_not_lost_unasked(desk, runs_dir) -> None:
    desk.session.edit(Profile(name="mine, not saved"))
    desk.person.choice = SaveChoice.CANCEL
    desk.show(failed_run(runs_dir, with_checkpoint=False))

    desk.button(HALF).click()

    assert desk.session.profile.name == "mine, not saved"
    assert desk.orders.launches == []


def test_that_a_change_that_cannot_start_any_more_is_shown_in_the_session(
    desk, qtbot, runs_dir
) -> None:
    desk.show(failed_run(runs_dir, with_checkpoint=False))

    with qtbot.waitSignal(desk.retry_with_fix.notStarted):
        desk.button(TOO_FAR).click()

    assert desk.orders.launches == []
    assert desk.session.profile.training.accumulation_steps == 1_000


def test_that_a_run_that_ended_well_offers_no_ways_out(desk, qtbot, runs_dir) -> None:
    with WrittenRun(runs_dir, STARTED) as run:
        run.begin()
        run.end()
    desk.control.open(run.layout)
    qtbot.waitUntil(lambda: desk.control.shown_status is not None)

    assert not desk.page.banner.findChild(QObject, "ways_out").isVisible()


def test_that_the_whole_window_shows_what_is_against_it(qtbot, tmp_path, runs_dir) -> None:
    settings = QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat)
    window = new_window(settings, runs_dir, Person())
    qtbot.addWidget(window)
    window.show()
    window.session.set_inventory(CPU_ONLY)
    window.open_target(failed_run(runs_dir, with_checkpoint=False).layout.root)
    banner = window.live_page.banner

    def offered() -> bool:
        ways = banner.findChild(QObject, "ways_out")
        return ways.isVisible() and ways.isEnabled()

    qtbot.waitUntil(offered)
    ways = banner.findChild(QObject, "ways_out")
    next(each for each in ways.findChildren(QPushButton) if each.text() == TOO_FAR.label).click()

    assert window.tabs.currentWidget() is window.session_page
    assert window.session.profile.training.accumulation_steps == 1_000
    window.close()
