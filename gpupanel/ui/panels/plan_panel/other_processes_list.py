"""Who uses the chosen devices before the run starts."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QLabel, QVBoxLayout, QWidget

from gpupanel.domain.telemetry import DeviceProcess
from gpupanel.planning.other_processes import OtherProcesses
from gpupanel.ui import formatting
from gpupanel.ui.device_labels import DeviceLabels
from gpupanel.ui.process_text import process_label
from gpupanel.ui.widgets.color_dot import ColorDot
from gpupanel.ui.widgets.labels import Caption, ElidedLabel, NameLabel
from gpupanel.ui.widgets.layouts import discard
from gpupanel.ui.widgets.tips import wrapped

_MOST_ROWS = 5
_MOST_DEVICES = 12
"""Processes of one device; the device's own list has all of them."""
_SHARED = (
    "Other processes use these devices. Their memory is not available to the run, and they "
    "may take more during the run."
)

_NOW, _BEFORE = "Other processes on these devices", "Other processes before the run"
_Identity = tuple[str, int, float | None]


class OtherProcessesList(QWidget):
    """A line per device with all that is in use of it, below it one per process.

    Rows keep their place while values change: only who comes or goes builds the list anew.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("others_list")
        self.setToolTip(wrapped(_SHARED))
        self._caption = Caption(_NOW)
        self._grid = QGridLayout()
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(8)
        self._grid.setVerticalSpacing(4)
        self._grid.setColumnStretch(1, 1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 8, 0, 0)
        layout.setSpacing(8)
        layout.addWidget(self._caption)
        layout.addLayout(self._grid)
        self._cells: list[QWidget] = []
        self._rows = 0
        self._numbers: dict[_Identity | str, QLabel] = {}
        self._order: dict[str, list[_Identity]] = {}
        self._device_labels = DeviceLabels()
        self.hide()

    def setGoing(self, *, is_going: bool) -> None:
        """Say whether a run goes on: then this is what was there before it."""
        self._caption.setText(_BEFORE if is_going else _NOW)

    def setOtherProcesses(
        self, others: tuple[OtherProcesses, ...], device_labels: DeviceLabels
    ) -> None:
        """Show the processes on the chosen devices; nothing at all where there is none."""
        self.setVisible(bool(others))
        order = {held.device_key: self._ordered(held) for held in others[:_MOST_DEVICES]}
        if order != self._order or device_labels != self._device_labels:
            self._order, self._device_labels = order, device_labels
            self._build(others)
        for held in others[:_MOST_DEVICES]:
            self._numbers[held.device_key].setText(formatting.mib(held.memory_mib))
            for process in held.processes:
                number = self._numbers.get(_identity(held, process))
                if number is not None:
                    number.setText(formatting.mib(process.memory_used_mib))

    def _ordered(self, held: OtherProcesses) -> list[_Identity]:
        """Those that were there before in their places, then the others as they come."""
        now = [_identity(held, process) for process in held.processes]
        before = [each for each in self._order.get(held.device_key, []) if each in now]
        return [*before, *(each for each in now if each not in before)]

    def _build(self, others: tuple[OtherProcesses, ...]) -> None:
        discard(self._grid, self._cells)
        self._cells, self._numbers, self._rows = [], {}, 0
        for held in others[:_MOST_DEVICES]:
            label = self._device_labels.label(held.device_key, held.device_name)
            dot = ColorDot(self._device_labels.color_number(held.device_key))
            self._add_row(held.device_key, NameLabel(label), dot)
            known = {_identity(held, process): process for process in held.processes}
            order = self._order[held.device_key]
            for identity in order[:_MOST_ROWS]:
                self._add_row(identity, _process_label(known[identity]))
            if len(order) > _MOST_ROWS:
                self._add_row(None, _quiet(ElidedLabel(f"{len(order) - _MOST_ROWS} more")))
        if len(others) > _MOST_DEVICES:
            words = f"and {len(others) - _MOST_DEVICES:,} more GPUs that others use"
            self._add_row(None, _quiet(ElidedLabel(words)))

    def _add_row(
        self, identity: _Identity | str | None, label: QLabel, dot: ColorDot | None = None
    ) -> None:
        row, self._rows = self._rows, self._rows + 1
        number = QLabel()
        number.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        if dot is not None:
            self._grid.addWidget(dot, row, 0)
            self._cells.append(dot)
        else:
            _quiet(number)
        self._grid.addWidget(label, row, 1)
        self._grid.addWidget(number, row, 2)
        self._cells += [label, number]
        if identity is not None:
            self._numbers[identity] = number


def _identity(held: OtherProcesses, process: DeviceProcess) -> _Identity:
    return held.device_key, process.pid, process.started_s


def _process_label(process: DeviceProcess) -> QLabel:
    label = _quiet(ElidedLabel(process_label(process)))
    about = (f"Process {process.pid}", process.command or "")
    label.setToolTip("".join(wrapped(line) for line in about))
    return label


def _quiet(label: QLabel) -> QLabel:
    label.setProperty("tone", "muted")
    label.setProperty("textSize", "small")
    return label
