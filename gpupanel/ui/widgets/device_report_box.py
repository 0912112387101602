"""What TensorFlow answered to a run's device configuration, folded under its summary."""

from PySide6.QtCore import Qt, Slot
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QLabel, QPushButton, QWidget

from gpupanel.domain.event_details import LogicalDeviceAnswer
from gpupanel.domain.problem import Severity
from gpupanel.runs.following.device_report_text import (
    device_identity_text,
    devices_summary,
    is_of_gpu,
    line_text,
    memory_line,
    process_name,
    reported_devices,
)
from gpupanel.runs.following.status import RunStatus
from gpupanel.ui.device_labels import DeviceLabels
from gpupanel.ui.widgets.buttons import FoldButton
from gpupanel.ui.widgets.color_dot import ColorDot
from gpupanel.ui.widgets.labels import ElidedLabel, Note
from gpupanel.ui.widgets.layouts import column_in, discard
from gpupanel.ui.widgets.severity_icon import SIZE, SeverityIcon
from gpupanel.ui.widgets.tips import teach, wrapped

_TITLE = "TensorFlow's device report"
_TIP = (
    "The devices that TensorFlow reports once the run has started, each with its memory "
    "limit and PCI bus. The PCI bus is compared with that of the planned GPU. The CUDA "
    "context, some 300 to 500 MiB, comes on top."
)
_NOT_YET = "No report yet: the run is starting."
_NEVER = "No report: the run ended before."
_INDENT = 24


class DeviceReportBox(QWidget):
    """A line that says whether all is as planned; unfolded, a row for each logical device.

    It unfolds by itself when a device is another one than planned.

    Args:
        wide: There is room for the summary beside the title; else it stands below.
    """

    def __init__(self, *, wide: bool, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("answers_box")
        self.setAccessibleName(_TITLE)
        self._shown: tuple[object, ...] = ()
        self._text = ""
        self._was_bad = False
        self._fold = FoldButton(_TITLE)
        self._icon = SeverityIcon(None)
        self._summary: QLabel = ElidedLabel() if wide else Note()
        self._copy = QPushButton("Copy")
        self._rows = DeviceReportRows(wide=wide)
        self._lay_out(wide=wide)
        teach(self._fold, _TITLE, _TIP)
        teach(self._copy, "Copy TensorFlow's device report", "Copy the report to the clipboard.")
        self._fold.toggled.connect(self._rows.setVisible)
        self._copy.clicked.connect(self.copy)

    def setStatus(self, status: RunStatus, device_labels: DeviceLabels, whose: str = "") -> None:
        """Shows what TensorFlow answered to a run by now.

        Args:
            status: Of the run.
            device_labels: Colours and names of the devices.
            whose: Said before the summary, where it is not plain which run it is.
        """
        shown = (status.answers, status.process_names, status.outcome, device_labels, whose)
        if self._shown == shown:
            return
        self._shown = shown
        self._show_summary(status, whose)
        self._rows.setStatus(status, device_labels)
        self._text = _text(status, device_labels)

    def text(self) -> str:
        """The whole answer, as it is copied."""
        return self._text

    @Slot()
    def copy(self) -> None:
        """Puts the whole answer on the clipboard."""
        QGuiApplication.clipboard().setText(self._text)

    def _lay_out(self, *, wide: bool) -> None:
        self._summary.setObjectName("answers_summary")
        self._summary.setProperty("tone", "muted")
        self._summary.setProperty("textSize", "small")
        self._copy.setObjectName("copy_answers")
        self._rows.hide()
        head, below = QHBoxLayout(), QHBoxLayout()
        below.setContentsMargins(_INDENT, 0, 0, 0)
        said = head if wide else below
        head.addWidget(self._fold)
        said.addWidget(self._icon)
        said.addWidget(self._summary, 1)
        if not wide:
            head.addStretch(1)
        head.addWidget(self._copy)
        layout = column_in(self, spacing=4)
        layout.addLayout(head)
        layout.addLayout(below)
        layout.addWidget(self._rows)

    def _show_summary(self, status: RunStatus, whose: str) -> None:
        has_answered = bool(status.answers)
        if has_answered:
            words = devices_summary(status.answers)
        else:
            words = _NOT_YET if status.outcome is None else _NEVER
        words = f"{whose}: {words[0].lower()}{words[1:]}" if whose else words
        self._summary.setText(words)
        self._summary.setToolTip(wrapped(words))
        self.setAccessibleDescription(words)
        worst = _worst(status)
        self._icon.setSeverity(worst)
        self._icon.setVisible(has_answered)
        for button in (self._fold, self._copy):
            button.setEnabled(has_answered)
        is_bad = worst is Severity.ERROR
        if is_bad and not self._was_bad:
            self._fold.setChecked(True)
        elif not has_answered:
            self._fold.setChecked(False)
        self._was_bad = is_bad


def _worst(status: RunStatus) -> Severity | None:
    found = {
        severity(answer)
        for event in status.answers
        for answer in reported_devices(event.logical_devices)
    }
    return next((each for each in (Severity.ERROR, Severity.HINT) if each in found), None)


def _text(status: RunStatus, device_labels: DeviceLabels) -> str:
    names = {
        answer.device_key: f"{device_labels.label(answer.device_key)} ({answer.device_key})"
        for event in status.answers
        for answer in event.logical_devices
    }
    return "".join(
        f"{line_text(event, process_name(event, status.process_names), names)}\n"
        for event in status.answers
    )


_PROCESS_COLUMN, _NAME_COLUMN, _LOGICAL_COLUMN, _WORDS_COLUMN = range(2, 6)
_UNKNOWN_TIP = "TensorFlow's log reports the PCI bus of a GPU. This process's log has no such line."


class DeviceReportRows(QWidget):
    """A row for each logical device: match, colour, name, limit and memory, in words.

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
        discard(self._grid, self._cells)
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
        said = f"{memory_line(answer)}; {device_identity_text(answer)}."
        words = Note(f"{said[0].upper()}{said[1:]}")
        if is_of_gpu(answer):
            icon = SeverityIcon(severity(answer))
            icon.setToolTip(wrapped(_UNKNOWN_TIP if answer.pci_bus_id is None else words.text()))
            self._add(icon, 0)
        self._add(ColorDot(device_labels.color_number(answer.device_key)), 1)
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
