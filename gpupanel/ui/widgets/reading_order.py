"""The Tab key goes through a window as one reads it, whenever its parts were made.

Qt goes in the order in which widgets were made: what appears late, such as the cards of devices,
would come after everything else.
"""

from collections.abc import Iterator

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QScrollArea, QWidget


def move_focus(window: QWidget, *, forward: bool) -> bool:
    """Give the focus to what comes next or before; from the last one on to the first.

    Args:
        window: What is gone through.
        forward: As Tab does; else as Shift+Tab.

    Returns:
        Whether anything could take it.
    """
    now = QApplication.focusWidget()
    stops = list(tab_stops(window, now))
    if not [each for each in stops if each is not now]:
        return False
    reason = Qt.FocusReason.TabFocusReason if forward else Qt.FocusReason.BacktabFocusReason
    if now is not None and not now.isVisible():
        # Nobody pressed Tab: what had the focus has gone. It goes on close by, not to the first
        # field, and selects nothing there that the next key would replace.
        forward, reason = stops[-1] is not now, Qt.FocusReason.OtherFocusReason
    step = 1 if forward else -1
    place = stops.index(now) if now in stops else min(0, -step)
    after = stops[(place + step) % len(stops)]
    after.setFocus(reason)
    around = after.parentWidget()
    while around is not None:
        if isinstance(around, QScrollArea):
            around.ensureWidgetVisible(after)
        around = around.parentWidget()
    return True


def tab_stops(part: QWidget, also: QWidget | None = None) -> Iterator[QWidget]:
    """What is seen in there and takes the focus by Tab, as one reads.

    By rows, and in a row from left to right; what stands beside something higher comes before or
    after all of it.

    Args:
        part: What is gone through.
        also: Named in its place, too, though Tab may not go to it: it was clicked, stands around a
            button that went off, or has just been hidden itself.
    """
    for each in _as_read(part, also):
        takes_focus = each.focusPolicy() & Qt.FocusPolicy.TabFocus
        # What hands the focus on is reached by what it hands it to.
        is_stop = takes_focus and each.isEnabled() and each.focusProxy() is None
        if is_stop or each is also:
            yield each
        yield from tab_stops(each, also)


def _as_read(part: QWidget, also: QWidget | None) -> list[QWidget]:
    children = [
        each
        for each in part.findChildren(QWidget, options=Qt.FindChildOption.FindDirectChildrenOnly)
        if not each.isWindow() and (each.isVisible() or _is_around(each, also))
    ]
    children.sort(key=lambda each: (each.y(), each.x()))
    read: list[QWidget] = []
    while children:
        first = children[0]
        row = [each for each in children if _is_beside(first, each)]
        children = [each for each in children if each not in row]
        read += sorted(row, key=lambda each: each.x())
    return read


def _is_around(part: QWidget, also: QWidget | None) -> bool:
    return also is not None and (part is also or part.isAncestorOf(also))


def _is_beside(first: QWidget, other: QWidget) -> bool:
    """Whether two widgets stand in one row: at least half of the lower one is beside the other."""
    one, another = first.geometry(), other.geometry()
    shared = min(one.bottom(), another.bottom()) - max(one.top(), another.top()) + 1
    return first is other or 2 * shared >= min(one.height(), another.height()) > 0
