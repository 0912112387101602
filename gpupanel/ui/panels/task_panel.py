"""What is to be done, and when: train a model, evaluate or predict with one, or run a program."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from gpupanel.domain.inference import InferenceSettings
from gpupanel.domain.profile import Profile
from gpupanel.domain.setting import setting_of
from gpupanel.ui.forms.settings_card import SettingsCard
from gpupanel.ui.forms.settings_form import SettingsForm
from gpupanel.ui.forms.value_form import ValueForm
from gpupanel.ui.inputs.choice_box import ChoiceBox
from gpupanel.ui.task_choices import TaskChoices
from gpupanel.ui.widgets.labels import Note

_TASK = setting_of(Profile, "task")
_ELSEWHERE = ("name", "task")
"""Of what a profile says outside of its tables."""
_SENTENCES = {choice.value: choice.description for choice in _TASK.choices}
_TITLES = {choice.value: choice.label for choice in _TASK.choices}


class TaskPanel(SettingsCard):
    """Edits :class:`TaskChoices`: the task, its hours and, where a saved model is used, how."""

    valueChanged = Signal(object)
    """A person changed a setting: the new value."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("Task", parent, tables=("task", "inference", "hours"))
        self.setObjectName("task_panel")
        self._value = TaskChoices()
        self._task = ChoiceBox(_TASK.choices)
        self._task.setObjectName("task_chooser")
        self._sentence = Note()
        self._inference = ValueForm(InferenceSettings())
        self._inference.editors()["examples"].setObjectName("examples_chooser")
        self._inference.editors()["output"].setObjectName("output_chooser")
        self._hours = ValueForm(Profile(), elsewhere=_ELSEWHERE)
        form = SettingsForm(self)
        form.add_setting(_TASK, self._task)
        form.add_wide(self._sentence)
        self.add_form(form)
        self.add_form(self._inference, "inference")
        self.add_form(self._hours, "hours")
        self._task.valueChanged.connect(self._change_task)
        self._inference.valueChanged.connect(self._change_inference)
        self._hours.valueChanged.connect(self._change_hours)
        self.setValue(self._value)

    def value(self) -> TaskChoices:
        """The settings as shown."""
        return self._value

    def setValue(self, value: TaskChoices) -> None:
        """Shows other settings silently."""
        self._value = value
        self._task.setValue(value.task)
        self._sentence.setText(_SENTENCES[value.task])
        self.set_summary(" · ".join(filter(None, (_TITLES[value.task], value.hours))))
        self._hours.setValue(Profile(hours=value.hours))
        self._inference.setValue(value.inference)
        self._inference.setVisible(value.task in ("evaluate", "predict"))
        self._inference.set_shown("output", shown=value.task == "predict")
        self._inference.set_shown("unknown_classes", shown=value.task == "evaluate")

    def _change_task(self, task: str) -> None:
        self._take(TaskChoices.model_validate({**self._value.model_dump(), "task": task}))

    def _change_inference(self, inference: InferenceSettings) -> None:
        self._take(self._value.model_copy(update={"inference": inference}))

    def _change_hours(self, profile: Profile) -> None:
        self._take(self._value.model_copy(update={"hours": profile.hours}))

    def _take(self, value: TaskChoices) -> None:
        if value != self._value:
            self.setValue(value)
            self.valueChanged.emit(value)
