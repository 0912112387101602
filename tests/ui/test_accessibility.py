"""All of the window by keyboard and by ear: names, roles, the order of Tab."""

from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QSettings, Qt
from PySide6.QtGui import QAccessible
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QApplication,
    QComboBox,
    QDialog,
    QLineEdit,
    QPlainTextEdit,
    QPushButton,
    QScrollArea,
    QWidget,
)

from gpupanel.domain.events import ModelSaved
from gpupanel.domain.problem import Problem
from gpupanel.domain.profile import Profile
from gpupanel.domain.sweep import SweepMethod, SweepSettings, SweptRange
from gpupanel.runs.history.summaries import list_runs
from gpupanel.runs.sweeps.proposing import propose_sweep
from gpupanel.runs.trust.user_code import UserCode
from gpupanel.ui.dialogs.doctor_dialog import DoctorDialog
from gpupanel.ui.dialogs.label_dialog import LabelDialog
from gpupanel.ui.dialogs.new_sweep_dialog import NewSweepDialog
from gpupanel.ui.dialogs.problem_dialog import ProblemDialog
from gpupanel.ui.dialogs.sweeps_dialog import SweepsDialog
from gpupanel.ui.dialogs.trust_dialog import TrustDialog
from gpupanel.ui.tools.batch_search.dialog import BatchFitDialog
from gpupanel.ui.tools.examples.dialog import ExamplesDialog
from gpupanel.ui.tools.export.model_dialog import ModelExportDialog
from gpupanel.ui.tools.self_test.dialog import SelfTestDialog
from gpupanel.ui.tools.session_tools.layers.dialog import LayersDialog
from gpupanel.ui.tools.session_tools.rate_range.dialog import RateRangeDialog
from gpupanel.ui.tools.session_tools.read_speed import ReadSpeedDialog
from gpupanel.ui.tools.session_tools.scan.dialog import ScanDialog
from gpupanel.ui.widgets.buttons import FoldButton
from gpupanel.ui.widgets.reading_order import tab_stops
from tests.fakes.devices import CPU_ONLY, TWO_UNEQUAL
from tests.fakes.person import Person
from tests.fakes.run_directory import STARTED_S, WrittenRun
from tests.ui.accessible_tree import reached, spoken_name, unspoken
from tests.ui.new_window import new_window

pytestmark = pytest.mark.usefixtures("preview_without_process", "undressed")


@pytest.fixture
def window(qtbot, tmp_path, runs_dir):
    QAccessible.setActive(True)
    settings = QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat)
    window = new_window(settings, runs_dir, Person())
    qtbot.addWidget(window)
    window.resize(1280, 800)
    with qtbot.waitExposed(window):
        window.show()
    window.activateWindow()
    yield window
    for dialog in window.findChildren(QDialog):
        dialog.close()
    window.close()
    QAccessible.setActive(False)


def unfold(window: QWidget) -> None:
    QApplication.processEvents()
    for _ in range(2):  # what is unfolded can hold what folds
        for fold in window.findChildren(FoldButton):
            if fold.isVisible():
                fold.setChecked(True)


@pytest.mark.parametrize("inventory", [CPU_ONLY, TWO_UNEQUAL], ids=["cpu", "gpus"])
def test_that_every_control_of_every_page_has_a_name_and_a_role(window, inventory):
    window.session.set_inventory(inventory)
    window.session.prepare_now()
    for page in range(window.tabs.count()):
        window.tabs.setCurrentIndex(page)
        unfold(window)
        assert unspoken(window) == []
        assert len(reached(window)) > 8


@pytest.mark.parametrize("name", ["dataset_selector", "model_selector", "strategy_chooser"])
def test_that_every_control_of_every_kind_has_a_name_and_a_role(window, name):
    window.session.set_inventory(TWO_UNEQUAL)
    box = window.findChild(QComboBox, name)
    assert box.count() > 3
    found = {}
    seen = set()
    place = -1
    while (place := place + 1) < box.count():  # the last one may unfold more
        box.setCurrentIndex(place)
        profile = window.session.profile
        kind = (type(profile.data), type(profile.model), profile.strategy.kind)
        if kind in seen:
            continue  # one form for all architectures
        seen.add(kind)
        unfold(window)
        if wrong := unspoken(window.session_page):
            found[box.currentText()] = wrong
        stops = list(tab_stops(window))
        missed = [each for each in reached(window) if each not in stops]
        assert not missed, f"Tab does not reach {missed} of {box.currentText()}"
    assert found == {}


@pytest.mark.parametrize("task", ["evaluate", "predict"])
def test_that_every_control_of_another_task_has_a_name(window, task):
    window.session.set_inventory(CPU_ONLY)
    box = window.findChild(QComboBox, "task_chooser")
    box.setCurrentIndex(box.findData(task))
    unfold(window)
    assert unspoken(window) == []


