"""The form of a learning-rate schedule: what its kind needs, and the curve that follows."""

from collections.abc import Mapping

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from gpupanel.domain.fine_tuning import FineTuning
from gpupanel.domain.schedule import ScheduleSettings
from gpupanel.domain.setting import settings_of
from gpupanel.domain.training import TrainingSettings
from gpupanel.ui.forms.value_form import ValueForm
from gpupanel.ui.plots.rate_curve_view import RateCurveView
from gpupanel.ui.theme import GRID
from gpupanel.ui.widgets.layouts import column_in

_POINTS = 401
_BY_LOSS = "Falls when the loss stays: not known before."


class ScheduleForm(QWidget):
    """Rows of the settings that mean something to the kind, above the curve.

    The curve is that of training settings, which have the rate and the epochs.
    """

    valueChanged = Signal(object)
    """A person changed a setting: the new schedule."""
    errorsChanged = Signal()
    """What is wrong with what was typed changed."""

    def __init__(self, training: TrainingSettings, fine_tuning: FineTuning | None = None) -> None:
        super().__init__()
        self._training = training
        self._fine_tuning = fine_tuning
        self._form = ValueForm(training.schedule)
        self._curve = RateCurveView()
        column = column_in(self, spacing=GRID)
        column.addWidget(self._form)
        column.addWidget(self._curve)
        self._form.valueChanged.connect(self._take)
        self._form.errorsChanged.connect(self.errorsChanged)
        self.setTraining(training, fine_tuning)

    def setTraining(
        self, training: TrainingSettings, fine_tuning: FineTuning | None = None
    ) -> None:
        """Show the schedule of other settings silently, with their rate and epochs.

        Args:
            training: The settings.
            fine_tuning: May have another rate from an epoch on; ``None``: none begins.
        """
        self._training, self._fine_tuning = training, fine_tuning
        self._form.setValue(training.schedule)
        self._show()

    def setValue(self, value: ScheduleSettings) -> None:
        """Show another schedule silently."""
        training = self._training.model_copy(update={"schedule": value})
        self.setTraining(training, self._fine_tuning)

    def errors(self) -> Mapping[str, str]:
        """What is wrong with what was typed, by the setting's key."""
        return self._form.errors()

    def discard_errors(self) -> None:
        """Shows the values again in place of texts that are none."""
        self._form.discard_errors()

    def _take(self, value: ScheduleSettings) -> None:
        self.setValue(value)
        self.valueChanged.emit(value)

    def _show(self) -> None:
        schedule, epochs = self._training.schedule, self._training.epochs
        for each in settings_of(ScheduleSettings):
            # What was set and means nothing stays in sight, with its problem.
            shown = each.applies_in(schedule) or getattr(schedule, each.name) != each.default
            self._form.set_shown(each.name, shown=shown)
        # How many steps an epoch has is not known yet: enough for the shape.
        curve = self._training.rate_curve(_POINTS, self._fine_tuning)
        last = epochs * _POINTS - 1
        rates = [curve.at(last * place / (_POINTS - 1)) for place in range(_POINTS)]
        self._curve.setCurve(rates, epochs, _BY_LOSS if schedule.follows_loss else "")
