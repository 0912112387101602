"""Examples of a run in the window: a cell of the matrix, the worst mistakes, the predictions."""

from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QLabel, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from gpupanel.domain import events
from gpupanel.domain.data import ImagesData
from gpupanel.domain.events import Phase
from gpupanel.domain.model import SavedModel
from gpupanel.domain.outcome import Metrics, Outcome
from gpupanel.domain.preview import ExamplePreview
from gpupanel.domain.problem import Problem
from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.domain.shown_examples import (
    ExampleChoice,
    ShownCell,
    ShownClass,
    ShownExample,
    ShownExamples,
    ShownRequest,
)
from gpupanel.runs.questions.shown_examples import shown_examples
from gpupanel.ui import formatting
from gpupanel.ui.bindings.model_runs import ModelRuns
from gpupanel.ui.panels.evaluation_panel.confusion_map import ConfusionMap
from gpupanel.ui.run_control import RunControl
from gpupanel.ui.run_page.page import LivePage
from gpupanel.ui.session import Session
from gpupanel.ui.tools.examples.binding import ExamplesBinding
from gpupanel.ui.widgets.examples_table import ExamplesTable
from gpupanel.ui.widgets.table_view import TableView
from gpupanel.ui.workers.launch_worker import Launcher
from gpupanel.ui.workers.tool_worker import QuestionWorker
from tests.fakes.devices import CPU_ONLY
from tests.fakes.questions import asked_of
from tests.fakes.run_directory import STARTED_S, WrittenRun
from tests.forked.processes import child_processes
from tests.unit.trainer.image_folders import make_classes
from tests.unit.trainer.test_shown_examples import evaluated, predicted

pytestmark = pytest.mark.usefixtures("undressed")

EVALUATED = events.EvaluationDone(
    time_s=STARTED_S + 3,
    examples=6,
    metrics=Metrics(loss=0.2, accuracy=4 / 6),
    class_count=2,
    confusion_file="evaluation.npz",
)
PREDICTED = events.PredictionsSaved(time_s=STARTED_S + 3, path="predictions.csv", examples=4)


@pytest.fixture
def pets(tmp_path: Path) -> ImagesData:
    return ImagesData(path=str(make_classes(tmp_path / "pets", {"cat": 3, "dog": 3})))


@pytest.fixture
def control(qapp, runs_dir: Path):
    session = Session()
    session.set_inventory(CPU_ONLY)
    control = RunControl(session, Launcher(), runs_dir)
    yield control
    control.close()
    session.close()


@pytest.fixture
def page(qtbot, control: RunControl):
    page = LivePage(control._session, control)
    qtbot.addWidget(page)
    page.resize(1000, 760)
    page.show()
    return page


@pytest.fixture
def binding(page, control):
    bindings = []
    for each in (page.evaluations, page.predictions):
        looked_at = ModelRuns(each, page, control, control._session, page)
        bindings.append(ExamplesBinding(each.panel, looked_at, page))
    yield bindings[0]
    for binding in bindings:
        binding.stop()


def profile_of(task: str, data: ImagesData) -> Profile:
    return Profile(
        task=task,
        data=data,
        model=SavedModel(path="/models/pets.keras"),
        devices=DeviceSettings(visible=("cpu",)),
    )


def open_evaluation(qtbot: QtBot, page: LivePage, control: RunControl, run: WrittenRun) -> None:
    run.begin(Phase.EVALUATING)
    evaluated(run.layout.confusion)
    run.write(EVALUATED)
    run.end(Outcome.COMPLETED)
    control.open(run.layout)
    seen(qtbot, page.evaluations, QPushButton, "worst_mistakes")


WidgetT = TypeVar("WidgetT", bound=QWidget)


def seen(qtbot: QtBot, page: QWidget, kind: type[WidgetT], name: str = "") -> WidgetT:
    """The widget, once it is made and seen."""
    qtbot.waitUntil(
        lambda: any(each.isVisible() for each in page.findChildren(kind, name)), timeout=10_000
    )
    return page.findChild(kind, name)


def names(table: ExamplesTable) -> list[str]:
    return [each.name for each in table.rows()]


def shown_texts(table: ExamplesTable) -> list[list[str]]:
    model = table._table.model()
    return [
        [model.index(row, column).data() for column in range(model.columnCount())]
        for row in range(model.rowCount())
    ]


