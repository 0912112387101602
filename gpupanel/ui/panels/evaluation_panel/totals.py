"""The figures over all examples of an evaluation, in as many rows as it takes."""

from collections.abc import Mapping

from PySide6.QtWidgets import QFrame, QLabel, QWidget

from gpupanel.domain.metric import Metric
from gpupanel.domain.outcome import FURTHER_METRICS, SET_METRICS
from gpupanel.runs.following.evaluated_text import evaluated_text
from gpupanel.runs.following.status import RunStatus
from gpupanel.ui import formatting
from gpupanel.ui.theme import GRID
from gpupanel.ui.widgets.flow_layout import FlowLayout
from gpupanel.ui.widgets.layouts import column_in
from gpupanel.ui.widgets.tips import wrapped

_ERROR = SET_METRICS["mean_absolute_error"]
_OFF_BY = "Off by, on average"
"""What a mean absolute error is, in the unit of the values; a mean squared one says little."""
_BETWEEN = 2 * GRID
_TIPS = {
    SET_METRICS["accuracy"].title: SET_METRICS["accuracy"].tip,
    _OFF_BY: _ERROR.tip,
    "Loss": "Mean cross-entropy in nats, or mean squared error of values; lower is better.",
    **{
        metric.title: metric.tip
        for metric in FURTHER_METRICS
        if metric.name not in ("accuracy", _ERROR.name)
    },
    "Examples": "How many were evaluated, each once.",
    "Speed": "Examples per second over all devices, start-up not counted.",
}

_OWN_TIP = "Of one of the outputs, or by code of your own; the mean over the examples."


class Totals(QFrame):
    """A number and its name for each metric that there is."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("card", "true")
        self.setObjectName("evaluation_totals")
        blocks = QWidget(self)
        self._row = FlowLayout(blocks, spacing=_BETWEEN)
        around = column_in(self)
        around.setContentsMargins(2 * GRID, GRID, 2 * GRID, GRID)
        around.addWidget(blocks)
        self._numbers: dict[str, QLabel] = {}
        self._blocks: dict[str, QWidget] = {}
        self._own: set[str] = set()
        for name, tip in _TIPS.items():
            self._row.addWidget(self._block(name, tip))
        for metric in FURTHER_METRICS:
            self._blocks[_title_of(metric)].hide()

    def setStatus(self, status: RunStatus) -> None:
        """Show what was found; nothing changes while nothing was."""
        found = status.evaluation
        if found is None:
            return
        metrics = found.metrics
        for metric in FURTHER_METRICS:
            value = metrics.value_of(metric)
            words = formatting.fraction if metric.is_fraction else formatting.number
            self._blocks[_title_of(metric)].setVisible(value is not None)
            self._numbers[_title_of(metric)].setText(words(value))
        self._show_own(metrics.own)
        self._blocks["Loss"].setVisible(metrics.mean_absolute_error is None)
        self._numbers["Loss"].setText(formatting.number(metrics.loss))
        self._numbers["Examples"].setText(formatting.count(found.examples))
        counted = evaluated_text(found)
        tip = f"Evaluated were {counted}." if counted else _TIPS["Examples"]
        self._blocks["Examples"].setToolTip(wrapped(tip))
        self._numbers["Speed"].setText(formatting.rate(status.examples_per_second))

    def _show_own(self, measured: Mapping[str, float]) -> None:
        """A block for each output's loss and measure, and for metrics of the person's own."""
        for name in (each for each in measured if each not in self._blocks):
            self._row.addWidget(self._block(name, _OWN_TIP))
        self._own |= measured.keys()
        for name in self._own:
            value = measured.get(name)
            self._blocks[name].setVisible(value is not None)
            self._numbers[name].setText(formatting.number(value))

    def _block(self, name: str, tip: str) -> QWidget:
        block = QWidget(self)
        block.setToolTip(wrapped(tip))
        caption = QLabel(name, block)
        caption.setProperty("role", "section")
        number = QLabel(block)
        number.setProperty("role", "title")
        number.setAccessibleName(name)
        column = column_in(block, spacing=0)
        column.addWidget(caption)
        column.addWidget(number)
        self._numbers[name], self._blocks[name] = number, block
        return block


def _title_of(metric: Metric) -> str:
    return _OFF_BY if metric.name == _ERROR.name else metric.title
