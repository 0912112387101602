"""Layers along devices: each batch passes all of them."""

from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF

from gpupanel.ui import formatting
from gpupanel.ui.panels.strategy_panel.diagrams.diagram import GAP, ROOMY, Canvas, Division

_ARROW = 36.0
_MOST_ROWS = 6
_BELOW = "activations →   ← gradients"


@dataclass(frozen=True, slots=True)
class LayerDiagram:
    """From left to right: a box per logical device with its layers; a row for each replica."""

    division: Division

    @property
    def lesson(self) -> str:
        """What a person learns who points at it."""
        return (
            "Each device holds the weights of its layers and the optimizer's state that belongs "
            "to them. A batch passes the devices one after the other and its gradients come back "
            "the same way: it makes room for large models, not speed."
        )

    @property
    def title(self) -> str:
        """The line above the diagram."""
        parts, plan = self.division.parts_text, self.division.plan
        if len(plan.replicas) == 1:
            return f"Each step: {self.division.batch_text} pass every device{parts}"
        return f"Each step: {self.division.batch_text} for {len(plan.replicas)} replicas{parts}"

    @property
    def words(self) -> str:
        """The diagram for those who cannot see it."""
        rows = self._rows()
        places = "; ".join(
            f"{self._head_text(number)}{self._label(first + stage)}: {', '.join(names)}"
            for number, first in enumerate(range(0, len(self.division.plan.places), len(rows)))
            for stage, names in enumerate(rows)
        )
        return f"{self.title}: {places}."

    def _head_text(self, number: int) -> str:
        """Which of several replicas it is, and its share."""
        replicas = self.division.plan.replicas
        if len(replicas) == 1:
            return ""
        return f"Replica {number}, {formatting.count(replicas[number].share)} examples: "

    def height(self, line: float) -> float:
        """Pixels below the title."""
        replicas = len(self.division.plan.replicas)
        return replicas * (self._box_height(line) + self._head(line) + GAP) + line

    def paint(self, canvas: Canvas, top: float) -> None:
        """Draws everything below the title."""
        plan, line = self.division.plan, canvas.line
        rows, height = self._rows(), self._box_height(line)
        gap = _ARROW if len(rows) <= 6 else GAP
        for replica in plan.replicas:
            if len(plan.replicas) > 1:
                head = QRectF(0.0, top, canvas.width, line)
                words = self._head_text(replica.index).removesuffix(": ")
                canvas.text(head, words, "muted", small=True)
            top += self._head(line)
            boxes = canvas.row_of(len(rows), top, height, gap)
            first = replica.index * len(rows)
            for index, box in enumerate(boxes):
                color = self.division.device_labels.color(plan.places[first + index].device_key)
                roomy = box.width() >= ROOMY
                names = rows[index] if roomy else (f"{len(self._layers(index))}",)
                label = self._label(first + index) if roomy else str(index)
                canvas.box(box, (label, *names), color)
                if index and gap == _ARROW:
                    self._arrows(canvas, boxes[index - 1], box)
            top += height + GAP
        below = QRectF(0.0, top, canvas.width, line)
        canvas.text(below, self._below(), "muted", small=True)

    def _below(self) -> str:
        several = len(self.division.plan.replicas) > 1
        return f"{_BELOW}   Gradients are summed over the replicas." if several else _BELOW

    def _head(self, line: float) -> float:
        """Room above the boxes of each of several replicas."""
        return line if len(self.division.plan.replicas) > 1 else 0.0

    def _box_height(self, line: float) -> float:
        longest = max(len(rows) for rows in self._rows())
        return (longest + 1) * line + 2.0 * GAP

    def _arrows(self, canvas: Canvas, before: QRectF, box: QRectF) -> None:
        y = box.center().y()
        left, right = before.right() + 4.0, box.left() - 4.0
        canvas.arrow(QPointF(left, y - 6.0), QPointF(right, y - 6.0))
        canvas.arrow(QPointF(right, y + 6.0), QPointF(left, y + 6.0))

    def _label(self, number: int) -> str:
        place = self.division.plan.places[number]
        label = self.division.device_labels.label(place.device_key)
        same = [each for each in self.division.plan.places if each.device_key == place.device_key]
        return (
            label if len(same) == 1 else f"{label} {place.logical_device.rpartition('device:')[2]}"
        )

    def _layers(self, index: int) -> list[str]:
        return [name for name, place in self.division.placement if place == index]

    def _rows(self) -> list[tuple[str, ...]]:
        """What each place of a replica holds, the longest list shortened."""
        places = range(self.division.plan.stage_count)
        if not self.division.placement:
            return [("layers chosen at start",) for _ in places]
        return [_shortened(self._layers(index)) for index in places]


def _shortened(layers: list[str]) -> tuple[str, ...]:
    if not layers:
        return ("no layer",)
    if len(layers) <= _MOST_ROWS:
        return tuple(layers)
    return (*layers[: _MOST_ROWS - 1], f"and {len(layers) - _MOST_ROWS + 1} more")
