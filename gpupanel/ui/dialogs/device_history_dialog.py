"""What all devices did in the last hour."""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial

from PySide6.QtCore import Qt, QTimer, Slot
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QGridLayout,
    QLabel,
    QVBoxLayout,
    QWidget,
)
from typing_extensions import override

from gpupanel.devices.device_history import (
    HISTORY_S,
    MEMORY,
    POWER,
    SLOT_S,
    TEMPERATURE,
    UTILIZATION,
    DeviceHistory,
    RecordedReading,
)
from gpupanel.domain.device import DeviceInventory
from gpupanel.ui import formatting
from gpupanel.ui.device_labels import DeviceLabels
from gpupanel.ui.plots.axis_range import AxisKind
from gpupanel.ui.plots.curve import Curve
from gpupanel.ui.plots.sample_buffer import SampleBuffer
from gpupanel.ui.plots.time_plot import TimePlot
from gpupanel.ui.theme import GRID
from gpupanel.ui.widgets.color_dot import ColorDot
from gpupanel.ui.widgets.flow_layout import FlowLayout
from gpupanel.ui.widgets.labels import Note
from gpupanel.ui.widgets.layouts import discard, row_in
from gpupanel.ui.widgets.screen_fit import resize_within_screen

_CAPACITY = 1024
"""More points than the slots and the gaps of an hour: none is ever left out."""
_REDRAW_INTERVAL_MS = 250
_SPANS_S = (300.0, 900.0, 1_800.0, HISTORY_S)
"""What is shown of the last hour: the least that holds all. A window of a minute's age would show
an empty hour with a dot at its end."""


@dataclass(frozen=True, slots=True)
class _Kind:
    """One of the plots."""

    kept: RecordedReading
    title: str
    tip: str
    text: Callable[[float | None], str]
    widest: str
    is_percent: bool = False


_KINDS = (
    _Kind(
        UTILIZATION,
        "Utilization, %",
        "Percent of the time in which some kernel ran, or the CPU's cores were busy.",
        formatting.percent,
        "100 %",
        is_percent=True,
    ),
    _Kind(
        MEMORY,
        "Memory, %",
        "Percent of each device's memory in use by all processes.",
        formatting.percent,
        "100 %",
        is_percent=True,
    ),
    _Kind(
        TEMPERATURE,
        "Temperature, °C",
        "Of the GPU's core, or the CPU.",
        formatting.celsius,
        "100 °C",
    ),
    _Kind(POWER, "Power, W", "Drawn by the whole board.", formatting.watts, "1000 W"),
)


