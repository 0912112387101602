"""The first column of a table that is scrolled sideways stays, and is as good as the table's."""

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QTableView

from gpupanel.ui.panels.comparison_panel.legend import LegendModel, LegendView
from gpupanel.ui.widgets.table_model import Column, TableModel
from gpupanel.ui.widgets.table_view import TableView
from tests.ui.test_comparison_panel import FIRST, SECOND

_ROWS = [f"row {place:02}" for place in range(40)]


@pytest.fixture
def table(qtbot):
    columns = [
        Column(f"Column {place}", "", lambda row, place=place: f"{row} {place}", lambda row: row)
        for place in range(8)
    ]
    table = TableView(TableModel(columns, lambda row: row), "letters", "Letters", 24)
    table.content.set_rows(_ROWS)
    qtbot.addWidget(table)
    table.resize(300, 200)
    table.setSortingEnabled(True)
    table.sortByColumn(0, Qt.SortOrder.AscendingOrder)
    with qtbot.waitExposed(table):
        table.show()
    return table


def _frozen(table):
    return table.findChild(QTableView, "frozen_column")


def test_that_the_first_column_stays_in_sight_as_long_as_others_are_scrolled_to(table):
    assert _frozen(table) is None
    table.horizontalScrollBar().setValue(250)
    frozen = _frozen(table)
    assert frozen.isVisible()
    assert frozen.mapTo(table, QPoint(0, 0)).x() == table.viewport().x()
    assert [frozen.isColumnHidden(place) for place in range(8)] == [False] + [True] * 7
    assert frozen.indexAt(QPoint(5, 5)).data() == "row 00 0"

    table.horizontalScrollBar().setValue(0)
    assert not frozen.isVisible()


def test_that_its_rows_are_those_beside_it(table):
    table.horizontalScrollBar().setValue(250)
    table.verticalScrollBar().setValue(table.verticalScrollBar().maximum())
    frozen = _frozen(table)
    for y in (5, 60, 110):
        assert frozen.rowAt(y) == table.rowAt(y)


def test_that_a_click_on_it_chooses_the_row_and_nothing_is_scrolled_back(qtbot, table):
    table.horizontalScrollBar().setValue(250)
    frozen = _frozen(table)
    at = frozen.visualRect(frozen.model().index(2, 0)).center()
    qtbot.mouseClick(frozen.viewport(), Qt.MouseButton.LeftButton, pos=at)
    assert table.chosen_rows() == ("row 02",)
    assert table.horizontalScrollBar().value() == 250
    assert table.hasFocus()


def test_that_a_click_on_its_title_sorts_the_table(qtbot, table):
    table.sortByColumn(1, Qt.SortOrder.AscendingOrder)
    table.horizontalScrollBar().setValue(250)
    header = _frozen(table).horizontalHeader()
    first = []
    for _ in range(2):
        qtbot.mouseClick(header.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(20, 8))
        first.append(table.content.rows[0])
    assert first == ["row 00", "row 39"]


def test_that_a_check_mark_on_it_hides_a_compared_run(qtbot):
    model = LegendModel()
    view = LegendView(model)
    model.set_runs((FIRST, SECOND), ())
    qtbot.addWidget(view)
    view.resize(320, 120)
    with qtbot.waitExposed(view):
        view.show()
    view.horizontalScrollBar().setValue(60)
    frozen = _frozen(view)
    place = frozen.visualRect(frozen.model().index(1, 0))
    with qtbot.waitSignal(model.hiddenChanged, check_params_cb=lambda hidden: hidden == {1}):
        qtbot.mouseClick(
            frozen.viewport(),
            Qt.MouseButton.LeftButton,
            pos=QPoint(place.left() + 12, place.center().y()),
        )
