"""Columns of any setting and metric in the table of runs: chosen, moved, remembered."""

import pytest
from PySide6.QtCore import QObject, QPoint, QSettings, Qt
from PySide6.QtWidgets import (
    QApplication,
    QDialog,
    QLabel,
    QLineEdit,
    QListWidget,
    QMenu,
    QPushButton,
    QTableView,
)

from gpupanel.domain.model import CnnModel
from gpupanel.domain.profile import Profile
from gpupanel.domain.training import TrainingSettings
from gpupanel.runs.history.run_settings import RunSettingsReader
from gpupanel.ui.bindings.history_binding import HistoryBinding
from gpupanel.ui.runs_page import RunsPage
from tests.fakes.person import Person
from tests.fakes.run_directory import WrittenRun

PROFILES = (
    Profile(name="slow", training=TrainingSettings(learning_rate=0.001, epochs=2)),
    Profile(name="fast", training=TrainingSettings(learning_rate=0.1, epochs=10)),
    Profile(name="deep", model=CnnModel()),
)


def write_runs(runs_dir):
    for profile in PROFILES:
        with WrittenRun(runs_dir, profile) as run:
            run.begin()
            run.end()


@pytest.fixture
def settings(tmp_path):
    return QSettings(str(tmp_path / "s.ini"), QSettings.Format.IniFormat)


@pytest.fixture
def shown_page(qtbot, runs_dir, settings):
    """Opens a page of the folder as a window does, as often as it is called."""
    write_runs(runs_dir)
    bindings, parent = [], QObject()

    def show():
        page = RunsPage(runs_dir)
        qtbot.addWidget(page)
        bindings.append(HistoryBinding(page, runs_dir, Person(), settings, parent))
        page.resize(940, 500)
        with qtbot.waitExposed(page):
            page.show()
        table = page.findChild(QTableView, "runs_table")
        qtbot.waitUntil(lambda: table.model().rowCount() == 3, timeout=5000)
        return page

    yield show
    for binding in bindings:
        binding.stop()


def _table(page):
    return page.findChild(QTableView, "runs_table")


def _titles(table):
    header = table.horizontalHeader()
    places = [header.logicalIndex(visual) for visual in range(header.count())]
    return [
        table.model().headerData(place, Qt.Orientation.Horizontal)
        for place in places
        if not table.isColumnHidden(place)
    ]


def _texts(table, title):
    model = table.model()
    place = next(
        each
        for each in range(model.columnCount())
        if model.headerData(each, Qt.Orientation.Horizontal) == title
    )
    return [model.index(row, place).data() for row in range(model.rowCount())]


def _chooser(qtbot, page):
    qtbot.mouseClick(page.findChild(QPushButton, "runs_columns"), Qt.MouseButton.LeftButton)
    chooser = page.findChild(QDialog, "column_chooser")
    columns = chooser.findChild(QListWidget, "column_list")
    qtbot.waitUntil(lambda: _item(columns, "Learning rate") is not None, timeout=5000)
    return chooser, columns


def _item(columns, title):
    items = (columns.item(place) for place in range(columns.count()))
    return next((each for each in items if each.text().partition("  (")[0] == title), None)


def _tick(qtbot, columns, title):
    columns.setCurrentItem(_item(columns, title))
    columns.setFocus()
    qtbot.keyClick(columns, Qt.Key.Key_Space)


def test_that_any_setting_becomes_a_column_and_comes_again_with_the_next_window(qtbot, shown_page):
    page = shown_page()
    chooser, columns = _chooser(qtbot, page)
    _tick(qtbot, columns, "Learning rate")
    _tick(qtbot, columns, "Filters")
    chooser.close()

    assert {"Learning rate", "Filters"} < set(_titles(_table(page)))
    assert sorted(_texts(_table(page), "Learning rate")) == ["0.001", "0.001", "0.1"]
    assert sorted(_texts(_table(page), "Filters")).count("–") == 2  # noqa: RUF001 - the dash

    again = _table(shown_page())
    qtbot.waitUntil(lambda: "0.1" in _texts(again, "Learning rate"), timeout=5000)
    assert _titles(again) == _titles(_table(page))


def test_that_settings_that_differ_are_offered_before_all_others(qtbot, shown_page):
    _, columns = _chooser(qtbot, shown_page())
    texts = [columns.item(place).text() for place in range(columns.count())]

    differing = [place for place, text in enumerate(texts) if text.endswith("(differs)")]
    others = [place for place, text in enumerate(texts) if text.endswith("(setting)")]
    assert "Learning rate  (differs)" in texts
    assert "Model  (differs)" in texts
    assert max(differing) < min(others)


def test_that_columns_are_searched_by_title_and_key(qtbot, shown_page):
    chooser, columns = _chooser(qtbot, shown_page())
    qtbot.keyClicks(chooser.findChild(QLineEdit, "column_search"), "warmup")

    items = [columns.item(place) for place in range(columns.count())]
    assert [item.text() for item in items if not item.isHidden()] == ["Warm-up (epochs)  (setting)"]
    assert not columns.dragEnabled()


def test_that_a_column_is_sorted_by_its_numbers_and_the_choice_stays(qtbot, shown_page):
    page = shown_page()
    table = _table(page)
    table.selectRow(1)
    chosen = page.panel.chosen_runs()
    chooser, columns = _chooser(qtbot, page)
    _tick(qtbot, columns, "Epochs")
    chooser.close()
    assert page.panel.chosen_runs() == chosen

    place = _titles_place(table, "Epochs")
    table.sortByColumn(place, Qt.SortOrder.DescendingOrder)
    assert _texts(table, "Epochs") == ["10", "3", "2"]
    assert page.panel.chosen_runs() == chosen


