"""A word where a field of one line took less than was typed or pasted into it."""

from PySide6.QtCore import QObject, QPoint, Slot
from PySide6.QtWidgets import QApplication, QLineEdit, QToolTip, QWidget


class CutTexts(QObject):
    """Watches the field that has the focus: Qt cuts a text that is too long without a word.

    Args:
        parent: Owns it.
    """

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._field: QLineEdit | None = None
        application = QApplication.instance()
        if isinstance(application, QApplication):
            application.focusChanged.connect(self._on_focus)

    @Slot(QWidget, QWidget)
    def _on_focus(self, left: QWidget | None, now: QWidget | None) -> None:
        if isinstance(left, QLineEdit) and left is self._field:
            left.inputRejected.disconnect(self._say)
        self._field = now if isinstance(now, QLineEdit) else None
        if self._field is not None:
            self._field.inputRejected.connect(self._say)

    @Slot()
    def _say(self) -> None:
        field = self._field
        # It is rejected, too, what is no number.
        if field is None or len(field.text()) < field.maxLength():
            return
        words = f"At most {field.maxLength():,} characters: the rest was not taken."
        QToolTip.showText(field.mapToGlobal(QPoint(0, field.height())), words, field)
