"""The program of one's own that runs in the place of data, model and training."""

from pathlib import Path

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QWidget
from typing_extensions import override

from gpupanel.domain.script import ScriptSettings
from gpupanel.domain.visible_text import visible_line
from gpupanel.ui.dropped_files import is_program
from gpupanel.ui.forms.settings_card import SettingsCard
from gpupanel.ui.forms.value_form import ValueForm
from gpupanel.ui.inputs.shell_words import ArgumentsEdit, ValuesEdit, VariablesEdit
from gpupanel.ui.widgets.file_drops import TakesFiles

NO_PROGRAM = ScriptSettings(path="")
"""Nothing was chosen yet."""
_ARGUMENTS = 'none; as in a shell: --epochs 5 --name "a b"'
_VARIABLES = 'none; as in a shell: SEED=1 NAME="a b"'
_VALUES = "none; as in a shell: lr=0.1 n=5"
_NOT_CHOSEN = "no program chosen"


class ScriptPanel(TakesFiles, SettingsCard):
    """Edits :class:`ScriptSettings`."""

    valueChanged = Signal(object)
    """A person changed a setting: the new value."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("Program", parent, tables=("script",))
        self.setObjectName("script_panel")
        self.setAcceptDrops(True)
        arguments = ArgumentsEdit(placeholder=_ARGUMENTS)
        arguments.setObjectName("script_arguments")
        self._form = ValueForm(
            NO_PROGRAM,
            inputs={
                "arguments": arguments,
                "values": ValuesEdit(placeholder=_VALUES),
                "environment": VariablesEdit(placeholder=_VARIABLES),
            },
            wide=("arguments", "values", "environment"),
        )
        self._form.editors()["path"].setObjectName("script_path")
        self.add_form(self._form)
        self._form.valueChanged.connect(self._take)
        self.set_summary(_summary(self.value()))

    def value(self) -> ScriptSettings:
        """The settings as shown."""
        value: ScriptSettings = self._form.value()
        return value

    def setValue(self, value: ScriptSettings) -> None:
        """Shows other settings silently."""
        self._form.setValue(value)
        self.set_summary(_summary(value))

    @override
    def can_take(self, paths: tuple[str, ...]) -> bool:
        """Whether that is one program."""
        return is_program(paths)

    @override
    def take(self, paths: tuple[str, ...]) -> None:
        """Run that program, as the one before it was to run."""
        if self.can_take(paths):
            value = self.value().model_copy(update={"path": str(Path(paths[0]))})
            self.setValue(value)
            self.valueChanged.emit(value)

    @Slot(object)
    def _take(self, value: ScriptSettings) -> None:
        self.set_summary(_summary(value))
        self.valueChanged.emit(value)


def _summary(value: ScriptSettings) -> str:
    return visible_line(value.name) or _NOT_CHOSEN
