"""A card with a title and what is below it: rows of facts, a name and a text each."""

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QGridLayout, QLabel, QVBoxLayout, QWidget

from gpupanel.ui.theme import GRID
from gpupanel.ui.widgets.labels import ElidedLabel, ProseLabel
from gpupanel.ui.widgets.tips import wrapped

_NAME_WIDTH = 20 * GRID


class TitledCard(QFrame):
    """As high as what it holds, or as its neighbour.

    Args:
        title: Stands on top.
        content: Below it.
    """

    def __init__(self, title: str, content: QWidget) -> None:
        super().__init__()
        self.setProperty("card", "true")
        caption = QLabel(title)
        caption.setProperty("role", "title")
        layout = QVBoxLayout(self)
        layout.setContentsMargins(2 * GRID, GRID, 2 * GRID, GRID + GRID // 2)
        layout.setSpacing(GRID)
        layout.addWidget(caption)
        layout.addWidget(content)
        layout.addStretch(1)


class FactsCard(TitledCard):
    """Names on the left, texts on the right, which can be copied.

    Args:
        title: Stands on top.
        rows: A name and a text each.
        is_tally: Whether the names are longer than the texts.
    """

    def __init__(
        self, title: str, rows: Sequence[tuple[str, str]], *, is_tally: bool = False
    ) -> None:
        content = QWidget()
        super().__init__(title, content)
        grid = QGridLayout(content)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(GRID)
        grid.setVerticalSpacing(2)
        grid.setColumnMinimumWidth(0, _NAME_WIDTH)
        grid.setColumnStretch(0, 3 if is_tally else 2)
        grid.setColumnStretch(1, 1 if is_tally else 3)
        for place, (name, words) in enumerate(rows):
            label = ElidedLabel(name)
            label.setElideMode(Qt.TextElideMode.ElideMiddle)
            label.setProperty("tone", "muted")
            label.setToolTip(wrapped(name))
            text = ProseLabel()
            text.setProse(words)
            text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            grid.addWidget(label, place, 0, Qt.AlignmentFlag.AlignTop)
            grid.addWidget(text, place, 1)
