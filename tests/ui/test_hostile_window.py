"""A window that is full of a stranger's names: none of them becomes rich text anywhere.

Qt takes a text for rich text where it finds a tag in it, and loads the picture that the tag names:
a FIFO keeps the window waiting for ever, and ``/dev/zero`` fills its memory.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QAbstractItemModel, QModelIndex, QSettings, Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QAbstractItemView, QComboBox, QLabel, QWidget
from pytestqt.qtbot import QtBot

from gpupanel.domain.data import TableData
from gpupanel.domain.device import DeviceInventory
from gpupanel.domain.problem import Problem
from gpupanel.domain.profile import Profile
from gpupanel.runs.history.label import change_label
from gpupanel.runs.locations import queue_dir
from gpupanel.runs.queue import orders
from gpupanel.runs.queue.queue_files import QueueFiles
from gpupanel.ui.main_window import MainWindow
from gpupanel.ui.workers import queue_worker
from tests.fakes.devices import TWO_UNEQUAL
from tests.fakes.person import Person
from tests.fakes.run_directory import WrittenRun
from tests.ui.new_window import new_window

pytestmark = pytest.mark.usefixtures("preview_without_process")

TAG = "<img src=FIFO>"
NAME = f"{TAG}\x1b[31m\u202e"
_ROLES = (
    Qt.ItemDataRole.ToolTipRole,
    Qt.ItemDataRole.StatusTipRole,
    Qt.ItemDataRole.WhatsThisRole,
)
_MOST_ROWS = 50


@pytest.fixture
def window(
    qtbot: QtBot,
    tmp_path: Path,
    state_dir: Path,
    runs_dir: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[MainWindow]:
    for module in (orders, queue_worker):
        monkeypatch.setattr(module, "ensure_scheduler", lambda _files: False)
    profile = Profile(name=NAME, data=TableData(path=f"/{NAME}.csv", target=NAME, ignore=(NAME,)))
    for number in range(2):
        with WrittenRun(runs_dir, profile) as run:
            run.begin()
            run.end()
        change_label(run.layout, name=NAME, notes=NAME, tags=(f"{number}{TAG}",))
    orders.add(QueueFiles(queue_dir()), profile, runs_dir)
    settings = QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat)
    window = new_window(settings, runs_dir, Person())
    window.resize(1280, 800)
    with qtbot.waitExposed(window):
        window.show()
    with qtbot.waitSignal(window.session.preparationChanged, timeout=10_000):
        window.begin()
    gpus = tuple(gpu.model_copy(update={"name": f"{gpu.name} {NAME}"}) for gpu in TWO_UNEQUAL.gpus)
    inventory = DeviceInventory(driver="580.65", devices=(*gpus, TWO_UNEQUAL.devices[-1]))
    window.session.set_inventory(inventory)
    window.session.edit(profile)
    window.session.prepare_now()
    yield window
    window.close()
    window.deleteLater()


def said_by_widgets(window: QWidget) -> Iterator[tuple[str, str]]:
    """Every text that Qt may take for rich text, and what has it."""
    for widget in (window, *window.findChildren(QWidget)):
        where = f"{type(widget).__name__} {widget.objectName()}"
        for text in (widget.toolTip(), widget.statusTip(), widget.whatsThis()):
            yield where, text
        if isinstance(widget, QLabel) and widget.textFormat() is not Qt.TextFormat.PlainText:
            yield where, widget.text()
        if isinstance(widget, QComboBox):
            yield from said_by_model(widget.model(), where)
        if isinstance(widget, QAbstractItemView) and widget.model() is not None:
            yield from said_by_model(widget.model(), where)
    for action in window.findChildren(QAction):
        for text in (action.toolTip(), action.statusTip(), action.whatsThis()):
            yield f"action {action.objectName()} {action.text()}", text


def said_by_model(model: QAbstractItemModel, where: str) -> Iterator[tuple[str, str]]:
    columns, rows = model.columnCount(QModelIndex()), model.rowCount(QModelIndex())
    for role in _ROLES:
        for column in range(columns):
            title = model.headerData(column, Qt.Orientation.Horizontal, role)
            yield f"{where}, title {column}", str(title or "")
            for row in range(min(rows, _MOST_ROWS)):
                yield f"{where}, {row}, {column}", str(model.index(row, column).data(role) or "")


def test_that_no_name_of_a_stranger_is_rich_text_anywhere_in_the_window(
    qtbot: QtBot, window: MainWindow
) -> None:
    shown = Problem(code="data_not_found", message=f"{NAME} is not there.", hint=NAME)
    window.runs.findChild(QWidget, "queue_panel").setProblems((shown,))
    texts = 0
    for page in range(window.tabs.count()):
        window.tabs.setCurrentIndex(page)
        qtbot.wait(300)
        found = list(said_by_widgets(window))
        texts += sum("&lt;img src=FIFO&gt;" in text for _, text in found)
        assert [each for each in found if TAG in each[1]] == []
    assert texts > 10, "the names are not shown at all"
