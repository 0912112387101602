"""What is typed and is no value stays, says why, and keeps a run from starting."""

import math
from collections.abc import Callable, Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox, QLineEdit, QWidget
from pytestqt.qtbot import QtBot

from gpupanel.domain.data import DigitsData
from gpupanel.domain.model import CnnModel
from gpupanel.domain.profile import Profile
from gpupanel.domain.training import TrainingSettings
from gpupanel.runs.questions.data_preview import preview_data
from gpupanel.ui.inputs.number_list_edit import NumberListEdit
from gpupanel.ui.inputs.real_spin_box import RealRange, RealSpinBox
from gpupanel.ui.session import Session
from gpupanel.ui.session_page import SessionPage
from gpupanel.ui.widgets.buttons import FoldButton
from gpupanel.ui.widgets.labels import Note
from gpupanel.ui.workers.tool_worker import QuestionWorker
from tests.fakes.devices import CPU_ONLY

pytestmark = pytest.mark.usefixtures("undressed")

CNN = Profile(data=DigitsData(validation_fraction=0.2), model=CnnModel(filters=(8,)))
ABC = "Filters: “abc” is not a whole number; numbers are written as in “128, 64”."


@pytest.fixture
def session() -> Iterator[Session]:
    session = Session()
    session.set_inventory(CPU_ONLY)
    session.open_profile(CNN, None)
    yield session
    session.close()


@pytest.fixture
def page(qtbot: QtBot, session: Session) -> Iterator[SessionPage]:
    loader = QuestionWorker(preview_data)
    page = SessionPage(session, loader)
    qtbot.addWidget(page)
    page.resize(1000, 900)
    with qtbot.waitExposed(page):
        page.show()
    yield page
    loader.stop()


def _problems(session: Session) -> list[tuple[str, str]]:
    preparation = session.prepare_now()
    assert preparation.is_startable == (not any(each.is_error for each in preparation.problems))
    return [(each.field, each.message) for each in preparation.problems if each.is_error]


def _named(page: SessionPage, kind: type[QWidget], name: str) -> QWidget:
    return next(
        each
        for each in page.findChildren(kind)
        if each.accessibleName() == name and each.isVisibleTo(page)
    )


def _type(qtbot: QtBot, field: QWidget, text: str) -> None:
    line = field if isinstance(field, QLineEdit) else field.findChild(QLineEdit)
    line.setFocus()
    line.selectAll()
    qtbot.keyClicks(field if isinstance(field, RealSpinBox) else line, text)


@pytest.mark.parametrize(
    ("numbers", "percent", "typed", "bound"),
    [
        (RealRange(1e-30, below=1e30), False, "0", "more than 0"),
        (RealRange(below=1.0), False, "1", "less than 1"),
        (RealRange(0.5), False, "0.4", "at least 0.5"),
        (RealRange(below=math.nextafter(0.9, 1.0)), False, "2", "at most 0.9"),
        (RealRange(0.0, lowest_allowed=False), True, "0 %", "more than 0 %"),
        (RealRange(), False, "1e", ""),
    ],
)
def test_that_a_number_says_why_it_is_not_taken_and_stays(
    qtbot: QtBot, numbers: RealRange, percent: bool, typed: str, bound: str
) -> None:
    error = (
        f"“{typed}” is out of range: it has to be {bound}." if bound else "“1e” is not a number."
    )
    field = RealSpinBox(numbers, is_percent=percent)
    qtbot.addWidget(field)
    field.setValue(0.75)
    errors = []
    field.errorChanged.connect(lambda: errors.append(field.error()))
    field.lineEdit().clear()
    qtbot.keyClicks(field, typed)
    qtbot.keyClick(field, Qt.Key.Key_Return)
    assert (field.lineEdit().text(), errors[-1]) == (typed, error)
    # What it held already does not take the text away; another number does.
    field.setValue(field.value())
    assert field.error() == error
    qtbot.keyClick(field, Qt.Key.Key_Escape)
    assert (field.error(), errors[-1]) == ("", "")
    assert field.lineEdit().text() != typed
    field.lineEdit().clear()
    qtbot.keyClicks(field, typed)
    field.setValue(0.8)
    assert (field.error(), field.value()) == ("", 0.8)


