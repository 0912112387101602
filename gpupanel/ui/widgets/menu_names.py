"""Entries of menus that hold a name, which may be a stranger's."""

from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu

from gpupanel.domain.visible_text import visible_line
from gpupanel.ui.widgets.tips import wrapped


def add_name(menu: QMenu, name: str, tip: str = "", *, act: str = "") -> QAction:
    """An entry with a name in it, which is shown as it is.

    An ampersand of the name is one, and no key. Without a tooltip of its own an entry would have
    its text as one, in which Qt looks for tags.

    Args:
        menu: Has the entry.
        name: In its text.
        tip: Of the entry; empty: the name.
        act: What stands before the name, with its key ("&Hide").
    """
    shown = visible_line(name).replace("&", "&&")
    action = menu.addAction(f"{act} {shown}" if act else shown)
    action.setToolTip(wrapped(tip or name))
    return action
