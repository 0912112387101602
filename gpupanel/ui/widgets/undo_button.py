"""A button that takes back what was removed in a panel; Ctrl+Z in the panel does the same."""

from PySide6.QtCore import QEvent, QObject
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import QPushButton, QWidget
from typing_extensions import override

from gpupanel.ui.widgets.tips import wrapped


class UndoButton(QPushButton):
    """Hidden while there is nothing to take back.

    Args:
        text: On the button.
        name: The object name.
        title: For assistive technology.
        panel: Where the keys count; owns the button.
    """

    def __init__(self, text: str, name: str, title: str, panel: QWidget) -> None:
        super().__init__(text, panel)
        self.setObjectName(name)
        self.setAccessibleName(title)
        self.offer("")
        panel.installEventFilter(self)

    def offer(self, tip: str) -> None:
        """Offer it, and say what it does; empty: there is nothing to take back."""
        self.setToolTip(wrapped(f"{tip or 'There is nothing to undo'} (Ctrl+Z)"))
        self.setVisible(bool(tip))

    @override
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        # Before a key of the whole window, which would undo a change of the session.
        is_key = isinstance(event, QKeyEvent) and event.matches(QKeySequence.StandardKey.Undo)
        if not is_key or self.isHidden():
            return False
        if event.type() is QEvent.Type.ShortcutOverride:
            event.accept()
            return True
        if event.type() is QEvent.Type.KeyPress:
            self.click()
            return True
        return False
