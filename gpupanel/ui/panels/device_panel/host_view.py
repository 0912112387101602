"""What the host does besides: its processors, and the disk that runs are kept on."""

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPainterPath, QPaintEvent
from PySide6.QtWidgets import QGridLayout, QLabel, QSizePolicy, QWidget
from typing_extensions import override

from gpupanel.domain.telemetry import DeviceReading, DiskReading
from gpupanel.ui import formatting, theme
from gpupanel.ui.theme import GRID
from gpupanel.ui.widgets.core_bars import CoreBars
from gpupanel.ui.widgets.labels import Tone, set_tone
from gpupanel.ui.widgets.layouts import column_in
from gpupanel.ui.widgets.tips import wrapped

_LITTLE_MIB = 5 * 1024
"""Checkpoints, logs and a saved model of a usual run fit into so much."""


class HostView(QWidget):
    """A bar per logical processor, and how full the disk of the runs is."""

    def __init__(self, color: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._cores = CoreBars(color)
        self._shown: DiskReading | None = None
        self._disk = QWidget()
        self._disk_bar = _DiskBar()
        self._free = QLabel()
        self._free.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        caption = QLabel("Runs folder")
        for label in (caption, self._free):
            label.setProperty("textSize", "small")
        set_tone(caption, Tone.MUTED)
        row = QGridLayout(self._disk)
        row.setContentsMargins(0, 0, 0, 0)
        row.setHorizontalSpacing(GRID)
        row.setColumnStretch(1, 1)
        row.addWidget(caption, 0, 0)
        row.addWidget(self._disk_bar, 0, 1)
        row.addWidget(self._free, 0, 2)
        layout = column_in(self)
        layout.addWidget(self._cores)
        layout.addWidget(self._disk)
        self._cores.hide()
        self._disk.hide()

    def setReading(self, reading: DeviceReading | None) -> None:
        """Show how busy each processor is, as far as that is known."""
        if reading is not None and reading.core_utilization_percent:
            self._cores.setValues(reading.core_utilization_percent)
            self._cores.show()

    def setDisk(self, disk: DiskReading | None) -> None:
        """Show how full the disk is; nothing where nobody asked it."""
        self._disk.setVisible(disk is not None)
        if disk is None:
            return
        if disk == self._shown:
            return
        self._shown = disk
        self._disk_bar.setReading(disk)
        is_little = disk.free_mib < _LITTLE_MIB
        free = f"{formatting.mib(disk.free_mib)} free"
        self._free.setText(f"only {free}" if is_little else free)
        set_tone(self._free, Tone.WARNING if is_little else Tone.PLAIN)
        self._disk.setToolTip(
            wrapped(
                f"{free} of {formatting.mib(disk.total_mib)} on the disk of {disk.path}, where "
                "runs keep their checkpoints and logs."
            )
        )


class _DiskBar(QWidget):
    """How full a disk is."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._used = 0.0
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def setReading(self, disk: DiskReading) -> None:
        """Show that."""
        self._used = 1.0 - disk.free_mib / max(1, disk.total_mib)
        self.update()

    @override
    def sizeHint(self) -> QSize:
        return QSize(64, GRID)

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        bar = QRectF(self.rect())
        shape = QPainterPath()
        shape.addRoundedRect(bar, 3.0, 3.0)
        painter.setClipPath(shape)
        painter.fillRect(bar, theme.current().color("track"))
        bar.setWidth(bar.width() * min(1.0, max(0.0, self._used)))
        painter.fillRect(bar, theme.current().color("others"))