def _titles_place(table, title):
    model = table.model()
    return next(
        each
        for each in range(model.columnCount())
        if model.headerData(each, Qt.Orientation.Horizontal) == title
    )


def test_that_a_column_is_moved_by_a_drag_of_its_title(qtbot, shown_page):
    page = shown_page()
    table = _table(page)
    header = table.horizontalHeader()
    before = _titles(table)
    assert before[1:3] == ["Started", "Outcome"]
    start = QPoint(header.sectionViewportPosition(2) + 20, header.height() // 2)
    end = QPoint(header.sectionViewportPosition(1) + 5, header.height() // 2)
    qtbot.mousePress(header.viewport(), Qt.MouseButton.LeftButton, pos=start)
    for step in range(1, 11):
        qtbot.mouseMove(header.viewport(), start + (end - start) * step / 10)
    qtbot.mouseRelease(header.viewport(), Qt.MouseButton.LeftButton, pos=end)

    assert _titles(table)[1:3] == ["Outcome", "Started"]
    assert _titles(_table(shown_page())) == _titles(table)


def test_that_a_column_is_moved_by_keys_alone(qtbot, shown_page):
    page = shown_page()
    chooser, columns = _chooser(qtbot, page)
    _tick(qtbot, columns, "Learning rate")
    # Ticked, it stands behind all that was shown; what is shown comes first when opened again.
    chooser.close()
    chooser, columns = _chooser(qtbot, page)
    columns.setCurrentItem(_item(columns, "Learning rate"))
    chooser.activateWindow()
    qtbot.waitUntil(chooser.isActiveWindow)
    place = columns.currentRow()
    for _ in range(place):
        qtbot.keyClick(columns, Qt.Key.Key_Up, Qt.KeyboardModifier.AltModifier)
    assert not chooser.findChild(QPushButton, "column_up").isEnabled()

    assert _titles(_table(page))[0] == "Learning rate"


def test_that_the_menu_of_a_title_hides_its_column(qtbot, shown_page, monkeypatch):
    # Shown without a screen it would warn that the keyboard cannot be grabbed.
    monkeypatch.setattr(QMenu, "popup", lambda *_arguments: None)
    table = _table(shown_page())
    header = table.horizontalHeader()
    at = QPoint(header.sectionViewportPosition(_titles_place(table, "Loss")) + 5, 5)
    header.customContextMenuRequested.emit(at)
    menu = table.findChild(QMenu, "column_menu")
    hide = next(action for action in menu.actions() if action.objectName() == "column_hide")
    assert hide.text() == "&Hide Loss"
    hide.trigger()
    menu.close()

    assert "Loss" not in _titles(table)
    assert "Loss" not in _titles(_table(shown_page()))


def test_that_the_menu_of_a_title_offers_all_columns_that_there_are(shown_page, monkeypatch):
    monkeypatch.setattr(QMenu, "popup", lambda *_arguments: None)
    page = shown_page()
    _table(page).horizontalHeader().customContextMenuRequested.emit(QPoint(5, 5))
    menu = _table(page).findChild(QMenu, "column_menu")
    next(each for each in menu.actions() if each.objectName() == "column_more").trigger()
    menu.close()
    chooser = page.findChild(QDialog, "column_chooser")
    assert chooser.isVisible()
    chooser.close()


def test_that_settings_that_were_read_are_not_read_again(qtbot, shown_page, monkeypatch):
    page = shown_page()
    chooser, _ = _chooser(qtbot, page)
    chooser.close()
    read = []
    monkeypatch.setattr(RunSettingsReader, "_read", lambda _self, run: read.append(run))
    table = _table(page)
    with qtbot.waitSignal(page.refreshRequested, timeout=5000):
        pass
    qtbot.wait(100)

    assert read == []
    assert table.model().rowCount() == 3


def _narrow(page, width=600):
    page.resize(width, 500)
    QApplication.processEvents()
    return _table(page)


def test_that_a_narrow_table_shows_what_runs_reached_without_scrolling_sideways(shown_page):
    table = _narrow(shown_page())

    assert table.horizontalScrollBar().maximum() == 0
    titles = _titles(table)
    assert titles[:3] == ["Name", "Started", "Outcome"]
    assert "Accuracy" in titles
    assert not {"Devices", "Speed"} & set(titles)


def test_that_columns_come_again_with_the_room_for_them(shown_page):
    page = shown_page()
    page.resize(1200, 500)
    whole = _titles(_table(page))
    assert {"Devices", "Speed", "Duration", "Loss", "Accuracy"} < set(whole)
    _narrow(page)
    page.resize(1200, 500)

    assert _titles(_table(page)) == whole


def test_that_a_column_that_a_person_chose_gives_way_to_nothing(qtbot, shown_page):
    page = shown_page()
    table = _narrow(page)
    chooser, columns = _chooser(qtbot, page)
    # Offered as shown: it is, wherever there is room.
    assert _item(columns, "Devices").checkState() is Qt.CheckState.Checked
    _tick(qtbot, columns, "Devices")
    _tick(qtbot, columns, "Devices")
    chooser.close()

    assert "Devices" in _titles(table)
    assert "Speed" not in _titles(table)
    assert "Devices" in _titles(_narrow(shown_page()))


def test_that_the_search_keeps_room_for_words_beside_what_is_hidden(qtbot, runs_dir, shown_page):
    for task in ("evaluate", "predict"):
        with WrittenRun(runs_dir, Profile(name=task, task=task)) as run:
            run.begin()
            run.end()
    page = shown_page()
    page.resize(744, 500)

    assert "hidden" in page.findChild(QLabel, "runs_count").text()
    assert page.findChild(QLineEdit, "runs_search").width() >= 160
