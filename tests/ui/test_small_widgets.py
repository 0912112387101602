import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QColor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPushButton, QVBoxLayout, QWidget

from gpupanel.ui import theme
from gpupanel.ui.inputs.switch import Switch
from gpupanel.ui.widgets.buttons import FocusKeepingButton, FoldButton
from gpupanel.ui.widgets.labels import ElidedLabel, EmptyState, ProseLabel, Tone, set_tone
from gpupanel.ui.widgets.note_card import NoteCard
from gpupanel.ui.widgets.sparkline import Sparkline
from gpupanel.ui.widgets.tool_buttons import ToolButtons


def pixel(widget, x: int, y: int) -> QColor:
    return widget.grab().toImage().pixelColor(x, y)


def near(one: QColor, other: QColor) -> bool:
    pairs = zip(one.getRgb()[:3], other.getRgb()[:3], strict=True)
    return all(abs(a - b) <= 12 for a, b in pairs)


def test_that_a_switch_turns_by_mouse_and_by_keyboard(qtbot):
    switch = Switch()
    qtbot.addWidget(switch)
    switch.show()
    clicks = []
    switch.clicked.connect(lambda on: clicks.append(on))
    QTest.mouseClick(switch, Qt.MouseButton.LeftButton)
    QTest.keyClick(switch, Qt.Key.Key_Space)
    assert clicks == [True, False]
    switch.setChecked(True)
    assert clicks == [True, False]


def test_that_a_switch_shows_its_side_not_only_a_colour(qtbot):
    switch = Switch()
    qtbot.addWidget(switch)
    switch.resize(switch.sizeHint())
    off = switch.grab().toImage()
    switch.setChecked(True)
    on = switch.grab().toImage()
    middle = switch.height() // 2
    left, right = 10, switch.width() - 12
    assert off.pixelColor(left, middle) != off.pixelColor(right, middle)
    assert on.pixelColor(left, middle) != on.pixelColor(right, middle)


def test_that_a_sparkline_keeps_the_newest_readings_and_gaps(qtbot):
    line = Sparkline(0, length=4)
    qtbot.addWidget(line)
    for value in (10.0, 20.0, None, 40.0, 50.0):
        line.add(value)
    assert line.values() == (20.0, None, 40.0, 50.0)
    line.resize(80, 32)
    image = line.grab().toImage()
    columns = [x for x in range(80) if image.pixelColor(x, 28) != image.pixelColor(27, 5)]
    assert columns
    assert not any(30 <= x <= 50 for x in columns)


def test_that_a_long_name_ends_in_an_ellipsis(qtbot):
    label, plain = ElidedLabel("an exceedingly long name of a device"), ElidedLabel("short")
    for each in (label, plain):
        qtbot.addWidget(each)
        each.resize(80, 20)
    assert label.minimumSizeHint().width() < 80
    whole = ElidedLabel(label.text())
    qtbot.addWidget(whole)
    whole.resize(600, 20)
    cut = whole.grab().toImage().copy(0, 0, 80, 20)
    assert label.grab().toImage() != cut


def test_that_an_empty_place_says_what_will_be_there(qtbot):
    state = EmptyState("Nothing yet", "Press Start.")
    qtbot.addWidget(state)
    assert state.text() == "Nothing yet\nPress Start."
    state.setTexts("Still nothing", "Wait.")
    assert state.text() == "Still nothing\nWait."


@pytest.mark.parametrize("tone", [Tone.ERROR, Tone.WARNING, Tone.MUTED])
def test_that_a_tone_colours_a_label_that_is_shown_already(qtbot, tone):
    label = ElidedLabel("words")
    qtbot.addWidget(label)
    label.show()
    set_tone(label, tone)
    assert label.palette().windowText().color() == theme.current().color(tone.value)


@pytest.fixture
def page(qtbot) -> QWidget:
    """A button that keeps the focus, between two others."""
    page = QWidget()
    qtbot.addWidget(page)
    column = QVBoxLayout(page)
    page.before, page.after = QPushButton("Before"), QPushButton("After")
    page.button = FocusKeepingButton("Stop", page)
    for each in (page.before, page.button, page.after):
        column.addWidget(each)
    with qtbot.waitActive(page):
        page.show()
    page.button.setFocus()
    qtbot.waitUntil(page.button.hasFocus)
    return page


@pytest.mark.parametrize("change", ["setEnabled", "setVisible"])
def test_that_a_button_that_is_away_for_a_while_gets_the_focus_back(page, change):
    getattr(page.button, change)(False)
    assert page.hasFocus()
    clicks = []
    page.after.clicked.connect(lambda: clicks.append("after"))
    QTest.keyClick(page.window().focusWidget(), Qt.Key.Key_Space)
    getattr(page.button, change)(True)
    assert (page.button.hasFocus(), clicks) == (True, [])


def test_that_a_button_does_not_take_the_focus_from_what_was_given_it_meanwhile(page):
    page.button.setEnabled(False)
    page.before.setFocus()
    page.button.setEnabled(True)
    assert page.before.hasFocus()
    page.button.setEnabled(False)
    page.before.clearFocus()
    page.button.setEnabled(True)
    assert not page.button.hasFocus()


def test_that_a_button_without_the_focus_takes_it_from_nobody(page):
    page.after.setFocus()
    page.button.setEnabled(False)
    page.button.setEnabled(True)
    assert page.after.hasFocus()


def test_that_tab_goes_to_buttons_of_tools_where_they_stand_whenever_they_are_added(qtbot):
    page, tools = QWidget(), ToolButtons()
    qtbot.addWidget(page)
    before, behind = QPushButton("before"), QPushButton("behind")
    column = QVBoxLayout(page)
    for each in (before, tools, behind):
        column.addWidget(each)
    added = [tools.add(text, text, "Does that.") for text in ("one", "two")]
    page.show()
    before.setFocus()
    reached = []
    for _ in range(3):
        QTest.keyClick(page.focusWidget(), Qt.Key.Key_Tab)
        reached.append(page.focusWidget())
    assert reached == [*added, behind]


def test_that_a_fold_with_a_long_title_makes_no_column_wider(qtbot):
    title = "Augmentation: rotation, zoom, shift, brightness, 1 more"
    fold = FoldButton(title)
    qtbot.addWidget(fold)
    fold.show()
    fold.resize(fold.sizeHint())
    assert fold.shownText() == title
    assert fold.minimumSizeHint().width() < 200 < fold.sizeHint().width()
    fold.resize(200, fold.height())
    assert fold.shownText().endswith("…")
    assert fold.grab().toImage().width() == 200


def test_that_the_buttons_of_a_note_stand_below_its_sentence_in_a_narrow_column(qtbot):
    note = NoteCard("note")
    qtbot.addWidget(note)
    note.setSentence("A run of yesterday was stopped and can go on from step 368.")
    for name in ("Resume", "Open", "Hide"):
        button = note.add_button(name, name.lower(), name)
    words = note.findChild(ProseLabel)
    note.resize(390, 120)
    with qtbot.waitExposed(note):
        note.show()

    def top(part):
        return part.mapTo(note, QPoint(0, 0)).y()

    qtbot.waitUntil(lambda: top(button) >= top(words) + words.height())
    assert words.width() > 300
    note.resize(800, 120)
    qtbot.waitUntil(lambda: top(button) < top(words) + words.height())
