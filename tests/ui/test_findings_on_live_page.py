"""Why a training is slow, in Live: rows with fixes that go into the session, and start nothing."""

from pathlib import Path

import pytest
from PySide6.QtCore import QObject, QSettings
from PySide6.QtWidgets import QLabel, QPushButton

from gpupanel.domain.events import FindingReported
from gpupanel.domain.problem import Change, Fix, Problem, Severity
from gpupanel.domain.profile import Profile
from gpupanel.domain.training import TrainingSettings
from gpupanel.ui.bindings.finding_fixes import FindingFixes
from gpupanel.ui.panels.findings_panel import FindingsPanel
from gpupanel.ui.profile_actions import ProfileActions
from gpupanel.ui.run_control import RunControl
from gpupanel.ui.run_page.page import LivePage
from gpupanel.ui.session import Session
from tests.fakes.devices import CPU_ONLY
from tests.fakes.person import Person
from tests.fakes.run_directory import STARTED_S, WrittenRun
from tests.ui.test_retry_with_fix import Orders

pytestmark = pytest.mark.usefixtures("undressed")

STARTED = Profile(name="written", training=TrainingSettings(epochs=5))
LARGER = Fix.of("Use a batch of 128", "training.global_batch_size", 128)
ACCUMULATE = Fix(
    label="Accumulate 128 in 2 steps",
    changes=(
        Change(path=("training", "global_batch_size"), value=128),
        Change(path=("training", "accumulation_steps"), value=2),
    ),
)


def found(code: str, message: str, *fixes: Fix, device_key: str | None = None) -> FindingReported:
    problem = Problem(
        code=code,
        severity=Severity.HINT,
        message=message,
        hint="Take more.",
        fix=fixes[0] if fixes else None,
        alternatives=fixes[1:],
    )
    return FindingReported(
        time_s=STARTED_S + 9,
        since_s=STARTED_S + 4,
        problem=problem,
        cost_fraction=0.3,
        device_key=device_key,
    )


BATCH = found("batch_too_small", "A step computes for 0.2 ms only.", LARGER, ACCUMULATE)
LINK = found("slow_pcie_link", "RTX 4090 has 4 lanes.", device_key="GPU-4090")


class Desk:
    """The Live page with what stands behind it."""

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
        self.fixes = FindingFixes(self.session, self.profiles, self.control, self.page, self.owner)
        self.used: list[bool] = []
        self.fixes.used.connect(self._note)

    def _note(self) -> None:
        self.used.append(True)

    @property
    def panel(self) -> FindingsPanel:
        return self.page.findings

    def button(self, fix: Fix) -> QPushButton:
        buttons = self.panel.findChildren(QPushButton)
        return next(each for each in buttons if each.text() == fix.label)

    def close(self) -> None:
        self.control.close()
        self.session.close()


@pytest.fixture
def desk(qtbot, tmp_path: Path, runs_dir: Path):
    desk = Desk(qtbot, tmp_path, runs_dir)
    yield desk
    desk.close()


@pytest.fixture
def run(runs_dir: Path):
    with WrittenRun(runs_dir, STARTED) as run:
        run.begin()
        run.step(3)
        yield run


def show(desk: Desk, run: WrittenRun, qtbot, *events: FindingReported) -> None:
    run.write(*events)
    desk.control.open(run.layout)
    qtbot.waitUntil(lambda: desk.control.shown_profile is not None)
    qtbot.waitUntil(lambda: len(desk.panel.findings()) == len(events))


def test_that_findings_of_a_run_are_shown_with_since_and_cost_the_newest_first(
    desk: Desk, run: WrittenRun, qtbot
) -> None:
    assert not desk.panel.isVisible()
    show(desk, run, qtbot, BATCH, LINK)

    assert desk.panel.isVisible()
    codes = [each.problem.code for each in desk.panel.findings()]
    assert codes == ["slow_pcie_link", "batch_too_small"]
    assert desk.panel.shown().problem.code == "slow_pcie_link"
    following = desk.panel.findChild(QPushButton, "next_finding")
    assert following.text()[:-2] == "1 of 2"
    following.click()
    assert following.text()[:-2] == "2 of 2"
    words = " ".join(each.text() for each in desk.panel.findChildren(QLabel))
    assert "A step computes for 0.2 ms only." in words
    assert "Take more. Since " in words
    assert "it takes about 30 % of the training" in words
    assert {each.text() for each in desk.panel.findChildren(QPushButton)} == {
        LARGER.label,
        ACCUMULATE.label,
        following.text(),
    }
    # It stays until something new is found.
    run.step(5)
    qtbot.waitUntil(lambda: desk.control.shown_status.step == 8)
    assert desk.panel.shown() == BATCH
    run.write(found("cpu_quota", "The run is held back."))
    qtbot.waitUntil(lambda: desk.panel.shown().problem.code == "cpu_quota")
    for _ in range(3):
        following.click()
    assert following.text()[:-2] == "1 of 3"


def test_that_a_fix_puts_the_runs_settings_into_the_session_and_starts_nothing(
    desk: Desk, run: WrittenRun, qtbot
) -> None:
    show(desk, run, qtbot, BATCH)

    desk.button(LARGER).click()

    assert desk.session.profile.training == TrainingSettings(epochs=5, global_batch_size=128)
    assert desk.session.profile.name == "written"
    assert desk.used == [True]
    assert (desk.orders.launches, desk.orders.resumes) == ([], [])


def test_that_fixes_add_up_and_a_second_click_changes_nothing(
    desk: Desk, run: WrittenRun, qtbot
) -> None:
    show(desk, run, qtbot, BATCH)
    desk.button(LARGER).click()
    desk.button(LARGER).click()
    assert desk.session.profile.training.accumulation_steps == 1
    desk.button(ACCUMULATE).click()
    assert desk.session.profile.training.accumulation_steps == 2
    assert desk.session.profile.training.epochs == 5


def test_that_another_run_and_an_end_of_the_list_leave_no_row(
    desk: Desk, run: WrittenRun, qtbot, runs_dir: Path
) -> None:
    show(desk, run, qtbot, BATCH)
    with WrittenRun(runs_dir, Profile(name="other")) as other:
        other.begin()
        desk.control.open(other.layout)
        qtbot.waitUntil(lambda: not desk.panel.isVisible())
    assert desk.panel.findings() == ()


def test_that_of_a_thousand_findings_the_newest_is_shown(
    desk: Desk, run: WrittenRun, qtbot
) -> None:
    many = [found(f"code_{number}", f"Number {number}.") for number in range(1_000)]
    run.write(*many)
    desk.control.open(run.layout)
    # Events come a thousand at a time, and these are some more.
    qtbot.waitUntil(
        lambda: desk.panel.shown() is not None and desk.panel.shown().problem.code == "code_999"
    )
    assert len(desk.panel.findings()) == 100
    following = desk.panel.findChild(QPushButton, "next_finding")
    assert following.text()[:-2] == "1 of 100"
