"""What evaluating and predicting found, as it is shown."""

import time
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QLabel, QPushButton, QWidget

from gpupanel.domain.confusion import ClassMetrics, LabelMetrics
from gpupanel.domain.events import EvaluationDone
from gpupanel.domain.outcome import Metrics, Outcome
from gpupanel.domain.problem import Problem, Severity
from gpupanel.files.confusion_file import ConfusionCells
from gpupanel.files.value_pairs_file import ValuePairs
from gpupanel.runs.following.confusion_matrix import ConfusionMatrix
from gpupanel.runs.following.evaluation_figures import EvaluationFigures
from gpupanel.runs.following.status import RunStage, RunStatus
from gpupanel.runs.following.value_pairs import ValueFigures
from gpupanel.ui import formatting, theme
from gpupanel.ui.panels.evaluation_panel import EvaluationPanel
from gpupanel.ui.panels.evaluation_panel.class_table import ClassTable
from gpupanel.ui.panels.evaluation_panel.confusion_map import ConfusionMap
from gpupanel.ui.panels.evaluation_panel.matrix_colors import mixed
from gpupanel.ui.panels.evaluation_panel.totals import Totals
from gpupanel.ui.widgets.labels import EmptyState

FOLDER = Path("/runs/one")
PETS = EvaluationDone(
    time_s=0.0,
    examples=20,
    metrics=Metrics(loss=0.25, accuracy=0.85),
    class_count=3,
    confusion_file="evaluation.npz",
)
CONFUSED = ConfusionMatrix.of_counts(((8, 2, 0), (1, 9, 0), (0, 0, 0)), ("cat", "dog", "unicorn"))
PETS_CONFUSED = EvaluationFigures(matrix=CONFUSED)
ENDED = RunStatus(stage=RunStage.ENDED, outcome=Outcome.COMPLETED, examples_per_second=12_345.0)


@pytest.fixture
def panel(qtbot):
    panel = EvaluationPanel()
    qtbot.addWidget(panel)
    panel.resize(920, 560)
    panel.show()
    return panel


def evaluated(found: EvaluationDone) -> RunStatus:
    return ENDED.model_copy(update={"evaluation": found, "examples": found.examples})


def matrix_of(count: int, mistaken: tuple[int, int] | None = None) -> ConfusionMatrix:
    """One example of each class, all of them right but one."""
    rows, columns = np.arange(count), np.arange(count)
    if mistaken is not None:
        columns[mistaken[0]] = mistaken[1]
    names = tuple(f"class {number}" for number in range(count))
    return ConfusionMatrix(ConfusionCells(rows, columns, np.ones(count, np.int64), names))


def cells(table: ClassTable, column: int) -> list[str]:
    model = table.model()
    return [model.index(row, column).data() for row in range(model.rowCount())]


def is_seen(panel, kind: type[QWidget], name: str = "") -> bool:
    """Whether such a part is there and seen: views are made when they are first shown."""
    return any(each.isVisible() for each in panel.findChildren(kind, name or None))


def texts(panel) -> list[str]:
    return [label.text() for label in panel.findChildren(QLabel) if label.isVisible()]


def test_that_it_says_what_will_appear_and_how_far_it_is(panel):
    panel.begin("evaluate")
    empty = panel.findChild(EmptyState)
    assert empty.isVisible()
    assert "confusion matrix" in empty.text()
    panel.begin("predict")
    panel.setStatus(RunStatus(examples=1024, examples_total=1797), FOLDER)
    assert "1,024 of 1,797" in empty.text()


def test_that_an_evaluation_is_shown_with_all_its_figures(panel):
    panel.begin("evaluate")
    panel.setStatus(evaluated(PETS), FOLDER, PETS_CONFUSED)

    shown = texts(panel)
    assert {"85.0 %", "0.2500", "20", "12,345 ex/s"} <= set(shown)
    assert "Mean absolute error" not in shown
    table = panel.findChild(ClassTable, "class_table")
    assert cells(table, 0) == ["cat", "dog", "unicorn"]
    assert cells(table, 1) == ["88.9 %", "81.8 %", formatting.DASH]
    assert cells(table, 2) == ["80.0 %", "90.0 %", formatting.DASH]
    assert cells(table, 4) == ["10", "10", "0"]
    assert cells(table, 5) == ["dog (2)", "cat (1)", ""]
    assert panel.findChild(ConfusionMap).isVisible()