def test_that_every_control_of_a_run_that_ended_has_a_name(qtbot, window, runs_dir):
    window.session.set_inventory(CPU_ONLY)
    with WrittenRun(runs_dir) as run:
        run.begin()
        run.step(12)
        run.print("WARNING: one\nI0000 00:00:1.5   1 port.cc:1] two\n")
        run.write(ModelSaved(time_s=STARTED_S + 3, path="model.keras"))
        run.end()
    window.open_target(run.layout.root)
    qtbot.waitUntil(lambda: window.live_page.log.text() != "", timeout=10_000)
    assert unspoken(window) == []
    window.tabs.setCurrentWidget(window.runs)
    qtbot.waitUntil(lambda: window.findChild(QAbstractItemView, "runs_table").model().rowCount())
    window.findChild(QAbstractItemView, "runs_table").selectRow(0)
    assert unspoken(window) == []


def test_that_every_control_of_a_comparison_has_a_name(qtbot, window, runs_dir):
    for name in ("one", "two"):
        with WrittenRun(runs_dir, Profile(name=name)) as run:
            run.begin()
            run.step(12)
            run.end()
    window.tabs.setCurrentWidget(window.runs)
    window.begin()
    table = window.findChild(QAbstractItemView, "runs_table")
    qtbot.waitUntil(lambda: table.model().rowCount() == 2, timeout=10_000)
    table.selectAll()
    window.findChild(QPushButton, "runs_compare_button").click()
    assert window.runs.shows_comparison
    qtbot.wait(200)
    unfold(window)
    assert unspoken(window) == []
    visited = tabbed(window)
    assert [each for each in reached(window) if each not in visited] == []


@pytest.mark.parametrize("name", ["settings", "shortcuts", "about"])
def test_that_every_control_of_a_dialog_has_a_name(window, name):
    getattr(window.window_actions, name).trigger()
    (dialog,) = (each for each in window.findChildren(QDialog) if each.isVisible())
    assert unspoken(dialog) == []


def test_that_choosers_and_lists_of_numbers_are_called_by_their_title(window):
    window.session.set_inventory(CPU_ONLY)
    names = {spoken_name(each) for each in reached(window.session_page)}
    assert {"Task", "Strategy", "Data set", "Validation", "Hidden layers", "Optimizer"} <= names


def tabbed(window: QWidget) -> list[QWidget]:
    """What Tab goes to, from the first field once around."""
    for _ in range(5):  # sections find their places in turns of the event loop
        QApplication.processEvents()
    first = window.findChild(QLineEdit, "profile_name")
    first.setFocus()
    visited = [first]
    for _ in range(400):
        QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_Tab)
        now = QApplication.focusWidget()
        if now is first:
            return visited
        assert now is not visited[-1], f"{now} keeps the focus"
        visited.append(now)
    raise AssertionError("Tab does not come back to where it began")


def test_that_tab_reaches_every_control_and_leaves_it_again(window):
    window.session.set_inventory(TWO_UNEQUAL)
    window.session.prepare_now()
    for page in range(window.tabs.count()):
        window.tabs.setCurrentIndex(page)
        if page == 0:
            unfold(window)
        visited = tabbed(window)
        missed = [each for each in reached(window) if each not in visited]
        assert missed == []
        for each in visited:
            each.setFocus()
            QTest.keyClick(each, Qt.Key.Key_Backtab, Qt.KeyboardModifier.ShiftModifier)
            assert QApplication.focusWidget() is not each, f"{each} keeps the focus"


