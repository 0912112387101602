"""How one step is divided: the batch is split, the weights are copied, the gradients are summed."""

from itertools import pairwise

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QPainter, QPainterPath, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget
from typing_extensions import override

from gpupanel.domain.plan import LaunchPlan, PlannedReplica
from gpupanel.domain.strategy import StrategyKind
from gpupanel.ui import formatting, theme
from gpupanel.ui.device_faces import DeviceFaces
from gpupanel.ui.widgets.share_bar import ink_on
from gpupanel.ui.widgets.tips import wrapped

_GAP = 8.0
_BATCH_HEIGHT = 24.0
_FLOW_HEIGHT = 24.0
_RADIUS = 6.0
_ROOMY = 104.0
"""A box at least this wide says everything; a narrower one only number and share."""


_LESSON = (
    "A replica is one copy of the model on one device. In each step every replica takes its share "
    "of the global batch; the gradients are summed, and every copy gets the same update. So the "
    "copies stay equal, and any split gives the same result."
)
_NO_PLAN = "No plan now: see the problems under “What will happen”"


class DivisionDiagram(QWidget):
    """Draws a plan from top to bottom: batch, replicas, update.

    While there is no plan the last one stays, faded, so that nothing jumps while a person types.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._plan: LaunchPlan | None = None
        self._faces = DeviceFaces()
        self._is_current = False
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName("How each step is divided")
        self.setToolTip(wrapped(_LESSON))

    def has_plan(self) -> bool:
        """Whether a plan was ever shown."""
        return self._plan is not None

    def setPlan(self, plan: LaunchPlan | None, faces: DeviceFaces) -> None:
        """Draws another plan; ``None``: the last one does not hold any more."""
        self._plan = plan or self._plan
        self._faces = faces
        self._is_current = plan is not None
        self.setAccessibleDescription(self._words())
        self.updateGeometry()
        self.update()

    @override
    def sizeHint(self) -> QSize:
        return QSize(320, round(self._box_height() + self._fixed_height()))

    @override
    def minimumSizeHint(self) -> QSize:
        return QSize(200, self.sizeHint().height())

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        if self._plan is None:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        line = self._line_height()
        above = self._batch_words() if self._is_current else _NO_PLAN
        self._paint_text(painter, QRectF(0.0, 0.0, self.width(), line), above, "muted", small=True)
        painter.setOpacity(1.0 if self._is_current else 0.35)
        parts = self._batch_parts(line + 4.0)
        boxes = self._boxes(parts[0].bottom() + _FLOW_HEIGHT)
        update = self._update_place(boxes[0].bottom() + _FLOW_HEIGHT)
        self._paint_batch(painter, parts)
        for replica, part, box in zip(self._plan.replicas, parts, boxes, strict=True):
            color = self._faces.color(replica.device_key)
            target = self._inflow(update, replica.index)
            self._paint_flow(painter, part, box, color)
            self._paint_flow(painter, box.adjusted(_GAP, 0.0, -_GAP, 0.0), target, color)
            self._paint_replica(painter, replica, box, color)
        self._paint_update(painter, update)

    def _batch_parts(self, top: float) -> list[QRectF]:
        """The batch's bar, divided as the shares are."""
        shares = self._plan.shares if self._plan else ()
        scale = (self.width() - 1.0) / max(1, sum(shares))
        edges = [0.5 + scale * sum(shares[:index]) for index in range(len(shares) + 1)]
        return [QRectF(left, top, right - left, _BATCH_HEIGHT) for left, right in pairwise(edges)]

    def _boxes(self, top: float) -> list[QRectF]:
        count = len(self._plan.replicas) if self._plan else 1
        gap = _GAP if count <= 8 else 2.0
        width = (self.width() - 1.0 - gap * (count - 1)) / count
        height = self._box_height()
        return [QRectF(0.5 + index * (width + gap), top, width, height) for index in range(count)]

    def _update_place(self, top: float) -> QRectF:
        width = min(self.width() - 1.0, 360.0)
        left = (self.width() - width) / 2.0
        return QRectF(left, top, width, self._line_height() + _GAP)

    def _inflow(self, update: QRectF, index: int) -> QRectF:
        """Where the gradients of one replica reach the update."""
        count = len(self._plan.replicas) if self._plan else 1
        width = (update.width() - 2.0 * _RADIUS) / count
        return QRectF(update.left() + _RADIUS + index * width, update.top(), width, update.height())

    def _paint_batch(self, painter: QPainter, parts: list[QRectF]) -> None:
        replicas = self._plan.replicas if self._plan else ()
        whole = QPainterPath()
        whole.addRoundedRect(parts[0].united(parts[-1]), _RADIUS, _RADIUS)
        painter.save()
        painter.setClipPath(whole)
        for replica, part in zip(replicas, parts, strict=True):
            color = self._faces.color(replica.device_key)
            painter.fillRect(part, color)
            painter.setPen(ink_on(color))
            painter.setFont(self._bold())
            if painter.fontMetrics().horizontalAdvance(f"{replica.share:,}") + 6 < part.width():
                painter.drawText(part, Qt.AlignmentFlag.AlignCenter, f"{replica.share:,}")
        painter.setPen(QPen(theme.current().color("surface"), 2.0))
        for part in parts[1:]:
            painter.drawLine(part.topLeft(), part.bottomLeft())
        painter.restore()

    def _paint_flow(self, painter: QPainter, source: QRectF, target: QRectF, color: QColor) -> None:
        """A band from the lower edge of one thing to the upper edge of the next."""
        if source.width() < 1.0:
            return
        top, bottom = source.bottom(), target.top()
        middle = (top + bottom) / 2.0
        band = QPainterPath(QPointF(source.left(), top))
        band.cubicTo(
            QPointF(source.left(), middle), QPointF(target.left(), middle), target.topLeft()
        )
        band.lineTo(target.topRight())
        band.cubicTo(
            QPointF(target.right(), middle),
            QPointF(source.right(), middle),
            QPointF(source.right(), top),
        )
        faint = QColor(color)
        faint.setAlphaF(0.22)
        painter.fillPath(band, faint)

    def _paint_replica(
        self, painter: QPainter, replica: PlannedReplica, box: QRectF, color: QColor
    ) -> None:
        painter.setPen(QPen(color, 1.5))
        painter.setBrush(theme.current().color("raised"))
        painter.drawRoundedRect(box.adjusted(0.5, 0.5, -0.5, -0.5), _RADIUS, _RADIUS)
        line = self._line_height()
        rows = self._replica_words(replica, roomy=box.width() >= _ROOMY)
        top = box.center().y() - line * len(rows) / 2.0
        for index, words in enumerate(rows):
            place = QRectF(box.left() + 4.0, top + index * line, box.width() - 8.0, line)
            self._paint_text(painter, place, words, "muted" if index else "text", small=index > 0)

    def _replica_words(self, replica: PlannedReplica, *, roomy: bool) -> tuple[str, ...]:
        if not roomy:
            return (f"{replica.index}", f"{replica.share:,}")
        label = self._faces.label(replica.device_key)
        if self._is_single():
            return (label, "the one model", f"{replica.share:,} examples")
        return (f"Replica {replica.index}", label, "copy of the weights")

    def _paint_update(self, painter: QPainter, place: QRectF) -> None:
        painter.setPen(QPen(theme.current().color("strong_border"), 1.0))
        painter.setBrush(theme.current().color("raised"))
        painter.drawRoundedRect(place.adjusted(0.5, 0.5, -0.5, -0.5), _RADIUS, _RADIUS)
        self._paint_text(painter, place, self._update_words(), "text", small=True)

    def _paint_text(
        self, painter: QPainter, place: QRectF, words: str, role: str, *, small: bool
    ) -> None:
        painter.setFont(self._small() if small else self._bold())
        painter.setPen(theme.current().color(role))
        shown = painter.fontMetrics().elidedText(
            words, Qt.TextElideMode.ElideRight, int(place.width())
        )
        painter.drawText(place, Qt.AlignmentFlag.AlignCenter, shown)

    def _is_single(self) -> bool:
        return self._plan is not None and self._plan.strategy is StrategyKind.ONE_DEVICE

    def _batch_words(self) -> str:
        if self._plan is None:
            return ""
        parts = self._plan.accumulation_steps
        taken = f", taken in {parts} parts" if parts > 1 else ""
        batch = formatting.count(self._plan.global_batch_size)
        split = "" if self._is_single() else ", split"
        return f"Each step: a global batch of {batch} examples{split}{taken}"

    def _update_words(self) -> str:
        if self._is_single():
            return "gradients → one update of the weights"
        return "gradients summed → the same update for every copy"

    def _words(self) -> str:
        if self._plan is None:
            return ""
        takers = "; ".join(
            f"replica {replica.index} on {self._faces.label(replica.device_key)} takes "
            f"{replica.share:,}"
            for replica in self._plan.replicas
        )
        words = f"{self._batch_words()}: {takers}; {self._update_words()}."
        return words if self._is_current else f"{_NO_PLAN}. The last one was: {words}"

    def _small(self) -> QFont:
        font = QFont(self.font())
        font.setPointSizeF(max(7.0, font.pointSizeF() * 0.88))
        return font

    def _bold(self) -> QFont:
        font = QFont(self.font())
        font.setWeight(QFont.Weight.DemiBold)
        return font

    def _line_height(self) -> float:
        return float(self.fontMetrics().height() + 1)

    def _box_height(self) -> float:
        return 3.0 * self._line_height() + 12.0

    def _fixed_height(self) -> float:
        return 2.0 * self._line_height() + 4.0 + _BATCH_HEIGHT + 2.0 * _FLOW_HEIGHT + _GAP + 1.0
