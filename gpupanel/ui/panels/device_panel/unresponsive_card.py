"""The card of a GPU that the driver counts and that has not answered."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from gpupanel.domain.device import UnresponsiveGpu
from gpupanel.ui import formatting
from gpupanel.ui.theme import GRID
from gpupanel.ui.widgets.color_dot import ColorDot
from gpupanel.ui.widgets.labels import ElidedLabel, Note, Tone
from gpupanel.ui.widgets.tips import wrapped


class UnresponsiveCard(QFrame):
    """What the driver said, and what to do; it goes when the GPU answers."""

    doctorRequested = Signal()
    """A person wants to know more."""
    wakeRequested = Signal()
    """A person wants to have a sleeping GPU asked who it is."""

    def __init__(self, gpu: UnresponsiveGpu, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("card", True)
        whole = gpu.title
        dot = ColorDot(None)
        dot.setFilled(False)
        name = ElidedLabel(formatting.short_device_name(whole))
        name.setProperty("role", "title")
        name.setToolTip(wrapped(whole))
        head = QHBoxLayout()
        head.setSpacing(GRID)
        head.addWidget(dot)
        head.addWidget(name, 1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(12, GRID, 12, 12)
        layout.setSpacing(GRID)
        layout.addLayout(head)
        if gpu.is_asleep:
            layout.addWidget(Note("Asleep: being asked what it is would wake it.", tone=Tone.MUTED))
        else:
            layout.addWidget(Note(f"Does not answer: {gpu.failure.words}.", tone=Tone.ERROR))
            layout.addWidget(Note(gpu.failure.advice))
        layout.addWidget(self._button(gpu), 0, Qt.AlignmentFlag.AlignLeft)

    def _button(self, gpu: UnresponsiveGpu) -> QPushButton:
        if gpu.is_asleep:
            button = QPushButton("Wake it up")
            button.setToolTip(wrapped("Asks the driver for this GPU, which wakes it."))
            button.clicked.connect(self.wakeRequested)
        else:
            button = QPushButton("Open Doctor")
            button.setToolTip(wrapped("Checks driver, libraries and TensorFlow."))
            button.clicked.connect(self.doctorRequested)
        return button
