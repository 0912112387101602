"""What is trained: the kind of network and its layers."""

from pathlib import Path

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QWidget
from typing_extensions import override

from gpupanel.domain.kind import Kind, kinds_of
from gpupanel.domain.layers import Stack
from gpupanel.domain.model import DEFAULT_MODEL, ModelSettings
from gpupanel.domain.setting import settings_of
from gpupanel.planning.model_gallery import ModelEntry
from gpupanel.ui.forms.kind_form import KindForm
from gpupanel.ui.forms.settings_card import SettingsCard
from gpupanel.ui.widgets.file_drops import TakesFiles
from gpupanel.ui.widgets.labels import Note
from gpupanel.ui.widgets.layer_sketch import LayerSketch
from gpupanel.ui.widgets.layouts import row_in
from gpupanel.ui.widgets.tips import teach
from gpupanel.ui.widgets.tool_buttons import ToolButtons

_KINDS = kinds_of(ModelSettings)
_SAVED = tuple(kind for kind in _KINDS if kind.new().is_saved)
_BY_SUFFIX = {
    suffix: kind
    for kind in _KINDS
    for each in settings_of(kind.values)
    if each.path is not None and not each.choices
    for suffix in each.path.suffixes
}
"""The kinds that have a file, by how its name ends."""
_KIND_TIP = (
    "The kind of network. An MLP takes any data; a CNN finds patterns anywhere in an image, "
    "and needs images."
)
_GALLERY_TIP = (
    "A list to search: groups, the size of images, what is downloaded, and what is good for few "
    "images."
)
_OF_REPLICAS = ("batch_norm_synchronized",)
_CODE_NOTE = "The code is executed when a run starts, not before. The layers are known then."
_NO_CODE = "No Python file was chosen yet. Browse for a .py file or drop one here."
_NO_FILE = (
    "No model was chosen yet. Browse for a .keras file or drop one here; a run that completed "
    "offers its own in the Live tab."
)


