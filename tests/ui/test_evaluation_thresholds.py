"""A threshold that is dragged, typed or moved by keys, and what follows it."""

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QComboBox, QLabel, QPushButton

from gpupanel.domain.confusion import ClassMetrics, LabelMetrics
from gpupanel.files.score_counts_file import STEPS, ScoreCounts
from gpupanel.runs.following.confusion_matrix import ConfusionMatrix
from gpupanel.runs.following.evaluation_figures import EvaluationFigures
from gpupanel.runs.following.thresholds import Thresholds, thresholds_of
from gpupanel.ui import formatting
from gpupanel.ui.inputs.real_spin_box import RealSpinBox
from gpupanel.ui.panels.evaluation_panel.confusion_map import ConfusionMap
from gpupanel.ui.panels.evaluation_panel.threshold_picture import ThresholdPicture
from gpupanel.ui.panels.evaluation_panel.threshold_view import ThresholdView
from gpupanel.ui.widgets.labels import EmptyState

MATRIX = ConfusionMatrix.of_counts(((8, 2), (1, 9)), ("healthy", "ill"))


def thresholds() -> Thresholds:
    """Ten of each class: the ill from 0.30 to 0.75, the healthy from 0.05 to 0.5."""
    own, other = np.zeros((2, 2, STEPS + 1), np.int64)
    for place in range(10):
        ill, healthy = 300 + 50 * place, 50 + 50 * place
        own[1, ill] += 1
        other[1, healthy] += 1
        own[0, STEPS - healthy] += 1
        other[0, STEPS - ill] += 1
    return thresholds_of(ScoreCounts(own, other), MATRIX.classes)


@pytest.fixture
def view(qtbot):
    view = ThresholdView()
    qtbot.addWidget(view)
    view.resize(900, 500)
    view.show()
    view.setFigures(EvaluationFigures(matrix=MATRIX, thresholds=thresholds()))
    return view


def figures(view: ThresholdView) -> list[str]:
    names = ("threshold_precision", "threshold_recall", "threshold_f1")
    return [view.findChild(QLabel, name).text() for name in names]


def counts(view: ThresholdView) -> str:
    return view.findChild(ConfusionMap, "threshold_matrix").accessibleDescription()


def place(view: ThresholdView, threshold: float) -> QPoint:
    picture = view.findChild(ThresholdPicture)
    area = picture.area()
    return QPoint(round(area.left() + threshold * area.width()), round(area.center().y()))


def test_that_the_second_of_two_classes_is_looked_for_at_a_half(view):
    assert view.findChild(QComboBox, "threshold_class").currentText() == "ill"
    assert view.findChild(RealSpinBox, "threshold").value() == 0.5
    # From 0.5 on: 6 of the ill and one healthy.
    assert figures(view) == ["85.7 %", "60.0 %", "70.6 %"]
    assert counts(view) == "ill: 6 of 10 correct; not ill: 9 of 10 correct"
    spoken = view.findChild(ThresholdPicture).accessibleDescription()
    assert spoken.startswith("Threshold 0.5: precision 85.7 %, recall 60.0 %.")


def test_that_figures_and_matrix_follow_the_line_that_is_dragged(view, qtbot):
    picture = view.findChild(ThresholdPicture)
    qtbot.mousePress(picture, Qt.MouseButton.LeftButton, pos=place(view, 0.5))
    qtbot.mouseMove(picture, place(view, 0.26))
    qtbot.mouseRelease(picture, Qt.MouseButton.LeftButton, pos=place(view, 0.26))
    assert view.findChild(RealSpinBox, "threshold").value() == pytest.approx(0.26, abs=0.002)
    assert figures(view) == ["66.7 %", "100.0 %", "80.0 %"]
    assert counts(view) == "ill: 10 of 10 correct; not ill: 5 of 10 correct"
    before = picture.grab().toImage()
    qtbot.mouseMove(picture, place(view, 0.9))  # no button is held
    assert picture.grab().toImage() == before


@pytest.mark.parametrize(
    ("key", "threshold"),
    [
        (Qt.Key.Key_Left, 0.499),
        (Qt.Key.Key_Right, 0.501),
        (Qt.Key.Key_PageDown, 0.45),
        (Qt.Key.Key_PageUp, 0.55),
        (Qt.Key.Key_Home, 0.0),
        (Qt.Key.Key_End, 1.0),
    ],
)
def test_that_keys_move_the_line(view, qtbot, key, threshold):
    picture = view.findChild(ThresholdPicture)
    assert picture.focusPolicy() == Qt.FocusPolicy.StrongFocus
    qtbot.keyClick(picture, key)
    assert view.findChild(RealSpinBox, "threshold").value() == pytest.approx(threshold)
    qtbot.keyClick(picture, Qt.Key.Key_Home)
    qtbot.keyClick(picture, Qt.Key.Key_Left)  # there is nothing below 0
    assert view.findChild(RealSpinBox, "threshold").value() == 0.0
    assert figures(view) == ["50.0 %", "100.0 %", "66.7 %"]


def test_that_a_threshold_is_typed_found_and_copied(view, qtbot):
    field = view.findChild(RealSpinBox, "threshold")
    field.selectAll()
    qtbot.keyClicks(field, "0.7")
    assert figures(view) == ["100.0 %", "20.0 %", "33.3 %"]
    view.findChild(QPushButton, "threshold_most_f1").click()
    best = field.value()
    assert figures(view) == ["66.7 %", "100.0 %", "80.0 %"]
    assert 0.25 < best <= 0.3
    view.findChild(QPushButton, "threshold_copy").click()
    assert float(QGuiApplication.clipboard().text()) == best


def test_that_nothing_taken_has_no_precision(view, qtbot):
    qtbot.keyClick(view.findChild(ThresholdPicture), Qt.Key.Key_End)
    assert figures(view)[:2] == [formatting.DASH, "0.0 %"]
    assert counts(view) == "ill: 0 of 10 correct; not ill: 10 of 10 correct"


def test_that_another_class_is_chosen_at_the_same_threshold(view):
    view.findChild(QComboBox, "threshold_class").setCurrentIndex(0)
    # From 0.5 on: all healthy, and the ill below 0.55.
    assert figures(view) == ["66.7 %", "100.0 %", "80.0 %"]
    assert counts(view).startswith("healthy: 10 of 10")


def test_that_it_is_said_whose_threshold_it_is_and_what_was_not_counted(view):
    def words() -> str:
        return " ".join(each.text() for each in view.findChildren(QLabel))

    assert "own answer stays the most probable class" in words()
    assert "first" not in words()
    labels = LabelMetrics(classes=(ClassMetrics(name="sun", examples=10, predicted=5, right=4),))
    counted = thresholds()
    more = Thresholds(counted.names, counted.counts, 21_000)
    view.setFigures(EvaluationFigures(labels=labels, thresholds=more))
    assert "Counted were the first 2 of 21,000." in words()
    assert "says a label above 0.5" in words()
    assert view.findChild(QComboBox, "threshold_class").currentText() == "healthy"


def test_that_an_evaluation_of_an_earlier_version_says_so(view):
    view.setFigures(EvaluationFigures(matrix=MATRIX))
    empty = view.findChild(EmptyState)
    assert empty.isVisible()
    assert "An earlier version" in empty.text()
    assert not view.findChild(ThresholdPicture).isVisible()
