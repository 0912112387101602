"""A line of text of which not every one is a value: what inputs for typed values share."""

from abc import abstractmethod
from typing import Any

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QLineEdit, QWidget
from typing_extensions import override


class CheckedLine(QLineEdit):
    """The last text that was a value holds while another one is typed that is none.

    Args:
        first: The value until one is typed; the line is empty.
        parent: The owner in Qt's sense.
    """

    valueChanged = Signal(object)
    """A person typed another value; :meth:`setValue` is silent."""
    errorChanged = Signal()
    """See :class:`~gpupanel.ui.inputs.input.TypedInput`."""

    def __init__(self, first: object, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._value = first
        self._error = ""
        self.textEdited.connect(self._take)
        self.editingFinished.connect(self._tidy)

    @abstractmethod
    def _read(self, text: str) -> object:
        """The value of a text.

        Raises:
            ValueError: It has none; the error's text is the sentence that says why.
        """

    @abstractmethod
    def _text_of(self, value: Any) -> str:  # noqa: ANN401 - what _read gives
        """A value as a person would type it."""

    def value(self) -> Any:  # noqa: ANN401 - what _read gives
        """The value of the last text that had one."""
        return self._value

    def setValue(self, value: Any) -> None:  # noqa: ANN401 - what _read gives
        """Shows a value silently; of the one that is there, what is being typed stays."""
        # Typing "128, " must not be tidied away under the fingers, nor what is to be corrected.
        if value != self._value:
            self._value = value
            self._show()

    def error(self) -> str:
        """Why the text is no value; empty when it is one."""
        return self._error

    def discard(self) -> None:
        """Shows the last value again in place of a text that is none."""
        if self._error:
            self._show()

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Goes back to the last value by Escape, and closes a dialog only by the next one."""
        if event.key() == Qt.Key.Key_Escape and self._error:
            self.discard()
        else:
            super().keyPressEvent(event)

    @Slot(str)
    def _take(self, text: str) -> None:
        try:
            value = self._read(text)
        except ValueError as error:
            self._set_error(str(error))
            return
        self._set_error("")
        if value != self._value:
            self._value = value
            self.valueChanged.emit(value)

    @Slot()
    def _tidy(self) -> None:
        if not self._error:
            self._show()

    def _show(self) -> None:
        text = self._text_of(self._value)
        if text != self.text():
            self.setText(text)
            self.setCursorPosition(0)
        self._set_error("")

    def _set_error(self, sentence: str) -> None:
        if sentence != self._error:
            self._error = sentence
            self.errorChanged.emit()
