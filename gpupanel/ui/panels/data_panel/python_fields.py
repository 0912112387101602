"""The settings of data that Python code of the person's own loads."""

from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from gpupanel.domain.data import PythonData, Target
from gpupanel.ui.widgets.choice_box import Choice, ChoiceBox
from gpupanel.ui.widgets.path_edit import PathEdit
from gpupanel.ui.widgets.settings_form import SettingsForm

_PREDICTED = (
    Choice(Target.CLASSES, "A class", "Labels are class numbers, from 0 on."),
    Choice(Target.VALUES, "A value", "Labels are numbers to be predicted, such as prices."),
)
_FILE_TIP = (
    "A Python file with a function load() that gives NumPy arrays: examples and labels, and a test "
    "set if you have one. It may import what is installed, but no file beside it. You are asked "
    "before it is run for the first time."
)
_PREDICTED_TIP = "What the labels are that load() gives, one for each example."


class PythonFields(SettingsForm):
    """File, and what the labels are."""

    keyChanged = Signal(str, object)
    """A person changed a setting: its profile key and its new value."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._path = PathEdit(
            file_filter="Python files (*.py)",
            placeholder="drop a .py file",
            title="Choose the code that loads the data",
        )
        self._predicted = ChoiceBox(_PREDICTED)
        self.add_row("&File", self._path, _FILE_TIP, widest=None)
        self.add_row("&Predicted", self._predicted, _PREDICTED_TIP)
        self._path.pathChanged.connect(partial(self.keyChanged.emit, "path"))
        self._predicted.choiceMade.connect(partial(self.keyChanged.emit, "predicts"))

    def path_field(self) -> QWidget:
        """The editor of ``path``, which other sources have too."""
        return self._path

    def setSettings(self, settings: PythonData) -> None:
        """Shows other settings without telling anyone."""
        self._path.setPath(settings.path)
        self._predicted.setChoice(settings.predicts)

    def editors(self) -> tuple[tuple[str, QWidget], ...]:
        """The editor of each profile key that it alone has."""
        return (("predicts", self._predicted),)
