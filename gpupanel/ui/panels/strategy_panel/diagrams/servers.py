"""A coordinator that hands out steps, workers that take them, servers that keep the weights."""

from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF

from gpupanel.domain.plan import PlannedProcess, PlannedReplica, ProcessRole
from gpupanel.ui.panels.strategy_panel.diagrams.diagram import GAP, ROOMY, Canvas, Division

_FLOW = 28.0
_MOST_PAIRS = 6
_WIDEST_COORDINATOR = 300.0


@dataclass(frozen=True, slots=True)
class ServerDiagram:
    """From top to bottom: coordinator, workers in the colours of their devices, servers."""

    division: Division

    @property
    def lesson(self) -> str:
        """What a person learns who points at it."""
        return (
            "The coordinator hands whole batches to the workers. Each worker fetches the weights "
            "from the parameter servers, computes, and sends its gradients there at once, without "
            "waiting for the others: fast, but not the same mathematics as one device."
        )

    @property
    def title(self) -> str:
        """The line above the diagram."""
        workers = len(self.division.plan.replicas)
        turns = "one after the other" if workers == 1 else "in turn, without waiting"
        return f"Each worker takes whole batches of {self.division.batch_text}, {turns}"

    @property
    def words(self) -> str:
        """The diagram for those who cannot see it."""
        gang, labels = self.division.plan.gang, self.division.device_labels
        workers = "; ".join(
            f"{gang[replica.process].name} on {labels.label(replica.device_key)}"
            for replica in self.division.plan.replicas
        )
        servers = ", ".join(server.name for server in self._servers)
        return f"{self.title}: {workers}; {servers} keep the weights."

    def height(self, line: float) -> float:
        """Pixels below the title."""
        return (
            2.0 * line + GAP + 2.0 * _FLOW + self._worker_height(line) + self._server_height(line)
        )

    def paint(self, canvas: Canvas, top: float) -> None:
        """Draws everything below the title."""
        replicas = self.division.plan.replicas
        head = canvas.middle(top, 2.0 * canvas.line + GAP, _WIDEST_COORDINATOR)
        workers = canvas.row_of(
            len(replicas), head.bottom() + _FLOW, self._worker_height(canvas.line)
        )
        servers = canvas.row_of(
            len(self._servers), workers[0].bottom() + _FLOW, self._server_height(canvas.line)
        )
        for replica, place in zip(replicas, workers, strict=True):
            color = self.division.device_labels.color(replica.device_key)
            x = min(max(place.center().x(), head.left() + GAP), head.right() - GAP)
            canvas.arrow(QPointF(x, head.bottom() + 1.0), QPointF(place.center().x(), place.top()))
            for target in self._targets(servers, place):
                start = QPointF(_toward(place, target.center().x()), place.bottom() + 1.0)
                end = QPointF(_toward(target, place.center().x()), target.top() - 1.0)
                canvas.arrow(start, end, color)
                canvas.arrow(end + QPointF(GAP, 0.0), start + QPointF(GAP, 0.0), color)
            canvas.box(place, self._worker_rows(replica, place), color)
        canvas.box(head, ("Coordinator", "hands each free worker the next batch"))
        for process, place in zip(self._servers, servers, strict=True):
            canvas.box(place, self._server_rows(process, place))

    def _targets(self, servers: list[QRectF], worker: QRectF) -> list[QRectF]:
        """Where the arrows of a worker go: to each server, or, if there are many, straight down."""
        if len(servers) * len(self.division.plan.replicas) <= _MOST_PAIRS:
            return servers
        return [QRectF(worker.left(), servers[0].top(), worker.width(), servers[0].height())]

    @property
    def _servers(self) -> tuple[PlannedProcess, ...]:
        return tuple(
            process
            for process in self.division.plan.gang
            if process.role is ProcessRole.PARAMETER_SERVER
        )

    def _worker_rows(self, replica: PlannedReplica, place: QRectF) -> tuple[str, ...]:
        name = self.division.plan.gang[replica.process].name
        if place.width() < ROOMY:
            return (str(replica.index), "worker")
        label = self.division.device_labels.label(replica.device_key)
        return (name.capitalize(), label, "gradients ↓  weights ↑")

    def _server_rows(self, process: PlannedProcess, place: QRectF) -> tuple[str, ...]:
        if place.width() < ROOMY:
            return (str(process.index), "server")
        kept = "the weights" if len(self._servers) == 1 else "a part of the weights"
        return (process.name.capitalize(), kept)

    def _worker_height(self, line: float) -> float:
        return 3.0 * line + 12.0

    def _server_height(self, line: float) -> float:
        return 2.0 * line + GAP


def _toward(place: QRectF, x: float) -> float:
    """The point of a box's edge that lies nearest to ``x``, off its corners."""
    return min(max(x, place.left() + 2.0 * GAP), place.right() - 3.0 * GAP)
