"""Which run is shown, how it ended, and why."""

from dataclasses import fields, replace
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication, QLabel, QPushButton, QVBoxLayout, QWidget

from gpupanel.domain.outcome import Outcome
from gpupanel.domain.problem import Problem, Severity
from gpupanel.runs.following.status import RunStatus
from gpupanel.runs.history.run_summary import RunSummary
from gpupanel.ui.run_actions import RunActions
from gpupanel.ui.run_page.banner import RunBanner
from gpupanel.ui.run_state import ButtonStates
from gpupanel.ui.widgets.labels import SETTLE_MS

KILLED = Problem(
    code="trainer_killed",
    message="The trainer was killed by signal 9.",
    hint="Look for memory that ran out.",
    detail="exit code -9",
)


@pytest.fixture
def banner(qtbot):
    banner = RunBanner()
    qtbot.addWidget(banner)
    banner.setRun("2026-11-21-digits")
    banner.setEnd("Lost")
    with qtbot.waitExposed(banner):
        banner.show()
    return banner


def _button(banner, words):
    buttons = banner.findChildren(QPushButton)
    return next(button for button in buttons if words in button.text().replace("&", ""))


def test_that_a_problem_is_a_sentence_with_its_hint(banner):
    banner.problem.setProblem(KILLED)

    texts = [label.text() for label in banner.findChildren(QLabel) if label.isVisible()]
    assert "✕ The trainer was killed by signal 9." in texts
    assert "Look for memory that ran out." in texts


class LayoutRequests(QObject):
    """Counts how often a widget was to be laid out anew."""

    def __init__(self, widget: QWidget) -> None:
        super().__init__()
        self.count = 0
        widget.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        self.count += event.type() == QEvent.Type.LayoutRequest
        return False


def test_that_steps_and_losses_change_without_a_new_layout_of_what_is_around(qtbot):
    around = QWidget()
    qtbot.addWidget(around)
    column, banner = QVBoxLayout(around), RunBanner()
    column.addWidget(banner)
    around.resize(1200, 200)
    around.show()

    def go_on(step: int) -> None:
        banner.setRun("2026-11-21-digits")
        banner.setEnd("")
        banner.setCard("")
        status = RunStatus(step=step, step_total=1_000, epoch=1, epoch_total=9, loss=1.0 / step)
        banner.progress.setStatus(status, "Training")
        QApplication.processEvents()

    go_on(1)
    qtbot.wait(SETTLE_MS + 100)
    requests = LayoutRequests(around)
    for step in range(2, 40):
        go_on(step)
    assert any("step 39" in each.text() for each in banner.findChildren(QLabel))
    assert requests.count == 0
    banner.progress.setStatus(RunStatus(step=10**9, step_total=10**9), "Training")
    step = next(each for each in banner.findChildren(QLabel) if each.text().startswith("step"))
    qtbot.waitUntil(lambda: requests.count > 0, timeout=2000)  # what has no room asks for it
    assert step.width() >= step.fontMetrics().horizontalAdvance(step.text())


def test_that_everything_about_a_problem_can_be_copied(qtbot, banner):
    banner.problem.setProblem(KILLED, ("last line",))

    qtbot.mouseClick(_button(banner, "Copy"), Qt.MouseButton.LeftButton)

    copied = QGuiApplication.clipboard().text()
    for part in (KILLED.message, KILLED.hint, KILLED.detail, "last line", KILLED.code):
        assert part in copied


def test_that_the_next_run_takes_the_problem_away(banner):
    banner.problem.setProblem(KILLED)

    banner.problem.setProblem(None)

    assert not banner.findChild(QLabel, "run_problem").isVisible()


def test_that_no_run_takes_no_room(banner):
    banner.setRun("")

    assert not banner.isVisible()


def test_that_there_is_a_way_back_only_when_there_is_somewhere_to_go(qtbot, banner):
    assert not _button(banner, "Back").isVisible()
    banner.buttons.setReturn("digits")
    assert "Shows digits" in _button(banner, "Back").toolTip()
    with qtbot.waitSignal(banner.buttons.returnRequested):
        qtbot.mouseClick(_button(banner, "Back"), Qt.MouseButton.LeftButton)


def test_that_actions_are_offered_where_they_make_sense(qtbot, banner):
    resume, longer = _button(banner, "Resume"), _button(banner, "Train longer")
    assert not resume.isVisible()
    assert not longer.isVisible()
    banner.buttons.setActions(
        RunActions(
            offers_resume=True,
            can_resume=True,
            resume_tip="From step 9.",
            offers_longer=True,
            can_train_longer=True,
        )
    )
    assert "From step 9." in resume.toolTip()
    with qtbot.waitSignal(banner.buttons.resumeRequested):
        qtbot.mouseClick(resume, Qt.MouseButton.LeftButton)
    with qtbot.waitSignal(banner.buttons.longerRequested):
        qtbot.keyClick(longer, Qt.Key.Key_Space)


def test_that_a_suspended_run_is_resumed_by_the_primary_button(banner):
    resume = _button(banner, "Resume")
    for outcome, role in ((Outcome.STOPPED, ""), (Outcome.SUSPENDED, "primary")):
        banner.buttons.setActions(RunActions(offers_resume=True, can_resume=True), outcome)
        assert resume.property("role") == role


