"""Which replica runs where, and what it takes."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QLabel, QWidget

from gpupanel.domain.plan import LaunchPlan
from gpupanel.ui import formatting
from gpupanel.ui.device_faces import DeviceFaces
from gpupanel.ui.widgets.color_dot import ColorDot
from gpupanel.ui.widgets.elided_label import ElidedLabel
from gpupanel.ui.widgets.tips import wrapped

_HEADINGS = (
    ("Replica", "One copy of the model; counted from 0, as TensorFlow counts."),
    ("Physical device", "One GPU as NVML lists it, or the host's processor."),
    ("Logical device", "What TensorFlow makes of it; several per GPU when it is split."),
    ("Share", "Examples of each global batch that the replica takes."),
)


class ReplicaTable(QWidget):
    """A row per replica; built anew only when the plan says something else."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName("Replicas")
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(12)
        self._grid.setVerticalSpacing(4)
        self._grid.setColumnStretch(2, 1)
        for place, (heading, tip) in enumerate(_HEADINGS):
            label = QLabel(heading)
            label.setProperty("tone", "muted")
            label.setProperty("textSize", "small")
            label.setToolTip(wrapped(tip))
            self._grid.addWidget(label, 0, place + 1 if place else 0, 1, 1 if place else 2)
            if heading == "Share":
                label.setAlignment(Qt.AlignmentFlag.AlignRight)
        self._cells: list[QWidget] = []
        self._shown: tuple[LaunchPlan, DeviceFaces] | None = None

    def has_plan(self) -> bool:
        """Whether a plan was ever shown."""
        return self._shown is not None

    def setPlan(self, plan: LaunchPlan, faces: DeviceFaces) -> None:
        """Shows the replicas of a plan."""
        if self._shown == (plan, faces):
            return
        self._shown = (plan, faces)
        for cell in self._cells:
            self._grid.removeWidget(cell)
            cell.hide()
            cell.deleteLater()
        self._cells = []
        for row, replica in enumerate(plan.replicas, start=1):
            share = QLabel(formatting.count(replica.share))
            share.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
            cells: tuple[QWidget, ...] = (
                ColorDot(faces.index(replica.device_key)),
                QLabel(str(replica.index)),
                ElidedLabel(faces.label(replica.device_key)),
                _copyable(replica.logical_device),
                share,
            )
            for place, cell in enumerate(cells):
                self._grid.addWidget(cell, row, place)
            self._cells.extend(cells)


def _copyable(text: str) -> QLabel:
    label = QLabel(text)
    label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    return label
