"""How one step is divided over devices, drawn."""

from typing import assert_never

from PySide6.QtCore import QRectF, QSize
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget
from typing_extensions import override

from gpupanel.domain.strategy import StrategyKind
from gpupanel.ui.panels.strategy_panel.diagrams.diagram import Canvas, Diagram, Division
from gpupanel.ui.panels.strategy_panel.diagrams.layers import LayerDiagram
from gpupanel.ui.panels.strategy_panel.diagrams.program import ProgramDiagram
from gpupanel.ui.panels.strategy_panel.diagrams.replicas import ReplicaDiagram
from gpupanel.ui.panels.strategy_panel.diagrams.servers import ServerDiagram
from gpupanel.ui.widgets.tips import wrapped

_NO_PLAN = "No plan: see the problems under “What will happen”"
_TITLE_GAP = 4.0
_FADED = 0.35
MOST_DRAWN = 32
"""Replicas: the boxes of more are narrower than a letter."""


class DivisionDiagram(QWidget):
    """Draws a plan as its strategy is best understood.

    While there is no plan the last one stays, faded, so that nothing jumps while a person types.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._diagram: Diagram | None = None
        self._is_current = False
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName("How each step is divided")

    def has_plan(self) -> bool:
        """Whether a plan was ever shown."""
        return self._diagram is not None

    def setDivision(self, division: Division | None) -> None:
        """Draws another plan; ``None``: the last one does not hold any more."""
        if division is not None:
            self._diagram = diagram_of(division)
            self.setToolTip(wrapped(self._diagram.lesson))
        self._is_current = division is not None
        self.setAccessibleDescription(self._words())
        self.updateGeometry()
        self.update()

    @override
    def sizeHint(self) -> QSize:
        line = self._line_height()
        below = 0.0 if self._diagram is None else self._diagram.height(line)
        return QSize(320, round(line + _TITLE_GAP + below + 1.0))

    @override
    def minimumSizeHint(self) -> QSize:
        return QSize(200, self.sizeHint().height())

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        if self._diagram is None:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        line = self._line_height()
        canvas = Canvas(painter, self.font(), float(self.width()), line)
        title = self._diagram.title if self._is_current else _NO_PLAN
        canvas.text(QRectF(0.0, 0.0, canvas.width, line), title, "muted", small=True)
        painter.setOpacity(1.0 if self._is_current else _FADED)
        self._diagram.paint(canvas, line + _TITLE_GAP)

    def _words(self) -> str:
        if self._diagram is None:
            return ""
        words = self._diagram.words
        return words if self._is_current else f"{_NO_PLAN}. The last one was: {words}"

    def _line_height(self) -> float:
        return float(self.fontMetrics().height() + 1)


def diagram_of(division: Division) -> Diagram:
    """The diagram of that division."""
    if division.task == "script":
        return ProgramDiagram(division)
    match division.plan.strategy:
        case (
            StrategyKind.ONE_DEVICE
            | StrategyKind.MIRRORED
            | StrategyKind.CENTRAL_STORAGE
            | StrategyKind.MULTI_WORKER
        ):
            return ReplicaDiagram(division)
        case StrategyKind.PARAMETER_SERVER:
            return ServerDiagram(division)
        case StrategyKind.MODEL_PARALLEL:
            return LayerDiagram(division)
    assert_never(division.plan.strategy)