def test_that_tab_goes_as_one_reads(window):
    window.session.set_inventory(TWO_UNEQUAL)
    window.session.prepare_now()
    window.tabs.setCurrentIndex(0)
    layout = window.session_page.sections
    parts = {
        "bar": (window.profile_bar, window.run_bar),
        "devices": (window.devices,),
        "links": (layout._links,),
        "session": (layout._left_area,),
        "plan": (layout._right_area,),
    }

    def part_of(widget):
        for name, around in parts.items():
            if any(each.isAncestorOf(widget) for each in around):
                return name
        return ""

    visited = [each for each in tabbed(window) if part_of(each)]
    order = list(dict.fromkeys(part_of(each) for each in visited))
    assert order == list(parts)
    for name in parts:
        here = [place for place, each in enumerate(visited) if part_of(each) == name]
        assert here == list(range(here[0], here[-1] + 1)), f"{name} is left and come back to"
    for name in ("bar", "session"):
        here = [each for each in visited if part_of(each) == name]
        here = [each for each in here if not isinstance(each, QScrollArea)]
        QApplication.processEvents()
        places = [each.mapTo(window, QPoint(0, each.height() // 2)) for each in here]
        for before, after, widget in zip(places, places[1:], here[1:], strict=False):
            is_next = after.y() > before.y() - 8 and (
                after.y() > before.y() + 8 or after.x() > before.x()
            )
            assert is_next, f"{widget} {spoken_name(widget)} comes after what is below it"


def test_that_tab_goes_on_from_what_was_clicked_or_went_off(qtbot, window):
    page = window.session_page
    window.session.set_inventory(CPU_ONLY)
    window.session.prepare_now()
    qtbot.waitUntil(lambda: not window.session.is_reading_data)
    window.tabs.setCurrentIndex(0)
    QApplication.processEvents()
    stops = list(tab_stops(window))
    # Around a button that had the focus and was disabled: its bar has it meanwhile.
    window.run_bar.setFocus()
    assert QApplication.focusWidget() is window.run_bar
    QTest.keyClick(window.run_bar, Qt.Key.Key_Tab)
    assert QApplication.focusWidget() is next(s for s in stops if window.run_bar.isAncestorOf(s))
    # A card of the page, which a link goes to.
    page.training.setFocus()
    if QApplication.focusWidget() is page.training:
        QTest.keyClick(page.training, Qt.Key.Key_Tab)
        assert page.training.isAncestorOf(QApplication.focusWidget())


@pytest.mark.parametrize("page", [0, 1, 2])
def test_that_the_focus_goes_on_close_by_when_what_had_it_vanishes(qtbot, window, page):
    window.session.set_inventory(CPU_ONLY)
    window.session.prepare_now()
    qtbot.waitUntil(lambda: not window.session.is_reading_data)
    window.tabs.setCurrentIndex(page)
    QApplication.processEvents()
    name = window.findChild(QLineEdit, "profile_name")
    seen = 0
    for each in [*tab_stops(window.devices), *tab_stops(window.tabs.currentWidget())]:
        stops = list(tab_stops(window))
        each.setFocus()
        if not isinstance(each, QAbstractButton) or QApplication.focusWidget() is not each:
            continue
        place = stops.index(each)
        each.hide()
        now = QApplication.focusWidget()
        # The last one has none after it.
        assert now in (stops[place + 1 :] or stops[place - 1 :])[:1], each
        assert not name.hasSelectedText()
        each.show()
        seen += 1
    assert seen >= 4


def test_that_a_log_is_left_by_tab(qtbot, window):
    window.tabs.setCurrentIndex(1)
    log = window.findChild(QPlainTextEdit, "trainer_log")
    log.setFocus()
    QTest.keyClick(log, Qt.Key.Key_Tab)
    assert QApplication.focusWidget() is not log


def _labelled(runs_dir: Path) -> LabelDialog:
    with WrittenRun(runs_dir) as run:
        run.begin()
        run.end()
    return LabelDialog(list_runs(runs_dir)[0], None, at_notes=False)


def _prepared_sweep() -> NewSweepDialog:
    """A row of each form: a range, a list, a choice; and a setting that there is not."""
    dialog = NewSweepDialog()
    values = {
        "training.learning_rate": SweptRange(low=0.1, high=1.0),
        "training.epochs": (1, 2),
        "training.optimizer": ("adam", "sgd"),
        "training.mixed_precision": (True, False),
        "model.hidden": ((64,),),
        "training.nothing": (1,),
    }
    profile = Profile(sweep=SweepSettings(method=SweepMethod.GRID, values=values))
    dialog.setSweep(profile.sweep)
    dialog.setProposal(propose_sweep(profile))
    return dialog


DIALOGS = {
    "batch_fit": lambda _: BatchFitDialog(),
    "self_test": lambda _: SelfTestDialog(),
    "doctor": lambda _: DoctorDialog(),
    "examples": lambda _: ExamplesDialog(),
    "label": _labelled,
    "layers": lambda _: LayersDialog(),
    "model_export": lambda _: ModelExportDialog(),
    "new_sweep": lambda _: _prepared_sweep(),
    "problems": lambda _: ProblemDialog("It failed.", (Problem(code="x", message="So."),), None),
    "rate_range": lambda _: RateRangeDialog(),
    "read_speed": lambda _: ReadSpeedDialog(),
    "scan": lambda _: ScanDialog(),
    "sweeps": lambda _: SweepsDialog(),
    "trust": lambda _: TrustDialog([UserCode("model.path", Path("/x/model.py"), b"pass")]),
}


@pytest.mark.parametrize("name", DIALOGS)
def test_that_every_control_of_a_question_or_report_has_a_name_and_is_left_by_tab(
    qtbot, runs_dir, name
):
    QAccessible.setActive(True)
    dialog = DIALOGS[name](runs_dir)
    qtbot.addWidget(dialog)
    with qtbot.waitExposed(dialog):
        dialog.show()
    dialog.activateWindow()
    assert unspoken(dialog) == []
    stops = reached(dialog)
    assert stops
    if len(stops) > 1:
        for each in stops:
            each.setFocus()
            QTest.keyClick(each, Qt.Key.Key_Tab)
            assert QApplication.focusWidget() is not each, f"{each} keeps the focus"
    dialog.close()
    QAccessible.setActive(False)
