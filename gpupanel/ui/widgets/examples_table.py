"""Examples of a run as a table: image, name, label, and what the model takes them for."""

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QSize, Qt, Signal, Slot
from PySide6.QtGui import QPixmap
from PySide6.QtWidgets import QHBoxLayout, QHeaderView, QLabel, QPushButton, QWidget
from typing_extensions import override

from gpupanel.domain.problem_text import problem_sentences
from gpupanel.domain.shown_examples import ExampleChoice, ShownCell, ShownExample, ShownExamples
from gpupanel.ui import formatting
from gpupanel.ui.widgets.example_image import scaled_image
from gpupanel.ui.widgets.labels import ProseLabel
from gpupanel.ui.widgets.layouts import column_in
from gpupanel.ui.widgets.table_model import Column, TableModel
from gpupanel.ui.widgets.table_view import TableView
from gpupanel.ui.widgets.tips import wrapped

_IMAGE = 56
_ROW_HEIGHT, _LINE_HEIGHT = 64, 32
"""With images, and without."""
_TOP = 3
_WIDTHS = (96, 190, 130, 170, 150, 150, 90)
_EXAMPLE, _LABEL, _FIRST, _ERROR = 0, 2, 3, 6
"""Columns of these."""
_CELL_WIDTH = 96
_READING = "Reading the examples…"


class _Row:
    """An example with its image, which is made once."""

    def __init__(self, place: int, example: ShownExample) -> None:
        self.place, self.example = place, example
        image = example.image
        self.pixmap = None if image is None else scaled_image(image, _IMAGE)
        self.values = "" if image is None else image.text


def _values(row: _Row) -> str:
    return row.values


def _image(row: _Row) -> QPixmap | None:
    return row.pixmap


def _name(row: _Row) -> str:
    return row.example.name or f"index {formatting.count(row.example.index)}"


def _label(row: _Row) -> str:
    example = row.example
    chance = example.label_probability
    if chance is None or example.is_right:
        return example.label
    return f"{example.label}  {formatting.fraction(chance)}"


def _predicted(place: int, row: _Row) -> str:
    if place >= len(row.example.predicted):
        return ""
    found = row.example.predicted[place]
    if found.probability is None:
        return found.name
    return f"{found.name}  {formatting.fraction(found.probability)}"


def _error(row: _Row) -> str:
    return "" if row.example.error is None else formatting.number(row.example.error)


def _cell(place: int, row: _Row) -> str:
    cells = row.example.cells
    return cells[place].text if place < len(cells) else ""


def _tip(row: _Row) -> str:
    example = row.example
    said = [f"index {example.index}: {example.name}" if example.name else f"index {example.index}"]
    if example.label:
        said.append(f"is {_label(row)}")
    said += [_predicted(place, row) for place in range(len(example.predicted))]
    return ", ".join(said)


def _top(place: int, title: str, tip: str) -> Column[_Row]:
    return Column(title, tip, partial(_predicted, place))


_COLUMNS: tuple[Column[_Row], ...] = (
    Column("Example", "The example, or its first values.", _values, image=_image),
    Column("File", "Its file, or its position in the data.", _name),
    Column("Label", "Its true class, and the probability that the model gave to it.", _label),
    _top(0, "Predicted", "The predicted class and its probability."),
    _top(1, "Second", "The second most probable class and its probability."),
    _top(2, "Third", "The third most probable class and its probability."),
    Column("Error", "Its loss; of values the mean distance of predicted and true ones.", _error),
)


def _columns(cells: tuple[ShownCell, ...]) -> tuple[Column[_Row], ...]:
    """The columns with those of the data, as far as the examples are rows of it."""
    of_data = (
        Column(
            each.column, f"What stands in the column {each.column} of the data.", partial(_cell, at)
        )
        for at, each in enumerate(cells)
    )
    return (*_COLUMNS, *of_data)


