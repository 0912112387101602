"""The order in which the Tab key goes through a page whose parts change places."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget


def follow_each_other(parts: Sequence[QWidget]) -> None:
    """Let the Tab key go through these parts one after the other, and within each as before."""
    stops = [stop for part in parts for stop in _stops(part)]
    for before, after in pairwise(stops):
        QWidget.setTabOrder(before, after)


def _stops(part: QWidget) -> Iterator[QWidget]:
    """What takes the focus inside a part, in the order of now."""
    widget = part.nextInFocusChain()
    while widget is not None and widget is not part:
        takes_focus = widget.focusPolicy() != Qt.FocusPolicy.NoFocus
        if takes_focus and widget.focusProxy() is None and part.isAncestorOf(widget):
            yield widget
        widget = widget.nextInFocusChain()
