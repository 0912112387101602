"""One of a few named values, or another one that is typed."""

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from gpupanel.domain.choice import Choice
from gpupanel.ui.inputs.choice_box import ChoiceBox
from gpupanel.ui.inputs.input import TypedInput
from gpupanel.ui.widgets.layouts import column_in


class ChoiceOrInput(QWidget):
    """A chooser whose last entry opens an input below it."""

    is_tall = True
    """It has several lines: its label stands beside the first."""

    valueChanged = Signal(object)
    """A person chose or typed another value; :meth:`setValue` is silent."""
    errorChanged = Signal()
    """See :class:`~gpupanel.ui.inputs.input.TypedInput`."""

    def __init__(
        self,
        choices: Sequence[Choice],
        another: Choice,
        typed: Any,  # noqa: ANN401 - an Input that is a widget
        parent: QWidget | None = None,
    ) -> None:
        """Shows the first of the choices.

        Args:
            choices: The named values.
            another: The entry that opens the input.
            typed: The input of any other value.
            parent: The owner in Qt's sense.
        """
        super().__init__(parent)
        self._named = {choice.value for choice in choices}
        self._another = another.value
        self.choice = ChoiceBox([*choices, another])
        """Chooses between them."""
        self.typed = typed
        """Edits any other value."""
        column = column_in(self)
        column.addWidget(self.choice)
        column.addWidget(typed)
        self.setFocusProxy(self.choice)
        self.choice.valueChanged.connect(self._report)
        typed.valueChanged.connect(self._report)
        if isinstance(typed, TypedInput):
            typed.errorChanged.connect(self.errorChanged)
            self.choice.valueChanged.connect(self.errorChanged)
        self._show()

    def value(self) -> object:
        """The value as shown."""
        chosen = self.choice.value()
        return self.typed.value() if chosen == self._another else chosen

    def setValue(self, value: object) -> None:
        """Shows another value silently."""
        if value in self._named:
            self.choice.setValue(str(value))
        else:
            self.choice.setValue(self._another)
            self.typed.setValue(value)
        self._show()

    def error(self) -> str:
        """Why what was typed is no value; empty when it is one, or is not asked for."""
        is_asked_for = self.choice.value() == self._another
        return self.typed.error() if is_asked_for and isinstance(self.typed, TypedInput) else ""

    def discard(self) -> None:
        """Shows the value again in place of a text that is none."""
        if isinstance(self.typed, TypedInput):
            self.typed.discard()

    def _report(self) -> None:
        self._show()
        self.valueChanged.emit(self.value())

    def _show(self) -> None:
        self.typed.setVisible(self.choice.value() == self._another)