def test_that_classes_are_sorted_by_number_not_by_text(panel):
    panel.begin("evaluate")
    panel.setStatus(evaluated(PETS), FOLDER, PETS_CONFUSED)
    table = panel.findChild(ClassTable)
    table.sortByColumn(2, Qt.SortOrder.DescendingOrder)
    assert cells(table, 0) == ["dog", "cat", "unicorn"]
    table.sortByColumn(0, Qt.SortOrder.AscendingOrder)
    assert cells(table, 0) == ["cat", "dog", "unicorn"]


def test_that_a_chosen_class_is_framed_whatever_the_order(panel, qtbot):
    panel.begin("evaluate")
    panel.setStatus(evaluated(PETS), FOLDER, PETS_CONFUSED)
    table, confusion = panel.findChild(ClassTable), panel.findChild(ConfusionMap)
    table.sortByColumn(2, Qt.SortOrder.DescendingOrder)
    before = confusion.grab().toImage()
    with qtbot.waitSignal(table.classChosen) as chosen:
        table.selectRow(0)
    assert chosen.args == [1]
    assert confusion.grab().toImage() != before
    with qtbot.waitSignal(table.classChosen) as chosen:
        table.clearSelection()
    assert chosen.args == [None]
    assert confusion.grab().toImage() == before


def test_that_values_have_totals_and_no_classes(panel):
    metrics = Metrics(loss=4.5, mean_absolute_error=1.5)
    panel.begin("evaluate")
    found = EvaluationDone(time_s=0.0, examples=7, metrics=metrics)
    panel.setStatus(evaluated(found), FOLDER)

    shown = texts(panel)
    assert {"1.500", "Off by, on average"} <= set(shown)
    assert not {"4.500", "Loss", "Accuracy"} & set(shown)
    assert not is_seen(panel, QWidget, "value_pictures")
    assert not is_seen(panel, ClassTable)
    assert any("there is no confusion matrix" in text for text in shown)


def test_that_outputs_of_a_model_have_their_own_totals(panel):
    def shown(**own: float) -> set[str]:
        metrics = Metrics.model_validate({"loss": 0.75, **own})
        found = EvaluationDone(time_s=0.0, examples=7, metrics=metrics, of_arrays=True)
        panel.setStatus(evaluated(found), FOLDER)
        return set(texts(panel))

    panel.begin("evaluate")
    of_tasks = shown(mask_loss=0.25, mask_accuracy=0.875)
    assert {"Loss", "0.7500", "mask_loss", "0.2500", "mask_accuracy", "0.8750"} <= of_tasks
    assert any("several outputs: there is no confusion matrix" in text for text in of_tasks)
    assert not is_seen(panel, ConfusionMap)
    assert not is_seen(panel, QPushButton, "worst_mistakes")
    # Another run has others.
    of_other = shown(dice=0.5)
    assert {"dice", "0.5000"} <= of_other
    assert not {"mask_loss", "mask_accuracy"} & of_other


def test_that_values_are_drawn_where_the_run_kept_them(panel):
    random = np.random.default_rng(0)
    true = random.normal(250_000, 60_000, (4_000, 1)).astype(np.float32)
    predicted = true + random.normal(0, 20_000, true.shape).astype(np.float32)
    metrics = Metrics(loss=4e8, mean_absolute_error=12_646.0, root_mean_squared_error=20_000.0)
    found = EvaluationDone(
        time_s=0.0, examples=90_000, metrics=metrics, values_file="evaluation.npz"
    )
    panel.begin("evaluate")
    figures = EvaluationFigures(values=ValueFigures(ValuePairs(true, predicted), 90_000))
    panel.setStatus(evaluated(found), FOLDER, figures)

    shown = texts(panel)
    assert {"12,646", "Predicted over true", "Errors"} <= set(shown)
    assert any("4,000 of 90,000 examples, chosen at random" in text for text in shown)
    assert not any("confusion matrix" in text for text in shown)
    for name in ("predicted_over_true", "error_histogram"):
        picture = panel.findChild(QWidget, name)
        image = picture.grab().toImage()
        points = {
            image.pixelColor(x, y).name()
            for x in range(0, image.width(), 2)
            for y in range(0, image.height(), 2)
        }
        assert len(points) > 5
        assert picture.accessibleDescription()


