"""A dialog that shows a report, and how far the work is that makes it."""

from abc import abstractmethod

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QGuiApplication, QHideEvent
from PySide6.QtWidgets import (
    QDialog,
    QFrame,
    QHBoxLayout,
    QLabel,
    QProgressBar,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)
from typing_extensions import override

from gpupanel.ui.theme import GRID
from gpupanel.ui.widgets.labels import Caption, EmptyState, ProseLabel
from gpupanel.ui.widgets.screen_fit import resize_within_screen
from gpupanel.ui.widgets.severity_icon import SeverityIcon
from gpupanel.ui.widgets.tips import wrapped


class ReportDialog(QDialog):
    """Icon, title and sentence; a bar; the report; buttons to copy it and to begin again.

    Args:
        name: What the names of its parts begin with: "scan" makes ``scan_dialog``, ``scan_copy``.
        title: Of the window.
        parent: Owns it.
    """

    closed = Signal()
    """Nobody reads it any more."""

    def __init__(self, name: str, title: str, parent: QWidget | None) -> None:
        super().__init__(parent)
        self.setObjectName(f"{name}_dialog")
        self.setWindowTitle(title)
        self._name = name
        self._icon = SeverityIcon(None)
        self._title = QLabel()
        self._title.setObjectName(f"{name}_verdict")
        self._title.setProperty("role", "title")
        self._sentence = ProseLabel(tone="muted")
        self._sentence.setObjectName(f"{name}_sentence")
        self._progress = QProgressBar()
        self._progress.setObjectName(f"{name}_progress")
        self._progress.setRange(0, 0)
        self._progress.setTextVisible(False)
        for passing in (self._icon, self._progress):
            # Nothing moves when it is hidden.
            policy = passing.sizePolicy()
            policy.setRetainSizeWhenHidden(True)
            passing.setSizePolicy(policy)
        self._scroll = QScrollArea()
        self._scroll.setAccessibleName("Report")
        self._scroll.setWidgetResizable(True)
        self._scroll.setFrameShape(QFrame.Shape.NoFrame)
        self._scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._copy = self._button(
            "&Copy all", "copy", "Copies the whole report as text, for a message or a bug report."
        )
        self._copy.clicked.connect(self.copy)
        self._arrange()

    @abstractmethod
    def text(self) -> str:
        """The report as text; empty before there is one."""
        ...

    def copy(self) -> None:
        """Puts the whole report on the clipboard."""
        if text := self.text():
            QGuiApplication.clipboard().setText(text)

    @override
    def hideEvent(self, arg__1: QHideEvent) -> None:
        super().hideEvent(arg__1)
        self.closed.emit()

    def _add_button(self, text: str, name: str, tip: str) -> QPushButton:
        """Another one behind those that are there."""
        button = self._button(text, name, tip)
        self._buttons.addWidget(button)
        return button

    def _show_page(self, *parts: QWidget) -> None:
        """Show these, one below the other, in place of what was shown."""
        page = QWidget()
        page.setProperty("page", True)
        column = QVBoxLayout(page)
        column.setContentsMargins(0, 0, GRID, 0)
        column.setSpacing(GRID)
        for part in parts:
            if isinstance(part, Caption) and column.count():
                column.addSpacing(GRID)  # nearer to what it is of than to what is above
            column.addWidget(part)
        column.addStretch(1)
        self._scroll.setWidget(page)

    def _show_empty(self, words: str) -> None:
        """Show what a report will hold."""
        self._scroll.setWidget(EmptyState("The report appears here", words))

    def _button(self, text: str, name: str, tip: str) -> QPushButton:
        button = QPushButton(text)
        button.setObjectName(f"{self._name}_{name}")
        button.setToolTip(wrapped(tip))
        return button

    def _arrange(self) -> None:
        words = QVBoxLayout()
        words.setSpacing(GRID // 2)
        words.addWidget(self._title)
        words.addWidget(self._sentence)
        head = QHBoxLayout()
        head.setSpacing(GRID)
        head.addWidget(self._icon, 0, Qt.AlignmentFlag.AlignTop)
        head.addLayout(words, 1)
        close = QPushButton("Close")
        close.clicked.connect(self.reject)
        self._buttons = QHBoxLayout()
        self._buttons.setSpacing(GRID)
        self._buttons.addWidget(self._copy)
        last = QHBoxLayout()
        last.setSpacing(GRID)
        last.addLayout(self._buttons)
        last.addStretch(1)
        last.addWidget(close)
        self._above = QVBoxLayout()
        """What the report is chosen by, where there is anything to choose."""
        layout = QVBoxLayout(self)
        layout.setContentsMargins(2 * GRID, 2 * GRID, 2 * GRID, 2 * GRID)
        layout.setSpacing(GRID)
        layout.addLayout(head)
        layout.addLayout(self._above)
        layout.addWidget(self._progress)
        layout.addWidget(self._scroll, 1)
        layout.addLayout(last)
        resize_within_screen(self, 880, 680)
