"""A window that is full of a stranger's names: none of them becomes rich text anywhere.

Qt takes a text for rich text where it finds a tag in it, and loads the picture that the tag names:
a FIFO keeps the window waiting for ever, and ``/dev/zero`` fills its memory.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QSettings
from PySide6.QtWidgets import QMenu, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from gpupanel.domain.data import TableData
from gpupanel.domain.device import DeviceInventory
from gpupanel.domain.problem import Problem
from gpupanel.domain.profile import Profile
from gpupanel.runs import user_queue
from gpupanel.runs.history.label import change_label
from gpupanel.runs.locations import queue_dir
from gpupanel.runs.queue import orders
from gpupanel.runs.queue.queue_files import QueueFiles
from gpupanel.ui.main_window import MainWindow
from gpupanel.ui.panels.runs_panel.table import RunsTable
from gpupanel.ui.panels.runs_panel.table_menus import ColumnMenu
from gpupanel.ui.widgets.table_model import Column
from tests.fakes.devices import TWO_UNEQUAL
from tests.fakes.person import Person
from tests.fakes.run_directory import WrittenRun
from tests.ui.new_window import new_window
from tests.ui.said_texts import SAID, TAG, said_by_widgets, unsafe_texts

pytestmark = pytest.mark.usefixtures("preview_without_process")

NAME = f"{TAG}\x1b[31m\u202e"


@pytest.fixture
def window(
    qtbot: QtBot,
    tmp_path: Path,
    state_dir: Path,
    runs_dir: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[MainWindow]:
    for module in (orders, user_queue):
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
        texts += sum(SAID[0] in text for _, text in found)
        assert [each for each in found if TAG in each[1]] == []
    assert texts > 10, "the names are not shown at all"


def test_that_no_name_of_a_stranger_is_rich_text_or_a_key_in_a_menu_that_is_made_on_demand(
    qtbot: QtBot, window: MainWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The offscreen plugin warns of a menu's window.
    monkeypatch.setattr(QMenu, "popup", lambda _menu, _place: None)
    window.tabs.setCurrentWidget(window.runs)
    (table,) = window.runs.findChildren(RunsTable)
    qtbot.waitUntil(lambda: table.model().rowCount() == 2)
    window.runs.findChild(QPushButton, "runs_group").click()
    strange = Column(f"{TAG} a&b", NAME, str, key="strange")
    shown = ColumnMenu(((strange, True), (strange, False)), strange, table.more_columns, table)
    for widget in (table, table.horizontalHeader()):
        widget.customContextMenuRequested.emit(QPoint(5, 5))
    assert unsafe_texts(window) == []
    texts = [action.text() for action in shown.actions()]
    assert f"&Hide {TAG} a&&b" in texts
    assert f"{TAG} a&&b" in texts
