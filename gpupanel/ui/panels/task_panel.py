"""What is to be done: train a model, or evaluate or predict with one."""

from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from gpupanel.domain.inference import InferenceSettings
from gpupanel.ui.task_choices import TaskChoices
from gpupanel.ui.widgets.choice_box import Choice, ChoiceBox
from gpupanel.ui.widgets.counter import Counter
from gpupanel.ui.widgets.settings_form import Note, SettingsCard, SettingsForm

_TASKS = (
    Choice("train", "Train", "A new model learns from the data."),
    Choice(
        "evaluate",
        "Evaluate",
        "A saved model is measured: loss, accuracy, which classes it mistakes for which.",
    ),
    Choice(
        "predict",
        "Predict",
        "A saved model answers for each example; the answers are written to a file, in order.",
    ),
)
_SENTENCES = {choice.value: choice.tip for choice in _TASKS}
_EXAMPLES = (
    Choice("all", "All", "Every example of the data."),
    Choice("validation", "Those held back", "Those that training with this seed validates on."),
    Choice("training", "Those learned from", "Those that training with this seed learns from."),
)
_OUTPUTS = (
    Choice("npz", "NumPy (.npz)", "Arrays: exact, small, read with numpy.load."),
    Choice("csv", "Table (.csv)", "A line for each example, for spreadsheets."),
)

_TASK_TIP = (
    "Train a model, or put a saved one on every device and spread the data over them. Only what "
    "matters to the task is asked for below."
)
_EXAMPLES_TIP = (
    "Which examples. What a model is worth shows on those that it has not learned from: with the "
    "same data settings and seed they are the ones held back for validation."
)
_BATCH_TIP = (
    "Examples of one call over all devices. It changes speed and memory only, not the result."
)
_OUTPUT_TIP = "The format of the file with the predictions, which are in the order of the data."


class TaskPanel(SettingsCard):
    """Edits :class:`TaskChoices`: the task and, where a saved model is used, how."""

    valueChanged = Signal(object)
    """A person changed a setting: the new value."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("Task", parent)
        self.setObjectName("task_panel")
        self._value = TaskChoices()
        self._task = ChoiceBox(_TASKS)
        self._task.setObjectName("task_chooser")
        self._sentence = Note()
        self._examples = ChoiceBox(_EXAMPLES)
        self._examples.setObjectName("examples_chooser")
        self._batch = Counter(1, unit="example")
        self._output = ChoiceBox(_OUTPUTS)
        self._output.setObjectName("output_chooser")
        self._lay_out()
        self._task.choiceMade.connect(self._change_task)
        self._examples.choiceMade.connect(partial(self._change, "examples"))
        self._batch.countChanged.connect(partial(self._change, "batch_size"))
        self._output.choiceMade.connect(partial(self._change, "output"))
        self.setValue(self._value)

    def value(self) -> TaskChoices:
        """The settings as shown."""
        return self._value

    def setValue(self, value: TaskChoices) -> None:
        """Shows other settings without telling anyone."""
        self._value = value
        self._task.setChoice(value.task)
        self._sentence.setText(_SENTENCES[value.task])
        self._examples.setChoice(value.inference.examples)
        self._batch.setCount(value.inference.batch_size)
        self._output.setChoice(value.inference.output)
        for editor in (self._examples, self._batch):
            self._form.set_row_visible(editor, visible=value.task != "train")
        self._form.set_row_visible(self._output, visible=value.task == "predict")

    def _lay_out(self) -> None:
        form = self._form = SettingsForm(self)
        form.add_row("Tas&k", self._task, _TASK_TIP)
        form.add_wide(self._sentence)
        form.add_row("&Examples", self._examples, _EXAMPLES_TIP)
        form.add_row("&Batch size", self._batch, _BATCH_TIP)
        form.add_row("Outpu&t", self._output, _OUTPUT_TIP)
        for key, editor in (
            ("task", self._task),
            ("examples", self._examples),
            ("batch_size", self._batch),
            ("output", self._output),
        ):
            self.set_editor(key, editor)
        self.body.addWidget(form)

    def _change_task(self, task: str) -> None:
        self._take(TaskChoices.model_validate({**self._value.model_dump(), "task": task}))

    def _change(self, field: str, choice: object) -> None:
        inference = InferenceSettings.model_validate(
            {**self._value.inference.model_dump(), field: choice}
        )
        self._take(self._value.model_copy(update={"inference": inference}))

    def _take(self, value: TaskChoices) -> None:
        if value != self._value:
            self.setValue(value)
            self.valueChanged.emit(value)
