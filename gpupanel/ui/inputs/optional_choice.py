"""A choice that may be left out, and what is taken then."""

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from gpupanel.domain.choice import Choice
from gpupanel.ui.inputs.choice_box import ChoiceBox
from gpupanel.ui.widgets.layouts import row_in

_LEFT_OUT = ""
"""Nothing that can be chosen has this value."""


class OptionalChoiceBox(QWidget):
    """Chooses one of a few values, or none of them: the first entry."""

    valueChanged = Signal(object)
    """A person chose another entry: its value, or ``None``; :meth:`setValue` is silent."""

    def __init__(
        self, choices: Sequence[Choice], *, off: str, parent: QWidget | None = None
    ) -> None:
        """Shows that nothing is chosen.

        Args:
            choices: What can be chosen at first.
            off: What is said of choosing none.
            parent: The owner in Qt's sense.
        """
        super().__init__(parent)
        self._off = off[:1].upper() + off[1:]
        self._choices = tuple(choices)
        self._box = ChoiceBox(self._entries(None))
        row_in(self).addWidget(self._box, 1)
        self.setFocusProxy(self._box)
        self._box.valueChanged.connect(self._report)

    def value(self) -> str | None:
        """The value of the entry that is shown."""
        return self._box.value() or None

    def setValue(self, value: str | None) -> None:
        """Shows another value silently."""
        # Without a preview nobody knows what is there.
        unoffered = "{} (not found)" if self._choices else "{}"
        self._box.setValue(_LEFT_OUT if value is None else value, unoffered=unoffered)

    def setFound(self, choices: Sequence[Choice] | None, found: str | None) -> None:
        """Offers what a preview found, silently.

        Args:
            choices: What can be chosen; ``None``: as before.
            found: What is taken where nothing is chosen; ``None``: that is not known.
        """
        self._choices = self._choices if choices is None else tuple(choices)
        value = self.value()
        self._box.setOffered(self._entries(found))
        self.setValue(value)

    def _entries(self, found: str | None) -> list[Choice]:
        labels = {choice.value: choice.label for choice in self._choices}
        shown = f": {labels.get(found, found)}" if found else ""
        return [Choice(_LEFT_OUT, f"{self._off}{shown}"), *self._choices]

    def _report(self) -> None:
        self.valueChanged.emit(self.value())