class DeviceHistoryDialog(QDialog):
    """A plot for each reading, a curve for each device in its colour; all show the same time.

    Args:
        history: What is shown.
        parent: The window, which stays usable.
    """

    def __init__(self, history: DeviceHistory, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("device_history_dialog")
        self.setWindowTitle("Devices in the last hour")
        self._history = history
        self._buffers: dict[tuple[str, _Kind], SampleBuffer] = {}
        self._curves: tuple[tuple[str, _Kind, int | None, str], ...] | None = None
        self._chosen: tuple[float, float] | None = None
        self._hidden: frozenset[str] = frozenset()
        self._pointer: float | None = None
        self._begin_s: float | None = None
        self.plots = {kind.kept.name: _plot(kind) for kind in _KINDS}
        """The plots by the name of their reading."""
        self._names = FlowLayout()
        self._named: list[QWidget] = []
        self._note = Note(
            f"Kept as long as this window is open, with and without a run: a mean every "
            f"{SLOT_S:.0f} seconds, so that short peaks look lower."
        )
        self._timer = QTimer(self, interval=_REDRAW_INTERVAL_MS)
        self._timer.timeout.connect(self._redraw)
        self._arrange()
        for plot in self.plots.values():
            plot.timeRangeChosen.connect(self._take_times)
            plot.timeRangeReset.connect(self._follow)
            plot.pointed.connect(self._take_pointer)
            plot.curveToggled.connect(self._toggle_curve)

    def show_devices(self, inventory: DeviceInventory | None) -> None:
        """Bring the curves up to date.

        Args:
            inventory: Names the devices; ``None`` while they are not known.
        """
        labels = DeviceLabels(inventory)
        devices = inventory.devices if inventory else ()
        moments = {
            (device.key, kind): self._history.moments(device.key, kind.kept)
            for device in devices
            for kind in _KINDS
        }
        # A reading that a device does not report has no curve.
        known = [each for each, found in moments.items() if any(v is not None for _, v in found)]
        curves = tuple(
            (key, kind, labels.color_number(key), labels.label(key)) for key, kind in known
        )
        if curves != self._curves:
            self._curves = curves
            self._make_curves(labels, known)
            self._name_devices(labels, dict.fromkeys(key for key, _ in known))
        times = [time_s for found in moments.values() for time_s, _ in found]
        self._begin_s = min(times, default=None)
        for each, buffer in self._buffers.items():
            buffer.clear()
            for time_s, value in moments[each]:
                buffer.append(time_s, value)
        self._show_times()

    @override
    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._timer.start()

    @override
    def hideEvent(self, event: QHideEvent) -> None:
        self._timer.stop()
        super().hideEvent(event)

    def _make_curves(self, labels: DeviceLabels, known: "list[tuple[str, _Kind]]") -> None:
        self._buffers = {each: SampleBuffer(_CAPACITY) for each in known}
        for kind in _KINDS:
            curves = (
                Curve(buffer, labels.label(key), partial(labels.color, key), kind.text, kind.widest)
                for (key, of), buffer in self._buffers.items()
                if of is kind
            )
            self.plots[kind.kept.name].setCurves(tuple(curves))

    def _name_devices(self, labels: DeviceLabels, keys: Iterable[str]) -> None:
        """Legends of many curves have no room for names: they stand above all plots."""
        discard(self._names, self._named)
        self._named = []
        for key in keys:
            device = QWidget()
            row = row_in(device, spacing=GRID // 2)
            row.addWidget(ColorDot(labels.color_number(key)))
            name = QLabel(labels.label(key))
            name.setTextFormat(Qt.TextFormat.PlainText)
            row.addWidget(name)
            self._names.addWidget(device)
            self._named.append(device)

    def _show_times(self) -> None:
        end_s = self._history.end_s
        if end_s is None:
            return
        kept_s = HISTORY_S if self._begin_s is None else end_s - self._begin_s
        span_s = next((span for span in _SPANS_S if kept_s <= span), HISTORY_S)
        times = self._chosen or (end_s - span_s, end_s)
        for plot in self.plots.values():
            plot.setTimeRange(*times)
        self._redraw()

    @Slot()
    def _redraw(self) -> None:
        if self.isVisible():
            for plot in self.plots.values():
                plot.redraw(self._pointer)

    @Slot(float, float)
    def _take_times(self, start_s: float, end_s: float) -> None:
        self._chosen = (start_s, end_s)
        self._show_times()

    @Slot()
    def _follow(self) -> None:
        self._chosen = None
        for plot in self.plots.values():
            plot.fitValues()
        self._show_times()

    @Slot(object)
    def _take_pointer(self, position: float | None) -> None:
        self._pointer = position
        self._redraw()

    @Slot(str)
    def _toggle_curve(self, label: str) -> None:
        self._hidden ^= {label}
        for plot in self.plots.values():
            plot.setHiddenCurves(self._hidden)
        self._redraw()

    def _arrange(self) -> None:
        grid = QGridLayout()
        grid.setSpacing(GRID)
        for place, plot in enumerate(self.plots.values()):
            grid.addWidget(plot, place // 2, place % 2)
            grid.setRowStretch(place // 2, 1)
            grid.setColumnStretch(place % 2, 1)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close, self)
        buttons.rejected.connect(self.reject)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(2 * GRID, 2 * GRID, 2 * GRID, 2 * GRID)
        layout.setSpacing(GRID)
        layout.addLayout(self._names)
        layout.addLayout(grid, 1)
        layout.addWidget(self._note)
        layout.addWidget(buttons)
        resize_within_screen(self, 1000, 600)


def _plot(kind: _Kind) -> TimePlot:
    plot = TimePlot(
        f"{kind.kept.name}_history",
        kind.title,
        kind.tip,
        value_range=(0.0, 100.0) if kind.is_percent else None,
        bounds=(0.0, math.inf),
        empty_note="Nothing reported",
        has_readout=True,
    )
    plot.setAxis(AxisKind.CLOCK)
    return plot
