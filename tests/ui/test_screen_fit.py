"""Dialogs are never larger than the screen that they come to stand on."""

import importlib
import inspect
import pkgutil
from collections.abc import Iterator

import pytest
from PySide6.QtCore import QPoint, QRect, QSettings, QSize
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QDialog, QWidget
from pytestqt.qtbot import QtBot
from shiboken6 import dump

from gpupanel.ui import dialogs, tools
from gpupanel.ui.widgets import screen_fit
from gpupanel.ui.widgets.screen_fit import FRAME, resize_within_screen
from tests.fakes.person import Person
from tests.ui.new_window import new_window

SMALLEST = QSize(853, 533)
"""1280x800 at 150 %."""
_INI = QSettings.Format.IniFormat


def dialog_modules() -> Iterator[str]:
    for folder in (dialogs, tools):
        for found in pkgutil.walk_packages(folder.__path__, f"{folder.__name__}."):
            yield found.name


@pytest.mark.parametrize("name", [*dialog_modules(), "gpupanel.ui.questions"])
def test_that_no_dialog_chooses_its_size_by_itself(name: str) -> None:
    source = inspect.getsource(importlib.import_module(name))
    assert "self.resize(" not in source


@pytest.mark.parametrize("size", [(2000, 300), (300, 2000), (2000, 2000), (300, 200)])
def test_that_a_window_is_as_large_as_the_screen_allows(
    qtbot: QtBot, size: tuple[int, int]
) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    resize_within_screen(window, *size)
    free = QGuiApplication.primaryScreen().availableSize() - FRAME
    assert window.size() == QSize(*size).boundedTo(free)


def test_that_a_dialog_stands_on_the_screen_of_its_window(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Screen:
        def availableSize(self) -> QSize:
            return SMALLEST

    def screen_at(point: QPoint) -> Screen | None:
        return Screen() if QRect(9_000, 0, 2_000, 1_000).contains(point) else None

    window = QWidget()
    qtbot.addWidget(window)
    window.setGeometry(9_500, 100, 400, 300)
    monkeypatch.setattr(screen_fit.QGuiApplication, "screenAt", screen_at)
    dialog = QDialog(window)
    resize_within_screen(dialog, 1000, 1000)
    assert dialog.size() == SMALLEST - FRAME


def test_that_no_window_takes_the_screen_with_it(qtbot: QtBot, tmp_path, runs_dir) -> None:
    window = new_window(QSettings(str(tmp_path / "s.ini"), _INI), runs_dir, Person())
    qtbot.addWidget(window)
    dialog = QDialog(window)
    resize_within_screen(dialog, 1000, 1000)
    # What is a child for PySide6 is deleted with the window where Python collects that.
    assert "parent" not in dump(QGuiApplication.primaryScreen())
