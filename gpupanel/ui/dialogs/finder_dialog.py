"""Finds a setting or an action by a part of its name, and goes there."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QDialog, QVBoxLayout, QWidget

from gpupanel.ui.theme import GRID
from gpupanel.ui.widgets.screen_fit import resize_within_screen
from gpupanel.ui.widgets.searched_list import Search, SearchedList
from gpupanel.ui.widgets.table_model import Column

_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class FinderEntry:
    """Something that a person can go to, or have done.

    Attributes:
        name: As the window calls it.
        place: The section or the menu that has it.
        keys: That do the same; empty: none.
        tip: What it is, or why it cannot be done now.
        more: What else it is found by, such as the names of its choices.
        is_possible: Whether it can be done now.
        go: Does it.
    """

    name: str
    place: str
    keys: str
    tip: str
    more: str
    is_possible: bool
    go: Callable[[], object]


_COLUMNS: tuple[Column[FinderEntry], ...] = (
    Column("Name", "", lambda each: each.name),
    Column("Where", "", lambda each: each.place if each.is_possible else f"{each.place}: not now"),
    Column("Keys", "", lambda each: each.keys),
)
_WIDTHS = (34 * GRID, 26 * GRID, 0)


class FinderDialog(QDialog):
    """A line, what is found below it, and a sentence about the one that is chosen.

    Args:
        entries: All that can be found, in the order of the window.
        window: Stands before it.
    """

    def __init__(self, entries: Sequence[FinderEntry], window: QWidget) -> None:
        super().__init__(window)
        self.setObjectName("finder")
        self.setWindowTitle("Find a setting or an action")
        self._entries = tuple(entries)
        self._list: SearchedList[FinderEntry] = SearchedList(
            Search(
                "finder",
                tuple(zip(_COLUMNS, _WIDTHS, strict=True)),
                self._find,
                lambda entry: entry.tip,
                placeholder="Learning rate, augmentation, ResNet50, stop…",
                line_tip="Parts of a name; Return goes to what is chosen in the list.",
                nothing="Nothing is called so.",
            )
        )
        self._list.set_head_visible(visible=False)
        self._list.taken.connect(self._go)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(2 * GRID, 2 * GRID, 2 * GRID, 2 * GRID)
        layout.addWidget(self._list)
        resize_within_screen(self, 80 * GRID, 56 * GRID)
        self._list.setFocus()

    def found(self) -> tuple[FinderEntry, ...]:
        """What the line finds, the best first."""
        return self._list.found()

    def choose(self, place: int) -> None:
        """Choose one of what is found."""
        self._list.choose(place)

    def chosen(self) -> FinderEntry | None:
        """What Return goes to; ``None``: nothing was found."""
        return self._list.chosen()

    def _find(self, words: Sequence[str]) -> Sequence[FinderEntry]:
        ranked = [(_rank(each, words), each) for each in self._entries]
        found = [each for each in ranked if each[0] is not None]
        # Sorting keeps the window's order among equals.
        found.sort(key=lambda each: (not each[1].is_possible, each[0]))
        return [entry for _, entry in found]

    @Slot(object)
    def _go(self, entry: FinderEntry) -> None:
        if entry.is_possible:
            # First: the window has the focus again when it is done.
            self.accept()
            entry.go()


def _rank(entry: FinderEntry, words: Sequence[str]) -> int | None:
    """How well an entry fits, 0 best; ``None``: it has not every word."""
    name, more = entry.name.casefold(), f"{entry.place} {entry.more}".casefold()
    # Within a word of these nobody means it: "rate" is no strategy.
    begins = (*more.split(), *_WORD.findall(more))
    if not all(word in name or any(each.startswith(word) for each in begins) for word in words):
        return None
    if not words or name.startswith(words[0]):
        return 0
    if any(part.startswith(words[0]) for part in name.split()):
        return 1
    return 2 if all(word in name for word in words) else 3
