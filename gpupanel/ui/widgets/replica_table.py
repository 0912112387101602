"""Which replica is where, and what it takes; or where layers can be placed."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QWidget

from gpupanel.domain.plan import LaunchPlan
from gpupanel.ui import formatting
from gpupanel.ui.device_labels import DeviceLabels
from gpupanel.ui.widgets.color_dot import ColorDot
from gpupanel.ui.widgets.labels import NameLabel, Note
from gpupanel.ui.widgets.layouts import CellGrid
from gpupanel.ui.widgets.tips import wrapped

_LONGEST = 30
"""Characters: the name of a node may be as long as that of a host, and is shortened."""
_HEADINGS = (
    ("Replica", "One copy of the model; counted from 0, as TensorFlow counts."),
    ("Physical device", "One GPU as NVML lists it, or the host's CPU."),
    ("Logical device", "TensorFlow's device; several per GPU when it is split."),
    ("Share", "Examples of each global batch that the replica takes."),
)


class ReplicaTable(CellGrid):
    """A row per replica, or per place for layers; built anew only when the plan is another."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(stretched=2, spacing=12, first=1, parent=parent)
        self.setAccessibleName("Replicas")
        labels = [QLabel(heading) for heading, _ in _HEADINGS]
        self._numbers, self._shares = labels[0], labels[-1]
        for place, (label, (heading, tip)) in enumerate(zip(labels, _HEADINGS, strict=True)):
            label.setProperty("tone", "muted")
            label.setProperty("textSize", "small")
            label.setToolTip(wrapped(tip))
            self.grid.addWidget(label, 0, place + 1 if place else 0, 1, 1 if place else 2)
            if heading == "Share":
                label.setAlignment(Qt.AlignmentFlag.AlignRight)
        self._shown: tuple[LaunchPlan, DeviceLabels, bool] | None = None

    def has_plan(self) -> bool:
        """Whether a plan was ever shown."""
        return self._shown is not None

    def setPlan(
        self, plan: LaunchPlan, device_labels: DeviceLabels, *, of_program: bool = False
    ) -> None:
        """Shows the replicas of a plan.

        Args:
            plan: What would be launched.
            device_labels: Of the devices.
            of_program: A program of the person's own sees these devices: what it does with them,
                and how large a batch of it is, nobody knows.
        """
        if self._shown == (plan, device_labels, of_program):
            return
        self._shown = (plan, device_labels, of_program)
        number = "Number" if of_program else "Replica"
        self._numbers.setText("Place" if plan.places else number)
        divides = not plan.places or len(plan.replicas) > 1
        self._shares.setVisible(divides and not of_program)

        def cells(number: int, row: tuple[str, str, str]) -> tuple[QWidget, ...]:
            key, logical, share = row
            return (
                ColorDot(device_labels.color_number(key)),
                QLabel(str(number)),
                NameLabel(device_labels.label(key)),
                _copyable(logical),
                *([] if of_program else [_number(share)]),
            )

        self.set_rows(_rows(plan), cells, Note)


def _rows(plan: LaunchPlan) -> list[tuple[str, str, str]]:
    """Device, logical device (in its process) and share of each replica, or of each place."""
    if plan.places:
        shares = ["" if len(plan.replicas) == 1 else formatting.count(each) for each in plan.shares]
        return [
            (place.device_key, place.logical_device, shares[number // plan.stage_count])
            for number, place in enumerate(plan.places)
        ]
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
    if len(text) > _LONGEST:
        return NameLabel(text)
    label = QLabel(text)
    label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    return label


def _number(text: str) -> QLabel:
    label = QLabel(text)
    label.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
    return label
