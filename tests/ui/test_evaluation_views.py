"""The views of an evaluation beside its totals: which are offered, and what they show."""

from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QLabel, QPushButton, QWidget

from gpupanel.domain.events import EvaluationDone
from gpupanel.domain.outcome import Metrics, Outcome
from gpupanel.domain.problem import Problem
from gpupanel.files.score_counts_file import STEPS, ScoreCounts
from gpupanel.runs.following.calibration import Calibration, ConfidenceBin
from gpupanel.runs.following.column_slices import ColumnSlices, Slice, SlicedColumn
from gpupanel.runs.following.confusion_matrix import ConfusionMatrix
from gpupanel.runs.following.evaluation_figures import EvaluationFigures
from gpupanel.runs.following.status import RunStage, RunStatus
from gpupanel.runs.following.thresholds import Thresholds
from gpupanel.ui.panels.evaluation_panel import EvaluationPanel
from gpupanel.ui.panels.evaluation_panel.class_table import ClassTable
from gpupanel.ui.panels.evaluation_panel.confusion_map import ConfusionMap
from gpupanel.ui.panels.evaluation_panel.picture import Picture
from gpupanel.ui.widgets.labels import EmptyState
from tests.ui.accessible_tree import unspoken

FOUND = EvaluationDone(
    time_s=0.0,
    examples=20,
    metrics=Metrics(loss=0.25, accuracy=0.85),
    class_count=2,
    confusion_file="evaluation.npz",
)
MATRIX = ConfusionMatrix.of_counts(((8, 2), (1, 9)), ("cat", "dog"))
CALIBRATED = Calibration((ConfidenceBin(0.6, 5, 0.65, 0.4), ConfidenceBin(0.9, 15, 0.95, 1.0)))
ALL = EvaluationFigures(matrix=MATRIX, calibration=CALIBRATED)


@pytest.fixture
def panel(qtbot):
    panel = EvaluationPanel()
    qtbot.addWidget(panel)
    panel.resize(920, 560)
    panel.show()
    return panel


def show(panel: EvaluationPanel, figures: EvaluationFigures) -> None:
    status = RunStatus(stage=RunStage.ENDED, outcome=Outcome.COMPLETED)
    found = FOUND.model_copy()  # another one, as far as the panel knows
    panel.setStatus(status.model_copy(update={"evaluation": found}), Path("/runs/one"), figures)


def press(panel: EvaluationPanel, name: str, qtbot) -> None:
    button = panel.findChild(QPushButton, name)
    assert button.isVisible()
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)


def seen(panel: EvaluationPanel, kind: type[QWidget], name: str = "") -> list[QWidget]:
    return [each for each in panel.findChildren(kind, name or None) if each.isVisible()]


def test_that_a_view_is_made_when_it_is_first_shown_and_stays_chosen(panel, qtbot):
    assert not panel.findChildren(ConfusionMap)
    show(panel, ALL)
    assert seen(panel, ConfusionMap)
    assert not panel.findChildren(QWidget, "calibration_view")
    press(panel, "show_calibration", qtbot)
    assert seen(panel, QWidget, "calibration_view")
    assert not seen(panel, ConfusionMap)
    other = Calibration((ConfidenceBin(0.5, 20, 0.55, 0.5),))
    show(panel, EvaluationFigures(matrix=MATRIX, calibration=other))
    (words,) = seen(panel, QLabel, "calibration_words")
    assert "5.0 percentage points" in words.text()


def test_that_every_control_of_every_view_has_a_name_and_a_role(panel, qtbot):
    counts = ScoreCounts(*np.zeros((2, 2, STEPS + 1), np.int64))
    slices = ColumnSlices((SlicedColumn("town", (Slice("Oslo", 20, 0.85),)),), 1, 0.85, True)
    thresholds = Thresholds(("cat", "dog"), counts, 2)
    figures = EvaluationFigures(
        matrix=MATRIX, calibration=CALIBRATED, thresholds=thresholds, slices=slices
    )
    show(panel, figures)
    for name in ("show_matrix", "show_thresholds", "show_calibration", "show_columns"):
        press(panel, name, qtbot)
        assert unspoken(panel) == []


