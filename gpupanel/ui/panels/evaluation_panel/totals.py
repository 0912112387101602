"""What an evaluation reached over all examples, in large numbers with their names."""

from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from gpupanel.runs.following.status import RunStatus
from gpupanel.ui import formatting
from gpupanel.ui.theme import GRID

_TIPS = {
    "Accuracy": "Fraction of all examples that were classified correctly.",
    "Loss": "Mean cross-entropy in nats, or mean squared error of values; lower is better.",
    "Mean absolute error": "Mean distance of predicted and true values, in the unit of the labels.",
    "Examples": "How many were evaluated, each once.",
    "Speed": "Examples per second over all devices, start-up not counted.",
}


class Totals(QFrame):
    """A number and its name for each metric that there is."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("card", "true")
        self.setObjectName("evaluation_totals")
        row = QHBoxLayout(self)
        row.setContentsMargins(2 * GRID, GRID, 2 * GRID, GRID)
        row.setSpacing(4 * GRID)
        self._numbers: dict[str, QLabel] = {}
        self._blocks: dict[str, QWidget] = {}
        for name, tip in _TIPS.items():
            row.addWidget(self._block(name, tip))
        row.addStretch(1)

    def setStatus(self, status: RunStatus) -> None:
        """Show what was found; nothing changes while nothing was."""
        found = status.evaluation
        if found is None:
            return
        metrics = found.metrics
        classes = metrics.mean_absolute_error is None
        self._blocks["Accuracy"].setVisible(classes)
        self._blocks["Mean absolute error"].setVisible(not classes)
        self._numbers["Accuracy"].setText(formatting.fraction(metrics.accuracy))
        self._numbers["Loss"].setText(formatting.number(metrics.loss))
        self._numbers["Mean absolute error"].setText(formatting.number(metrics.mean_absolute_error))
        self._numbers["Examples"].setText(formatting.count(found.examples))
        self._numbers["Speed"].setText(formatting.rate(status.examples_per_second))

    def _block(self, name: str, tip: str) -> QWidget:
        block = QWidget(self)
        block.setToolTip(tip)
        caption = QLabel(name, block)
        caption.setProperty("role", "section")
        number = QLabel(block)
        number.setProperty("role", "title")
        number.setAccessibleName(name)
        column = QVBoxLayout(block)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(caption)
        column.addWidget(number)
        self._numbers[name], self._blocks[name] = number, block
        return block
