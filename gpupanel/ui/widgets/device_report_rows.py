"""TensorFlow's logical devices, each beside the device that it is made of."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QLabel, QWidget

from gpupanel.domain.event_details import LogicalDeviceAnswer
from gpupanel.domain.problem import Severity
from gpupanel.runs.following.device_report_text import (
    is_of_gpu,
    memory_words,
    place_words,
    process_name,
    reported_devices,
)
from gpupanel.runs.following.status import RunStatus
from gpupanel.ui.device_labels import DeviceLabels
from gpupanel.ui.widgets.color_dot import ColorDot
from gpupanel.ui.widgets.note import Note
from gpupanel.ui.widgets.severity_icon import SIZE, SeverityIcon
from gpupanel.ui.widgets.tips import wrapped

_PROCESS_COLUMN, _NAME_COLUMN, _LOGICAL_COLUMN, _WORDS_COLUMN = range(2, 6)
_INDENT = 24
_UNKNOWN_TIP = "TensorFlow's log reports the PCI bus of a GPU. This process's log has no such line."


class DeviceReportRows(QWidget):
    """A row for each logical device: agreement, colour, name, limit and memory, in words.

    Args:
        wide: There is room for the words beside the name; else they stand below.
    """

    def __init__(self, *, wide: bool, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("answer_rows")
        self._wide = wide
        self._cells: list[QWidget] = []
        self._row = 0
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(_INDENT, 0, 0, 0)
        self._grid.setHorizontalSpacing(8)
        self._grid.setVerticalSpacing(4)
        self._grid.setColumnMinimumWidth(0, SIZE)
        self._grid.setColumnStretch(_WORDS_COLUMN, 1)

    def setStatus(self, status: RunStatus, device_labels: DeviceLabels) -> None:
        """Shows what every process of a run was answered."""
        for cell in self._cells:
            self._grid.removeWidget(cell)
            cell.hide()
            cell.deleteLater()
        self._cells, self._row = [], 0
        for event in status.answers:
            self._add_process(process_name(event, status.process_names))
            for answer in reported_devices(event.logical_devices):
                self._add_answer(answer, device_labels)

    def _add_process(self, name: str) -> None:
        if not name:
            return
        label = QLabel(name.removeprefix("the ").capitalize())
        label.setTextFormat(Qt.TextFormat.PlainText)
        if self._wide:
            self._add(label, _PROCESS_COLUMN)
        else:
            self._add(label, 0, _WORDS_COLUMN + 1)
            self._row += 1

    def _add_answer(self, answer: LogicalDeviceAnswer, device_labels: DeviceLabels) -> None:
        name = QLabel(device_labels.label(answer.device_key))
        name.setTextFormat(Qt.TextFormat.PlainText)
        name.setToolTip(wrapped(f"Planned device: {answer.device_key}."))
        logical = QLabel(answer.name)
        logical.setTextFormat(Qt.TextFormat.PlainText)
        logical.setProperty("tone", "muted")
        logical.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        said = f"{memory_words(answer)}; {place_words(answer)}."
        words = Note(f"{said[0].upper()}{said[1:]}")
        if is_of_gpu(answer):
            icon = SeverityIcon(severity(answer))
            icon.setToolTip(wrapped(_UNKNOWN_TIP if answer.pci_bus_id is None else words.text()))
            self._add(icon, 0)
        self._add(ColorDot(device_labels.index(answer.device_key)), 1)
        self._add(name, _NAME_COLUMN)
        self._add(logical, _LOGICAL_COLUMN)
        if self._wide:
            self._add(words, _WORDS_COLUMN)
        else:
            self._row += 1
            self._add(words, _NAME_COLUMN, _WORDS_COLUMN - _NAME_COLUMN + 1)
        self._row += 1

    def _add(self, cell: QWidget, place: int, columns: int = 1) -> None:
        self._grid.addWidget(cell, self._row, place, 1, columns)
        self._cells.append(cell)


def severity(answer: LogicalDeviceAnswer) -> Severity | None:
    """A tick for the planned device, a cross for another one, an i for what is not known."""
    if not is_of_gpu(answer) or answer.is_as_planned:
        return None
    return Severity.HINT if answer.is_as_planned is None else Severity.ERROR
