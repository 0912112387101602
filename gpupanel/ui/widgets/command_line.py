"""A command for a terminal, whole on one line, with a button that copies it."""

from PySide6.QtGui import QFontDatabase, QGuiApplication
from PySide6.QtWidgets import QLineEdit, QPushButton, QWidget

from gpupanel.ui.widgets.layouts import row_in
from gpupanel.ui.widgets.tips import wrapped


class CommandLine(QWidget):
    """Shows a command; it can be read, selected and copied, not changed."""

    def __init__(self, command: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._text = QLineEdit(self)
        self._text.setReadOnly(True)
        self._text.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        self._text.setProperty("role", "command")
        self._text.setAccessibleName("Command")
        self._copy = QPushButton("Copy command", self)
        self._copy.setToolTip("Copies the command to the clipboard.")
        # In a dialog Return would press it.
        self._copy.setAutoDefault(False)
        self._copy.clicked.connect(self.copy)
        self.setCommand(command)
        layout = row_in(self)
        layout.addWidget(self._text, 1)
        layout.addWidget(self._copy)

    def setCommand(self, command: str) -> None:
        """Show another command in the same place; an empty one cannot be copied."""
        self._copy.setVisible(bool(command))
        self._text.setText(command)
        self._text.setCursorPosition(0)
        # Whole, where the field is too narrow for it.
        self._text.setToolTip(wrapped(f"To be pasted into a terminal: {command}"))

    def command(self) -> str:
        """The command that is shown."""
        return self._text.text()

    def copy(self) -> None:
        """Puts the command on the clipboard."""
        QGuiApplication.clipboard().setText(self.command())