def test_that_a_click_on_a_cell_shows_its_images(qtbot, page, control, binding, runs_dir, pets):
    with WrittenRun(runs_dir, profile_of("evaluate", pets)) as run:
        open_evaluation(qtbot, page, control, run)
        confusion = page.evaluations.findChild(ConfusionMap)
        cell, corner = confusion._cell(), confusion._grid().topLeft()
        place = QPoint(round(corner.x() + 1.5 * cell), round(corner.y() + 0.5 * cell))
        qtbot.mouseClick(confusion, Qt.MouseButton.LeftButton, pos=place)
        dialog = binding._dialog
        assert dialog.findChild(QLabel, "examples_title").text() == "cat, predicted as dog"
        qtbot.waitUntil(lambda: names(dialog.table) == ["cat/2.png", "cat/1.png"], timeout=30_000)
        assert shown_texts(dialog.table)[0][1:4] == ["cat/2.png", "cat  25.0 %", "dog  75.0 %"]
        pixmap = dialog.table._table.model().index(0, 0).data(Qt.ItemDataRole.DecorationRole)
        assert pixmap.height() <= 56
        assert pixmap.toImage().pixelColor(5, 5).red() == 42
        assert dialog.findChild(QLabel, "examples_where").text() == "1 to 2 of 2"


def test_that_an_empty_cell_is_no_choice(qtbot, page, control, binding, runs_dir, pets):
    with WrittenRun(runs_dir, profile_of("evaluate", pets)) as run:
        open_evaluation(qtbot, page, control, run)
        confusion = page.evaluations.findChild(ConfusionMap)
        cell, corner = confusion._cell(), confusion._grid().topLeft()
        place = QPoint(round(corner.x() + 0.5 * cell), round(corner.y() + 1.5 * cell))
        qtbot.mouseClick(confusion, Qt.MouseButton.LeftButton, pos=place)
        assert binding._dialog is None


def test_that_the_worst_mistakes_are_shown_and_closing_ends_the_reading(
    qtbot, page, control, binding, runs_dir, pets
):
    with WrittenRun(runs_dir, profile_of("evaluate", pets)) as run:
        open_evaluation(qtbot, page, control, run)
        page.evaluations.findChild(QPushButton, "worst_mistakes").click()
        table = binding._dialog.table
        qtbot.waitUntil(lambda: names(table) == ["cat/2.png", "cat/1.png"], timeout=30_000)
        binding.worker.question = asked_of(shown_examples, "import time; time.sleep(60)")
        page.evaluations.findChild(QPushButton, "worst_mistakes").click()
        qtbot.waitUntil(lambda: bool(child_processes()), timeout=10_000)
        binding._dialog.reject()
        qtbot.waitUntil(lambda: not child_processes(), timeout=10_000)


def test_that_predictions_are_a_table_with_images(qtbot, page, control, binding, runs_dir, pets):
    with WrittenRun(runs_dir, profile_of("predict", pets)) as run:
        run.begin(Phase.PREDICTING)
        predicted(run.layout.predictions("csv"))
        run.write(PREDICTED)
        run.end(Outcome.COMPLETED)
        control.open(run.layout)
        table = seen(qtbot, page.predictions.panel, ExamplesTable)
        qtbot.waitUntil(lambda: len(table.rows()) == 4, timeout=30_000)
        assert names(table) == ["cat/0.png", "cat/2.png", "dog/0.png", "dog/2.png"]
        assert shown_texts(table)[1][3:5] == ["dog  70.0 %", "cat  30.0 %"]
        assert table._table.isColumnHidden(2)  # nobody knows what they are
        assert table._table.isColumnHidden(5)  # two classes have no third


def test_that_a_run_that_names_another_file_leads_nowhere(
    qtbot, page, control, binding, runs_dir, pets, tmp_path
):
    elsewhere = predicted(tmp_path / "elsewhere.csv")
    with WrittenRun(runs_dir, profile_of("predict", pets)) as run:
        run.begin(Phase.PREDICTING)
        run.write(PREDICTED.model_copy(update={"path": str(elsewhere)}))
        run.end(Outcome.COMPLETED)
        control.open(run.layout)
        table = seen(qtbot, page.predictions.panel, ExamplesTable)
        said = table.findChild(QLabel, "examples_problems")
        qtbot.waitUntil(lambda: "cannot be read" in said.text(), timeout=30_000)
        assert table.rows() == ()


