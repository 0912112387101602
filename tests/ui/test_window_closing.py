"""Closing the window while a run goes on."""

from functools import partial

import pytest
from PySide6.QtCore import QSettings, Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QCheckBox, QMessageBox

from gpupanel.domain.request import Request
from gpupanel.runs.directory.requests import is_asked
from gpupanel.ui.questions import ClosingAnswer, ClosingChoice, Questions
from tests.fakes.person import Person
from tests.fakes.run_directory import WrittenRun
from tests.ui.new_window import new_window

pytestmark = pytest.mark.usefixtures("preview_without_process", "undressed")


@pytest.fixture
def person():
    return Person()


@pytest.fixture
def opened(qtbot, tmp_path, runs_dir, person):
    """Opens windows over the runs of the test; runs that go on are found at once."""
    windows = []

    def open_one():
        settings = QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat)
        window = new_window(settings, runs_dir, person)
        windows.append(window)
        qtbot.addWidget(window)
        with qtbot.waitExposed(window):
            window.show()
        window.begin()
        return window

    yield open_one
    for window in windows:
        window.closing.close_unasked()


@pytest.mark.parametrize(
    ("choice", "asked"),
    [
        (ClosingChoice.KEEP_RUNNING, None),
        (ClosingChoice.SUSPEND, Request.SUSPEND),
        (ClosingChoice.STOP, Request.STOP),
    ],
)
def test_that_closing_during_a_run_asks_what_is_to_become_of_it(
    qtbot, opened, person, runs_dir, choice, asked
):
    with WrittenRun(runs_dir) as run:
        run.begin()
        window = opened()
        qtbot.waitUntil(lambda: window.control.active is not None, timeout=5000)
        person.closes = ClosingAnswer(ClosingChoice.CANCEL)
        assert not window.close()
        assert window.isVisible()
        person.closes = ClosingAnswer(choice)
        assert window.close()
        requests = [each for each in Request if each in (Request.STOP, Request.SUSPEND)]
        if asked is not None:
            qtbot.waitUntil(lambda: is_asked(run.layout, asked), timeout=5000)
        assert [each for each in requests if is_asked(run.layout, each)] == [asked] * bool(asked)
    assert person.left == [(run.layout.name, True)] * 2


def test_that_a_run_is_kept_going_without_a_question_where_one_said_so(
    qtbot, opened, person, runs_dir
):
    person.closes = ClosingAnswer(ClosingChoice.KEEP_RUNNING, remembers=True)
    with WrittenRun(runs_dir) as run:
        run.begin()
        for _ in range(2):
            window = opened()
            qtbot.waitUntil(lambda shown=window: shown.session.run_state.is_busy, timeout=5000)
            window.close()

    assert len(person.left) == 1


def test_that_the_question_about_closing_keeps_the_run_unless_one_says_otherwise(qtbot, opened):
    asked, found = Questions(opened()), []

    def answer(press):
        (box,) = (each for each in QApplication.topLevelWidgets() if _is_closing_question(each))
        buttons = {each.text(): each for each in box.buttons()}
        found.append((box.defaultButton().text(), tuple(buttons)))
        press(box, buttons)

    def by_return(box, _buttons):
        box.findChild(QCheckBox).click()
        QTest.keyClick(box, Qt.Key.Key_Return)

    def by_suspend(_box, buttons):
        buttons["&Suspend"].click()

    def by_escape(box, _buttons):
        QTest.keyClick(box, Qt.Key.Key_Escape)

    answers = []
    for press, can_suspend in ((by_return, False), (by_suspend, True), (by_escape, True)):
        QTimer.singleShot(50, partial(answer, press))
        answers.append(asked.about_closing("digits", can_suspend=can_suspend))
    assert answers == [
        ClosingAnswer(ClosingChoice.KEEP_RUNNING, remembers=True),
        ClosingAnswer(ClosingChoice.SUSPEND),
        ClosingAnswer(ClosingChoice.CANCEL),
    ]
    assert [default for default, _ in found] == ["&Keep running"] * 3
    assert ["&Suspend" in buttons for _, buttons in found] == [False, True, True]


def _is_closing_question(widget):
    return isinstance(widget, QMessageBox) and widget.objectName() == "closing_question"
