"""The scan of the data in the window: asked for by a click, shown, stopped, mended, copied."""

import time
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from PySide6.QtCore import QSettings
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QLabel, QProgressBar, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from gpupanel.domain.data import DigitsData, ImagesData
from gpupanel.domain.problem import Fix, Problem, Severity
from gpupanel.domain.profile import Profile
from gpupanel.domain.scan import DataScan, ScannedSet, ScanProgress, ScanRequest
from gpupanel.runs.questions.data_scan import scan_data
from gpupanel.ui.main_window import MainWindow
from gpupanel.ui.tools.session_tool_binding import SessionToolBinding
from gpupanel.ui.tools.session_tools.scan import TOOL as SCAN
from gpupanel.ui.tools.session_tools.scan.dialog import ScanDialog
from gpupanel.ui.widgets.class_counts_view import ClassCountsView
from gpupanel.ui.widgets.problem_row import ProblemRow
from gpupanel.ui.workers.tool_worker import QuestionWorker
from tests.fakes.questions import asked_of
from tests.forked.processes import child_processes
from tests.ui.tool_page import ToolPage, closing
from tests.unit.trainer.test_scan_of_images import make_many

pytestmark = pytest.mark.usefixtures("undressed")

_SLOW = (
    "import time\n"
    'print(\'{"first": {"described": "x", "sets": [{"name": "training", "examples": 7, '
    '"labelled": 7}]}}\', flush=True)\n'
    'print(\'{"progress": {"doing": "reading", "done": 2, "total": 7}}\', flush=True)\n'
    "time.sleep(60)"
)
LEAK = Problem(code="leak", severity=Severity.WARNING, message="A leak.")
EMPTY = Problem(
    code="data_class_empty",
    field="data.path",
    message="An empty class.",
    fix=Fix.of("Leave out eel", "data.leave_out", ["eel"]),
)
WHOLE = DataScan(
    is_complete=True,
    described="/pictures",
    sets=(ScannedSet(name="training", examples=3, labelled=3, class_counts=(("a", 2), ("b", 1))),),
    problems=(LEAK, EMPTY),
)


@pytest.fixture
def dialog(qtbot: QtBot):
    made = ScanDialog()
    qtbot.addWidget(made)
    made.show()
    return made


def words(dialog: ScanDialog) -> tuple[str, str]:
    sentence = dialog.findChild(QLabel, "scan_sentence").text().replace("\u200b", "")
    return dialog.findChild(QLabel, "scan_verdict").text(), sentence


def button(dialog: QWidget, name: str) -> QPushButton:
    return dialog.findChild(QPushButton, name)


def test_that_problems_stand_in_their_order_and_classes_as_bars(dialog):
    dialog.setAnswer(WHOLE)
    assert words(dialog)[0] == "2 problems found"
    rows = dialog.findChildren(ProblemRow)
    assert [row.problem().code for row in rows] == ["leak", "data_class_empty"]
    assert [bars.accessibleDescription() for bars in dialog.findChildren(ClassCountsView)] == [
        "a: 2, b: 1"
    ]
    titles = {label.text() for label in dialog.findChildren(QLabel)}
    assert {"Examples", "Classes: training"} <= titles


def test_that_the_whole_report_is_copied(dialog):
    dialog.setAnswer(WHOLE)
    button(dialog, "scan_copy").click()
    copied = QGuiApplication.clipboard().text()
    assert copied.startswith("Data: /pictures\n")
    assert "A leak." in copied
    assert "a                                2 (66.7 %)" in copied


def test_that_progress_is_shown_as_a_bar_and_in_words(dialog):
    bar = dialog.findChild(QProgressBar, "scan_progress")
    dialog.setProgress(ScanProgress(doing="reading", done=1, total=2))
    assert not bar.isVisible()  # nothing goes on
    dialog.setBusy(True)
    assert bar.isVisible()
    dialog.setProgress(ScanProgress(doing="reading", done=5 * 10**9, total=10**10))
    assert bar.value() * 2 == bar.maximum()
    assert words(dialog)[1] == "Reading: 5,000,000,000 of 10,000,000,000…"
    dialog.setProgress(ScanProgress(doing="listing"))
    assert (bar.minimum(), bar.maximum()) == (0, 0)
    assert button(dialog, "scan_cancel").isEnabled()
    assert not button(dialog, "scan_again").isEnabled()


@pytest.mark.parametrize(
    ("scan", "verdict"),
    [
        (DataScan(needs_download=True), "Nothing to scan yet"),
        (DataScan(needs_start=True), "Nothing to scan yet"),
        (DataScan(problems=(EMPTY,)), "Scan not complete"),
        (WHOLE.model_copy(update={"problems": ()}), "No problems found"),
        (
            WHOLE.model_copy(
                update={"problems": (LEAK.model_copy(update={"severity": Severity.HINT}),)}
            ),
            "No problems found, 1 hint",
        ),
        (WHOLE.model_copy(update={"problems": (LEAK,)}), "1 problem found"),
    ],
)
def test_that_the_verdict_says_what_is_known(dialog, scan, verdict):
    dialog.setAnswer(scan)
    assert words(dialog)[0] == verdict


