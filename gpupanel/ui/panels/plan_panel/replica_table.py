"""Which replica runs where, and what it takes."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QLabel, QWidget

from gpupanel.domain.plan import LaunchPlan
from gpupanel.ui import formatting
from gpupanel.ui.device_labels import DeviceLabels
from gpupanel.ui.widgets.color_dot import ColorDot
from gpupanel.ui.widgets.elided_label import ElidedLabel
from gpupanel.ui.widgets.tips import wrapped

_HEADINGS = (
    ("Replica", "One copy of the model; counted from 0, as TensorFlow counts."),
    ("Physical device", "One GPU as NVML lists it, or the host's processor."),
    ("Logical device", "TensorFlow's device; several per GPU when it is split."),
    ("Share", "Examples of each global batch that the replica takes."),
)


class ReplicaTable(QWidget):
    """A row per replica, or per place for layers; built anew only when the plan is another."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName("Replicas")
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(12)
        self._grid.setVerticalSpacing(4)
        self._grid.setColumnStretch(2, 1)
        labels = [QLabel(heading) for heading, _ in _HEADINGS]
        self._first, self._last = labels[0], labels[-1]
        for place, (label, (heading, tip)) in enumerate(zip(labels, _HEADINGS, strict=True)):
            label.setProperty("tone", "muted")
            label.setProperty("textSize", "small")
            label.setToolTip(wrapped(tip))
            self._grid.addWidget(label, 0, place + 1 if place else 0, 1, 1 if place else 2)
            if heading == "Share":
                label.setAlignment(Qt.AlignmentFlag.AlignRight)
        self._cells: list[QWidget] = []
        self._shown: tuple[LaunchPlan, DeviceLabels] | None = None

    def has_plan(self) -> bool:
        """Whether a plan was ever shown."""
        return self._shown is not None

    def setPlan(self, plan: LaunchPlan, device_labels: DeviceLabels) -> None:
        """Shows the replicas of a plan."""
        if self._shown == (plan, device_labels):
            return
        self._shown = (plan, device_labels)
        for cell in self._cells:
            self._grid.removeWidget(cell)
            cell.hide()
            cell.deleteLater()
        self._cells = []
        self._first.setText("Place" if plan.places else "Replica")
        self._last.setVisible(not plan.places)
        for row, (key, logical, share) in enumerate(_rows(plan), start=1):
            taken = QLabel(share)
            taken.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
            cells: tuple[QWidget, ...] = (
                ColorDot(device_labels.index(key)),
                QLabel(str(row - 1)),
                ElidedLabel(device_labels.label(key)),
                _copyable(logical),
                taken,
            )
            for place, cell in enumerate(cells):
                self._grid.addWidget(cell, row, place)
            self._cells.extend(cells)


def _rows(plan: LaunchPlan) -> list[tuple[str, str, str]]:
    """Device, logical device (in its process) and share of each replica, or of each place."""
    if plan.places:
        return [(place.device_key, place.logical_device, "") for place in plan.places]
    names = [f"{process.name}: " if len(plan.gang) > 1 else "" for process in plan.gang]
    return [
        (
            replica.device_key,
            f"{names[replica.process]}{replica.logical_device}",
            formatting.count(replica.share),
        )
        for replica in plan.replicas
    ]


def _copyable(text: str) -> QLabel:
    label = QLabel(text)
    label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    return label
