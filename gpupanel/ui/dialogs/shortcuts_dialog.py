"""The keys of the window, listed from the actions that have them."""

from dataclasses import dataclass

from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QMenuBar, QVBoxLayout, QWidget

from gpupanel.ui.menus.menu_bar import actions_of, plain_text
from gpupanel.ui.theme import GRID
from gpupanel.ui.widgets.screen_fit import resize_within_screen
from gpupanel.ui.widgets.table_model import Column, TableModel
from gpupanel.ui.widgets.table_view import TableView

_ROW_HEIGHT = 28


@dataclass(frozen=True, slots=True)
class Shortcut:
    """One line of the list.

    Attributes:
        place: The menu that has it, or the page where it works.
        what: The text of its action.
        keys: As they stand on the keyboard.
    """

    place: str
    what: str
    keys: str


_COLUMNS: tuple[Column[Shortcut], ...] = (
    Column("Keys", "What to press", lambda each: each.keys),
    Column("Does", "As the menu has it", lambda each: each.what),
    Column("Where", "The menu that has it, too, or where it works", lambda e: e.place),
)
_OF_EVERY_WINDOW = (
    Shortcut("Anywhere", "Choose from the menus", "Alt + underlined letter"),
    Shortcut("Anywhere", "Next control, previous control", "Tab, Shift+Tab"),
    Shortcut("Settings", "Return to the last value", "Esc"),
)
"""What Qt itself does, and fields that hold what is no value."""


class ShortcutsDialog(QDialog):
    """Lists what the menus hold, then what only a part of the window has.

    Args:
        menus: The menus of the window.
        window: Stands before it; its other actions with keys are listed, too.
    """

    def __init__(self, menus: QMenuBar, window: QWidget) -> None:
        super().__init__(window)
        self.setObjectName("shortcuts_dialog")
        self.setWindowTitle("Keyboard shortcuts")
        self.shortcuts = shortcuts_of(menus, window)
        """What is listed, from top to bottom."""
        model: TableModel[Shortcut] = TableModel(_COLUMNS, key=lambda each: (each.place, each.what))
        self._table = TableView(model, "shortcuts_table", "Keyboard shortcuts", _ROW_HEIGHT)
        model.set_rows(self.shortcuts)
        self._table.resizeColumnsToContents()
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close, self)
        buttons.rejected.connect(self.reject)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(2 * GRID, 2 * GRID, 2 * GRID, 2 * GRID)
        layout.setSpacing(GRID)
        layout.addWidget(self._table, 1)
        layout.addWidget(buttons)
        resize_within_screen(self, 72 * GRID, 72 * GRID)


def shortcuts_of(menus: QMenuBar, window: QWidget) -> tuple[Shortcut, ...]:
    """Every action that has keys, once: as the menus list them, then those of pages.

    Args:
        menus: The menus of the window.
        window: What else has actions with keys is in there.
    """
    seen: set[QAction] = set()
    found: list[Shortcut] = []
    for menu, action in actions_of(menus):
        seen.add(action)
        found += _listed(menu, action)
    for action in window.findChildren(QAction):
        if action not in seen:
            found += _listed("Lists", action)
    unique = dict.fromkeys((*found, *_OF_EVERY_WINDOW))
    return tuple(unique)


def _listed(place: str, action: QAction) -> list[Shortcut]:
    keys = action.shortcut().toString(QKeySequence.SequenceFormat.NativeText)
    return [Shortcut(place, plain_text(action.text()), keys)] if keys and action.text() else []