def test_that_an_empty_number_is_missed(qtbot: QtBot) -> None:
    field = RealSpinBox(RealRange())
    qtbot.addWidget(field)
    field.selectAll()
    qtbot.keyClick(field, Qt.Key.Key_Delete)
    assert field.error() == "there is no number."
    field.stepUp()
    assert (field.error(), field.value()) == ("", 1.0)


def test_that_a_list_that_cannot_be_read_keeps_a_run_from_starting(
    qtbot: QtBot, session: Session, page: SessionPage
) -> None:
    assert _problems(session) == []
    filters = _named(page, NumberListEdit, "Filters")
    _type(qtbot, filters, "32, 64, abc")
    assert _problems(session) == [("model.filters", ABC)]
    assert any(each.text() == ABC and each.isVisibleTo(page) for each in page.findChildren(Note))
    # Another setting of the same form is changed: the text stays, and so does its error.
    _named(page, NumberListEdit, "Hidden layers")
    _type(qtbot, _named(page, NumberListEdit, "Hidden layers"), "12")
    assert session.profile.model.hidden == (12,)
    assert _problems(session) == [("model.filters", ABC)]
    _type(qtbot, filters, "32, 64")
    assert _problems(session) == []
    assert session.profile.model.filters == (32, 64)


def test_that_a_learning_rate_of_zero_keeps_a_run_from_starting(
    qtbot: QtBot, session: Session, page: SessionPage
) -> None:
    rate = _named(page, RealSpinBox, "Learning rate")
    _type(qtbot, rate, "0")
    sentence = "Learning rate: “0” is out of range: it has to be more than 0."
    assert _problems(session) == [("training.learning_rate", sentence)]
    qtbot.keyClick(rate, Qt.Key.Key_Escape)
    assert _problems(session) == []
    assert rate.lineEdit().text() == "0.001"


def _other_kind(session: Session, page: SessionPage) -> None:
    box = page.findChild(QComboBox, "model_selector")
    box.setCurrentIndex(box.findData("mlp"))


def _other_profile(session: Session, page: SessionPage) -> None:
    session.open_profile(CNN, None)


def _another_value(session: Session, page: SessionPage) -> None:
    model = CNN.model.model_copy(update={"filters": (9,)})
    session.edit(CNN.model_copy(update={"model": model}))


@pytest.mark.parametrize("leave", [_other_kind, _other_profile, _another_value])
def test_that_what_was_typed_is_no_error_where_it_is_not_asked_for(
    qtbot: QtBot,
    session: Session,
    page: SessionPage,
    leave: Callable[[Session, SessionPage], None],
) -> None:
    _type(qtbot, _named(page, NumberListEdit, "Filters"), "x")
    assert len(_problems(session)) == 1
    leave(session, page)
    assert _problems(session) == []


def test_that_what_is_typed_for_training_does_not_keep_an_evaluation_from_starting(
    qtbot: QtBot, session: Session, page: SessionPage
) -> None:
    _type(qtbot, _named(page, RealSpinBox, "Learning rate"), "0")
    assert [field for field, _ in _problems(session)] == ["training.learning_rate"]
    session.edit(session.profile.model_copy(update={"task": "evaluate"}))
    assert "training.learning_rate" not in dict(_problems(session))


def test_that_an_input_within_a_table_is_reported_at_the_table(
    qtbot: QtBot, session: Session, page: SessionPage
) -> None:
    training = TrainingSettings(schedule={"kind": "step"})
    session.edit(CNN.model_copy(update={"training": training}))
    fold = next(
        each
        for each in page.findChildren(FoldButton)
        if each.text().startswith("Learning-rate") or "chedule" in each.text()
    )
    fold.setChecked(True)
    _type(qtbot, _named(page, RealSpinBox, "Factor"), "1")
    ((field, message),) = _problems(session)
    assert field == "training.schedule"
    assert message.endswith("Factor: “1” is out of range: it has to be less than 1.")


@pytest.mark.parametrize("digit", ["9", "1e", "0.0"])
def test_that_a_value_of_hundreds_of_digits_makes_no_line_of_hundreds(
    qtbot: QtBot, session: Session, page: SessionPage, digit: str
) -> None:
    wide = page.minimumSizeHint().width()
    _named(page, RealSpinBox, "Learning rate").lineEdit().textEdited.emit(digit * 400)
    _named(page, NumberListEdit, "Filters").textEdited.emit(digit * 400)
    problems = _problems(session)
    assert len(problems) == 2
    assert all(len(message) < 120 for _, message in problems)
    assert page.minimumSizeHint().width() == wide
