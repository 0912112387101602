"""The layers of the model that a session would train, before it starts."""

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QWidget
from typing_extensions import override

from gpupanel.domain.model_summary import (
    LayerSummary,
    ModelSummary,
    parameters_text,
    shape_text,
    summary_sentence,
    summary_text,
)
from gpupanel.domain.problem import Severity
from gpupanel.ui.tools.session_report_dialog import SessionReportDialog
from gpupanel.ui.widgets.table_model import Column, TableModel
from gpupanel.ui.widgets.table_view import TableView

_EMPTY = "Each layer with the shape of its output and how many parameters it has."
_OUTDATED = "The settings have changed since. Build the model again to see what is so now."
_ROW_HEIGHT = 28
_COLUMNS: tuple[Column[LayerSummary], ...] = (
    Column(
        "Layer",
        "The name of the layer, after that of the part that contains it",
        lambda layer: layer.path,
        cell_tip=lambda layer: layer.path,
    ),
    Column("Kind", "Keras's class", lambda layer: layer.kind),
    Column("Output", "The shape of what it gives of one example", shape_text),
    Column(
        "Parameters",
        "How many numbers it holds; those of frozen layers and statistics are not trained",
        parameters_text,
        is_number=True,
    ),
)
_WIDTHS = (320, 200, 140)


class LayersDialog(SessionReportDialog[ModelSummary, object]):
    """Shows the layers once the model was built, or why it cannot be."""

    def __init__(self, parent: QWidget | None = None) -> None:
        again = ("&Build again", "Builds the model as chosen now.")
        super().__init__("layers", "Layers of the model", again, parent)
        self._summary: ModelSummary | None = None
        self._show_empty(_EMPTY)
        self._show_state()

    def summary(self) -> ModelSummary | None:
        """What is shown; ``None`` before anything is known."""
        return self._summary

    @override
    def text(self) -> str:
        return "" if self._summary is None else summary_text(self._summary)

    @Slot(object)
    @override
    def setAnswer(self, summary: ModelSummary) -> None:
        self._summary = summary
        self._is_outdated = False
        if summary.layers:
            self._scroll.setWidget(_table(summary.layers))
        elif summary.problems:
            self._show_page(*map(self._row, summary.problems))
        else:
            self._show_empty(_EMPTY)
        self._show_state()

    @override
    def _show_state(self) -> None:
        summary, is_busy = self._summary, self._is_busy
        self._progress.setVisible(is_busy)
        self._again.setEnabled(not is_busy)
        self._copy.setEnabled(not is_busy and summary is not None and bool(summary.layers))
        is_refused = summary is not None and bool(summary.problems)
        self._icon.setVisible(summary is not None and not is_busy)
        self._icon.setSeverity(Severity.ERROR if is_refused else None)
        if is_busy:
            self._title.setText("Building the model…")
            self._sentence.setProse("It takes some seconds the first time.")
        elif summary is None:
            self._title.setText("Not built yet")
            self._sentence.setProse("")
        else:
            self._title.setText("Outdated" if self._is_outdated else "Layers of the model")
            self._sentence.setProse(_OUTDATED if self._is_outdated else summary_sentence(summary))


def _table(layers: tuple[LayerSummary, ...]) -> QWidget:
    content = TableModel(_COLUMNS, lambda layer: layer.path)
    table = TableView(content, "layers_table", "Layers of the model", _ROW_HEIGHT)
    content.set_rows(layers, keep_order=True)
    for place, width in enumerate(_WIDTHS):
        table.setColumnWidth(place, width)
    return table
