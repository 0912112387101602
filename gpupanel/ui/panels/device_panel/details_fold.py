"""A GPU's details, folded away until somebody wants them."""

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QVBoxLayout, QWidget

from gpupanel.domain.device import PhysicalDevice
from gpupanel.domain.telemetry import DeviceReading
from gpupanel.ui.panels.device_panel.details_view import DetailsView
from gpupanel.ui.theme import GRID
from gpupanel.ui.widgets.fold_button import FoldButton


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
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self._layout.setSpacing(GRID // 2)
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
        """Tell which processes are of a run that goes on."""
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
            self._view.endRequested.connect(self.endRequested)
            self._layout.addWidget(self._view)
        self._view.setVisible(unfolded)
        self._show()
