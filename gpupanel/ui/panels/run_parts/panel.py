"""What a run is made of."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from gpupanel.domain.device import DeviceInventory
from gpupanel.domain.plan import LaunchPlan
from gpupanel.runs.following.status import RunStatus
from gpupanel.ui import theme
from gpupanel.ui.device_labels import DeviceLabels
from gpupanel.ui.panels.run_parts.gang_row import GangRow, member_states
from gpupanel.ui.panels.run_parts.layers_strip import LayersStrip
from gpupanel.ui.panels.run_parts.shares_strip import SharesStrip
from gpupanel.ui.widgets.device_report_box import DeviceReportBox
from gpupanel.ui.widgets.layouts import column_in


class RunPartsPanel(QWidget):
    """Shows what TensorFlow answered to a run, its processes, shares and layers.

    Processes, shares and layers are shown only where there are any.
    """

    keepRequested = Signal(object)
    """The shares of the run are to be given ones in the profile: a tuple of int."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("run_parts")
        self._plan: LaunchPlan | None = None
        self._status = RunStatus()
        self._device_labels = DeviceLabels()
        self._gang = GangRow()
        self._shares = SharesStrip()
        self._layers = LayersStrip()
        self._answers = DeviceReportBox(wide=True)
        layout = column_in(self)
        for part in (self._gang, self._shares, self._layers, self._answers):
            layout.addWidget(part)
        self._shares.keepRequested.connect(self.keepRequested)
        theme.changes.changed.connect(self._show)
        self.setRun(None)

    def setRun(self, plan: LaunchPlan | None) -> None:
        """Another run is shown, from its beginning; ``None``: its plan is not known yet."""
        self._plan = plan
        self._status = RunStatus()
        self._show()

    def setStatus(self, status: RunStatus) -> None:
        """Where the run stands now."""
        self._status = status
        self._show()

    def setInventory(self, inventory: DeviceInventory) -> None:
        """The devices, for their colours and names."""
        self._device_labels = DeviceLabels(inventory)
        self._show()

    def _show(self) -> None:
        plan, status = self._plan, self._status
        is_gang = plan is not None and len(plan.gang) > 1
        is_balanced = plan is not None and plan.balanced
        if plan is not None and is_gang:
            self._gang.setStates(member_states(plan, status))
        if plan is not None and is_balanced:
            self._shares.setStatus(plan, status, self._device_labels)
        self._layers.setLayers(status.layers, self._device_labels)
        self._answers.setStatus(status, self._device_labels)
        self._gang.setVisible(is_gang)
        self._shares.setVisible(is_balanced)
        self._layers.setVisible(bool(status.layers))
        self.setVisible(plan is not None or bool(status.layers))
