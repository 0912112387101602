"""The layers of the model in the window: asked for by a click, shown, outdated, mended."""

from dataclasses import replace
from functools import partial

import pytest
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QComboBox, QLabel, QPushButton, QTableView
from pytestqt.qtbot import QtBot

from gpupanel.domain.model import MlpModel, PythonModel, ResNetModel, TransformerModel
from gpupanel.domain.model_summary import LayerSummary, ModelSummary, ParameterCounts
from gpupanel.domain.problem import Fix, Problem
from gpupanel.domain.profile import Profile
from gpupanel.domain.strategy import StrategyKind, StrategySettings
from gpupanel.runs.questions.model_summary import summarize_model
from gpupanel.ui.tools.session_tools.layers.binding import TOOL as LAYERS
from gpupanel.ui.tools.session_tools.layers.binding import LayersBinding
from gpupanel.ui.widgets.problem_row import ProblemRow
from tests.fakes.devices import CPU_ONLY
from tests.fakes.questions import answering, asked_of
from tests.forked.processes import child_processes
from tests.ui.tool_page import ToolPage, closing

FOUND = ModelSummary(
    layers=(
        LayerSummary(name="conv", kind="Conv2D", output_shape=(8, 8, 4), parameters=40),
        LayerSummary(name="relu", kind="ReLU", output_shape=(8, 8, 4)),
    ),
    parameters=ParameterCounts(trainable=0, frozen=40),
)
REFUSED = ModelSummary(
    problems=(
        Problem(
            code="model_needs_words",
            field="model.source",
            message="No texts.",
            fix=Fix.of("Use mlp", "model", {"source": "mlp"}),
        ),
    )
)


@pytest.fixture
def bound(qtbot: QtBot):
    def make(code: str) -> ToolPage:
        bind = partial(
            LayersBinding, tool=replace(LAYERS, question=asked_of(summarize_model, code))
        )
        return ToolPage(qtbot, "layers", "layers_button", bind)

    with closing(make) as made:
        yield made


def test_that_a_click_lists_the_layers_which_can_be_copied(qtbot: QtBot, bound) -> None:
    shown = bound(answering(FOUND))
    shown.click()
    qtbot.waitUntil(lambda: shown.dialog.answer() is not None)
    table = shown.dialog.findChild(QTableView, "layers_table")
    cells = [[table.model().index(row, column).data() for column in range(4)] for row in range(2)]
    assert cells == [
        ["conv", "Conv2D", "8 x 8 x 4", "40 (frozen)"],
        ["relu", "ReLU", "8 x 8 x 4", ""],
    ]
    assert "2 layers, 40 parameters" in shown.label("sentence")
    shown.dialog.findChild(QPushButton, "layers_copy").click()
    assert "conv\tConv2D\t8 x 8 x 4\t40" in QGuiApplication.clipboard().text()

    shown.session.edit(shown.session.profile.model_copy(update={"model": ResNetModel()}))
    assert "settings have changed" in shown.label("sentence")


def test_that_why_a_model_cannot_be_built_is_shown_with_what_mends_it(qtbot: QtBot, bound) -> None:
    shown = bound(answering(REFUSED))
    shown.session.edit(shown.session.profile.model_copy(update={"model": TransformerModel()}))
    shown.click()
    qtbot.waitUntil(lambda: shown.dialog.answer() is not None)
    row = shown.dialog.findChild(ProblemRow)
    assert row.problem() == REFUSED.problems[0]
    assert not shown.dialog.findChild(QPushButton, "layers_copy").isEnabled()
    row.fixes.fixRequested.emit(row.problem().fix)
    assert shown.session.profile.model == MlpModel()


def test_that_a_closed_dialog_leaves_no_process(qtbot: QtBot, bound) -> None:
    shown = bound(answering(FOUND, wait_s=60.0))
    shown.click()
    assert shown.dialog.findChild(QLabel, "layers_verdict").text() == "Building the model…"
    qtbot.waitUntil(lambda: bool(child_processes()))
    shown.dialog.close()
    qtbot.waitUntil(lambda: not child_processes())
    assert shown.dialog.answer() is None


def test_that_there_is_no_button_where_only_a_run_knows_the_layers(bound) -> None:
    shown = bound(answering(FOUND))
    button = shown.page.model.findChild(QPushButton, "layers_button")
    assert button.isVisibleTo(shown.page.model)
    shown.page.model.setValue(PythonModel(path="/m.py"))
    assert not button.isVisibleTo(shown.page.model)
    shown.page.model.setValue(MlpModel())
    shown.page.model.setTrains(False)
    assert not button.isVisibleTo(shown.page.model)


def test_that_layers_that_were_built_are_placed_by_hand(qtbot: QtBot, bound) -> None:
    shown = bound(answering(FOUND))
    shown.session.set_inventory(CPU_ONLY)
    placed = StrategySettings(kind=StrategyKind.MODEL_PARALLEL)
    shown.session.edit(Profile(model=ResNetModel(), strategy=placed))
    qtbot.waitUntil(lambda: shown.session.preparation.plan is not None, timeout=10_000)
    chooser = shown.page.strategy.findChild(QComboBox, "placement_chooser")
    chooser.setCurrentIndex(chooser.findData("by_hand"))
    qtbot.waitUntil(lambda: shown.session.profile.strategy.placement == {"conv": 0}, timeout=20_000)
    row = shown.page.strategy.findChild(QComboBox, "place_of_conv")
    assert row is not None
    # Those of another model are not known again.
    shown.session.edit(Profile(model=ResNetModel(blocks=1), strategy=placed))
    qtbot.waitUntil(
        lambda: shown.page.strategy.findChild(QComboBox, "place_of_conv") is None, timeout=10_000
    )
