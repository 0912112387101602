"""The shares of a run while they are measured and adjusted."""

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QWidget

from gpupanel.domain.plan import LaunchPlan
from gpupanel.runs.following.status import RunStatus
from gpupanel.ui import measured_shares
from gpupanel.ui.device_labels import DeviceLabels
from gpupanel.ui.widgets.labels import Caption, Note
from gpupanel.ui.widgets.layouts import column_in
from gpupanel.ui.widgets.share_bar import ShareBar
from gpupanel.ui.widgets.tips import wrapped

_KEEP_TIP = "Saves these shares in the profile: the next run starts with them."

_SPEED_TIP = (
    "Speed of computing alone. Summing gradients and updating weights take more time, so the "
    "run does fewer examples per second; for a very small network, far fewer."
)


class SharesStrip(QWidget):
    """A bar in the colours of the devices, with the speed of each and the last change in words."""

    keepRequested = Signal(object)
    """These shares are to be given ones: a tuple of int."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("shares_strip")
        self._shares: tuple[int, ...] = ()
        self._kept: tuple[int, ...] | None = None
        self._is_measured = False
        self._bar = ShareBar(movable=False)
        self._bar.setAccessibleName("Current shares of the run")
        self._words = Note()
        self._words.setObjectName("share_words")
        self._words.setToolTip(wrapped(_SPEED_TIP))
        self._keep = QPushButton("&Keep these shares")
        self._keep.setObjectName("keep_shares")
        self._keep.setToolTip(wrapped(_KEEP_TIP))
        self._keep.clicked.connect(self._report)
        foot = QHBoxLayout()
        foot.setSpacing(16)
        foot.addWidget(Caption("Shares"))
        foot.addWidget(self._words, 1)
        foot.addWidget(self._keep)
        layout = column_in(self, spacing=0)
        layout.addLayout(foot)
        layout.addWidget(self._bar)

    def setStatus(self, plan: LaunchPlan, status: RunStatus, device_labels: DeviceLabels) -> None:
        """Shows what a run with balanced shares has measured so far."""
        is_measured = len(status.shares) == len(plan.replicas)
        self._shares = status.shares if is_measured else plan.shares
        speeds = status.speeds if is_measured else ()
        self._bar.setSegments(measured_shares.segments(plan, self._shares, speeds, device_labels))
        memory = measured_shares.memory_ends(plan, status, device_labels)
        self._words.setText(f"{measured_shares.last_change(status)} {memory}".strip())
        self._is_measured = is_measured
        self._show_button()

    @Slot()
    def _report(self) -> None:
        self._kept = self._shares
        self._show_button()
        self.keepRequested.emit(self._shares)

    def _show_button(self) -> None:
        is_kept = self._kept == self._shares
        self._keep.setText("Kept in the profile" if is_kept else "&Keep these shares")
        self._keep.setEnabled(self._is_measured and not is_kept)
