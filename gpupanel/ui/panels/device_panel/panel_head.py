"""What stands above the cards of the devices."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QToolButton, QWidget

from gpupanel.ui.theme import GRID
from gpupanel.ui.widgets.tips import wrapped


class PanelHead(QWidget):
    """The caption, the driver's version, and the way to the doctor."""

    doctorRequested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        caption = QLabel("DEVICES")
        caption.setProperty("role", "section")
        self._driver = QLabel()
        self._driver.setProperty("tone", "muted")
        self._driver.setProperty("textSize", "small")
        doctor = QToolButton()
        doctor.setObjectName("doctor_button")
        doctor.setText("Doctor")
        doctor.setProperty("role", "link")
        doctor.setToolTip(
            wrapped(
                "Why is a GPU missing or not used? Checks driver, libraries and TensorFlow, "
                "and shows how to fix it."
            )
        )
        doctor.clicked.connect(self.doctorRequested)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, GRID // 2, 0)
        layout.setSpacing(GRID)
        layout.addWidget(caption)
        layout.addStretch(1)
        layout.addWidget(self._driver)
        layout.addWidget(doctor)

    def setDriver(self, version: str | None) -> None:
        """Show which driver answers."""
        self._driver.setText(f"Driver {version}" if version else "")
