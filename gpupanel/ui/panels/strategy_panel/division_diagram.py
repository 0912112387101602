"""How one step is divided over devices, drawn."""

from typing import assert_never

from PySide6.QtCore import QRectF, QSize
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget
from typing_extensions import override

from gpupanel.domain.strategy import StrategyKind
from gpupanel.ui.panels.strategy_panel.pictures.layers import LayerPicture
from gpupanel.ui.panels.strategy_panel.pictures.picture import Canvas, Division, Picture
from gpupanel.ui.panels.strategy_panel.pictures.replicas import ReplicaPicture
from gpupanel.ui.panels.strategy_panel.pictures.servers import ServerPicture
from gpupanel.ui.widgets.tips import wrapped

_NO_PLAN = "No plan: see the problems under “What will happen”"
_TITLE_GAP = 4.0
_FADED = 0.35


class DivisionDiagram(QWidget):
    """Draws a plan as its strategy is best understood.

    While there is no plan the last one stays, faded, so that nothing jumps while a person types.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._picture: Picture | None = None
        self._is_current = False
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName("How each step is divided")

    def has_plan(self) -> bool:
        """Whether a plan was ever shown."""
        return self._picture is not None

    def setDivision(self, division: Division | None) -> None:
        """Draws another plan; ``None``: the last one does not hold any more."""
        if division is not None:
            self._picture = picture_of(division)
            self.setToolTip(wrapped(self._picture.lesson))
        self._is_current = division is not None
        self.setAccessibleDescription(self._words())
        self.updateGeometry()
        self.update()

    @override
    def sizeHint(self) -> QSize:
        line = self._line_height()
        below = 0.0 if self._picture is None else self._picture.height(line)
        return QSize(320, round(line + _TITLE_GAP + below + 1.0))

    @override
    def minimumSizeHint(self) -> QSize:
        return QSize(200, self.sizeHint().height())

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        if self._picture is None:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        line = self._line_height()
        canvas = Canvas(painter, self.font(), float(self.width()), line)
        title = self._picture.title if self._is_current else _NO_PLAN
        canvas.text(QRectF(0.0, 0.0, canvas.width, line), title, "muted", small=True)
        painter.setOpacity(1.0 if self._is_current else _FADED)
        self._picture.paint(canvas, line + _TITLE_GAP)

    def _words(self) -> str:
        if self._picture is None:
            return ""
        words = self._picture.words
        return words if self._is_current else f"{_NO_PLAN}. The last one was: {words}"

    def _line_height(self) -> float:
        return float(self.fontMetrics().height() + 1)


def picture_of(division: Division) -> Picture:
    """The picture of that division."""
    match division.plan.strategy:
        case (
            StrategyKind.ONE_DEVICE
            | StrategyKind.MIRRORED
            | StrategyKind.CENTRAL_STORAGE
            | StrategyKind.MULTI_WORKER
        ):
            return ReplicaPicture(division)
        case StrategyKind.PARAMETER_SERVER:
            return ServerPicture(division)
        case StrategyKind.MODEL_PARALLEL:
            return LayerPicture(division)
    assert_never(division.plan.strategy)
