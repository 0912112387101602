"""What holds for every run of this machine: its hours, and what its power supply gives."""

from collections.abc import Sequence

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QVBoxLayout, QWidget

from gpupanel.domain.machine import MachineSettings
from gpupanel.domain.problem import Problem
from gpupanel.domain.problem_text import problem_sentences
from gpupanel.ui.forms.value_form import ValueForm
from gpupanel.ui.theme import GRID
from gpupanel.ui.widgets.labels import ProseLabel, Tone, set_tone

_ABOUT = (
    "This holds for every run on this machine, whichever profile it has, from windows, terminals "
    "and the queue alike. A run that works now hears of a change within a second."
)


class MachinePage(QWidget):
    """A form of :class:`MachineSettings`."""

    valueChanged = Signal(object)
    """A person changed a setting: the new :class:`MachineSettings`."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("machine_page")
        about = ProseLabel(tone="muted")
        about.setProse(_ABOUT)
        self._form = ValueForm(MachineSettings())
        self._said = ProseLabel()
        self._said.setObjectName("machine_said")
        self._form.valueChanged.connect(self._take)
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

    @Slot(object)
    def _take(self, value: MachineSettings) -> None:
        self.setUnusable(())
        self.valueChanged.emit(value)

    @Slot()
    def _show_errors(self) -> None:
        """What was typed and is no value is not kept: the last value holds."""
        wrong = {
            key: Problem(code="input_invalid", field=key, message=error)
            for key, error in self._form.errors().items()
        }
        self._form.setProblems(wrong)
