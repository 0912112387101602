"""What stands in the table's place where no run is listed though there are some."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton, QVBoxLayout, QWidget

from gpupanel.ui.panels.runs_panel.search import RunSearch
from gpupanel.ui.widgets.labels import EmptyState


class NothingFound(QWidget):
    """Says why, and leads back to the runs.

    Args:
        search: Found nothing.
        parent: Owns it.
    """

    def __init__(self, search: RunSearch, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._search = search
        self._words = EmptyState("", "")
        self._all_tasks = QPushButton("Show all tasks")
        self._all_tasks.setObjectName("runs_all_tasks")
        self._all_tasks.setToolTip("Lists evaluations and predictions, too")
        self._all_tasks.clicked.connect(search.show_all_tasks)
        self._clear = QPushButton("C&lear search")
        self._clear.setObjectName("runs_clear_search")
        self._clear.setToolTip("Shows all runs again (Esc)")
        self._clear.clicked.connect(search.clear)
        layout = QVBoxLayout(self)
        layout.addStretch(1)
        layout.addWidget(self._words)
        for button in (self._all_tasks, self._clear):
            layout.addWidget(button, 0, Qt.AlignmentFlag.AlignHCenter)
        layout.addStretch(1)

    def show_for(self, count: int) -> None:
        """Say why none of so many runs is listed."""
        is_searched, is_left_out = bool(self._search.field.text()), bool(self._search.left_out())
        title = "No trainings yet" if is_left_out and not is_searched else "Nothing found"
        self._words.setTexts(title, self._search.nothing_found(count))
        self._clear.setVisible(is_searched)
        self._all_tasks.setVisible(is_left_out)
