"""A label whose words do not flicker."""

from PySide6.QtCore import QTimer, Slot
from PySide6.QtWidgets import QLabel, QWidget

SETTLE_MS = 400


class SettledLabel(QLabel):
    """Shows passing words only once they have stood for a moment."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._passing = ""
        self._timer = QTimer(self, singleShot=True, interval=SETTLE_MS)
        self._timer.timeout.connect(self._settle)

    def setWords(self, words: str, *, is_passing: bool) -> None:
        """Show these words: at once, or when nothing else came for a moment."""
        if not is_passing:
            self._timer.stop()
            self.setText(words)
        elif words != self.text() and not (self._timer.isActive() and words == self._passing):
            self._passing = words
            self._timer.start()

    @Slot()
    def _settle(self) -> None:
        self.setText(self._passing)