def test_that_tables_and_views_are_made_with_the_first_result_only(panel):
    panel.begin("predict")
    assert not panel.findChildren(QPushButton)


def test_that_predictions_are_found_and_their_folder_opened(panel, qtbot):
    status = ENDED.model_copy(update={"predictions": "predictions.csv", "examples": 359})
    panel.begin("predict")
    panel.setStatus(status, FOLDER)

    shown = texts(panel)
    assert any("359 predictions are saved" in text for text in shown)
    assert any("table" in text for text in shown)
    path = panel.findChild(QLabel, "predictions_path")
    assert path.accessibleName() == "/runs/one/predictions.csv"
    buttons = {each.text(): each for each in panel.findChildren(QPushButton)}
    folder, copy = buttons["Open fol&der"], buttons["&Copy path"]
    with qtbot.waitSignal(panel.folderRequested):
        qtbot.mouseClick(folder, Qt.MouseButton.LeftButton)
    qtbot.mouseClick(copy, Qt.MouseButton.LeftButton)
    assert QGuiApplication.clipboard().text() == "/runs/one/predictions.csv"


def test_that_a_run_that_was_stopped_says_that_nothing_was_written(panel):
    panel.begin("predict")
    panel.setStatus(ENDED.model_copy(update={"outcome": Outcome.STOPPED}), FOLDER)
    assert "Nothing was written" in panel.findChild(EmptyState).text()


def test_that_what_was_assumed_is_said_until_the_next_run(panel):
    hint = Problem(code="model_outputs_assumed", severity=Severity.HINT, message="Taken as logits.")
    panel.begin("evaluate")
    panel.setStatus(evaluated(PETS).model_copy(update={"problems": (hint,)}), FOLDER)
    assert "Taken as logits." in texts(panel)
    panel.begin("evaluate")
    assert "Taken as logits." not in texts(panel)


@pytest.fixture
def confusion(qtbot) -> ConfusionMap:
    widget = ConfusionMap()
    qtbot.addWidget(widget)
    widget.resize(480, 480)
    return widget


@pytest.mark.parametrize("count", [2, pytest.param(10, marks=pytest.mark.slow), 100])
def test_that_the_diagonal_is_painted_and_reported_cell_by_cell(confusion, count):
    confusion.setMatrix(matrix_of(count))
    confusion.resize(confusion.minimumSizeHint().expandedTo(confusion.size()))
    image = confusion.grab().toImage()
    found = {
        confusion.cell_at(QPointF(x, y)): image.pixelColor(x, y)
        for x in range(0, image.width(), 2)
        for y in range(0, image.height(), 2)
        if image.pixelColor(x, y) == theme.current().color("accent")
    }
    assert set(found) == {(number, number) for number in range(count)}
    assert "class 1: 1 of 1 correct" in confusion.accessibleDescription()


@pytest.mark.parametrize("count", [200, 1_000])
def test_that_of_many_classes_each_cell_is_a_point_of_its_colour(confusion, count):
    confusion.setMatrix(matrix_of(count, mistaken=(3, count - 5)))
    confusion.resize(confusion.minimumSizeHint())
    image, grid = confusion.grab().toImage(), confusion._grid()
    shown = theme.current()

    def color(row: int, column: int) -> str:
        point = QPointF(grid.left() + column + 0.5, grid.top() + row + 0.5)
        assert confusion.cell_at(point) == (row, column)
        return image.pixelColor(int(point.x()), int(point.y())).name()

    diagonal = {color(number, number) for number in range(7, count, 7)}
    assert diagonal == {shown.color("accent").name()}
    assert color(3, count - 5) == mixed(shown.color("raised"), shown.color("warning"), 1.0).name()
    assert color(0, 1) == shown.color("raised").name()


def test_that_of_ten_thousand_classes_a_cell_stands_for_several(confusion):
    matrix = matrix_of(10_000, mistaken=(3, 9_995))
    matrix.prepare()  # as the thread does that reads it
    start_s = time.thread_time()
    confusion.setMatrix(matrix)
    confusion.resize(confusion.minimumSizeHint())
    image = confusion.grab().toImage()
    assert time.thread_time() - start_s < 1.0, "the window's thread has other things to do"
    assert max(image.width(), image.height()) < 1_200
    grid = confusion._grid()

    def words(row: int, column: int) -> str:
        return confusion.words_at(QPointF(grid.left() + column + 0.5, grid.top() + row + 0.5))

    assert words(0, 999) == (
        "1 of 10 examples of the classes class 0 to class 9 were predicted as one of class "
        "9990 to class 9999."
    )
    confusion.choose(9_999)
    assert not confusion.grab().isNull()
    assert len(confusion.accessibleDescription()) < 10_000


