"""What is trained: the kind of network and its layers."""

from pathlib import Path

from PySide6.QtCore import QMimeData, Signal
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QWidget
from typing_extensions import override

from gpupanel.domain.choice import Choice
from gpupanel.domain.model import (
    BuildableModel,
    CnnModel,
    MlpModel,
    ModelSettings,
    PythonModel,
    SavedModel,
)
from gpupanel.ui.forms.settings_card import SettingsCard
from gpupanel.ui.forms.settings_form import SettingsForm
from gpupanel.ui.forms.value_form import ValueForm
from gpupanel.ui.inputs.choice_box import ChoiceBox
from gpupanel.ui.widgets.layer_sketch import LayerSketch
from gpupanel.ui.widgets.note import Note

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
        super().__init__("Model", parent, tables=("model",))
        self.setObjectName("model_panel")
        self._value: ModelSettings = MlpModel()
        self._trains = True
        self._drafts: dict[str, ModelSettings] = {}
        self.setAcceptDrops(True)
        self._kind = ChoiceBox(_BUILT)
        self._kind.setObjectName("model_selector")
        self._kind_forms = {type(model): ValueForm(model, taken="k") for model in _NEW.values()}
        self._note = Note(_NO_FILE)
        self._sketch = LayerSketch()
        self._lay_out()
        self._kind.valueChanged.connect(self._change_kind)
        for form in self._kind_forms.values():
            form.valueChanged.connect(self._take)
        self.setValue(self._value)

    def value(self) -> ModelSettings:
        """The settings as shown."""
        return self._value

    def setValue(self, value: ModelSettings) -> None:
        """Shows other settings without telling anyone."""
        self._value = value
        self._drafts[value.source] = value
        self._kind.setValue(value.source, unoffered=_UNOFFERED[value.source])
        is_saved = isinstance(value, SavedModel)
        self._kind_form.set_row_visible(self._kind, visible=not is_saved or self._trains)
        for kind, form in self._kind_forms.items():
            form.setVisible(isinstance(value, kind))
            if isinstance(value, kind):
                form.setValue(value)
        self._sketch.setVisible(isinstance(value, MlpModel | CnnModel))
        if isinstance(value, MlpModel | CnnModel):
            self._sketch.setLayers(_layers(value))
        self._show_note(value)

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

    def _show_note(self, value: ModelSettings) -> None:
        words = ""
        if isinstance(value, SavedModel):
            words = "" if value.path else _NO_FILE
        elif isinstance(value, PythonModel):
            words = _CODE_NOTE if value.path else _NO_CODE
        self._note.setText(words)
        self._note.setVisible(bool(words))

    def _lay_out(self) -> None:
        self._kind_form = SettingsForm(self)
        self._kind_form.add_row("&Kind", self._kind, _KIND_TIP, key="source")
        for form in (self._kind_form, *self._kind_forms.values()):
            self.add_form(form)
        self.body.addWidget(self._note)
        self.body.addSpacing(8)
        self.body.addWidget(self._sketch)

    def _change_kind(self, kind: str) -> None:
        self._take(self._drafts.get(kind) or _NEW[kind])

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
