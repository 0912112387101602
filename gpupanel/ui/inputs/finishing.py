"""Taking over what is being typed, before it is saved or started with."""

from PySide6.QtWidgets import QAbstractSpinBox, QApplication, QLineEdit


def finish_editing() -> None:
    """Let the input that has the focus take over what was typed.

    Inputs do so when the focus leaves, and a shortcut takes it from nobody.
    """
    widget = QApplication.focusWidget()
    if isinstance(widget, QLineEdit | QAbstractSpinBox):
        widget.clearFocus()
        widget.setFocus()
