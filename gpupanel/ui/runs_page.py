"""The page of runs: those that wait, those there are, and several of them side by side."""

from pathlib import Path

from PySide6.QtCore import Qt, QTimer, Signal, Slot
from PySide6.QtGui import QHideEvent, QKeySequence, QShortcut, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QStackedLayout, QVBoxLayout, QWidget
from typing_extensions import override

from gpupanel.runs.history.run_summary import RunSummary
from gpupanel.ui.panels.runs_panel import RunsPanel
from gpupanel.ui.theme import GRID

_REFRESH_MS = 2_000
"""While the page is shown: runs of other windows and terminals come, go on and end, too."""


class RunsPage(QWidget):
    """Composes the queue above all runs; a comparison takes the place of both.

    The queue's panel comes in by :meth:`setQueue` and hides itself while it has nothing to show;
    the comparison comes in by :meth:`setComparison`. Without one of them its place is empty.

    Args:
        runs_dir: Where the runs are kept.
    """

    comparisonLeft = Signal()
    """All runs have the page's place again."""
    refreshRequested = Signal()
    """The page is seen: the folder of runs is to be read again."""

    def __init__(self, runs_dir: Path, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("runs_page")
        self.panel = RunsPanel(runs_dir)
        self._stack = QStackedLayout(self)
        self._all = QWidget()
        self._queue_place = QVBoxLayout()
        layout = QVBoxLayout(self._all)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addLayout(self._queue_place)
        layout.addWidget(self.panel, 1)
        self._compared = QWidget()
        self._comparison_place = QVBoxLayout(self._compared)
        self._comparison_place.setContentsMargins(2 * GRID, 2 * GRID, 2 * GRID, GRID)
        self._comparison_place.setSpacing(GRID)
        self._comparison_head = self._make_head()
        self._comparison_place.addLayout(self._comparison_head)
        self._stack.addWidget(self._all)
        self._stack.addWidget(self._compared)
        self._refresh_timer = QTimer(self, interval=_REFRESH_MS)
        self._refresh_timer.timeout.connect(self.refreshRequested)

    def setQueue(self, queue: QWidget) -> None:
        """Put the queue's panel above the table; it is as high as it asks to be."""
        self._queue_place.addWidget(queue)

    def setComparison(self, comparison: QWidget, head: QWidget) -> None:
        """Put the comparison below its "Back to all runs" button.

        It is shown by :meth:`show_comparison`, and is left by the button and by Esc.

        Args:
            comparison: What takes the page's place.
            head: What stands beside the button.
        """
        self._comparison_head.addWidget(head, 1)
        self._comparison_place.addWidget(comparison, 1)

    def setRuns(self, runs: tuple[RunSummary, ...]) -> None:
        """Show these runs in the table; what is chosen there stays chosen."""
        self.panel.setRuns(runs)

    @property
    def shows_comparison(self) -> bool:
        """Whether the comparison has the page's place."""
        return self._stack.currentWidget() is self._compared

    @Slot()
    def show_comparison(self) -> None:
        """Give the page's place to the comparison."""
        self._stack.setCurrentWidget(self._compared)
        self._back.setFocus()

    @Slot()
    def show_all(self) -> None:
        """Give it back to the queue and all runs."""
        if self.shows_comparison:
            self._stack.setCurrentWidget(self._all)
            self.comparisonLeft.emit()

    @override
    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.refreshRequested.emit()
        self._refresh_timer.start()

    @override
    def hideEvent(self, event: QHideEvent) -> None:
        self._refresh_timer.stop()
        super().hideEvent(event)

    def _make_head(self) -> QHBoxLayout:
        self._back = QPushButton("&Back to all runs")
        self._back.setObjectName("comparison_back")
        self._back.setToolTip("Leaves the comparison (Esc)")
        self._back.clicked.connect(self.show_all)
        escape = QShortcut(QKeySequence(Qt.Key.Key_Escape), self._compared)
        escape.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        escape.activated.connect(self.show_all)
        head = QHBoxLayout()
        head.setSpacing(GRID)
        head.addWidget(self._back)
        return head
