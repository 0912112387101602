"""A line of text of which not every one is a value."""

from collections.abc import Callable

from PySide6.QtCore import QEvent, Qt, Signal, Slot
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QLineEdit, QWidget
from typing_extensions import override

from gpupanel.ui.inputs.input import quoted
from gpupanel.ui.widgets.layouts import column_in


class CheckedText(QWidget):
    """The last text that was a value holds while another one is typed that is none.

    Args:
        mistake: Says what is wrong with a text, as the end of a sentence; empty: nothing.
        first: The value until one is typed; the line is empty.
        placeholder: Shown while the line is empty.
        parent: The owner in Qt's sense.
    """

    valueChanged = Signal(str)
    """A person typed another value; :meth:`setValue` is silent."""
    errorChanged = Signal()
    """See :class:`~gpupanel.ui.inputs.input.TypedInput`."""

    def __init__(
        self,
        mistake: Callable[[str], str],
        *,
        first: str = "",
        placeholder: str = "",
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._mistake = mistake
        self._value, self._error = first, ""
        self._field = QLineEdit(self)
        self._field.setPlaceholderText(placeholder)
        column_in(self).addWidget(self._field)
        # A label's letter reaches it; Tab goes to the field alone, and leaves it again.
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        self.setFocusProxy(self._field)
        self._field.textEdited.connect(self._take)

    def value(self) -> str:
        """The last text that was a value."""
        return self._value

    def setValue(self, value: str) -> None:
        """Shows a text silently; what is being typed and is none stays."""
        if value == self._value and self._error:
            return
        self._value = value
        self._show(value)

    @override
    def changeEvent(self, event: QEvent) -> None:
        """Hands the accessible name on to the field that has the focus."""
        super().changeEvent(event)
        if event.type() is QEvent.Type.ToolTipChange:
            self._field.setAccessibleName(self.accessibleName())

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Goes back to the last value by Escape."""
        if event.key() == Qt.Key.Key_Escape and self._error:
            self.discard()
        else:
            super().keyPressEvent(event)

    def error(self) -> str:
        """Why the text is no value; empty when it is one."""
        return self._error

    def discard(self) -> None:
        """Shows the last value again in place of a text that is none."""
        if self._error:
            self._show(self._value)

    def _show(self, text: str) -> None:
        if text != self._field.text():
            self._field.setText(text)
        self._set_error("")

    @Slot(str)
    def _take(self, typed: str) -> None:
        text = typed.strip()
        wrong = self._mistake(text)
        self._set_error(f"{quoted(text)}: {wrong}." if wrong and text else wrong and f"{wrong}.")
        if not wrong and text != self._value:
            self._value = text
            self.valueChanged.emit(text)

    def _set_error(self, error: str) -> None:
        if error != self._error:
            self._error = error
            self.errorChanged.emit()
