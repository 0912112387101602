"""A form for a table of the profile, made of what its settings declare."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, cast

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox, QWidget
from typing_extensions import override

from gpupanel.domain.choice import Choice
from gpupanel.domain.setting import Setting, SettingType, settings_of
from gpupanel.domain.value import Value
from gpupanel.ui.forms.input_for import input_for
from gpupanel.ui.forms.settings_form import WIDEST_INPUT, SettingsForm
from gpupanel.ui.forms.table_input import TableInput
from gpupanel.ui.inputs.input import Input, TypedInput
from gpupanel.ui.inputs.name_choices import NameChoices
from gpupanel.ui.inputs.optional_choice import OptionalChoiceBox
from gpupanel.ui.widgets.buttons import FoldButton
from gpupanel.ui.widgets.tips import teach

_MORE_TIP = "Rarely needed settings; shown if one of them was changed."


class ValueForm(SettingsForm):
    """A row for each setting: title, input, tooltip, accessible name, and its problem below.

    Settings that few need are folded away, unless the value has another than the default one.
    """

    valueChanged = Signal(object)
    """A person changed a setting: the new value."""

    def __init__(
        self,
        value: Value,
        *,
        inputs: Mapping[str, QWidget] | None = None,
        elsewhere: Collection[str] = (),
        wide: Collection[str] = (),
        parent: QWidget | None = None,
    ) -> None:
        """Shows the value.

        Args:
            value: Its type declares the settings.
            inputs: Those of settings that need one of their own, by key.
            elsewhere: Settings that are edited elsewhere, by key; the form keeps them as they are.
            wide: Settings whose input is as wide as the form, as those of paths are, by key.
            parent: The owner in Qt's sense.
        """
        super().__init__(parent)
        self._value = value
        self._wide = frozenset(wide)
        declared = settings_of(type(value))
        self._settings = {each.name: each for each in declared if each.name not in elsewhere}
        self._inputs = {
            name: (inputs or {}).get(name) or _input_of(setting)
            for name, setting in self._settings.items()
        }
        self._hidden: set[str] = set()
        self._more = advanced_fold()
        self._lay_out()
        self._more.toggled.connect(self._show_rows)
        self._unfold({name for name, each in self._settings.items() if _is_set(each, value)})
        self.setValue(value)

    def value(self) -> Any:  # noqa: ANN401 - of the type that the form was made for
        """The value as shown."""
        return self._value

    def setValue(self, value: Value) -> None:
        """Shows another value silently."""
        before, self._value = self._value, value
        for name, setting in self._settings.items():
            self._input(name).setValue(getattr(value, name))
            self._inputs[name].setEnabled(setting.applies_in(value))
        # What stays as it is stays folded, too, where a person folded it.
        self._unfold(
            name
            for name, setting in self._settings.items()
            if getattr(before, name) != getattr(value, name) and _is_set(setting, value)
        )
        self._show_rows()

    def setFound(
        self,
        offers: Mapping[str, Sequence[Choice]],
        found: Mapping[str, int | str | tuple[str, ...]],
    ) -> None:
        """Offers what a preview found, silently.

        Args:
            offers: What can be chosen, by the key of the setting.
            found: What is taken where nothing is chosen, likewise.
        """
        for name, setting in self._settings.items():
            box = self._inputs[name]
            choices = offers.get(name, ()) if setting.is_offered else None
            taken = found.get(name)
            if isinstance(box, OptionalChoiceBox):
                box.setFound(choices, taken if isinstance(taken, str) else None)
            elif isinstance(box, NameChoices):
                box.setFound(choices or (), () if isinstance(taken, int) else taken or ())

    def set_shown(self, name: str, *, shown: bool) -> None:
        """Shows or hides the row of a setting."""
        (self._hidden.discard if shown else self._hidden.add)(name)
        self._show_rows()

    def set_only_shown(self, names: Collection[str] | None) -> None:
        """Hides the rows of all settings but these; ``None``: shows every one."""
        self._hidden = set() if names is None else set(self._settings).difference(names)
        self._show_rows()

    @override
    def reveal(self, key: str) -> None:
        """Unfolds the settings that few need, where it is one of them."""
        if self._settings[key].advanced:
            self._more.setChecked(True)

    @override
    def errors(self) -> Mapping[str, str]:
        found = {}
        for name, setting in self._settings.items():
            widget = self._inputs[name]
            # What means nothing now is not asked for, whatever stands in it.
            if isinstance(widget, TypedInput) and name not in self._hidden and widget.isEnabled():
                found[name] = f"{setting.title}: {error}" if (error := widget.error()) else ""
        return {name: error for name, error in found.items() if error}

    @override
    def discard_errors(self) -> None:
        for widget in self._inputs.values():
            if isinstance(widget, TypedInput):
                widget.discard()

    def _unfold(self, names: Iterable[str]) -> None:
        if any(self._settings[name].advanced for name in names):
            self._more.setChecked(True)

    def _lay_out(self) -> None:
        ordered = sorted(self._settings.values(), key=lambda setting: setting.advanced)
        for setting in ordered:
            if setting.advanced and self._more.parent() is None:
                self.add_fold(self._more)
            self._add(setting)

    def _add(self, setting: Setting) -> None:
        widget = self._inputs[setting.name]
        if isinstance(widget, QCheckBox):
            widget.setText(setting.title)
            teach(widget, setting.title, setting.description)
            self.add_wide(widget, key=setting.name)
        elif isinstance(widget, TableInput):
            widget.set_title(setting.title)
            self.add_whole(widget, key=setting.name)
        else:
            is_wide = setting.type is SettingType.PATH or setting.name in self._wide
            widest = None if is_wide else WIDEST_INPUT
            is_tall = getattr(widget, "is_tall", False)
            self.add_setting(setting, widget, widest=widest, tall=is_tall)
        self._input(setting.name).valueChanged.connect(partial(self._change, setting.name))
        if isinstance(widget, TypedInput):
            widget.errorChanged.connect(self.errorsChanged)

    def _input(self, name: str) -> Input:
        return cast("Input", self._inputs[name])

    def _show_rows(self) -> None:
        for name, setting in self._settings.items():
            is_folded = setting.advanced and not self._more.isChecked()
            shown = not is_folded and name not in self._hidden
            self.set_row_visible(self._inputs[name], visible=shown)
        advanced = {name for name, setting in self._settings.items() if setting.advanced}
        self._more.setVisible(bool(advanced - self._hidden))

    def _change(self, name: str, *_: object) -> None:
        chosen = self._input(name).value()
        value = type(self._value).model_validate({**self._value.model_dump(), name: chosen})
        if value != self._value:
            self.setValue(value)
            self.valueChanged.emit(value)


def advanced_fold() -> FoldButton:
    """What unfolds the settings that few need."""
    fold = FoldButton("Advanced")
    teach(fold, "Advanced", _MORE_TIP)
    return fold


def _input_of(setting: Setting) -> QWidget:
    if setting.type is SettingType.TABLE:
        return TableInput(setting, ValueForm)
    return input_for(setting)


def _is_set(setting: Setting, value: Value) -> bool:
    return bool(getattr(value, setting.name) != setting.default)
