"""Layouts without margins, and parts that come and go in them."""

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from PySide6.QtWidgets import (
    QApplication,
    QGridLayout,
    QHBoxLayout,
    QLayout,
    QVBoxLayout,
    QWidget,
)


def column_in(parent: QWidget, *, spacing: int = 8) -> QVBoxLayout:
    """A vertical layout without margins, on the grid of eight pixels."""
    layout = QVBoxLayout(parent)
    layout.setContentsMargins(0, 0, 0, 0)
    layout.setSpacing(spacing)
    return layout


def row_in(parent: QWidget, *, spacing: int = 8) -> QHBoxLayout:
    """A horizontal layout without margins, on the grid of eight pixels."""
    layout = QHBoxLayout(parent)
    layout.setContentsMargins(0, 0, 0, 0)
    layout.setSpacing(spacing)
    return layout


def leave_focus(part: QWidget) -> None:
    """Give the focus to what is around a part that has it, before the part goes.

    Qt would hand it on to some other widget, in which the next press of a key does something that
    nobody wanted; from what is around, Tab continues where it was.
    """
    around, focused = part.parentWidget(), QApplication.focusWidget()
    if around is None or focused is None:
        return
    if focused is part or part.isAncestorOf(focused):
        around.setFocus()


def discard(layout: QLayout, parts: Iterable[QWidget]) -> None:
    """Take parts out of a layout for good; they are gone from the screen at once."""
    for part in parts:
        leave_focus(part)
        layout.removeWidget(part)
        part.hide()
        part.deleteLater()


MOST_ROWS = 24
"""The most rows of a table without a scroll bar of its own."""

_T = TypeVar("_T")


class CellGrid(QWidget):
    """Rows of cells that are made anew as a whole.

    Args:
        stretched: The column that takes the room that is left.
        spacing: Pixels between columns.
        first: The row of the first cells; above stands what stays.
        parent: Owns it.
    """

    def __init__(
        self, *, stretched: int, spacing: int = 8, first: int = 0, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._first = first
        self._cells: list[QWidget] = []
        self.grid = QGridLayout(self)
        """What the cells stand in."""
        self.grid.setContentsMargins(0, 0, 0, 0)
        self.grid.setHorizontalSpacing(spacing)
        self.grid.setVerticalSpacing(4)
        self.grid.setColumnStretch(stretched, 1)

    def set_cells(self, rows: Iterable[Iterable[QWidget]]) -> None:
        """Show these rows, from left to right, instead of those before."""
        discard(self.grid, self._cells)
        self._cells = []
        for row, cells in enumerate(rows, start=self._first):
            for column, cell in enumerate(cells):
                self.grid.addWidget(cell, row, column)
                self._cells.append(cell)

    def set_rows(
        self,
        things: Sequence[_T],
        cells_of: Callable[[int, _T], Iterable[QWidget]],
        rest: Callable[[str], QWidget],
    ) -> None:
        """Show a row for each thing; of very many the first ones, and how many there are besides.

        A layout of hundreds of rows with words that wrap holds the window up for a minute.

        Args:
            things: From top to bottom.
            cells_of: Makes the cells of a thing, from its place and itself.
            rest: Makes of words what says how many are not shown.
        """
        few = things if len(things) <= MOST_ROWS else things[: MOST_ROWS - 1]
        self.set_cells(cells_of(place, thing) for place, thing in enumerate(few))
        if len(few) < len(things):
            words = rest(f"and {len(things) - len(few):,} more")
            self.grid.addWidget(words, self._first + len(few), 0, 1, -1)
            self._cells.append(words)