def test_that_a_table_of_ten_thousand_classes_is_sorted_at_once(panel):
    panel.begin("evaluate")
    matrix = matrix_of(10_000, mistaken=(3, 9_995))
    panel.setStatus(evaluated(PETS), FOLDER, EvaluationFigures(matrix=matrix))
    table = panel.findChild(ClassTable)
    start_s = time.thread_time()
    table.sortByColumn(2, Qt.SortOrder.AscendingOrder)
    assert time.thread_time() - start_s < 1.0, "the window's thread has other things to do"
    assert [table.model().index(row, 0).data() for row in range(2)] == ["class 3", "class 0"]


def test_that_a_matrix_that_cannot_be_read_is_shown(panel):
    problem = Problem(code="confusion_unread", message="Its file is damaged.", hint="Again.")
    panel.begin("evaluate")
    panel.setStatus(evaluated(PETS), FOLDER, EvaluationFigures(problems=(problem,)))
    assert "Its file is damaged. Again." in texts(panel)
    assert not is_seen(panel, ClassTable)
    assert "85.0 %" in texts(panel)
    panel.begin("evaluate")
    panel.setStatus(evaluated(PETS.model_copy(update={"confusion_file": ""})), FOLDER)
    assert any("could not be saved" in text for text in texts(panel))


def test_that_tooltips_count_examples_in_a_sentence(confusion):
    confusion.setMatrix(CONFUSED)
    grid, cell = confusion._grid(), confusion._cell()

    def words(row: int, column: int) -> str:
        inside = QPointF((column + 0.5) * cell, (row + 0.5) * cell)
        return confusion.words_at(grid.topLeft() + inside)

    assert (
        words(0, 1) == "2 of 10 examples of cat were predicted as dog (20.0 %). Click to see them."
    )
    assert (
        words(1, 0) == "1 of 10 examples of dog was predicted as cat (10.0 %). Click to see them."
    )
    assert words(2, 2).endswith(f"predicted as unicorn ({formatting.DASH}).")
    assert "diagonal" in confusion.words_at(QPointF(1.0, 1.0))


def test_that_an_empty_map_paints_nothing_and_breaks_nothing(confusion):
    assert confusion.cell_at(QPointF(100.0, 100.0)) is None
    confusion.choose(None)
    assert not confusion.grab().isNull()


def test_that_several_labels_have_figures_each_and_no_matrix(panel):
    labels = LabelMetrics(
        classes=(
            ClassMetrics(name="sun", examples=10, predicted=5, right=4),
            ClassMetrics(name="\x1bsea", examples=2, predicted=0, right=0),
        )
    )
    found = PETS.model_copy(
        update={"class_count": 0, "confusion_file": "", "labels_file": "evaluation.npz"}
    )
    panel.begin("evaluate")
    panel.setStatus(evaluated(found), FOLDER, EvaluationFigures(labels=labels))
    table = panel.findChild(ClassTable, "class_table")
    assert table.isVisible()
    assert cells(table, 0) == ["sun", r"\x1bsea"]
    assert cells(table, 1) == ["80.0 %", formatting.DASH]
    assert cells(table, 2) == ["40.0 %", "0.0 %"]
    assert table.isColumnHidden(5)
    assert not is_seen(panel, ConfusionMap)
    worst = panel.findChild(QPushButton, "worst_mistakes")
    assert worst.isVisible()
    assert "largest error" in worst.toolTip()
    assert any("several labels at once" in text for text in texts(panel))
    other = PETS.model_copy(update={"examples": 21})
    panel.setStatus(evaluated(other), FOLDER, PETS_CONFUSED)
    assert not table.isVisible()
    assert is_seen(panel, ConfusionMap)


def test_that_measures_that_are_not_known_make_no_window_wider(qtbot) -> None:
    totals = Totals()
    qtbot.addWidget(totals)
    assert totals.minimumSizeHint().width() < 400
