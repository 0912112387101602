"""What is trained: the kind of network and its layers."""

from functools import partial
from pathlib import Path

from PySide6.QtCore import QMimeData, Signal
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QCheckBox, QWidget
from typing_extensions import override

from gpupanel.domain.model import (
    MOST_CONVOLUTIONS,
    MOST_LAYERS,
    BuildableModel,
    CnnModel,
    MlpModel,
    ModelSettings,
    PythonModel,
    SavedModel,
)
from gpupanel.ui.widgets.choice_box import Choice, ChoiceBox
from gpupanel.ui.widgets.layer_sketch import LayerSketch
from gpupanel.ui.widgets.number_list_edit import NumberListEdit
from gpupanel.ui.widgets.path_edit import PathEdit
from gpupanel.ui.widgets.real_spin_box import FRACTION, RealSpinBox
from gpupanel.ui.widgets.settings_form import Note, SettingsCard, SettingsForm, teach

_BUILT = (
    Choice("mlp", "MLP: dense layers", "Every unit sees all of the layer before; for any data."),
    Choice("cnn", "CNN: convolutions", "Small filters slide over the picture; for images."),
    Choice("python", "Python code…", "A function of your own builds the Keras model."),
)
_SAVED = (Choice("saved", "Saved: a .keras file", "A trained model, such as a run here leaves."),)
_UNOFFERED = {
    "mlp": "MLP (not trained yet)",
    "cnn": "CNN (not trained yet)",
    "saved": "Saved model (not trainable)",
    "python": "Python code (not trained yet)",
}

_KIND_TIP = (
    "The kind of network. An MLP takes any data; a CNN looks for patterns that may stand anywhere "
    "in a picture, and needs pictures."
)
_FILTERS_TIP = (
    "How many 3x3 filters each convolution has, from the first to the last. After each one the "
    "picture is halved in height and width by 2x2 max pooling."
)
_HIDDEN_TIP = (
    "Units of each dense layer before the output, from the first to the last: 128, 64 makes two "
    "layers. More units can learn more, and need more memory and examples."
)
_DROPOUT_TIP = (
    "The part of the activations that is dropped at random while training, after each hidden "
    "layer. 0.2 to 0.5 helps against learning the examples by heart."
)
_NORM_TIP = (
    "Brings the activations of each batch to a common scale after each hidden layer. It often "
    "allows a larger learning rate."
)
_SYNCHRONIZED_TIP = (
    "Take the statistics of batch normalisation over the whole global batch: the result is the "
    "same however the batch is divided. Without it each replica looks at its own share only, "
    "which is faster, and the result depends on the shares."
)
_PATH_TIP = (
    "A Keras model in a .keras file. Every run here leaves one in its folder, model.keras. It is "
    "loaded in safe mode, so that it cannot run code."
)
_CODE_TIP = (
    "A Python file with a function build_model(input_shape, outputs) that gives a Keras model: "
    "sequential or functional, one number for each of the outputs. It may import what is "
    "installed, but no file beside it. You are asked before it is run for the first time."
)
_CODE_NOTE = (
    "The code runs when a run is started, and not before: how many layers it makes is seen then."
)
_NO_CODE = "No Python file was chosen yet. Browse for a .py file or drop one here."
_NO_FILE = (
    "No model was chosen yet. Browse for a .keras file or drop one here; a run that completed "
    "offers its own in the Live tab."
)


_NEW: dict[str, ModelSettings] = {
    model.source: model for model in (MlpModel(), CnnModel(), SavedModel(), PythonModel())
}