@pytest.fixture
def asked(qtbot):
    def make(code: str | None = None) -> ToolPage:
        tool = SCAN if code is None else replace(SCAN, question=asked_of(scan_data, code))
        page = ToolPage(qtbot, "scan", "scan_button", partial(SessionToolBinding, tool=tool))
        page.page.show()
        return page

    with closing(make) as made:
        yield made


def test_that_a_click_scans_and_a_fix_mends_the_session_and_scans_again(
    qtbot, asked, tmp_path: Path
):
    make_many(tmp_path, {"cat": 3, "dog": 3})
    (tmp_path / "eel").mkdir()
    window = asked()
    window.session.edit(Profile(data=ImagesData(path=str(tmp_path))))
    with qtbot.waitSignal(window.worker.answered, timeout=60_000):
        window.click()
    (row,) = window.dialog.findChildren(ProblemRow)
    assert row.problem().code == "data_class_empty"
    (fix,) = [each for each in row.findChildren(QPushButton) if each.text() == "Leave out eel"]
    with qtbot.waitSignal(window.worker.answered, timeout=60_000):
        fix.click()
    assert window.session.profile.data.leave_out == ("eel",)
    assert words(window.dialog)[0] == "No problems found"


def test_that_stop_ends_the_process_and_what_was_seen_stays(qtbot, asked):
    window = asked(_SLOW)
    window.click()
    qtbot.waitUntil(lambda: "Reading: 2 of 7" in words(window.dialog)[1], timeout=20_000)
    assert window.dialog.answer().sets[0].examples == 7
    began_s = time.monotonic()
    button(window.dialog, "scan_cancel").click()
    qtbot.waitUntil(lambda: not child_processes(), timeout=5_000)
    assert time.monotonic() - began_s < 3.0
    assert words(window.dialog) == (
        "Scan not complete",
        "7 training examples; not scanned to the end.",
    )
    assert button(window.dialog, "scan_again").isEnabled()


def test_that_closing_the_dialog_ends_the_process(qtbot, asked):
    window = asked(_SLOW)
    window.click()
    qtbot.waitUntil(lambda: window.dialog.answer() is not None, timeout=20_000)
    window.dialog.reject()
    qtbot.waitUntil(lambda: not child_processes(), timeout=5_000)


def test_that_a_late_word_of_a_scan_that_was_dropped_is_not_shown(qtbot, asked):
    window = asked(_SLOW)
    heard = []
    window.worker.progressed.connect(
        lambda news: heard.append(news) if isinstance(news, DataScan) else None
    )
    window.click()
    qtbot.waitUntil(lambda: len(heard) == 1, timeout=20_000)
    before = window.worker.dropped
    window.worker.cancel()
    window.worker._reported.emit(before, DataScan(described="late"))
    assert len(heard) == 1


def test_that_another_profile_makes_a_report_outdated_and_back_again(qtbot, asked):
    window = asked()
    with qtbot.waitSignal(window.worker.answered, timeout=60_000):
        window.click()
    assert "scanned in" in words(window.dialog)[1]
    other = Profile(data=DigitsData(validation_fraction=0.5))
    window.session.edit(other)
    assert words(window.dialog)[1].startswith("The settings have changed since.")
    window.session.edit(Profile())
    assert "scanned in" in words(window.dialog)[1]


def test_that_data_that_was_not_chosen_cannot_be_scanned(asked):
    window = asked(_SLOW)
    window.session.edit(Profile(data=ImagesData(path="")))
    assert not button(window.page, "scan_button").isEnabled()
    window.session.edit(Profile(data=ImagesData(path="/somewhere")))
    assert button(window.page, "scan_button").isEnabled()


def test_that_a_process_that_cannot_be_started_is_said_in_the_dialog(qtbot):
    scanner = QuestionWorker(replace(scan_data, command=("/nowhere/python",)))
    with qtbot.waitSignal(scanner.answered, timeout=20_000) as heard:
        scanner.ask(ScanRequest(data=DigitsData()))
    scanner.stop()
    assert [problem.code for problem in heard.args[0].problems] == ["scan_not_started"]


def test_that_the_main_window_has_it_and_ends_it(qtbot, tmp_path):
    settings = QSettings(str(tmp_path / "s.ini"), QSettings.Format.IniFormat)
    window = MainWindow(settings, tmp_path / "runs")
    qtbot.addWidget(window)
    (scan,) = (
        each
        for each in window.findChildren(SessionToolBinding)
        if each.worker.question is scan_data
    )
    scan.worker.question = asked_of(scan_data, _SLOW)
    button(window, "scan_button").click()
    dialog = window.findChild(ScanDialog)
    qtbot.waitUntil(lambda: dialog.answer() is not None, timeout=20_000)
    window.close()
    qtbot.waitUntil(lambda: not child_processes(), timeout=10_000)
