"""A table of settings within another one, folded away until somebody wants it."""

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from PySide6.QtCore import Signal, SignalInstance, Slot
from PySide6.QtWidgets import QWidget
from typing_extensions import override

from gpupanel.domain.setting import Setting, settings_of
from gpupanel.domain.value import Value
from gpupanel.ui.widgets.buttons import FoldButton
from gpupanel.ui.widgets.layouts import column_in
from gpupanel.ui.widgets.tips import teach

_MOST_NAMED = 4
"""Of the settings that were changed: a line that names all would be wider than its panel."""

_KIND = "kind"


class TableForm(Protocol):
    """A widget that edits all settings of a table."""

    valueChanged: SignalInstance
    errorsChanged: SignalInstance

    def setValue(self, value: Value) -> None:
        """Shows another value silently."""

    def errors(self) -> Mapping[str, str]:
        """See :meth:`~gpupanel.ui.forms.settings_form.SettingsForm.errors`."""

    def discard_errors(self) -> None:
        """See :meth:`~gpupanel.ui.forms.settings_form.SettingsForm.discard_errors`."""


class TableInput(QWidget):
    """A line that says what was changed, and the settings below it while it is unfolded.

    Their form is made when it is first seen: a window opens sooner.
    """

    valueChanged = Signal(object)
    """A person changed a setting: the new table; :meth:`setValue` is silent."""
    errorChanged = Signal()
    """See :class:`~gpupanel.ui.inputs.input.TypedInput`."""

    def __init__(self, setting: Setting, make_form: Callable[[Value], QWidget]) -> None:
        """Makes the line.

        Args:
            setting: Its default is a table.
            make_form: Makes the :class:`TableForm` that shows a table.
        """
        super().__init__()
        assert isinstance(setting.default, Value)
        self._setting = setting
        self._title = setting.title
        self._make_form = make_form
        self._value: Value = setting.default
        self._form: Any = None
        self._fold = FoldButton("")
        self._column = column_in(self)
        self._column.addWidget(self._fold)
        self._fold.toggled.connect(self._show_form)
        self.setFocusProxy(self._fold)
        self._show_line()

    def value(self) -> Any:  # noqa: ANN401 - of the setting's type
        """The table as shown."""
        return self._value

    def setValue(self, value: Value) -> None:
        """Shows another table silently."""
        self._value = value
        if self._form is not None:
            self._form.setValue(value)
        self._show_line()

    def error(self) -> str:
        """Why what was typed for one of the settings is no value; empty when all are."""
        return "" if self._form is None else next(iter(self._form.errors().values()), "")

    def discard(self) -> None:
        """Shows the values again in place of texts that are none."""
        if self._form is not None:
            self._form.discard_errors()

    def set_title(self, title: str) -> None:
        """Names the line.

        Args:
            title: What the table is called.
        """
        self._title = title
        teach(self._fold, self._setting.title, self._setting.description)
        self._show_line()

    @override
    def setEnabled(self, arg__1: bool) -> None:
        # What holds nothing can be shown all the same.
        if self._form is not None:
            self._form.setEnabled(arg__1)

    @Slot(bool)
    def _show_form(self, unfolded: bool) -> None:
        if self._form is None:
            form: Any = self._make_form(self._value)
            form.valueChanged.connect(self._take)
            form.errorsChanged.connect(self.errorChanged)
            self._form = form
            self._column.addWidget(form)
        self._form.setVisible(unfolded)

    def _take(self, value: Value) -> None:
        self._value = value
        self._show_line()
        self.valueChanged.emit(value)

    def _name(self, changed: Setting) -> str:
        """What a row is called: by its kind, or by the setting's title."""
        if changed.name == _KIND:
            chosen = getattr(self._value, _KIND)
            labels = (each.label for each in changed.choices if each.value == chosen)
            return next(labels).lower()
        return changed.title.partition(" (")[0].lower()

    def _show_line(self) -> None:
        changed = [
            self._name(each)
            for each in settings_of(type(self._value))
            if getattr(self._value, each.name) != each.default
        ]
        more = len(changed) - _MOST_NAMED
        named = [*changed[:_MOST_NAMED], *([f"{more} more"] if more > 0 else [])]
        self._fold.setText(f"{self._title}: {', '.join(named) or self._setting.off}")