def test_that_no_view_of_another_kind_is_offered(panel, qtbot):
    show(panel, ALL)
    press(panel, "show_calibration", qtbot)
    show(panel, EvaluationFigures())
    assert not seen(panel, QPushButton, "show_matrix")
    assert not seen(panel, QWidget, "calibration_view")


def test_that_calibration_is_drawn_and_said(panel, qtbot):
    show(panel, ALL)
    press(panel, "show_calibration", qtbot)
    (words,) = seen(panel, QLabel, "calibration_words")
    assert words.text() == (
        "Confidence and accuracy differ by 10.0 percentage points on average (expected calibration "
        "error). The model is overconfident: mean confidence is 87.5 %, accuracy 85.0 %."
    )
    for name, part in (
        ("calibration_curve", "65.0 % confident, 40.0 % right"),
        ("confidence_bars", "0.9: 15"),
    ):
        (picture,) = seen(panel, QWidget, name)
        assert part in picture.accessibleDescription()
        image = picture.grab().toImage()
        colors = {
            image.pixelColor(x, y).name()
            for x in range(0, image.width(), 2)
            for y in range(0, image.height(), 2)
        }
        assert len(colors) > 3


@pytest.mark.parametrize(
    ("figures", "words"),
    [
        (EvaluationFigures(matrix=MATRIX), "earlier versions did not keep"),
        (
            EvaluationFigures(
                matrix=MATRIX,
                problems=(
                    Problem(code="confusion_unread", message="It is damaged.", hint="Mend it."),
                ),
            ),
            "It is damaged. Mend it.",
        ),
    ],
)
def test_that_it_is_said_why_there_is_no_calibration(panel, qtbot, figures, words):
    show(panel, figures)
    press(panel, "show_calibration", qtbot)
    assert any(words in each.text() for each in seen(panel, EmptyState))


@pytest.mark.parametrize(
    "name", ["show_matrix", "show_thresholds", "show_calibration", "show_columns"]
)
def test_that_every_view_fits_the_smallest_window(panel, qtbot, name):
    counts = ScoreCounts(*np.zeros((2, 2, STEPS + 1), np.int64))
    slices = ColumnSlices((SlicedColumn("town", (Slice("Oslo", 20, 0.85),)),), 1, 0.85, True)
    thresholds = Thresholds(("cat", "dog"), counts, 2)
    show(
        panel,
        EvaluationFigures(
            matrix=MATRIX, calibration=CALIBRATED, thresholds=thresholds, slices=slices
        ),
    )
    press(panel, name, qtbot)
    # What a window of 853 by 533 pixels leaves beside the devices and a scroll bar.
    assert panel.minimumSizeHint().width() <= 480
    panel.resize(480, panel.minimumSizeHint().height())
    assert panel.width() == 480


def test_that_the_table_of_classes_stands_below_a_matrix_that_has_no_room_beside_it(panel, qtbot):
    show(panel, ALL)
    (matrix,), (table,) = seen(panel, ConfusionMap), seen(panel, ClassTable)

    def left_of(widget: QWidget) -> int:
        return widget.mapTo(panel, QPoint(0, 0)).x()

    assert left_of(table) > left_of(matrix)
    panel.resize(480, 800)
    qtbot.waitUntil(lambda: left_of(table) < left_of(matrix))


class Axes(Picture):
    """Nothing but axes."""

    def ranges(self):
        return (0.0, 1_500_000.0), (0.0, 1.0)


def test_that_the_number_at_the_end_of_an_axis_is_not_cut(qtbot):
    axes = Axes(("across", "up"))
    qtbot.addWidget(axes)
    axes.resize(420, 260)
    axes.show()
    image = axes.grab().toImage()
    last = [image.pixel(image.width() - 1, y) for y in range(image.height())]
    assert len(set(last)) == 1
    # It is there: the row of numbers has ink near the end.
    end = {
        image.pixel(x, y)
        for x in range(image.width() - 30, image.width() - 3)
        for y in range(int(axes.area().bottom()) + 6, int(axes.area().bottom()) + 16)
    }
    assert len(end) > 1
