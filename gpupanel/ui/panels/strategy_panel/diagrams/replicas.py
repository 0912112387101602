"""Copies of a model that divide each batch: one device, mirrored, central storage, processes."""

from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF

from gpupanel.domain.plan import PlannedReplica, replica_name
from gpupanel.domain.strategy import StrategyKind
from gpupanel.ui.formatting import percent
from gpupanel.ui.panels.strategy_panel.diagrams.diagram import (
    BAR_HEIGHT,
    FLOW_HEIGHT,
    GAP,
    RADIUS,
    ROOMY,
    Canvas,
    Division,
)

_WIDEST_UPDATE = 360.0
_LESSONS = {
    StrategyKind.ONE_DEVICE: "One device holds the model and takes every example. All synchronous "
    "strategies give the same weights.",
    StrategyKind.MIRRORED: "A replica is one copy of the model on one device. In each step every "
    "replica takes its share of the global batch; the gradients are summed, and every copy gets "
    "the same update. So the copies stay equal, and any split gives the same result.",
    StrategyKind.CENTRAL_STORAGE: "The weights are stored once, in the host's memory. In each step "
    "every device reads them, computes with its share of the global batch, and sends its "
    "gradients back, where they are summed and applied once.",
    StrategyKind.MULTI_WORKER: "Each worker is a separate process with a copy of the model. In "
    "each step all of them take their shares of the same global batch; the gradients are summed "
    "between the processes, and every copy gets the same update.",
}
_UPDATES = {
    StrategyKind.ONE_DEVICE: "gradients → one update of the weights",
    StrategyKind.MIRRORED: "gradients summed → the same update for every copy",
    StrategyKind.CENTRAL_STORAGE: "the weights, once: gradients summed → one update",
    StrategyKind.MULTI_WORKER: "gradients summed between processes → the same update",
}
_DIVIDED_UPDATE = "gradients summed → each updates its part, for all"
_DIVIDED_LESSON = (
    " Of what the optimizer keeps each has a part: it updates that part of the weights, and hands "
    "it to the others."
)
_RESULTS = {
    "evaluate": "losses and counts summed → metrics of the whole data",
    "predict": "outputs in the order of the input",
}


@dataclass(frozen=True, slots=True)
class ReplicaDiagram:
    """From top to bottom: the batch in its shares, the replicas, what their results become."""

    division: Division

    @property
    def lesson(self) -> str:
        """What a person learns who points at it."""
        lesson = _LESSONS[self.division.plan.strategy]
        return f"{lesson}{_DIVIDED_LESSON}" if self._has_parts else lesson

    @property
    def title(self) -> str:
        """The line above the diagram."""
        step = "Each step: a global batch of" if self._trains else "Each call:"
        measured = ", measured at start" if self.division.plan.balanced else ""
        split = "" if self._is_single else f", split{measured}"
        return f"{step} {self.division.batch_text}{split}{self.division.parts_text}"

    @property
    def words(self) -> str:
        """The diagram for those who cannot see it."""
        takers = "; ".join(
            ", ".join([f"{self._name(replica)} takes {replica.share:,}", *self._part(replica)])
            for replica in self.division.plan.replicas
        )
        return f"{self.title}: {takers}; {self._update}."

    def height(self, line: float) -> float:
        """Pixels below the title."""
        return BAR_HEIGHT + 2.0 * FLOW_HEIGHT + self._box_height(line) + self._end_height(line)

    def paint(self, canvas: Canvas, top: float) -> None:
        """Draws everything below the title."""
        plan, device_labels = self.division.plan, self.division.device_labels
        colors = [device_labels.color(replica.device_key) for replica in plan.replicas]
        parts = canvas.parts_of(plan.shares, top)
        below = top + BAR_HEIGHT + FLOW_HEIGHT
        frames = canvas.row_of(len(plan.replicas), below, self._box_height(canvas.line))
        inset = canvas.line + 2.0 if self._has_frames else 0.0
        boxes = [each.adjusted(*self._margins(inset)) for each in frames]
        end_top = frames[0].bottom() + FLOW_HEIGHT
        widest = canvas.width if self._is_central else _WIDEST_UPDATE
        end = canvas.middle(end_top, self._end_height(canvas.line), widest)
        canvas.bar(parts, colors, [f"{share:,}" for share in plan.shares])
        for index, (replica, color) in enumerate(zip(plan.replicas, colors, strict=True)):
            box = boxes[index]
            canvas.flow(parts[index], box, color)
            canvas.flow(box.adjusted(GAP, 0.0, -GAP, 0.0), self._inflow(end, index), color)
            if self._has_frames:
                canvas.frame(frames[index], plan.gang[replica.process].name)
            canvas.box(box, self._rows(replica, box), color)
            if self._is_central:
                x = box.right() - 2.0 * GAP
                canvas.arrow(QPointF(x, end.top() - 2.0), QPointF(x, box.bottom() + 2.0), color)
        if self._is_central:
            canvas.box(end, ("Host memory", self._update))
        else:
            canvas.box(end)
            canvas.text(end, self._update, small=True)

    @property
    def _trains(self) -> bool:
        return self.division.task == "train"

    @property
    def _is_single(self) -> bool:
        return len(self.division.plan.replicas) == 1

    @property
    def _is_central(self) -> bool:
        return self.division.plan.strategy is StrategyKind.CENTRAL_STORAGE

    @property
    def _has_frames(self) -> bool:
        return len(self.division.plan.gang) > 1

    @property
    def _has_parts(self) -> bool:
        return self.division.plan.optimizer_quotas is not None

    @property
    def _update(self) -> str:
        update = _DIVIDED_UPDATE if self._has_parts else _UPDATES[self.division.plan.strategy]
        return _RESULTS.get(self.division.task, update)

    def _device(self, replica: PlannedReplica) -> str:
        return self.division.device_labels.label(replica.device_key)

    def _name(self, replica: PlannedReplica) -> str:
        name = replica_name(replica.index, self._device(replica))
        if not self._has_frames:
            return name
        return f"{name} in {self.division.plan.gang[replica.process].name}"

    def _rows(self, replica: PlannedReplica, box: QRectF) -> tuple[str, ...]:
        if box.width() < ROOMY:
            return (f"{replica.index}", f"{replica.share:,}")
        label = self._device(replica)
        if self._is_single:
            return (label, "the model", f"{replica.share:,} examples")
        holds = "reads the weights" if self._is_central else "copy of the weights"
        return (label, holds, *self._part(replica), f"{replica.share:,} examples")

    def _part(self, replica: PlannedReplica) -> tuple[str, ...]:
        """What it keeps for the optimizer, in words; none where that is all of it."""
        if replica.optimizer_quota is None:
            return ()
        part = self.division.plan.optimizer_parts[replica.index]
        return (f"{percent(100.0 * part)} of the state",)

    def _box_height(self, line: float) -> float:
        return (3.0 + self._has_parts) * line + 12.0 + (line + GAP if self._has_frames else 0.0)

    def _end_height(self, line: float) -> float:
        return (2.0 if self._is_central else 1.0) * line + GAP

    def _margins(self, inset: float) -> tuple[float, float, float, float]:
        side = 6.0 if self._has_frames else 0.0
        return side, inset, -side, -side

    def _inflow(self, end: QRectF, index: int) -> QRectF:
        """Where the results of one replica reach the end."""
        width = (end.width() - 2.0 * RADIUS) / len(self.division.plan.replicas)
        return QRectF(end.left() + RADIUS + index * width, end.top(), width, end.height())
