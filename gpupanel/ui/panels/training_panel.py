"""How the model is trained: epochs, batch, optimizer, and what is kept."""

from typing import TYPE_CHECKING

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QHBoxLayout, QWidget

from gpupanel.domain.fine_tuning import FineTuning
from gpupanel.domain.setting import setting_of
from gpupanel.domain.training import TrainingSettings
from gpupanel.domain.value import Value
from gpupanel.ui import formatting
from gpupanel.ui.forms.settings_card import SettingsCard
from gpupanel.ui.forms.table_input import TableInput
from gpupanel.ui.forms.value_form import ValueForm
from gpupanel.ui.widgets.tool_buttons import ToolButtons

if TYPE_CHECKING:
    from gpupanel.ui.forms.schedule_form import ScheduleForm


class TrainingPanel(SettingsCard):
    """Edits :class:`TrainingSettings`."""

    valueChanged = Signal(object)
    """A person changed a setting: the new value."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("Training", parent, tables=("training",))
        self.setObjectName("training_panel")
        self._schedule_form: ScheduleForm | None = None
        self._fine_tuning: FineTuning | None = None
        schedule = TableInput(setting_of(TrainingSettings, "schedule"), self._make_schedule_form)
        self._form = ValueForm(TrainingSettings(), inputs={"schedule": schedule})
        self.add_form(self._form)
        self.tools = ToolButtons()
        """Of tools that train for some steps."""
        foot = QHBoxLayout()
        foot.addStretch(1)
        foot.addWidget(self.tools)
        self.body.addLayout(foot)
        self._form.valueChanged.connect(self._take)
        self.set_summary(_summary(self.value()))

    def value(self) -> TrainingSettings:
        """The settings as shown."""
        value: TrainingSettings = self._form.value()
        return value

    def setValue(self, value: TrainingSettings) -> None:
        """Shows other settings silently."""
        self._form.setValue(value)
        self._show_curve(value)
        self.set_summary(_summary(value))

    def setFineTuning(self, fine_tuning: FineTuning | None) -> None:
        """The model's layers that begin to learn later: the curve has their learning rate, too."""
        self._fine_tuning = fine_tuning
        self._show_curve(self.value())

    @Slot(object)
    def _take(self, value: TrainingSettings) -> None:
        self._show_curve(value)
        self.set_summary(_summary(value))
        self.valueChanged.emit(value)

    def _make_schedule_form(self, schedule: Value) -> "ScheduleForm":
        # Here and not above: it comes with pyqtgraph.
        from gpupanel.ui.forms.schedule_form import ScheduleForm

        training = self.value().model_copy(update={"schedule": schedule})
        self._schedule_form = ScheduleForm(training, self._fine_tuning)
        return self._schedule_form

    def _show_curve(self, value: TrainingSettings) -> None:
        """The curve of the learning rate has that rate and these epochs, too."""
        if self._schedule_form is not None:
            self._schedule_form.setTraining(value, self._fine_tuning)


def _summary(value: TrainingSettings) -> str:
    epochs = "1 epoch" if value.epochs == 1 else f"{value.epochs:,} epochs"
    rate = f"learning rate {formatting.setting_number(value.learning_rate)}"
    return f"{epochs} · batch {value.global_batch_size:,} · {rate}"
