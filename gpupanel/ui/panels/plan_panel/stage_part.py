"""Which layers each device has: a bar whose borders a person drags."""

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QWidget

from gpupanel.domain.stages import Stage, placement_of
from gpupanel.planning.prepare import Preparation
from gpupanel.ui.device_labels import DeviceLabels
from gpupanel.ui.widgets.labels import Caption, Note
from gpupanel.ui.widgets.layouts import column_in
from gpupanel.ui.widgets.share_bar import MOST_SEGMENTS, ShareBar
from gpupanel.ui.widgets.share_segment import ShareSegment
from gpupanel.ui.widgets.tips import wrapped

_DRAG = "Drag a border, or use the arrow keys, to move layers to the device beside it."
_BALANCE_TIP = (
    "Moves the borders so that every device has room for its layers and the one with the most to "
    "compute has the least."
)
_BALANCED = "No other placement that fits has less to compute on one device."


class StagePart(QWidget):
    """Shows the layers of a plan's devices, once the model was built for an estimate."""

    placementChosen = Signal(object)
    """A border was moved, or the layers are to be balanced: a dict of layer name to place."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("stage_part")
        self._stages: tuple[Stage, ...] = ()
        self._balanced: dict[str, int] | None = None
        self._bar = ShareBar(counted="layers", lesson=_DRAG)
        self._bar.setObjectName("stage_bar")
        self._bar.setAccessibleName("Layers on each device")
        self._balance = QPushButton("Balance")
        self._balance.setObjectName("balance_stages")
        foot = QHBoxLayout()
        foot.setSpacing(16)
        foot.addWidget(Note(_DRAG), 1)
        foot.addWidget(self._balance)
        layout = column_in(self)
        layout.addWidget(Caption("Layers on each device"))
        layout.addWidget(self._bar)
        layout.addLayout(foot)
        self._bar.sharesChosen.connect(self._move)
        self._balance.clicked.connect(self._use_balanced)
        self.hide()

    def setPreparation(self, preparation: Preparation, labels: DeviceLabels) -> None:
        """Shows the layers of another plan; nothing where they are not known."""
        self._stages, self._balanced = preparation.stages, preparation.balanced_placement
        self.setVisible(1 < len(self._stages) <= MOST_SEGMENTS)
        self._bar.setSegments(
            [
                ShareSegment(
                    share=len(stage.layers),
                    name=labels.together(stage.device_keys),
                    color=labels.color(stage.device_keys[0]),
                    note=f"{stage.work:.0%} of the work",
                )
                for stage in self._stages
            ]
        )
        counts = [len(stage.layers) for stage in self._stages]
        is_balanced = self._balanced == placement_of(self._stages, counts)
        self._balance.setEnabled(self._balanced is not None and not is_balanced)
        self._balance.setToolTip(wrapped(_BALANCED if is_balanced else _BALANCE_TIP))

    @Slot(object)
    def _move(self, counts: tuple[int, ...]) -> None:
        self.placementChosen.emit(placement_of(self._stages, counts))

    @Slot()
    def _use_balanced(self) -> None:
        self.placementChosen.emit(self._balanced)
