"""The menus of the table of runs: what it is grouped by, and which columns it has."""

from collections.abc import Sequence

from PySide6.QtCore import Signal, Slot
from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import QMenu, QWidget

from gpupanel.ui.panels.runs_panel.run_rows import Figure, RunRow
from gpupanel.ui.panels.runs_panel.setting_columns import DIFFERS, ColumnOffer
from gpupanel.ui.widgets.menu_names import add_name
from gpupanel.ui.widgets.table_model import Column

_MOST_OFFERED = 12
"""Settings that a menu lists; all others are grouped by the menu of their column's title."""


class GroupMenu(QMenu):
    """What runs can be grouped by, and what titles of groups show.

    Args:
        shown: The columns that are shown, from left to right; the name is the first.
        hidden: Those that could be.
        grouped_by: The key of the column that the runs are grouped by; empty: none.
        figure: What titles of groups show.
        parent: Owns it.
    """

    groupChosen = Signal(str)
    """The key of a column; empty: no groups."""
    figureChosen = Signal(object)
    """A :class:`Figure`."""

    def __init__(
        self,
        shown: Sequence[ColumnOffer],
        hidden: Sequence[ColumnOffer],
        grouped_by: str,
        figure: Figure,
        parent: QWidget,
    ) -> None:
        super().__init__(parent)
        self.setObjectName("group_menu")
        by, figures = QActionGroup(self), QActionGroup(self)
        differing = [offer for offer in hidden if offer.what == DIFFERS][:_MOST_OFFERED]
        for key, title in (("", "No groups"), *((each.key, each.title) for each in shown[1:])):
            self._add_choice(by, key, title, is_chosen=key == grouped_by)
        if differing:
            self._add_heading("Settings that differ")
        for offer in differing:
            self._add_choice(by, offer.key, offer.title, is_chosen=offer.key == grouped_by)
        self._add_heading("Groups show")
        for each in Figure:
            title = f"The {each.value} of each column"
            self._add_choice(figures, each.value, title, is_chosen=each is figure)
        by.triggered.connect(self._on_group_chosen)
        figures.triggered.connect(self._on_figure_chosen)

    def _add_heading(self, title: str) -> None:
        """With a style sheet Qt draws the line of a section, and not its title."""
        self.addSeparator()
        self.addAction(title).setEnabled(False)

    def _add_choice(self, group: QActionGroup, data: str, title: str, *, is_chosen: bool) -> None:
        action = add_name(self, title)
        action.setActionGroup(group)
        action.setCheckable(True)
        action.setChecked(is_chosen)
        action.setData(data)

    @Slot(QAction)
    def _on_group_chosen(self, action: QAction) -> None:
        self.groupChosen.emit(str(action.data()))

    @Slot(QAction)
    def _on_figure_chosen(self, action: QAction) -> None:
        self.figureChosen.emit(Figure(action.data()))


class ColumnMenu(QMenu):
    """Shows and hides columns; the first one, the name, is always shown.

    Args:
        columns: All of the table, each with whether it is shown.
        at: That which it was opened on, where that can be hidden and grouped by.
        more: Offers all columns that there are.
        parent: Owns it.
    """

    columnToggled = Signal(str, bool)
    """The key of a column, and whether it is to be shown."""
    groupChosen = Signal(str)
    """The key of a column that the runs are to be grouped by."""

    def __init__(
        self,
        columns: Sequence[tuple[Column[RunRow], bool]],
        at: Column[RunRow] | None,
        more: QAction,
        parent: QWidget,
    ) -> None:
        super().__init__(parent)
        self.setObjectName("column_menu")
        if at is not None:
            hide = add_name(self, at.title, act="&Hide")
            hide.setObjectName("column_hide")
            hide.setData(at.key)
            group = add_name(self, at.title, act="&Group by")
            group.setObjectName("column_group")
            group.triggered.connect(lambda: self.groupChosen.emit(at.key))
        self.addAction(more)
        self.addSeparator()
        for place, (column, is_shown) in enumerate(columns):
            action = add_name(self, column.title, column.tip)
            action.setCheckable(True)
            action.setChecked(is_shown)
            action.setEnabled(place > 0)
            action.setData(column.key)
        self.setToolTipsVisible(True)
        self.triggered.connect(self._on_triggered)

    @Slot(QAction)
    def _on_triggered(self, action: QAction) -> None:
        if action.data() is not None:
            self.columnToggled.emit(str(action.data()), action.isChecked())
