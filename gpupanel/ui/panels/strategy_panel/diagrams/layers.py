"""Layers along devices: each batch passes all of them."""

from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF

from gpupanel.ui.panels.strategy_panel.diagrams.diagram import GAP, ROOMY, Canvas, Division

_ARROW = 36.0
_MOST_ROWS = 6
_BELOW = "activations →   ← gradients"


@dataclass(frozen=True, slots=True)
class LayerDiagram:
    """From left to right: a box per logical device with the layers that stand on it."""

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
        return f"Each step: {self.division.batch_text} pass every device{self.division.parts_text}"

    @property
    def words(self) -> str:
        """The diagram for those who cannot see it."""
        places = "; ".join(
            f"{self._label(index)}: {', '.join(rows)}" for index, rows in enumerate(self._rows())
        )
        return f"{self.title}: {places}."

    def height(self, line: float) -> float:
        """Pixels below the title."""
        longest = max(len(rows) for rows in self._rows())
        return (longest + 1) * line + 3.0 * GAP + line

    def paint(self, canvas: Canvas, top: float) -> None:
        """Draws everything below the title."""
        rows = self._rows()
        height = self.height(canvas.line) - canvas.line - GAP
        gap = _ARROW if len(rows) <= 6 else GAP
        boxes = canvas.row_of(len(rows), top, height, gap)
        for index, (place, box) in enumerate(zip(self.division.plan.places, boxes, strict=True)):
            color = self.division.device_labels.color(place.device_key)
            roomy = box.width() >= ROOMY
            names = rows[index] if roomy else (f"{len(self._layers(index))}",)
            canvas.box(box, (self._label(index) if roomy else str(index), *names), color)
            if index and gap == _ARROW:
                self._arrows(canvas, boxes[index - 1], box)
        below = QRectF(0.0, boxes[0].bottom() + GAP, canvas.width, canvas.line)
        canvas.text(below, _BELOW, "muted", small=True)

    def _arrows(self, canvas: Canvas, before: QRectF, box: QRectF) -> None:
        y = box.center().y()
        left, right = before.right() + 4.0, box.left() - 4.0
        canvas.arrow(QPointF(left, y - 6.0), QPointF(right, y - 6.0))
        canvas.arrow(QPointF(right, y + 6.0), QPointF(left, y + 6.0))

    def _label(self, index: int) -> str:
        place = self.division.plan.places[index]
        label = self.division.device_labels.label(place.device_key)
        same = [each for each in self.division.plan.places if each.device_key == place.device_key]
        return (
            label if len(same) == 1 else f"{label} {place.logical_device.rpartition('device:')[2]}"
        )

    def _layers(self, index: int) -> list[str]:
        return [name for name, place in self.division.placement if place == index]

    def _rows(self) -> list[tuple[str, ...]]:
        """What each place holds, the longest list shortened."""
        places = range(len(self.division.plan.places))
        if not self.division.placement:
            return [("layers chosen at start",) for _ in places]
        return [_shortened(self._layers(index)) for index in places]


def _shortened(layers: list[str]) -> tuple[str, ...]:
    if not layers:
        return ("no layer",)
    if len(layers) <= _MOST_ROWS:
        return tuple(layers)
    return (*layers[: _MOST_ROWS - 1], f"and {len(layers) - _MOST_ROWS + 1} more")
