"""The bar of menus above the window."""

from collections.abc import Iterator, Mapping

from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QMenuBar, QWidget

from gpupanel.ui.menus.window_actions import WindowActions, menus_of


class MenuBar(QMenuBar):
    """One line, no higher than its text.

    Args:
        actions: What stands in its menus.
        inner: Menus that stand within these, by their object names.
        parent: The window.
    """

    def __init__(
        self, actions: WindowActions, inner: Mapping[str, QMenu], parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setObjectName("menu_bar")
        self.setAccessibleName("Menus")
        for title, entries in menus_of(actions):
            menu = self.addMenu(title)
            menu.setObjectName(f"menu_{title.replace('&', '').lower()}")
            menu.setToolTipsVisible(True)
            for entry in entries:
                if entry is None:
                    menu.addSeparator()
                elif isinstance(entry, QAction):
                    menu.addAction(entry)
                else:
                    menu.addMenu(inner[entry])


def actions_of(bar: QMenuBar) -> Iterator[tuple[str, QAction]]:
    """All actions of the menus, those of inner ones too, each with the title of its menu."""
    for title in bar.actions():
        menu = title.menu()
        if isinstance(menu, QMenu):
            yield from ((plain_text(title.text()), each) for each in _actions_in(menu))


def plain_text(text: str) -> str:
    """The text of an action or a button, without the mark of the letter that reaches it."""
    return text.replace("&&", "\0").replace("&", "").replace("\0", "&")


def _actions_in(menu: QMenu) -> Iterator[QAction]:
    # One that is filled as it is opened is listed as it would be then.
    menu.aboutToShow.emit()
    for action in menu.actions():
        inner = action.menu()
        if isinstance(inner, QMenu):
            yield from _actions_in(inner)
        else:
            yield action