@pytest.fixture
def table(qtbot):
    made = ExamplesTable()
    qtbot.addWidget(made)
    made.show()
    return made


def some(first: int, count: int) -> tuple[ShownExample, ...]:
    return tuple(
        ShownExample(index=first + n, predicted=(ShownClass(name="\x1bcat", probability=0.5),))
        for n in range(count)
    )


def test_that_rows_have_the_columns_of_the_data(table):
    def row(*cells: tuple[str, str]) -> ShownExample:
        told = tuple(ShownCell(column=column, text=text) for column, text in cells)
        return ShownExample(index=7, cells=told, image=ExamplePreview(label="", text="0, 1, 0.3"))

    choice = ExampleChoice(which="mistakes")
    rows = row(("age", "37"), ("town", "")), row(("age", "8"), ("town", "Bern"))
    table.setExamples(choice, ShownExamples(examples=rows, total=2))
    seen = table.findChild(TableView)
    titles = [
        seen.model().headerData(at, Qt.Orientation.Horizontal)
        for at in range(seen.model().columnCount())
        if not seen.isColumnHidden(at)
    ]
    assert (titles[0], titles[-2:]) == ("File", ["age", "town"])
    assert [each[-2:] for each in shown_texts(table)] == [["37", ""], ["8", "Bern"]]
    # Other examples are of no table.
    table.setExamples(choice, ShownExamples(examples=some(0, 2), total=2))
    assert seen.model().columnCount() == 7
    assert not seen.isColumnHidden(0)


def test_that_buttons_lead_to_the_next_and_the_ones_before(table):
    asked = []
    table.choiceRequested.connect(asked.append)
    after = table.findChild(QPushButton, "examples_next")
    before = table.findChild(QPushButton, "examples_previous")
    assert not after.isEnabled()
    choice = ExampleChoice(which="predictions", count=50)
    table.setExamples(choice, ShownExamples(examples=some(0, 50), total=120))
    assert (before.isEnabled(), after.isEnabled()) == (False, True)
    after.click()
    assert asked == [choice.model_copy(update={"first": 50})]
    table.setReading(asked[0])
    assert (before.isEnabled(), after.isEnabled()) == (False, False)
    table.setExamples(asked[0], ShownExamples(examples=some(50, 50), total=120))
    before.click()
    assert asked[1].first == 0
    after.click()
    table.setExamples(asked[2], ShownExamples(examples=some(100, 20), total=120))
    assert table.findChild(QLabel, "examples_where").text() == "101 to 120 of 120"
    assert not after.isEnabled()
    assert shown_texts(table)[0][3] == r"\x1bcat  50.0 %"


def test_that_an_error_has_a_column_where_it_is_known(table):
    example = ShownExample(index=3, label="1.5", predicted=(ShownClass(name="2.5"),), error=1.0)
    choice = ExampleChoice(which="mistakes")
    table.setExamples(choice, ShownExamples(examples=(example,), total=1))
    view = table.findChild(TableView)
    assert not view.isColumnHidden(6)
    assert shown_texts(table)[0][2:4] == ["1.5", "2.5"]
    assert shown_texts(table)[0][6] == formatting.number(1.0)
    table.setExamples(choice, ShownExamples(examples=some(0, 1), total=1))
    assert view.isColumnHidden(6)


def test_that_problems_stand_above_and_nothing_says_so(table):
    problem = Problem(code="x", message="It is gone.", hint="Put it back.")
    table.setExamples(ExampleChoice(which="mistakes"), ShownExamples(problems=(problem,)))
    assert table.findChild(QLabel, "examples_problems").text() == "It is gone. Put it back."
    assert table.findChild(QLabel, "examples_where").text() == "There are none."


def test_that_a_process_that_cannot_be_started_is_said(qtbot, pets):
    loader = QuestionWorker(replace(shown_examples, command=("/nowhere/python",)))
    request = ShownRequest(
        profile=profile_of("predict", pets), file="/x", choice=ExampleChoice(which="mistakes")
    )
    with qtbot.waitSignal(loader.answered, timeout=20_000) as heard:
        loader.ask(request)
    loader.stop()
    assert [problem.code for problem in heard.args[0].problems] == ["examples_not_shown"]
