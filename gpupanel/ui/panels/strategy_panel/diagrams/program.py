"""A program of the person's own above the devices that it gets."""

from dataclasses import dataclass

from PySide6.QtCore import QRectF

from gpupanel.domain.plan import PlannedReplica
from gpupanel.domain.strategy import StrategyKind
from gpupanel.ui.panels.strategy_panel.diagrams.diagram import (
    FLOW_HEIGHT,
    GAP,
    ROOMY,
    Canvas,
    Division,
)

_WIDEST = 360.0
_SUMMED = "gradients summed → the same update for every copy"
_AS_IT_IS = (
    "The program sees these devices and no others, numbered as here. Which of them it uses, and "
    "for what, it decides itself."
)
_IN_FIT = (
    "Where the program calls fit of a Keras model, each device has a copy of the model and takes "
    "a part of each batch, as equal as it can be; the gradients are summed, and every copy gets "
    "the same update."
)


@dataclass(frozen=True, slots=True)
class ProgramDiagram:
    """From top to bottom: the program, its devices, and what comes of copies of a model on them.

    How large a batch is, and so its parts, nobody knows before the program runs.
    """

    division: Division

    @property
    def lesson(self) -> str:
        """What a person learns who points at it."""
        return _IN_FIT if self._has_copies else _AS_IT_IS

    @property
    def title(self) -> str:
        """The line above the diagram."""
        if self._has_copies:
            return "In fit: a copy of the model on each device"
        count = len(self.division.plan.replicas)
        return "The program sees this device" if count == 1 else "The program sees these devices"

    @property
    def words(self) -> str:
        """The diagram for those who cannot see it."""
        seen = "; ".join(
            f"{self._label(each)} as {each.logical_device}" for each in self.division.plan.replicas
        )
        summed = f"; {_SUMMED}" if self._has_copies else ""
        return f"{self.title}: {seen}{summed}."

    def height(self, line: float) -> float:
        """Pixels below the title."""
        end = FLOW_HEIGHT + self._end_height(line) if self._has_copies else 0.0
        return self._end_height(line) + FLOW_HEIGHT + self._box_height(line) + end

    def paint(self, canvas: Canvas, top: float) -> None:
        """Draws everything below the title."""
        plan, device_labels = self.division.plan, self.division.device_labels
        program = canvas.middle(top, self._end_height(canvas.line), _WIDEST)
        below = program.bottom() + FLOW_HEIGHT
        boxes = canvas.row_of(len(plan.replicas), below, self._box_height(canvas.line))
        end_top = boxes[0].bottom() + FLOW_HEIGHT
        end = canvas.middle(end_top, self._end_height(canvas.line), _WIDEST)
        canvas.box(program)
        canvas.text(program, "The program", small=True)
        for number, (replica, box) in enumerate(zip(plan.replicas, boxes, strict=True)):
            color = device_labels.color(replica.device_key)
            canvas.flow(self._part(program, number), box, color)
            if self._has_copies:
                canvas.flow(box.adjusted(GAP, 0.0, -GAP, 0.0), self._part(end, number), color)
            canvas.box(box, self._rows(replica, box), color)
        if self._has_copies:
            canvas.box(end)
            canvas.text(end, _SUMMED, small=True)

    @property
    def _has_copies(self) -> bool:
        return self.division.plan.strategy is StrategyKind.MIRRORED

    def _label(self, replica: PlannedReplica) -> str:
        return self.division.device_labels.label(replica.device_key)

    def _rows(self, replica: PlannedReplica, box: QRectF) -> tuple[str, ...]:
        if box.width() < ROOMY:
            return (f"{replica.index}",)
        copy = ("copy of the weights",) if self._has_copies else ()
        return (self._label(replica), replica.logical_device, *copy)

    def _box_height(self, line: float) -> float:
        return (2.0 + self._has_copies) * line + 12.0

    def _end_height(self, line: float) -> float:
        return line + GAP

    def _part(self, box: QRectF, number: int) -> QRectF:
        """The part of a box's width that belongs to a device."""
        width = (box.width() - 2.0 * GAP) / len(self.division.plan.replicas)
        return QRectF(box.left() + GAP + number * width, box.top(), width, box.height())
