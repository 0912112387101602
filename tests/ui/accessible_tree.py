"""The window as a screen reader is told of it: Qt's accessibility tree, walked."""

from collections.abc import Iterator

from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible, QAccessibleInterface
from PySide6.QtWidgets import QComboBox, QGraphicsView, QScrollArea, QTextBrowser, QWidget

_MOST_CHILDREN = 500
"""Of a table: its cells are alike."""

_Role = QAccessible.Role
NO_CONTROL = (_Role.NoRole, _Role.Client, _Role.Window, _Role.StaticText, _Role.Grouping)
"""Roles that say nothing of what can be done with something that takes the focus."""


def walk(interface: QAccessibleInterface) -> Iterator[QAccessibleInterface]:
    """That part of the tree, from above."""
    yield interface
    for place in range(min(interface.childCount(), _MOST_CHILDREN)):
        child = interface.child(place)
        if child is not None and child.isValid():
            yield from walk(child)


def reached(window: QWidget) -> list[QWidget]:
    """What of the tree is seen and takes the focus by Tab, itself and not a part of it."""
    found = []
    for each in walk(QAccessible.queryAccessibleInterface(window)):
        widget = each.object()
        if (
            isinstance(widget, QWidget)
            and widget.isVisible()
            and widget.isEnabled()
            and widget.focusPolicy() & Qt.FocusPolicy.TabFocus
            and widget.focusProxy() is None
            and widget not in found
        ):
            found.append(widget)
    return found


def spoken_name(widget: QWidget) -> str:
    """How a screen reader calls it, apart from its value; empty: it has no name."""
    interface = QAccessible.queryAccessibleInterface(widget)
    labels = interface.relations(QAccessible.RelationFlag.Label)
    if labels:
        return labels[0][0].text(QAccessible.Text.Name)
    # On Linux the name that Qt reports of a combo box is its value.
    return "" if isinstance(widget, QComboBox) else interface.text(QAccessible.Text.Name)


def paints_itself(widget: QWidget) -> bool:
    """Whether it is one of ours that no kind of Qt's stands behind."""
    ours = (each for each in type(widget).__mro__ if each.__module__.startswith("gpupanel."))
    return any("paintEvent" in vars(each) for each in ours)


def unspoken(window: QWidget) -> list[str]:
    """What takes the focus without a name, or with a role that says nothing."""
    found = []
    for widget in reached(window):
        role = QAccessible.queryAccessibleInterface(widget).role()
        # Qt has no role for what only scrolls, that of text for a page that is read, and none for
        # what paints itself, as plots do, which describes itself.
        is_painted = paints_itself(widget) or isinstance(widget, QGraphicsView)
        describes = is_painted and bool(widget.accessibleDescription())
        has_no_role = describes or isinstance(widget, QScrollArea | QTextBrowser)
        where = " in ".join(
            each.objectName() or type(each).__name__ for each in (widget, widget.parentWidget())
        )
        if not spoken_name(widget).strip():
            found.append(f"{where}: no name ({role.name})")
        elif role in NO_CONTROL and not has_no_role:
            found.append(f"{where}: {role.name}")
    return found
