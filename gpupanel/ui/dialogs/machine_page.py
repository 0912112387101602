"""What holds for every run of this machine: its hours, and what its power supply gives."""

from collections.abc import Sequence

from PySide6.QtCore import Signal, Slot
from PySide6.QtGui import QHideEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget
from typing_extensions import override

from gpupanel.domain.machine import MachineSettings
from gpupanel.domain.problem import Problem
from gpupanel.domain.problem_text import problem_sentences
from gpupanel.ui.forms.value_form import ValueForm
from gpupanel.ui.inputs.time_edits import HoursEdit
from gpupanel.ui.theme import GRID
from gpupanel.ui.widgets.labels import ProseLabel, Tone, set_tone

_ABOUT = (
    "This holds for every run on this machine, whichever profile it has, from windows, terminals "
    "and the queue alike. A run that works now hears of a change within a second, and is suspended "
    "where its hours are over."
)


class MachinePage(QWidget):
    """A form of :class:`MachineSettings`."""

    valueChanged = Signal(object)
    """A person changed a setting, hours once they are typed whole: :class:`MachineSettings`."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("machine_page")
        about = ProseLabel(tone="muted")
        about.setProse(_ABOUT)
        self._form = ValueForm(MachineSettings())
        self._said = ProseLabel()
        self._said.setObjectName("machine_said")
        self._is_changed = False
        self._form.valueChanged.connect(self._take)
        hours = self._form.editors()["hours"]
        assert isinstance(hours, HoursEdit)
        self._hours = hours
        hours.editingFinished.connect(self._hand_on)
        self._form.errorsChanged.connect(self._show_errors)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(2 * GRID, 2 * GRID, 2 * GRID, 2 * GRID)
        layout.setSpacing(2 * GRID)
        for part in (about, self._form, self._said):
            layout.addWidget(part)
        layout.addStretch(1)

    def setValue(self, value: MachineSettings) -> None:
        """Shows other settings silently."""
        self._form.setValue(value)

    def setUnusable(self, problems: Sequence[Problem]) -> None:
        """Shows why the settings could not be read or kept; none: they were."""
        self._said.setProse("\n".join(map(problem_sentences, problems)))
        set_tone(self._said, Tone.ERROR)

    @override
    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._hand_on()

    @Slot()
    def _take(self) -> None:
        self._is_changed = True
        # Half of 0-24 is 0-2, which would suspend what runs now.
        if not self._hours.hasFocus():
            self._hand_on()

    @Slot()
    def _hand_on(self) -> None:
        if self._is_changed:
            self._is_changed = False
            self.setUnusable(())
            self.valueChanged.emit(self._form.value())

    @Slot()
    def _show_errors(self) -> None:
        """What was typed and is no value is not kept: the last value holds."""
        wrong = {
            key: Problem(code="input_invalid", field=key, message=error)
            for key, error in self._form.errors().items()
        }
        self._form.setProblems(wrong)