def test_that_only_the_run_that_goes_on_is_steered_and_end_now_lies_apart(qtbot, banner):
    stop, suspend, end = (_button(banner, each) for each in ("Stop", "Suspend", "End now"))
    assert not any(each.isVisible() for each in (stop, suspend, end))
    banner.buttons.setSteering(ButtonStates(start=False, stop=True))
    assert [each.isVisible() for each in (stop, suspend, end)] == [True, True, False]
    before = stop.geometry()
    banner.buttons.setSteering(ButtonStates(start=False, stop=False, end_now=True))
    banner.buttons.layout().activate()
    assert [each.isVisible() for each in (stop, suspend, end)] == [True, False, True]
    assert stop.geometry() == before
    assert "without saving" in end.toolTip()
    with qtbot.waitSignal(banner.buttons.endRequested):
        qtbot.mouseClick(end, Qt.MouseButton.LeftButton)
    banner.buttons.setSteering(None)
    assert not any(each.isVisible() for each in (stop, suspend, end))


def test_that_an_ended_run_says_how_where_its_progress_stood(banner):
    state = banner.findChild(QLabel, "shown_state")
    assert (state.text(), state.isVisible()) == ("Lost", True)
    assert not banner.progress.isVisible()
    banner.setEnd("")
    assert not state.isVisible()
    assert banner.progress.isVisible()
    assert banner.progress.bar.isVisible()


def test_that_an_action_that_cannot_be_done_now_says_why(qtbot, banner):
    banner.buttons.setActions(RunActions(offers_resume=True, resume_tip="Another run goes on."))
    resume = _button(banner, "Resume")
    assert resume.isVisible()
    assert not resume.isEnabled()
    assert "Another run goes on." in resume.toolTip()
    with qtbot.assertNotEmitted(banner.buttons.resumeRequested):
        qtbot.mouseClick(resume, Qt.MouseButton.LeftButton)


def test_that_a_restart_is_shown_in_a_line_of_its_own(banner):
    story = banner.findChild(QLabel, "run_story")
    assert not story.isVisible()
    banner.setStory("Restarted from step 120: worker 1 was killed by signal 9.")
    assert story.isVisible()
    assert story.text() == "↻ Restarted from step 120: worker 1 was killed by signal 9."
    banner.setStory("")
    assert not story.isVisible()


def test_that_what_became_of_the_memory_is_shown_below(banner):
    label = banner.findChild(QLabel, "run_memory")
    assert not label.isVisible()
    banner.setMemory("21.3 GiB freed in 1.2 s.")
    assert label.isVisible()
    assert label.text() == "21.3 GiB freed in 1.2 s."
    banner.setMemory("2.0 GiB did not come back.", is_held=True)
    assert label.text() == "! 2.0 GiB did not come back."
    assert label.property("tone") == "warning"
    banner.setMemory("")
    assert not label.isVisible()


def test_that_many_buttons_make_no_window_wider(banner):
    before = banner.minimumSizeHint().width()
    banner.buttons.setOrigin(RunSummary(name="a", path=Path("/a"), profile_name="a"))
    banner.buttons.setReturn("b")
    banner.buttons.setSteering(ButtonStates(start=False, stop=True))
    actions = {each.name: True for each in fields(RunActions) if each.default is False}
    banner.buttons.setActions(replace(RunActions(), **actions))
    banner.setCard("Best epoch 3 of 5 · took 4:01 · model 3.0 MiB")
    assert banner.buttons.heightForWidth(400) > 60
    shown = [each for each in banner.buttons.findChildren(QPushButton) if each.isVisible()]
    assert len(shown) >= 7
    assert banner.minimumSizeHint().width() == before


def said(label: QLabel) -> str:
    """Its words, wherever their lines may not end."""
    return label.text().replace("\N{NO-BREAK SPACE}", " ")


def test_that_what_a_run_reached_is_never_cut(qtbot, banner):
    banner.setEnd("Completed · validation accuracy 99.2 %")
    banner.setCard("Model of the last epoch · took 1:06")
    banner.buttons.setActions(RunActions(offers_longer=True, can_train_longer=True))
    state, card = banner.findChild(QLabel, "shown_state"), banner.findChild(QLabel, "run_card")
    banner.resize(1200, 200)
    qtbot.waitUntil(lambda: state.shownText() == "Completed · validation accuracy 99.2 %")
    assert said(card) == "Model of the last epoch · took 1:06"
    banner.resize(500, 200)
    qtbot.waitUntil(lambda: state.shownText() == "Completed")
    assert said(card) == "Validation accuracy 99.2 % · model of the last epoch · took 1:06"
    assert "99.2 %" in state.toolTip()
    banner.setCard("")
    assert said(card) == "Validation accuracy 99.2 %"
    assert card.isVisible()


def test_that_no_line_of_what_a_run_reached_ends_within_a_fact(banner):
    banner.setCard(
        "Model of epoch 4, the last and the best one · took 0:08 · 3,939 ex/s · model 1 MiB"
    )
    pieces = banner.findChild(QLabel, "run_card").text().split(" ")
    assert [said.replace("\N{NO-BREAK SPACE}", " ") for said in pieces] == [
        "Model of epoch 4, the last and the best one ·",
        "took 0:08 ·",
        "3,939 ex/s ·",
        "model 1 MiB",
    ]


def test_that_only_what_went_wrong_is_shown_as_such(banner):
    message = banner.findChild(QLabel, "run_problem")
    for severity, tone in (
        (Severity.ERROR, "error"),
        (Severity.WARNING, "warning"),
        (Severity.HINT, ""),
    ):
        banner.problem.setProblem(KILLED.model_copy(update={"severity": severity}))
        assert message.property("tone") == tone


def test_that_what_a_run_does_stands_beside_its_name(qtbot, banner):
    banner.resize(744, 60)
    banner.setEnd("")
    banner.progress.setStatus(RunStatus(), "Training")
    title = banner.findChild(QLabel, "shown_run")
    beside = title.x() + title.sizeHint().width() + 16
    qtbot.waitUntil(lambda: 0 < banner.progress.x() <= beside + 16)
