"""What is trained: the kind of network and its layers."""

from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox, QWidget

from gpupanel.domain.model import CnnModel, MlpModel, ModelSettings, SavedModel
from gpupanel.ui.widgets.choice_box import Choice, ChoiceBox
from gpupanel.ui.widgets.layer_sketch import LayerSketch
from gpupanel.ui.widgets.number_list_edit import NumberListEdit
from gpupanel.ui.widgets.real_spin_box import FRACTION, RealSpinBox
from gpupanel.ui.widgets.settings_form import SettingsCard, SettingsForm, teach

_KINDS = (
    Choice("mlp", "MLP: dense layers", "Every unit sees all of the layer before; for any data."),
    Choice("cnn", "CNN: convolutions", "Small filters slide over the picture; for images."),
)

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


class ModelPanel(SettingsCard):
    """Edits :class:`ModelSettings`; each kind keeps what was typed for it."""

    valueChanged = Signal(object)
    """A person changed a setting: the new value."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("Model", parent)
        self.setObjectName("model_panel")
        self._value: ModelSettings = MlpModel()
        self._drafts: dict[str, ModelSettings] = {"mlp": MlpModel(), "cnn": CnnModel()}
        self._kind = ChoiceBox(_KINDS)
        self._kind.setObjectName("model_selector")
        self._filters = NumberListEdit(placeholder="32, 64", least_length=1)
        self._hidden = NumberListEdit(placeholder="no hidden layer")
        self._dropout = RealSpinBox(FRACTION, step=0.05)
        self._norm = QCheckBox("&Batch normalisation")
        self._sketch = LayerSketch()
        self._lay_out()
        self._kind.choiceMade.connect(self._change_kind)
        self._filters.numbersChanged.connect(partial(self._change, "filters"))
        self._hidden.numbersChanged.connect(partial(self._change, "hidden"))
        self._dropout.numberChanged.connect(partial(self._change, "dropout"))
        self._norm.toggled.connect(partial(self._change, "batch_norm"))
        self.setValue(self._value)

    def value(self) -> ModelSettings:
        """The settings as shown."""
        return self._value

    def setValue(self, value: ModelSettings) -> None:
        """Shows other settings without telling anyone."""
        self._value = value
        self._drafts[value.source] = value
        self._kind.setChoice(value.source)
        self._form.set_row_visible(self._filters, visible=isinstance(value, CnnModel))
        if isinstance(value, CnnModel):
            self._filters.setNumbers(value.filters)
        if not isinstance(value, SavedModel):
            self._hidden.setNumbers(value.hidden)
            self._dropout.setNumber(value.dropout)
            self._norm.setChecked(value.batch_norm)
        self._sketch.setLayers(_layers(value))

    def _lay_out(self) -> None:
        self._form = SettingsForm(self)
        self._form.add_row("&Kind", self._kind, _KIND_TIP)
        self._form.add_row("&Filters", self._filters, _FILTERS_TIP)
        self._form.add_row("&Hidden layers", self._hidden, _HIDDEN_TIP)
        self._form.add_row("D&ropout", self._dropout, _DROPOUT_TIP)
        teach(self._norm, "Batch normalisation", _NORM_TIP)
        self._form.add_wide(self._norm)
        for key, editor in (
            ("source", self._kind),
            ("filters", self._filters),
            ("hidden", self._hidden),
            ("dropout", self._dropout),
            ("batch_norm", self._norm),
        ):
            self.set_editor(key, editor)
        self.body.addWidget(self._form)
        self.body.addSpacing(8)
        self.body.addWidget(self._sketch)

    def _change_kind(self, kind: str) -> None:
        self._take(self._drafts[kind])

    def _change(self, field: str, choice: object) -> None:
        self._take(type(self._value).model_validate({**self._value.model_dump(), field: choice}))

    def _take(self, value: ModelSettings) -> None:
        if value != self._value:
            self.setValue(value)
            self.valueChanged.emit(value)


def _layers(value: ModelSettings) -> tuple[str, ...]:
    """The layers in words, in the order in which an example passes them."""
    if isinstance(value, SavedModel):
        return ("examples", "saved model", "output")
    filters = value.filters if isinstance(value, CnnModel) else ()
    return (
        "examples",
        *(f"conv {count:,}" for count in filters),
        *(f"dense {units:,}" for units in value.hidden),
        "output",
    )
