"""A row of a table, given by a field for each column that a model learned from."""

import math
from collections.abc import Mapping

from PySide6.QtCore import Qt, QTimer, Signal, Slot
from PySide6.QtWidgets import QGridLayout, QLabel, QLineEdit, QVBoxLayout, QWidget

from gpupanel.domain.asked_prediction import AskedColumn, Cell
from gpupanel.domain.visible_text import as_utf8
from gpupanel.ui.inputs.quiet_inputs import ComboBox, Slider
from gpupanel.ui.theme import GRID
from gpupanel.ui.widgets.labels import NameLabel, Note, Tone, set_tone
from gpupanel.ui.widgets.page_scroll import PageScroll

_STEPS = 200
_SETTLE_MS = 60
"""A slider that is dragged reports no more often."""
_DIGITS = 4
_EMPTY = "empty"
_NUMBER_WIDTH = 11 * GRID
_MOST_NAMED = 3
_SIDES = (Qt.AlignmentFlag.AlignLeft, Qt.AlignmentFlag.AlignRight)


class RowInput(QWidget):
    """Begins in the middle of what training saw, with the most frequent categories."""

    rowGiven = Signal(str, object)
    """Another row: it in words, and its cells by the names of columns."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("prediction_row")
        self._fields: dict[str, _Field] = {}
        self._note = Note()
        self._note.setObjectName("prediction_row_note")
        self._scroll = PageScroll("The columns of the row")
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(GRID)
        self._column.addWidget(self._scroll, 1)
        self._column.addWidget(self._note)
        self._soon = QTimer(self, singleShot=True, interval=_SETTLE_MS)
        self._soon.timeout.connect(self._report)
        self.clear()

    def setColumns(self, columns: tuple[AskedColumn, ...], count: int) -> None:
        """Ask for these.

        Args:
            columns: The first ones.
            count: How many the model takes; the others stay empty.
        """
        page = self._new_page()
        column = QVBoxLayout(page)
        column.setContentsMargins(0, 0, GRID, 0)
        column.setSpacing(GRID + GRID // 2)
        self._fields = {}
        for each in columns:
            field = _Field(each)
            field.changed.connect(self._report_soon)
            self._fields[each.name] = field
            column.addWidget(field)
        if count > len(columns):
            more = Note(f"{count - len(columns):,} more columns stay empty; a file can give them.")
            column.addWidget(more)
        column.addStretch(1)
        self._soon.start()

    def clear(self) -> None:
        """Ask for nothing."""
        self._soon.stop()
        self._fields = {}
        self._note.setText("")
        column = QVBoxLayout(self._new_page())
        column.setContentsMargins(0, 0, GRID, 0)
        column.addWidget(Note("The columns appear here once the model is loaded."))
        column.addStretch(1)

    def _new_page(self) -> QWidget:
        page = QWidget()
        page.setProperty("page", "true")
        self._scroll.setWidget(page)
        return page

    def is_empty(self) -> bool:
        """Whether nothing is asked for."""
        return not self._fields

    def cells(self) -> Mapping[str, Cell]:
        """What stands in the columns.

        Raises:
            ValueError: In one of them stands no number; the error's text says it.
        """
        return {name: field.cell() for name, field in self._fields.items()}

    @Slot()
    def _report_soon(self) -> None:
        # Begun once: a slider that is dragged on would put the report off for ever.
        if not self._soon.isActive():
            self._soon.start()

    @Slot()
    def _report(self) -> None:
        try:
            cells = self.cells()
        except ValueError as error:
            self._say(str(error), Tone.ERROR)
            return
        beyond = [name for name, field in self._fields.items() if field.is_beyond()]
        named = ", ".join(beyond[:_MOST_NAMED]) + (", …" if len(beyond) > _MOST_NAMED else "")
        self._say(f"Outside of what training saw: {named}." if beyond else "", Tone.WARNING)
        words = ", ".join(f"{name} {_words(cell)}" for name, cell in cells.items())
        self.rowGiven.emit(words, cells)

    def _say(self, words: str, tone: Tone) -> None:
        self._note.setText(words)
        self._note.setVisible(bool(words))
        set_tone(self._note, tone)


class _Field(QWidget):
    """The name of a column with a slider and a number, a list of categories, or a line."""

    changed = Signal()

    def __init__(self, column: AskedColumn) -> None:
        super().__init__()
        self._asked = column
        self._slider: Slider | None = None
        self._line: QLineEdit | None = None
        self._box: ComboBox | None = None
        name = NameLabel(column.name)
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(GRID)
        grid.setVerticalSpacing(2)
        grid.setColumnStretch(0, 1)
        if column.kind == "category":
            grid.addWidget(name, 0, 0)
            grid.addWidget(self._categories(), 1, 0)
            return
        line = self._make_line()
        if self._has_range():
            line.setFixedWidth(_NUMBER_WIDTH)
            grid.addWidget(name, 0, 0)
            grid.addWidget(line, 0, 1)
            grid.addWidget(self._make_slider(), 1, 0, 1, 2)
            for place, number in ((0, column.least), (1, column.greatest)):
                bound = QLabel(_shown(number or 0.0))
                bound.setProperty("tone", "muted")
                bound.setProperty("textSize", "small")
                bound.setAlignment(_SIDES[place])
                grid.addWidget(bound, 2, place)
        else:
            grid.addWidget(name, 0, 0)
            grid.addWidget(line, 1, 0)

    def cell(self) -> Cell:
        """What stands there.

        Raises:
            ValueError: No number, where one has to.
        """
        if self._box is not None:
            return self._box.currentText() if self._box.currentIndex() else None
        assert self._line is not None
        text = as_utf8(self._line.text().strip())
        if not text:
            return None
        if self._asked.kind == "date":
            return text
        try:
            number = float(text)
        except ValueError:
            number = math.nan
        if not math.isfinite(number):
            raise ValueError(f'{self._asked.name}: "{text}" is no number. Write it as 1234.5.')
        return number

    def is_beyond(self) -> bool:
        """Whether training saw no number as small, or as large."""
        cell, column = self.cell(), self._asked
        if not isinstance(cell, float) or column.least is None or column.greatest is None:
            return False
        # A number as the slider shows it may be a digit beyond.
        room = (column.greatest - column.least) / _STEPS
        return not column.least - room <= cell <= column.greatest + room

    def _has_range(self) -> bool:
        column = self._asked
        known = column.least is not None and column.greatest is not None
        return known and (column.greatest or 0.0) > (column.least or 0.0)

    def _categories(self) -> ComboBox:
        self._box = box = ComboBox(self)
        box.setAccessibleName(self._asked.name)
        box.setToolTip("One of the categories that training knew, or none")
        box.addItems([_EMPTY, *self._asked.categories])
        usual = self._asked.usual
        known = self._asked.categories
        box.setCurrentIndex(known.index(usual) + 1 if usual in known else min(1, len(known)))
        box.currentIndexChanged.connect(self.changed)
        return box

    def _make_line(self) -> QLineEdit:
        column = self._asked
        self._line = line = QLineEdit(self)
        line.setAccessibleName(column.name)
        line.setMaxLength(1_000)
        is_number = column.kind == "number"
        line.setPlaceholderText(f"mean {_shown(column.mean)}" if is_number else _EMPTY)
        line.setToolTip(
            "An empty field is filled in with the mean of the training" if is_number else "A date"
        )
        line.setText(_shown(column.mean) if is_number else column.usual)
        line.textEdited.connect(self._take_text)
        return line

    def _make_slider(self) -> Slider:
        self._slider = slider = Slider(self)
        slider.setAccessibleName(f"{self._asked.name}, from the least to the greatest")
        slider.setToolTip("From the smallest to the largest number that training saw")
        slider.setRange(0, _STEPS)
        slider.setPageStep(_STEPS // 10)
        slider.setValue(self._place_of(self._asked.mean))
        slider.valueChanged.connect(self._take_place)
        return slider

    def _place_of(self, number: float) -> int:
        least, greatest = self._asked.least or 0.0, self._asked.greatest or 0.0
        part = (number - least) / (greatest - least)
        return round(_STEPS * min(1.0, max(0.0, part)))

    @Slot()
    def _take_text(self) -> None:
        if self._slider is not None:
            try:
                cell = self.cell()
            except ValueError:
                cell = None
            number = cell if isinstance(cell, float) else self._asked.mean
            self._slider.blockSignals(True)
            self._slider.setValue(self._place_of(number))
            self._slider.blockSignals(False)
        self.changed.emit()

    @Slot(int)
    def _take_place(self, place: int) -> None:
        least, greatest = self._asked.least or 0.0, self._asked.greatest or 0.0
        assert self._line is not None
        self._line.setText(_shown(least + (greatest - least) * place / _STEPS))
        self.changed.emit()


def _shown(number: float) -> str:
    """As float() reads it again: no separators."""
    if abs(number) >= 10**_DIGITS and abs(number) < 1e15:
        return f"{number:.0f}"
    return f"{number:.{_DIGITS}g}"


def _words(cell: Cell) -> str:
    if cell is None:
        return _EMPTY
    return _shown(cell) if isinstance(cell, float) else cell
