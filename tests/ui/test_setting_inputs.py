import math

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from gpupanel.domain.choice import Choice
from gpupanel.domain.setting import EVERY
from gpupanel.ui.inputs.choice_box import ChoiceBox
from gpupanel.ui.inputs.counter import GREATEST, Counter
from gpupanel.ui.inputs.real_spin_box import RealRange, RealSpinBox


@pytest.fixture
def rate(qtbot: QtBot) -> RealSpinBox:
    rate = RealSpinBox(RealRange(lowest=1e-30, lowest_allowed=False, below=1e30))
    qtbot.addWidget(rate)
    return rate


def _retype(qtbot: QtBot, field: RealSpinBox, text: str) -> None:
    field.selectAll()
    qtbot.keyClicks(field, text)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(number=st.floats(0.0, exclude_min=True, allow_infinity=False))
def test_that_a_number_is_shown_so_that_it_reads_back_exactly(rate, number):
    rate.setValue(number)
    assert rate.value() == number
    assert float(rate.lineEdit().text()) == number


@pytest.mark.parametrize(("text", "number"), [("1e-3", 1e-3), ("0,5", 0.5), ("2E2", 200.0)])
def test_that_numbers_are_typed_as_people_write_them(rate, qtbot, text, number):
    _retype(qtbot, rate, text)
    assert rate.value() == number


@pytest.mark.parametrize("text", ["0", "-1", "1e", "--"])
def test_that_what_is_no_number_of_the_range_is_never_reported(rate, qtbot, text):
    rate.setValue(0.25)
    heard = []
    rate.valueChanged.connect(heard.append)
    rate.lineEdit().clear()
    qtbot.keyClicks(rate, text)
    assert set(heard) <= {1.0}
    qtbot.keyClick(rate, Qt.Key.Key_Return)
    assert rate.lineEdit().text() == text
    qtbot.keyClick(rate, Qt.Key.Key_Escape)
    assert float(rate.lineEdit().text()) == rate.value()


def test_that_letters_are_not_taken(rate, qtbot):
    _retype(qtbot, rate, "0.5abc")
    assert rate.lineEdit().text() == "0.5"


def test_that_the_arrows_of_an_open_range_go_one_two_five(rate):
    rate.setValue(0.001)
    ladder = []
    for _ in range(4):
        rate.stepUp()
        ladder.append(rate.value())
    assert ladder == [0.002, 0.005, 0.01, 0.02]
    rate.setValue(0.003)
    rate.stepDown()
    assert rate.value() == 0.002


def test_that_the_arrows_of_a_fraction_stop_at_its_ends(qtbot):
    fraction = RealSpinBox(RealRange(below=1.0), step=0.05)
    qtbot.addWidget(fraction)
    fraction.setValue(0.9)
    fraction.stepUp()
    fraction.stepUp()
    assert fraction.value() == 0.95
    fraction.setValue(0.05)
    fraction.stepBy(-5)
    assert fraction.value() == 0.0


def test_that_a_number_beyond_what_the_field_can_hold_is_shown_as_the_greatest(qtbot):
    counter = Counter(1)
    qtbot.addWidget(counter)
    counter.setValue(10**12)
    assert counter.value() == GREATEST


def test_that_a_unit_is_named_in_the_singular_and_the_plural(qtbot):
    counter = Counter(unit="epoch")
    qtbot.addWidget(counter)
    counter.setValue(1)
    assert counter.text() == "1 epoch"
    counter.stepUp()
    assert counter.text() == "2 epochs"


def test_that_an_unoffered_choice_is_shown_only_while_it_is_the_value(qtbot):
    box = ChoiceBox((Choice("a", "A"), Choice("b", "B")))
    qtbot.addWidget(box)
    heard = []
    box.valueChanged.connect(heard.append)
    for value in ("x", "y", "y", "a"):
        box.setValue(value)
        assert box.value() == value
    assert box.count() == 2
    assert heard == []
    box.setCurrentIndex(1)
    assert heard == ["b"]


def test_that_the_arrows_leave_zero_and_go_on_below_it(qtbot):
    field = RealSpinBox(RealRange(lowest=-math.inf))
    qtbot.addWidget(field)
    assert field.value() == 0.0
    field.show()
    for steps, number in ((1, 1.0), (1, 2.0), (-1, 1.0)):
        field.stepBy(steps)
        assert field.value() == number
    field.setValue(0.0)
    for steps, number in ((-1, -1.0), (-1, -2.0), (-1, -5.0), (1, -2.0)):
        field.stepBy(steps)
        assert field.value() == number
    field.hide()


def test_that_the_arrow_down_ends_at_a_zero_that_is_the_least(qtbot):
    field = RealSpinBox(RealRange())
    qtbot.addWidget(field)
    field.setValue(0.0)
    assert field.stepEnabled() == RealSpinBox.StepEnabledFlag.StepUpEnabled


def test_that_every_epoch_is_said_without_a_number_but_while_one_may_be_typed(qtbot):
    counter = Counter(0, zero="never", before=EVERY, unit="epoch")
    other = Counter()
    box = QWidget()
    qtbot.addWidget(box)
    row = QHBoxLayout(box)
    row.addWidget(counter)
    row.addWidget(other)
    with qtbot.waitExposed(box):
        box.show()
    box.activateWindow()
    other.setFocus()
    texts = []
    for value in (0, 1, 2):
        counter.setValue(value)
        texts.append(counter.text())
    assert texts == ["never", "every epoch", "every 2 epochs"]
    for typed, text in (("12", "every 12 epochs"), ("1", "every epoch")):
        counter.setFocus()
        qtbot.waitUntil(counter.hasFocus)
        counter.selectAll()
        qtbot.keyClicks(counter, typed)
        assert counter.value() == int(typed)
        other.setFocus()
        assert counter.text() == text
    counter.setFocus()
    assert counter.text() == "every 1 epoch"
    counter.selectAll()
    qtbot.keyClick(counter, Qt.Key.Key_Delete)
    other.setFocus()
    assert (counter.value(), counter.text()) == (1, "every epoch")