class _Table(TableView[_Row]):
    def __init__(self, parent: QWidget | None = None) -> None:
        content = TableModel(_COLUMNS, lambda row: row.place, _tip)
        super().__init__(content, "examples_table", "Examples", _ROW_HEIGHT, parent)
        self.setIconSize(QSize(_IMAGE, _IMAGE))
        # What matters of a path is its end, and a probability stands behind the name of a class.
        self.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        self._set_widths()

    def show_rows(self, rows: Sequence[_Row]) -> None:
        """Show these, with the columns of the data."""
        before = len(self.content.columns)
        cells = max((row.example.cells for row in rows), key=len, default=())
        self.content.set_columns(_columns(cells), rows)
        if len(self.content.columns) != before:
            self._set_widths()
        has_images = any(row.pixmap is not None for row in rows)
        self.setColumnHidden(_EXAMPLE, bool(cells) and not has_images)
        self.verticalHeader().setDefaultSectionSize(_ROW_HEIGHT if has_images else _LINE_HEIGHT)

    def _set_widths(self) -> None:
        for place in range(len(self.content.columns)):
            self.setColumnWidth(place, _WIDTHS[place] if place < len(_WIDTHS) else _CELL_WIDTH)


class ExamplesTable(QWidget):
    """Some examples at once, with buttons to those before and after them."""

    choiceRequested = Signal(object)
    """Other ones are wanted: an :class:`ExampleChoice`."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._choice: ExampleChoice | None = None
        self._total = 0
        self._table = _Table()
        self._problems = ProseLabel(tone="muted")
        self._problems.setObjectName("examples_problems")
        self._where = QLabel()
        self._where.setObjectName("examples_where")
        self._where.setProperty("tone", "muted")
        self._before = _button("&Previous", "examples_previous", "The examples before these")
        self._after = _button("&Next", "examples_next", "The examples after these")
        self._before.clicked.connect(self._go_back)
        self._after.clicked.connect(self._go_on)
        buttons = QHBoxLayout()
        buttons.addWidget(self._where, 1)
        buttons.addWidget(self._before)
        buttons.addWidget(self._after)
        column = column_in(self)
        column.addWidget(self._problems)
        column.addWidget(self._table, 1)
        column.addLayout(buttons)
        self.forget()

    def choice(self) -> ExampleChoice | None:
        """Which examples are shown, or wanted."""
        return self._choice

    def rows(self) -> tuple[ShownExample, ...]:
        """The examples that are shown."""
        return tuple(row.example for row in self._table.content.rows)

    def forget(self) -> None:
        """Show none."""
        self._choice, self._total = None, 0
        self._table.content.set_rows(())
        self._problems.hide()
        self._where.setText("")
        self._show_buttons()

    def setReading(self, choice: ExampleChoice) -> None:
        """Show that these are being read."""
        self._choice = choice
        self._where.setText(_READING)
        self._before.setEnabled(False)
        self._after.setEnabled(False)

    def setExamples(self, choice: ExampleChoice, found: ShownExamples) -> None:
        """Show these."""
        self._choice, self._total = choice, found.total
        rows = [_Row(choice.first + place, each) for place, each in enumerate(found.examples)]
        self._table.show_rows(rows)
        self._table.scrollToTop()
        has_label = any(each.label for each in found.examples)
        has_error = any(each.error is not None for each in found.examples)
        self._table.setColumnHidden(_LABEL, not has_label and not has_error)
        self._table.setColumnHidden(_ERROR, not has_error)
        most = max((len(each.predicted) for each in found.examples), default=1)
        for place in range(1, _TOP):
            self._table.setColumnHidden(_FIRST + place, place >= most)
        self._problems.setProse("\n".join(map(problem_sentences, found.problems)))
        self._problems.setVisible(bool(found.problems))
        self._where.setText(self._words(len(rows)))
        self._show_buttons()

    @override
    def sizeHint(self) -> QSize:
        return QSize(sum(_WIDTHS) + 40, 480)

    def _words(self, count: int) -> str:
        if self._choice is None or not count:
            return "There are none."
        first = self._choice.first
        return (
            f"{formatting.count(first + 1)} to {formatting.count(first + count)} of "
            f"{formatting.count(self._total)}"
        )

    def _show_buttons(self) -> None:
        choice = self._choice
        self._before.setEnabled(choice is not None and choice.first > 0)
        self._after.setEnabled(choice is not None and choice.first + choice.count < self._total)

    @Slot()
    def _go_back(self) -> None:
        if self._choice is not None:
            self._go(max(0, self._choice.first - self._choice.count))

    @Slot()
    def _go_on(self) -> None:
        if self._choice is not None:
            self._go(self._choice.first + self._choice.count)

    def _go(self, first: int) -> None:
        assert self._choice is not None
        self.choiceRequested.emit(self._choice.model_copy(update={"first": first}))


def _button(text: str, name: str, tip: str) -> QPushButton:
    button = QPushButton(text)
    button.setObjectName(name)
    button.setToolTip(wrapped(tip))
    return button
