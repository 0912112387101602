"""Keeps the last hour of each device, with and without a run, and shows it."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Slot
from PySide6.QtWidgets import QWidget

from gpupanel.devices.device_history import MOST_DEVICES, DeviceHistory
from gpupanel.domain.telemetry import TelemetrySample
from gpupanel.ui.bindings.shown_devices import ShownDevices
from gpupanel.ui.panels.device_panel import DevicePanel
from gpupanel.ui.session import Session

if TYPE_CHECKING:
    from gpupanel.ui.dialogs.device_history_dialog import DeviceHistoryDialog


class DeviceHistoryBinding(QObject):
    """Takes in what is sampled in any case; nothing is asked of a device for it.

    Args:
        session: Knows the devices.
        shown: Reads them.
        panel: Asks for the dialog.
        window: What the dialog stands before.
    """

    def __init__(
        self, session: Session, shown: ShownDevices, panel: DevicePanel, window: QWidget
    ) -> None:
        super().__init__(window)
        self._session, self._window = session, window
        self.history = DeviceHistory()
        """The readings since this window was opened."""
        self._dialog: DeviceHistoryDialog | None = None
        shown.sampled.connect(self.add)
        session.inventoryChanged.connect(self._show)
        panel.head.historyRequested.connect(self.open)

    @Slot(object)
    def add(self, sample: TelemetrySample) -> None:
        """Take in what the devices report now; of a large cluster nothing is kept."""
        if len(sample.readings) > MOST_DEVICES:
            return
        if self.history.add(sample):
            self._show()

    @Slot()
    def open(self) -> None:
        """Show the dialog; the window stays usable behind it."""
        if self._dialog is None:
            # Here and not above: most windows never need it.
            from gpupanel.ui.dialogs.device_history_dialog import DeviceHistoryDialog

            self._dialog = DeviceHistoryDialog(self.history, self._window)
        self._dialog.show()
        self._dialog.activateWindow()
        self._show()

    @Slot()
    def _show(self) -> None:
        if self._dialog is not None and self._dialog.isVisible():
            self._dialog.show_devices(self._session.inventory)
