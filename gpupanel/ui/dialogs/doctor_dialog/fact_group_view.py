"""Facts that belong together, a line each."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QGridLayout, QLabel, QVBoxLayout, QWidget

from gpupanel.devices.doctor.report import Fact, FactGroup
from gpupanel.domain.problem import Severity
from gpupanel.ui.theme import GRID
from gpupanel.ui.widgets.elided_label import ElidedLabel
from gpupanel.ui.widgets.severity_icon import SIZE, SeverityIcon
from gpupanel.ui.widgets.tips import wrapped

_NAME_WIDTH = 24 * GRID


class FactGroupView(QFrame):
    """A card with a title and its facts; a mark says which is well and which is not."""

    def __init__(self, group: FactGroup, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("card", "true")
        title = QLabel(group.title)
        title.setProperty("role", "title")
        rows = QGridLayout()
        rows.setHorizontalSpacing(GRID)
        rows.setVerticalSpacing(2)
        rows.setColumnMinimumWidth(0, SIZE)
        rows.setColumnMinimumWidth(1, _NAME_WIDTH)
        rows.setColumnStretch(2, 1)
        for row, fact in enumerate(group.facts):
            _add(rows, row, fact)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(2 * GRID, GRID, 2 * GRID, GRID + GRID // 2)
        layout.setSpacing(GRID)
        layout.addWidget(title)
        layout.addLayout(rows)


def _add(rows: QGridLayout, row: int, fact: Fact) -> None:
    # Every row keeps the mark's place, so that names and lines stand alike in all groups.
    rows.addWidget(QWidget() if fact.is_well is None else _mark(is_well=fact.is_well), row, 0)
    rows.setRowMinimumHeight(row, SIZE)
    name = QLabel(fact.name)
    name.setProperty("tone", "muted")
    rows.addWidget(name, row, 1)
    value = ElidedLabel(fact.value)
    value.setElideMode(Qt.TextElideMode.ElideMiddle)
    value.setToolTip(wrapped(fact.value))
    rows.addWidget(value, row, 2)


def _mark(*, is_well: bool) -> SeverityIcon:
    mark = SeverityIcon(None if is_well else Severity.ERROR)
    mark.setAccessibleName("Well" if is_well else "Not well")
    return mark