class ModelPanel(SettingsCard):
    """Edits :class:`ModelSettings`; each kind keeps what was typed for it."""

    valueChanged = Signal(object)
    """A person changed a setting: the new value."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("Model", parent)
        self.setObjectName("model_panel")
        self._value: ModelSettings = MlpModel()
        self._trains = True
        self._drafts: dict[str, ModelSettings] = {}
        self.setAcceptDrops(True)
        self._kind = ChoiceBox(_BUILT)
        self._kind.setObjectName("model_selector")
        self._filters = NumberListEdit(
            placeholder="32, 64", least_length=1, most_length=MOST_CONVOLUTIONS
        )
        self._hidden = NumberListEdit(placeholder="no hidden layer", most_length=MOST_LAYERS)
        self._dropout = RealSpinBox(FRACTION, step=0.05)
        self._norm = QCheckBox("&Batch normalisation")
        self._synchronized = QCheckBox("S&ynchronised over the replicas")
        self._path = PathEdit(
            file_filter="Keras models (*.keras)",
            placeholder="drop a .keras file",
            title="Choose the model",
        )
        self._code = PathEdit(
            file_filter="Python files (*.py)",
            placeholder="drop a .py file",
            title="Choose the code that builds the model",
        )
        self._note = Note(_NO_FILE)
        self._sketch = LayerSketch()
        self._lay_out()
        self._kind.choiceMade.connect(self._change_kind)
        self._filters.numbersChanged.connect(partial(self._change, "filters"))
        self._hidden.numbersChanged.connect(partial(self._change, "hidden"))
        self._dropout.numberChanged.connect(partial(self._change, "dropout"))
        self._norm.toggled.connect(partial(self._change, "batch_norm"))
        self._synchronized.toggled.connect(partial(self._change, "batch_norm_synchronized"))
        self._path.pathChanged.connect(partial(self._change, "path"))
        self._code.pathChanged.connect(partial(self._change, "path"))
        self.setValue(self._value)

    def value(self) -> ModelSettings:
        """The settings as shown."""
        return self._value

    def setValue(self, value: ModelSettings) -> None:
        """Shows other settings without telling anyone."""
        self._value = value
        self._drafts[value.source] = value
        self._kind.setChoice(value.source, unoffered=_UNOFFERED[value.source])
        is_saved, is_code = isinstance(value, SavedModel), isinstance(value, PythonModel)
        is_built = isinstance(value, MlpModel | CnnModel)
        self._form.set_row_visible(self._kind, visible=not is_saved or self._trains)
        self._form.set_row_visible(self._filters, visible=isinstance(value, CnnModel))
        for editor in (self._hidden, self._dropout, self._norm, self._synchronized):
            self._form.set_row_visible(editor, visible=is_built)
        self._form.set_row_visible(self._path, visible=is_saved)
        self._form.set_row_visible(self._code, visible=is_code)
        self.set_editor("path", self._code if is_code else self._path)
        self._sketch.setVisible(is_built)
        if isinstance(value, CnnModel):
            self._filters.setNumbers(value.filters)
        if isinstance(value, SavedModel):
            self._note.setText(_NO_FILE)
            self._note.setVisible(not value.path)
            self._path.setPath(value.path)
        elif isinstance(value, PythonModel):
            self._note.setText(_CODE_NOTE if value.path else _NO_CODE)
            self._note.show()
            self._code.setPath(value.path)
        else:
            self._note.hide()
            self._show_built(value)

    def setTrains(self, trains: bool) -> None:
        """Offers what can be trained, or what can be evaluated and predicted with."""
        self._trains = trains
        self._kind.setOffered(_BUILT if trains else _SAVED)
        self.setValue(self._value)

    def forget(self) -> None:
        """Forgets what was typed for other kinds: it was for another profile."""
        self._drafts.clear()

    @override
    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if self._dropped(event.mimeData()) is None:
            event.ignore()
        else:
            event.acceptProposedAction()

    @override
    def dropEvent(self, event: QDropEvent) -> None:
        path = self._dropped(event.mimeData())
        if path is None:
            event.ignore()
            return
        is_code = path.lower().endswith(".py")
        self._take(PythonModel(path=path) if is_code else SavedModel(path=path))
        event.acceptProposedAction()

    def _dropped(self, dropped: QMimeData) -> str | None:
        """The path that a drop means: one file, of the kind that the task asks for."""
        paths = [Path(url.toLocalFile()) for url in dropped.urls() if url.isLocalFile()]
        wanted = ".keras" if isinstance(self._value, SavedModel) else ".py"
        if len(paths) != 1 or paths[0].suffix.lower() != wanted:
            return None
        return str(paths[0])

    def _show_built(self, value: BuildableModel) -> None:
        self._hidden.setNumbers(value.hidden)
        self._dropout.setNumber(value.dropout)
        self._norm.setChecked(value.batch_norm)
        self._synchronized.setEnabled(value.batch_norm)
        self._synchronized.setChecked(value.batch_norm_synchronized)
        self._sketch.setLayers(_layers(value))

    def _lay_out(self) -> None:
        self._form = SettingsForm(self)
        self._form.add_row("&Kind", self._kind, _KIND_TIP)
        self._form.add_row("&Filters", self._filters, _FILTERS_TIP)
        self._form.add_row("&Hidden layers", self._hidden, _HIDDEN_TIP)
        self._form.add_row("D&ropout", self._dropout, _DROPOUT_TIP)
        teach(self._norm, "Batch normalisation", _NORM_TIP)
        self._form.add_wide(self._norm)
        teach(self._synchronized, "Synchronised batch normalisation", _SYNCHRONIZED_TIP)
        self._form.add_wide(self._synchronized)
        self._form.add_row("F&ile", self._path, _PATH_TIP, widest=None)
        self._form.add_row("P&ython file", self._code, _CODE_TIP, widest=None)
        for key, editor in (
            ("source", self._kind),
            ("filters", self._filters),
            ("hidden", self._hidden),
            ("dropout", self._dropout),
            ("batch_norm", self._norm),
            ("batch_norm_synchronized", self._synchronized),
        ):
            self.set_editor(key, editor)
        self.body.addWidget(self._form)
        self.body.addWidget(self._note)
        self.body.addSpacing(8)
        self.body.addWidget(self._sketch)

    def _change_kind(self, kind: str) -> None:
        self._take(self._drafts.get(kind) or _NEW[kind])

    def _change(self, field: str, choice: object) -> None:
        self._take(type(self._value).model_validate({**self._value.model_dump(), field: choice}))

    def _take(self, value: ModelSettings) -> None:
        if value != self._value:
            self.setValue(value)
            self.valueChanged.emit(value)


def _layers(value: BuildableModel) -> tuple[str, ...]:
    """The layers in words, in the order in which an example passes them."""
    filters = value.filters if isinstance(value, CnnModel) else ()
    return (
        "examples",
        *(f"conv {count:,}" for count in filters),
        *(f"dense {units:,}" for units in value.hidden),
        "output",
    )
