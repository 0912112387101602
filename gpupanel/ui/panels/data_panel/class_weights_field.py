"""How much each class counts: all alike, rare ones more, or as chosen for each."""

from collections.abc import Mapping, Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QLabel, QWidget

from gpupanel.domain.choice import Choice
from gpupanel.domain.data_source import ClassWeights
from gpupanel.domain.visible_text import visible_line
from gpupanel.ui.inputs.choice_box import ChoiceBox
from gpupanel.ui.inputs.real_spin_box import RealRange, RealSpinBox
from gpupanel.ui.widgets.labels import Note
from gpupanel.ui.widgets.layouts import CellGrid, column_in
from gpupanel.ui.widgets.tips import teach

_CHOSEN = Choice(
    "chosen", "By hand", ("You set a weight for each class; 1 is the default, 2 counts double.")
)
_MOST_ROWS = 30
_UNKNOWN = "The classes appear here once the data was read."
_MORE = "{} more classes can be weighted in the profile."
_WEIGHT_WIDTH = 88

Weights = ClassWeights | dict[str, float]


class ClassWeightsField(QWidget):
    """Edits ``class_weights``: a choice, or a table of weights by the classes' names."""

    is_tall = True
    """It has several lines: its label stands beside the first."""

    valueChanged = Signal(object)
    """A person chose other weights: a :class:`ClassWeights` or a dictionary; :meth:`setValue` is
    silent."""
    errorChanged = Signal()
    """See :class:`~gpupanel.ui.inputs.input.TypedInput`."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._names: tuple[str, ...] = ()
        self._chosen: dict[str, float] = {}
        self._boxes: dict[str, RealSpinBox] = {}
        self.choice = ChoiceBox([*(each.choice for each in ClassWeights), _CHOSEN])
        """Chooses between them."""
        self._grid = CellGrid(stretched=0)
        self._note = Note("")
        column = column_in(self)
        for part in (self.choice, self._grid, self._note):
            column.addWidget(part)
        self.setFocusProxy(self.choice)
        self.choice.valueChanged.connect(self._report)
        self.choice.valueChanged.connect(self.errorChanged)
        self._show()

    def value(self) -> Weights:
        """The weights as shown."""
        chosen = self.choice.value()
        return dict(self._chosen) if chosen == _CHOSEN.value else ClassWeights(chosen)

    def setValue(self, value: Weights) -> None:
        """Shows other weights silently."""
        if isinstance(value, ClassWeights):
            self.choice.setValue(value.value)
        else:
            self._chosen = dict(value)
            self.choice.setValue(_CHOSEN.value)
            for name, box in self._boxes.items():
                box.setValue(value.get(name, 1.0))
        self._show()

    def set_classes(self, names: Sequence[str]) -> None:
        """Offers a weight for each of these classes; those that are weighted already stay."""
        if tuple(names) != self._names:
            self._names = tuple(names)
            if self.choice.value() != _CHOSEN.value:
                # What was typed may have been for other data.
                kept = {name: weight for name, weight in self._chosen.items() if name in names}
                self._chosen = kept
            self._show()

    def boxes(self) -> Mapping[str, RealSpinBox]:
        """What edits the weight of each class, by its name."""
        return self._boxes

    def error(self) -> str:
        """Why what was typed is no weight; empty when all are, or none are asked for."""
        if self.choice.value() != _CHOSEN.value:
            return ""
        wrong = ((name, box.error()) for name, box in self._boxes.items())
        return next((f"{visible_line(name)}: {error}" for name, error in wrong if error), "")

    def discard(self) -> None:
        """Shows the weights again in place of texts that are none."""
        for box in self._boxes.values():
            box.discard()

    def _make_rows(self) -> None:
        """Rows for the classes that there are now: made when they are first seen."""
        named = list(dict.fromkeys([*self._names, *self._chosen]))[:_MOST_ROWS]
        if named == list(self._boxes):
            return
        self._boxes = {name: self._box(name) for name in named}
        self._grid.set_cells([_label(name), box] for name, box in self._boxes.items())

    def _box(self, name: str) -> RealSpinBox:
        box = RealSpinBox(RealRange(below=1e6))
        box.setFixedWidth(_WEIGHT_WIDTH)
        box.setValue(self._chosen.get(name, 1.0))
        teach(box, f"Weight of {name}", "Factor of the loss of this class's examples.")
        box.valueChanged.connect(self._take)
        box.errorChanged.connect(self.errorChanged)
        return box

    def _take(self) -> None:
        shown = {name: box.value() for name, box in self._boxes.items()}
        # What is as usual need not be said, unless it was.
        self._chosen |= {
            name: weight for name, weight in shown.items() if weight != 1.0 or name in self._chosen
        }
        self._report()

    def _report(self) -> None:
        self._show()
        self.valueChanged.emit(self.value())

    def _show(self) -> None:
        is_chosen = self.choice.value() == _CHOSEN.value
        if is_chosen:
            self._make_rows()
        more = len(set(self._names) - set(self._boxes))
        text = _MORE.format(more) if more else "" if self._boxes else _UNKNOWN
        self._grid.setVisible(is_chosen and bool(self._boxes))
        self._note.setText(text)
        self._note.setVisible(is_chosen and bool(text))


def _label(name: str) -> QLabel:
    label = QLabel(visible_line(name))
    label.setTextFormat(Qt.TextFormat.PlainText)
    return label
