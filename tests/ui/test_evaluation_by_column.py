"""How good a model is for each value of a column that is chosen."""

import pytest
from PySide6.QtCore import QPointF
from PySide6.QtWidgets import QComboBox, QLabel

from gpupanel.runs.following.column_slices import ColumnSlices, Slice, SlicedColumn
from gpupanel.runs.following.evaluation_figures import EvaluationFigures
from gpupanel.ui.panels.evaluation_panel.columns_view import ColumnResultsView, SliceBars

TOWN = SlicedColumn("town", (Slice("Oslo", 1_200, 0.9), Slice("Rome", 300, 0.5)))
AGE = SlicedColumn("age\x1b", (Slice("below 30", 700, 0.75), Slice("30 and more", 800, 0.875)))
FOUND = ColumnSlices((TOWN, AGE), 2, 0.82, is_accuracy=True)


@pytest.fixture
def view(qtbot):
    view = ColumnResultsView()
    qtbot.addWidget(view)
    view.resize(800, 400)
    view.show()
    view.setFigures(EvaluationFigures(slices=FOUND))
    return view


def shown(view: ColumnResultsView) -> str:
    return view.findChild(SliceBars).accessibleDescription()


def test_that_a_column_is_chosen_and_its_values_shown(view):
    column = view.findChild(QComboBox, "sliced_column")
    assert [column.itemText(place) for place in range(2)] == ["town", r"age\x1b"]
    assert shown(view) == (
        "Oslo: accuracy 90.0 %, of 1,200 examples; Rome: accuracy 50.0 %, of 300 examples"
    )
    before = view.findChild(SliceBars).grab().toImage()
    column.setCurrentIndex(1)
    assert "30 and more: accuracy 87.5 %" in shown(view)
    assert view.findChild(SliceBars).grab().toImage() != before
    assert "accuracy 82.0 %" in view.findChild(QLabel, "sliced_whole").text()


def test_that_the_chosen_column_stays_where_another_evaluation_has_it(view):
    view.findChild(QComboBox, "sliced_column").setCurrentIndex(1)
    errors = ColumnSlices((AGE, TOWN), 130, 12.5, is_accuracy=False)
    view.setFigures(EvaluationFigures(slices=errors))
    assert view.findChild(QComboBox, "sliced_column").currentText() == r"age\x1b"
    assert "below 30: off by, on average, 0.7500" in shown(view)
    words = view.findChild(QLabel, "sliced_whole").text()
    assert "off by 12.50" in words
    assert "128 further columns" in words


def test_that_a_bar_is_as_long_as_its_value_and_says_it(view):
    bars = view.findChild(SliceBars)
    bars.resize(700, bars.sizeHint().height())
    top = bars.height() - 28 * 2
    assert "Oslo: accuracy 90.0 %" in bars.tip_at(QPointF(300.0, top + 14.0))
    assert "Rome" in bars.tip_at(QPointF(300.0, top + 42.0))
    assert bars.tip_at(QPointF(300.0, 2.0)) == ""
    image = bars.grab().toImage()

    def length(row: int) -> int:
        color = image.pixelColor(round(bars.width() * 0.2), top + 14 + 28 * row)
        return sum(image.pixelColor(x, top + 14 + 28 * row) == color for x in range(image.width()))

    assert length(0) / length(1) == pytest.approx(0.9 / 0.5, rel=0.03)
