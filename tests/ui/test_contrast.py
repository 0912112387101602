"""Text can be read: its contrast to what is behind it, as painted, in both themes."""

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QRect, QSettings
from PySide6.QtGui import QColor, QImage
from PySide6.QtWidgets import QAbstractButton, QApplication, QComboBox, QLabel, QLineEdit, QWidget

from gpupanel.domain.profile import Profile
from gpupanel.ui import theme
from gpupanel.ui.theme import DARK, LIGHT
from gpupanel.ui.widgets.buttons import FoldButton
from tests.fakes.devices import TWO_UNEQUAL
from tests.fakes.person import Person
from tests.fakes.run_directory import WrittenRun
from tests.ui.new_window import new_window
from tests.ui.test_theme import contrast

pytestmark = pytest.mark.usefixtures("preview_without_process")

LEAST = 4.5
"""Web Content Accessibility Guidelines 2.2, 1.4.3; what is off is exempt there, too."""


def settled() -> None:
    """Sections find their places in turns of the event loop."""
    for _ in range(5):
        QApplication.processEvents()


def pixels_of(image: QImage) -> np.ndarray:
    """Each as 0xffRRGGBB."""
    converted = image.convertToFormat(QImage.Format.Format_RGB32)
    rows = np.frombuffer(converted.constBits(), np.uint32).reshape(converted.height(), -1)
    return rows[:, : converted.width()].copy()


def painted_contrast(pixels: np.ndarray, place: QRect) -> float:
    """Of the background, which is the most frequent colour, and what stands out most from it."""
    inside = pixels[place.top() : place.bottom() + 1, place.left() : place.right() + 1]
    colors, counts = np.unique(inside, return_counts=True)
    behind = QColor(int(colors[counts.argmax()])).name()
    return max(contrast(QColor(int(color)).name(), behind) for color in colors)


def shows_text(widget: QWidget) -> bool:
    if not (widget.isVisible() and widget.isEnabled()) or widget.height() < 8:
        return False
    if isinstance(widget, QLabel | QAbstractButton):
        return any(letter.isalnum() for letter in widget.text())
    if isinstance(widget, QLineEdit):
        return bool(widget.text() or widget.placeholderText())
    return isinstance(widget, QComboBox)


def too_faint(window: QWidget) -> list[str]:
    settled()
    image = window.grab().toImage()
    pixels = pixels_of(image)
    found = []
    for widget in window.findChildren(QWidget):
        seen = widget.visibleRegion().boundingRect()
        if not shows_text(widget) or seen.height() < widget.height():
            continue
        inner = seen.adjusted(4, 2, -4, -2)  # without a border
        place = QRect(widget.mapTo(window, QPoint(0, 0)) + inner.topLeft(), inner.size())
        if place.isEmpty() or not image.rect().contains(place):
            continue
        if (found_contrast := painted_contrast(pixels, place)) < LEAST:
            words = getattr(widget, "text", getattr(widget, "currentText", str))()
            found.append(f"{type(widget).__name__} {words!r}: {found_contrast:.2f}")
    return found


@pytest.mark.parametrize("colors", [LIGHT, DARK], ids=lambda each: each.name)
def test_that_all_text_of_the_window_can_be_read(qtbot, qapp, tmp_path, runs_dir, colors):
    before = theme.current()
    settings = QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat)
    with WrittenRun(runs_dir, Profile(name="one")) as run:
        run.begin()
        run.step(12)
        run.print("WARNING: one\nI0000 00:00:1.5   1 port.cc:1] two\n")
        run.end()
    window = new_window(settings, runs_dir, Person())
    qtbot.addWidget(window)
    window.resize(1280, 800)
    with qtbot.waitExposed(window):
        window.show()
    try:
        theme.show(qapp, colors)
        window.session.set_inventory(TWO_UNEQUAL)
        window.session.prepare_now()
        assert too_faint(window) == []
        for fold in window.findChildren(FoldButton):
            if fold.isVisible():
                fold.setChecked(True)
        assert too_faint(window) == []
        window.open_target(run.layout.root)
        qtbot.waitUntil(lambda: window.live_page.log.text() != "", timeout=10_000)
        assert too_faint(window) == []
        window.tabs.setCurrentWidget(window.runs)
        qtbot.waitUntil(lambda: window.runs.panel.isVisible())
        assert too_faint(window) == []
    finally:
        window.close()
        theme.show(qapp, before)


@pytest.mark.parametrize("colors", [LIGHT, DARK], ids=lambda each: each.name)
def test_that_what_stands_in_an_empty_field_can_be_read(qapp, qtbot, colors):
    before = theme.current()
    theme.show(qapp, colors)
    field = QLineEdit()
    field.setPlaceholderText("Search")
    qtbot.addWidget(field)
    field.ensurePolished()
    shown = theme._palette(colors).placeholderText().color().name()
    assert contrast(shown, colors.raised) >= LEAST
    assert contrast(shown, colors.surface) >= LEAST
    theme.show(qapp, before)


@pytest.mark.parametrize("colors", [LIGHT, DARK], ids=lambda each: each.name)
def test_that_text_can_be_read_on_what_is_chosen_or_pointed_at(colors):
    for behind in (colors.selection, colors.hover):
        assert contrast(colors.text, behind) >= LEAST
    for behind in (colors.window, colors.surface, colors.raised):
        assert contrast(colors.accent, behind) >= LEAST
    assert contrast(colors.accent_text, colors.accent_hover) >= LEAST
    assert contrast(colors.error, colors.hover) >= LEAST
