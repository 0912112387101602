"""How the model is trained: epochs, batch, optimizer, and what is kept."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from gpupanel.domain.training import TrainingSettings
from gpupanel.ui.forms.settings_card import SettingsCard
from gpupanel.ui.forms.value_form import ValueForm


class TrainingPanel(SettingsCard):
    """Edits :class:`TrainingSettings`."""

    valueChanged = Signal(object)
    """A person changed a setting: the new value."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("Training", parent, tables=("training",))
        self.setObjectName("training_panel")
        self._form = ValueForm(TrainingSettings())
        self.add_form(self._form)
        self._form.valueChanged.connect(self.valueChanged)

    def value(self) -> TrainingSettings:
        """The settings as shown."""
        value: TrainingSettings = self._form.value()
        return value

    def setValue(self, value: TrainingSettings) -> None:
        """Shows other settings silently."""
        self._form.setValue(value)
