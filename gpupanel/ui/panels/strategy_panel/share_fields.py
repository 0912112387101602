"""A number field for the share of each replica."""

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget
from typing_extensions import override

from gpupanel.domain.plan import LaunchPlan, replica_name
from gpupanel.ui.device_labels import DeviceLabels
from gpupanel.ui.inputs.counter import Counter
from gpupanel.ui.widgets.color_dot import ColorDot
from gpupanel.ui.widgets.labels import NameLabel
from gpupanel.ui.widgets.layouts import column_in, discard, row_in
from gpupanel.ui.widgets.tips import teach, wrapped

_TIP = (
    "Examples of each global batch that this replica takes; all shares sum to its size. They need "
    "not be equal: a faster device can take more, and the result stays the same."
)


class ShareFields(QWidget):
    """One row per replica: the colour and name of its device, and its number of examples."""

    valueChanged = Signal(object)
    """A person changed a share: all shares, a tuple of int."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._rows: list[_ShareRow] = []
        self._column = column_in(self)

    def setValue(self, shares: Sequence[int]) -> None:
        """Shows other shares silently; as many rows as there are shares."""
        while len(self._rows) > len(shares):
            row = self._rows.pop()
            discard(self._column, [row])
        while len(self._rows) < len(shares):
            row = _ShareRow(len(self._rows), self)
            row.field.valueChanged.connect(partial(self._take, len(self._rows)))
            self._rows.append(row)
            self._column.addWidget(row)
        for row, share in zip(self._rows, shares, strict=True):
            row.field.setValue(share)

    def value(self) -> tuple[int, ...]:
        """The shares as shown."""
        return tuple(row.field.value() for row in self._rows)

    def setPlan(self, plan: LaunchPlan | None, device_labels: DeviceLabels) -> None:
        """Names the devices of the replicas, where the plan has as many."""
        if plan is None or len(plan.replicas) != len(self._rows):
            return
        for number, row in enumerate(self._rows):
            keys = plan.devices_of_replica(number)
            row.show_device(device_labels.color_number(keys[0]), device_labels.together(keys))

    def _take(self, _replica: int, _share: int) -> None:
        self.valueChanged.emit(self.value())


class _ReplicaLabel(NameLabel):
    """Which replica it is, and its device; in fewer words where there is little room."""

    def __init__(self, replica: int) -> None:
        super().__init__(f"Replica {replica}")
        self._replica, self._shorter = replica, f"{replica}"

    def show_device(self, label: str) -> None:
        """The device that the replica runs on."""
        self._shorter = f"{self._replica} \N{MIDDLE DOT} {label}"
        self.setText(replica_name(self._replica, label))

    @override
    def wordsFor(self, width: int) -> str:
        fits = self.fontMetrics().horizontalAdvance(self.text()) < width
        return self.text() if fits else self._shorter


class _ShareRow(QWidget):
    """The field of one replica."""

    def __init__(self, replica: int, parent: QWidget) -> None:
        super().__init__(parent)
        self._replica = replica
        self._dot: ColorDot | None = None
        self._number: int | None = None
        self._name = _ReplicaLabel(replica)
        self.field = Counter(unit="example")
        teach(self.field, f"Share of replica {replica}", _TIP)
        self._name.setToolTip(wrapped(_TIP))
        self._layout = row_in(self)
        self._layout.addWidget(self._name, 3)
        self._layout.addWidget(self.field, 2)

    def show_device(self, number: int | None, label: str) -> None:
        """The device that the replica runs on."""
        if self._dot is None or number != self._number:
            if self._dot is not None:
                self._layout.removeWidget(self._dot)
                self._dot.deleteLater()
            self._dot, self._number = ColorDot(number), number
            self._layout.insertWidget(0, self._dot)
        name = replica_name(self._replica, label)
        self._name.show_device(label)
        self._name.setToolTip(wrapped(f"{name}. {_TIP}"))
        teach(self.field, f"Share of {name[:1].lower()}{name[1:]}", _TIP)
