"""The first column of a table stays in its place while the others are scrolled sideways."""

from PySide6.QtCore import QEvent, QObject, QPoint, Qt, Slot
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QAbstractItemView, QFrame, QHeaderView, QTableView
from typing_extensions import override

_Policy = Qt.ScrollBarPolicy


class FrozenColumn(QTableView):
    """Lies over the first column of a table, as long as that would be out of sight.

    It shows the same rows, chosen and sorted as in the table, which keeps the focus and the keys.
    What is done to it with the mouse happens in the table.

    Args:
        table: With rows of one height; owns this.
    """

    def __init__(self, table: QTableView) -> None:
        super().__init__(table)
        self._table = table
        self.setModel(table.model())
        self.setSelectionModel(table.selectionModel())
        self.setObjectName("frozen_column")
        self.setAccessibleName(table.accessibleName())
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setProperty("frozen", "true")
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setSelectionBehavior(table.selectionBehavior())
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setHorizontalScrollBarPolicy(_Policy.ScrollBarAlwaysOff)
        self.setVerticalScrollBarPolicy(_Policy.ScrollBarAlwaysOff)
        self.verticalHeader().hide()
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.horizontalHeader().setHighlightSections(False)
        self.horizontalHeader().setSectionsClickable(True)
        self.horizontalHeader().sectionClicked.connect(self._sort)
        self.horizontalHeader().setContextMenuPolicy(Qt.ContextMenuPolicy.PreventContextMenu)
        self.customContextMenuRequested.connect(self._ask_for_menu)
        self.clicked.connect(table.clicked)
        self.activated.connect(table.activated)
        bar = table.verticalScrollBar()
        bar.valueChanged.connect(self._follow)
        self.verticalScrollBar().valueChanged.connect(bar.setValue)
        table.horizontalScrollBar().valueChanged.connect(self._show_or_hide)
        table.horizontalScrollBar().rangeChanged.connect(self._show_or_hide)
        table.horizontalHeader().geometriesChanged.connect(self._show_or_hide)
        table.horizontalHeader().sectionResized.connect(self._show_or_hide)
        table.installEventFilter(self)
        self._show_or_hide()

    @override
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.Resize, QEvent.Type.Show, QEvent.Type.LayoutRequest):
            self._show_or_hide()
        return super().eventFilter(watched, event)

    @override
    def mousePressEvent(self, event: QMouseEvent) -> None:
        # The table would scroll back to the cell that becomes the current one.
        self._table.setAutoScroll(False)
        super().mousePressEvent(event)
        self._table.setAutoScroll(True)
        self._table.setFocus()

    @Slot()
    def _show_or_hide(self) -> None:
        table, header = self._table, self._table.horizontalHeader()
        is_scrolled = table.horizontalScrollBar().value() > 0
        places = map(header.logicalIndex, range(header.count()))
        first = next((each for each in places if not header.isSectionHidden(each)), None)
        if not is_scrolled or first is None:
            self.hide()
            return
        self._dress(first)
        view = table.viewport().geometry()
        width = min(header.sectionSize(first), view.width() // 2)
        self.setColumnWidth(first, width)
        self.setGeometry(view.x(), header.y(), width, header.height() + view.height())
        self.show()
        self.raise_()
        self._follow()

    def _dress(self, first: int) -> None:
        """Look as the table does now, and have that column only."""
        table, header = self._table, self.horizontalHeader()
        self.setAlternatingRowColors(table.alternatingRowColors())
        self.setIconSize(table.iconSize())
        self.setTextElideMode(table.textElideMode())
        self.setSelectionMode(table.selectionMode())
        self.setContextMenuPolicy(table.contextMenuPolicy())
        self.addActions(table.actions())
        self.setVerticalScrollMode(table.verticalScrollMode())
        self.verticalHeader().setDefaultSectionSize(table.verticalHeader().defaultSectionSize())
        header.setFixedHeight(table.horizontalHeader().height())
        header.setDefaultAlignment(table.horizontalHeader().defaultAlignment())
        for column in range(header.count()):
            self.setColumnHidden(column, column != first)
        sorting = table.horizontalHeader()
        header.setSortIndicatorShown(sorting.isSortIndicatorShown())
        header.setSortIndicator(sorting.sortIndicatorSection(), sorting.sortIndicatorOrder())

    @Slot()
    def _follow(self) -> None:
        self.verticalScrollBar().setValue(self._table.verticalScrollBar().value())

    @Slot(int)
    def _sort(self, column: int) -> None:
        if self._table.isSortingEnabled():
            header = self._table.horizontalHeader()
            is_up = header.sortIndicatorOrder() is Qt.SortOrder.AscendingOrder
            is_same = header.sortIndicatorSection() == column
            order = (
                Qt.SortOrder.DescendingOrder if is_same and is_up else Qt.SortOrder.AscendingOrder
            )
            self._table.sortByColumn(column, order)
            self._show_or_hide()

    @Slot(QPoint)
    def _ask_for_menu(self, place: QPoint) -> None:
        there = self._table.viewport().mapFrom(self.viewport(), place)
        self._table.customContextMenuRequested.emit(there)
