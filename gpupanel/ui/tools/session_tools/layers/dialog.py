"""The layers of the model that a session would train, before it starts."""

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
from gpupanel.ui.tools.session_report_dialog import ReportWords, SessionReportDialog
from gpupanel.ui.widgets.table_model import Column, TableModel
from gpupanel.ui.widgets.table_view import TableView

_WORDS = ReportWords(
    name="layers",
    title="Layers of the model",
    again=("&Build again", "Builds the model as chosen now."),
    empty="Each layer with the shape of its output and how many parameters it has.",
    unknown=("Not built yet", ""),
    busy=("Building the model…", "It takes some seconds the first time."),
    outdated="The settings have changed since. Build the model again to see what is so now.",
)
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
        super().__init__(_WORDS, parent)

    @override
    def _text_of(self, found: ModelSummary) -> str:
        return summary_text(found) if found.layers else ""

    @override
    def _sentence_of(self, found: ModelSummary) -> str:
        return summary_sentence(found)

    @override
    def _show_found(self) -> None:
        if self._found is not None and self._found.layers:
            self._scroll.setWidget(_table(self._found.layers))
        else:
            super()._show_found()


def _table(layers: tuple[LayerSummary, ...]) -> QWidget:
    content = TableModel(_COLUMNS, lambda layer: layer.path)
    table = TableView(content, "layers_table", "Layers of the model", _ROW_HEIGHT)
    content.set_rows(layers, keep_order=True)
    for place, width in enumerate(_WIDTHS):
        table.setColumnWidth(place, width)
    return table