class ModelPanel(TakesFiles, SettingsCard):
    """Edits :class:`ModelSettings`; each kind keeps what was typed for it."""

    valueChanged = Signal(object)
    """A person changed a setting: the new value."""
    galleryRequested = Signal()
    """All models are to be shown, with what decides between them."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("Model", parent, tables=("model",))
        self.setObjectName("model_panel")
        self.setAcceptDrops(True)
        self._trains = True
        self._replica_count = 1
        self._gallery = QPushButton("All models…", self)
        self._gallery.setObjectName("model_gallery_open")
        teach(self._gallery, "All models", _GALLERY_TIP)
        self._gallery.clicked.connect(self.galleryRequested)
        self._below_kind = QWidget()
        row = row_in(self._below_kind)
        row.addStretch(1)
        row.addWidget(self._gallery)
        self._form = KindForm(
            _KINDS, DEFAULT_MODEL, title="Kind", tip=_KIND_TIP, below_path=self._below_kind
        )
        self._form.chooser.setObjectName("model_selector")
        self._note = Note(_NO_FILE)
        self._sketch = LayerSketch()
        self.add_form(self._form)
        self.body.addWidget(self._note)
        self.body.addSpacing(8)
        self.body.addWidget(self._sketch)
        self.tools = ToolButtons()
        """Of tools that build the model; hidden where only a run can."""
        foot = QHBoxLayout()
        foot.addStretch(1)
        foot.addWidget(self.tools)
        self.body.addLayout(foot)
        self._form.valueChanged.connect(self._take)
        self.setTrains(True)

    def value(self) -> ModelSettings:
        """The settings as shown."""
        value: ModelSettings = self._form.value()
        return value

    def setValue(self, value: ModelSettings) -> None:
        """Shows other settings silently."""
        self._form.setValue(value)
        self._show()

    def setTrains(self, trains: bool) -> None:
        """Offers what can be trained, or what can be evaluated and predicted with."""
        self._trains = trains
        self._form.setOffered(_KINDS if trains else _SAVED, unoffered="not trained yet")
        # What else there is to choose of a saved model is about its training.
        self._form.set_only_shown(None if trains else ("path",))
        self._show()

    def setReplicaCount(self, count: int) -> None:
        """What is only about several replicas is offered where there are several, or is set."""
        if count != self._replica_count:
            self._replica_count = count
            self._show()

    def offers(self, kind: Kind) -> bool:
        """Whether the task can use a model of that kind."""
        return self._trains or kind in _SAVED

    @Slot(object)
    def choose_entry(self, entry: ModelEntry) -> None:
        """Take that kind, with its published weights where it has some.

        Frozen layers and what else was typed for the kind stay; a file is asked for.
        """
        if not entry.is_pretrained:
            self._form.choose_kind(entry.kind.source)
            return
        model = self._form.draft(entry.kind.source)
        begun = {"weights": "imagenet"} if model.weights == "none" else {}
        self._form.change(model.model_copy(update=begun))

    @override
    def forget(self) -> None:
        """Forgets what was typed for other kinds: it was for another profile."""
        self._form.forget()

    @override
    def can_take(self, paths: tuple[str, ...]) -> bool:
        """Whether this is one file that holds a model, or its weights, that the task asks for."""
        return self._meant(paths) is not None

    @override
    def take(self, paths: tuple[str, ...]) -> None:
        """Choose the file as model, or as its weights; nothing where it is neither."""
        meant = self._meant(paths)
        if meant is not None:
            self._form.change(meant)

    def _meant(self, paths: tuple[str, ...]) -> ModelSettings | None:
        """The model that a drop means: one file, of the kind that the task asks for."""
        suffix = Path(paths[0]).suffix.lower() if len(paths) == 1 else ""
        weights = _weights_key(self.value(), suffix)
        if weights is not None:
            return self.value().model_copy(update={weights: paths[0]})
        kind = _BY_SUFFIX.get(suffix)
        if kind is None:
            return None
        model: ModelSettings = kind.new(path=paths[0])
        return model if self._trains or model.is_saved else None

    def _take(self, value: ModelSettings) -> None:
        self._show()
        self.valueChanged.emit(value)

    def _show(self) -> None:
        value = self.value()
        self.set_summary(self._form.summary())
        self._below_kind.setVisible(self._trains)
        self._form.set_chooser_visible(visible=self._trains or not value.is_saved)
        defaults = {each.name: each.default for each in settings_of(type(value))}
        is_set = any(
            name in defaults and getattr(value, name) != defaults[name] for name in _OF_REPLICAS
        )
        alone = self._replica_count == 1 and not is_set
        self._form.set_left_out(_OF_REPLICAS if alone else ())
        self._sketch.setVisible(value.stack is not None)
        if value.stack is not None:
            self._sketch.setLayers(_layers(value.stack))
        # What code builds is known when a run carries it out.
        self.tools.setVisible(self._trains and not value.is_code)
        sentence = _sentence(value)
        self._note.setText(sentence)
        self._note.setVisible(bool(sentence))


def _weights_key(value: ModelSettings, suffix: str) -> str | None:
    """The setting of a file, beside that of the model itself, whose name may end so."""
    for each in settings_of(type(value)):
        if each.path is not None and each.choices and suffix in each.path.suffixes:
            return each.name
    return None


def _sentence(value: ModelSettings) -> str:
    """What is to be known of a file that holds the model."""
    if value.is_code:
        return _NO_CODE if value.lacks_path else _CODE_NOTE
    return _NO_FILE if value.lacks_path else ""


def _layers(stack: Stack) -> tuple[str, ...]:
    """The layers in words, in the order in which an example passes them."""
    return (
        "examples",
        *(f"conv {count:,}" for count in stack.filters),
        *(f"dense {units:,}" for units in stack.hidden),
        "output",
    )
