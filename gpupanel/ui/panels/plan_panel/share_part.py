"""How each global batch is divided: a bar whose borders a person drags."""

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QWidget

from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.strategy import StrategyKind
from gpupanel.runs.following.status import RunStatus
from gpupanel.ui import measured_shares
from gpupanel.ui.device_labels import DeviceLabels
from gpupanel.ui.widgets.labels import Caption, Note
from gpupanel.ui.widgets.layouts import column_in
from gpupanel.ui.widgets.share_bar import MOST_SEGMENTS, ShareBar
from gpupanel.ui.widgets.tips import wrapped

_DRAG = "Drag a border to give a device more or less of each batch."
_WHOLE_BATCHES = {
    StrategyKind.PARAMETER_SERVER: "Nothing is divided: each worker takes whole batches.",
    StrategyKind.MODEL_PARALLEL: "Nothing is divided: each batch passes all devices.",
}
_KEEP_TIP = "Saves the measured shares in the profile: the next run uses them and measures nothing."
_TOO_MANY = "With more than 32 replicas, shares by hand are set in the profile file."


class SharePart(QWidget):
    """Shows the shares of a plan, or those that the run with balanced shares has measured."""

    sharesChosen = Signal(object)
    """A border was moved, or measured shares are to be kept: the shares, a tuple of int."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._bar = ShareBar()
        self._bar.setObjectName("share_bar")
        self._note = Note(_DRAG)
        self._keep = QPushButton("&Keep these shares")
        self._keep.setObjectName("keep_measured_shares")
        self._keep.setToolTip(wrapped(_KEEP_TIP))
        foot = QHBoxLayout()
        foot.setSpacing(16)
        foot.addWidget(self._note, 1)
        foot.addWidget(self._keep)
        layout = column_in(self)
        layout.addWidget(Caption("Shares of each global batch"))
        layout.addWidget(self._bar)
        layout.addLayout(foot)
        self._bar.sharesChosen.connect(self.sharesChosen)
        self._keep.clicked.connect(self._keep_shares)

    def setPlan(
        self, plan: LaunchPlan, device_labels: DeviceLabels, status: RunStatus | None
    ) -> None:
        """Shows the shares of a plan.

        Args:
            plan: What would be launched.
            device_labels: Of the devices.
            status: Of the run that goes on or went on last; shown where it measured these shares.
        """
        divides = plan.divides_batches or plan.strategy not in _WHOLE_BATCHES
        measured = status if measured_shares.fits(status, plan) else None
        shares = measured.shares if measured else plan.shares
        speeds = measured.speeds if measured else ()
        self._bar.setVisible(divides)
        if divides:
            self._bar.setSegments(measured_shares.segments(plan, shares, speeds, device_labels))
        self._keep.setVisible(measured is not None)
        self._note.setText(self._words(plan, device_labels, measured))
        self._note.setVisible(len(plan.replicas) > 1 or not divides)

    def _words(
        self, plan: LaunchPlan, device_labels: DeviceLabels, measured: RunStatus | None
    ) -> str:
        if plan.strategy in _WHOLE_BATCHES and not plan.divides_batches:
            return _WHOLE_BATCHES[plan.strategy]
        if measured is not None:
            memory = measured_shares.memory_ends(plan, measured, device_labels)
            return f"{measured_shares.last_change(measured)} {memory}".strip()
        if len(plan.replicas) > MOST_SEGMENTS:
            return _TOO_MANY
        if plan.balanced:
            return f"{measured_shares.NOT_MEASURED_YET} Drag a border to set shares by hand."
        return _DRAG

    @Slot()
    def _keep_shares(self) -> None:
        self.sharesChosen.emit(self._bar.shares())
