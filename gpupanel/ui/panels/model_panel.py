"""What is trained: the kind of network and its layers."""

from pathlib import Path

from PySide6.QtCore import QMimeData, Signal
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QWidget
from typing_extensions import override

from gpupanel.domain.kind import kinds_of
from gpupanel.domain.model import (
    BuildableModel,
    CnnModel,
    MlpModel,
    ModelSettings,
    PythonModel,
    SavedModel,
    TrainableModel,
)
from gpupanel.ui.forms.kind_form import KindForm
from gpupanel.ui.forms.settings_card import SettingsCard
from gpupanel.ui.widgets.layer_sketch import LayerSketch
from gpupanel.ui.widgets.note import Note

_KINDS = kinds_of(ModelSettings)
_TRAINABLE = kinds_of(TrainableModel)
_SAVED = tuple(kind for kind in _KINDS if kind.values is SavedModel)
_KIND_TIP = (
    "The kind of network. An MLP takes any data; a CNN finds patterns anywhere in an image, "
    "and needs images."
)
_CODE_NOTE = "The code is executed when a run starts, not before. The layers are known then."
_NO_CODE = "No Python file was chosen yet. Browse for a .py file or drop one here."
_NO_FILE = (
    "No model was chosen yet. Browse for a .keras file or drop one here; a run that completed "
    "offers its own in the Live tab."
)


class ModelPanel(SettingsCard):
    """Edits :class:`ModelSettings`; each kind keeps what was typed for it."""

    valueChanged = Signal(object)
    """A person changed a setting: the new value."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("Model", parent, tables=("model",))
        self.setObjectName("model_panel")
        self.setAcceptDrops(True)
        self._trains = True
        self._form = KindForm(_KINDS, MlpModel(), title="&Kind", tip=_KIND_TIP)
        self._form.chooser.setObjectName("model_selector")
        self._note = Note(_NO_FILE)
        self._sketch = LayerSketch()
        self.add_form(self._form)
        self.body.addWidget(self._note)
        self.body.addSpacing(8)
        self.body.addWidget(self._sketch)
        self._form.valueChanged.connect(self._take)
        self.setTrains(True)

    def value(self) -> ModelSettings:
        """The settings as shown."""
        value: ModelSettings = self._form.value()
        return value

    def setValue(self, value: ModelSettings) -> None:
        """Shows other settings without telling anyone."""
        self._form.setValue(value)
        self._show()

    def setTrains(self, trains: bool) -> None:
        """Offers what can be trained, or what can be evaluated and predicted with."""
        self._trains = trains
        if trains:
            self._form.setOffered(_TRAINABLE, unoffered="not trainable")
        else:
            self._form.setOffered(_SAVED, unoffered="not trained yet")
        self._show()

    def forget(self) -> None:
        """Forgets what was typed for other kinds: it was for another profile."""
        self._form.forget()

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
        self._form.change(PythonModel(path=path) if is_code else SavedModel(path=path))
        event.acceptProposedAction()

    def _dropped(self, dropped: QMimeData) -> str | None:
        """The path that a drop means: one file, of the kind that the task asks for."""
        paths = [Path(url.toLocalFile()) for url in dropped.urls() if url.isLocalFile()]
        wanted = ".keras" if isinstance(self.value(), SavedModel) else ".py"
        if len(paths) != 1 or paths[0].suffix.lower() != wanted:
            return None
        return str(paths[0])

    def _take(self, value: ModelSettings) -> None:
        self._show()
        self.valueChanged.emit(value)

    def _show(self) -> None:
        value = self.value()
        is_saved = isinstance(value, SavedModel)
        self._form.set_chooser_visible(visible=not is_saved or self._trains)
        self._sketch.setVisible(isinstance(value, MlpModel | CnnModel))
        if isinstance(value, MlpModel | CnnModel):
            self._sketch.setLayers(_layers(value))
        sentence = _sentence(value)
        self._note.setText(sentence)
        self._note.setVisible(bool(sentence))


def _sentence(value: ModelSettings) -> str:
    """What is to be known of a file that holds the model."""
    if isinstance(value, SavedModel):
        return "" if value.path else _NO_FILE
    if isinstance(value, PythonModel):
        return _CODE_NOTE if value.path else _NO_CODE
    return ""


def _layers(value: BuildableModel) -> tuple[str, ...]:
    """The layers in words, in the order in which an example passes them."""
    filters = value.filters if isinstance(value, CnnModel) else ()
    return (
        "examples",
        *(f"conv {count:,}" for count in filters),
        *(f"dense {units:,}" for units in value.hidden),
        "output",
    )
