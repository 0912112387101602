"""All that a GPU reports and a person rarely asks."""

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QGridLayout, QLabel, QToolButton, QWidget

from gpupanel.domain.device import PhysicalDevice
from gpupanel.domain.telemetry import DeviceReading
from gpupanel.ui.panels.device_panel.details import DETAILS
from gpupanel.ui.theme import GRID
from gpupanel.ui.widgets.buttons import FoldButton
from gpupanel.ui.widgets.labels import ElidedLabel, Tone, set_tone
from gpupanel.ui.widgets.layouts import column_in, discard
from gpupanel.ui.widgets.process_list import ProcessList
from gpupanel.ui.widgets.tips import wrapped

_LINK_TIP = "How the two GPUs are connected: the closer, the faster they exchange gradients."


class DetailsView(QWidget):
    """Clocks, links, errors, identity and processes; each line keeps its place."""

    def __init__(self, device: PhysicalDevice, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._device = device
        self._values: list[QLabel] = []
        self._links: tuple[tuple[str, str], ...] = ()
        self._link_labels: list[QLabel] = []
        self._grid = QGridLayout()
        self.processes = ProcessList()
        """The processes on the device; some can be ended."""
        self._arrange()
        self.setReading(None)

    def setReading(self, reading: DeviceReading | None) -> None:
        """Show these readings; a dash for each that is not known."""
        shown = reading or DeviceReading(key=self._device.key)
        for detail, label in zip(DETAILS, self._values, strict=True):
            words = detail.words(self._device, shown)
            if words != label.text():
                label.setText(words)
                # What is too long for its line can be read here.
                label.setToolTip(f"{wrapped(words)}<p>{wrapped(detail.tip)}</p>")
        processes = shown.processes
        if self._device.node is not None:
            # By its number a process of this machine would be ended, which is another one.
            processes = tuple(each.model_copy(update={"is_mine": False}) for each in processes)
        self.processes.setProcesses(processes)

    def setLinks(self, links: tuple[tuple[str, str], ...]) -> None:
        """Show how the GPU is connected: each kind of link in words, and to which GPUs."""
        if links == self._links:
            return
        self._links = links
        discard(self._grid, self._link_labels)
        self._link_labels = []
        for row, (words, others) in enumerate(links, start=len(DETAILS) + 1):
            value = QLabel(others)
            value.setWordWrap(True)
            caption = self._add_row(row, words[:1].upper() + words[1:], value, _LINK_TIP)
            self._link_labels += (caption, value)

    def setRunProcesses(self, pids: frozenset[int]) -> None:
        """Say which processes are of a run that goes on."""
        self.processes.setRunProcesses(pids)

    def _arrange(self) -> None:
        self._grid.setHorizontalSpacing(GRID)
        self._grid.setVerticalSpacing(2)
        self._grid.setColumnStretch(1, 1)
        for row, detail in enumerate(DETAILS):
            # One line each, however many reasons there are now: nothing below may move.
            value = ElidedLabel()
            self._add_row(row, detail.caption, value, detail.tip)
            self._values.append(value)
        self._add_key(len(DETAILS))
        caption = _small("Processes")
        layout = column_in(self, spacing=GRID // 2)
        layout.addLayout(self._grid)
        layout.addSpacing(GRID // 2)
        layout.addWidget(caption)
        layout.addWidget(self.processes)

    def _add_row(self, row: int, caption: str, value: QLabel, tip: str) -> QLabel:
        label = _small(caption)
        value.setProperty("textSize", "small")
        for each in (label, value):
            each.setTextFormat(Qt.TextFormat.PlainText)
            each.setToolTip(wrapped(tip))
        self._grid.addWidget(label, row, 0, Qt.AlignmentFlag.AlignTop)
        self._grid.addWidget(value, row, 1, Qt.AlignmentFlag.AlignTop)
        return label

    def _add_key(self, row: int) -> None:
        key = ElidedLabel(self._device.key)
        key.setProperty("textSize", "small")
        key.setElideMode(Qt.TextElideMode.ElideMiddle)
        key.setToolTip(wrapped(f"{self._device.key}: the name of the device in profiles."))
        copy = QToolButton()
        copy.setText("Copy")
        copy.setProperty("role", "link")
        copy.setToolTip("Copy the UUID to the clipboard.")
        copy.setAccessibleName("Copy the UUID")
        copy.clicked.connect(self._copy_key)
        line = QGridLayout()
        line.setSpacing(GRID // 2)
        line.setColumnStretch(0, 1)
        line.addWidget(key, 0, 0)
        line.addWidget(copy, 0, 1)
        self._grid.addWidget(_small("UUID"), row, 0)
        self._grid.addLayout(line, row, 1)

    @Slot()
    def _copy_key(self) -> None:
        QGuiApplication.clipboard().setText(self._device.key)


def _small(caption: str) -> QLabel:
    label = QLabel(caption)
    label.setProperty("textSize", "small")
    set_tone(label, Tone.MUTED)
    return label


class DetailsFold(QWidget):
    """The title, and below it the :class:`DetailsView`; until it is unfolded it costs nothing."""

    endRequested = Signal(object)
    """A person wants the process to end: the :class:`DeviceProcess`."""

    def __init__(self, device: PhysicalDevice, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._device = device
        self._view: DetailsView | None = None
        self._reading: DeviceReading | None = None
        self._links: tuple[tuple[str, str], ...] = ()
        self._run_processes: frozenset[int] = frozenset()
        self._fold = FoldButton("Details")
        self._fold.setProperty("textSize", "small")
        self._fold.setToolTip("Clocks, links, errors, identity and processes of this device.")
        self._layout = column_in(self, spacing=GRID // 2)
        self._layout.addWidget(self._fold)
        self._fold.toggled.connect(self._unfold)

    def setReading(self, reading: DeviceReading | None) -> None:
        """Show what the device reported now."""
        self._reading = reading
        self._show()

    def setLinks(self, links: tuple[tuple[str, str], ...]) -> None:
        """Show how the GPU is connected: each kind of link in words, and to which GPUs."""
        self._links = links
        self._show()

    def setRunProcesses(self, pids: frozenset[int]) -> None:
        """Say which processes are of a run that goes on."""
        self._run_processes = pids
        self._show()

    def _show(self) -> None:
        if self._view is None or not self._fold.isChecked():
            return
        self._view.setLinks(self._links)
        self._view.setRunProcesses(self._run_processes)
        self._view.setReading(self._reading)

    @Slot(bool)
    def _unfold(self, unfolded: bool) -> None:
        if self._view is None:
            self._view = DetailsView(self._device)
            self._view.processes.endRequested.connect(self.endRequested)
            self._layout.addWidget(self._view)
        self._view.setVisible(unfolded)
        self._show()
