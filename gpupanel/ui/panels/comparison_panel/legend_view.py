"""The legend of a comparison: a check mark hides a run."""

from PySide6.QtCore import QSize, Qt, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHeaderView, QWidget
from typing_extensions import override

from gpupanel.ui import theme
from gpupanel.ui.panels.comparison_panel.legend_model import LegendModel
from gpupanel.ui.panels.comparison_panel.run_styles import MARK_SIZE
from gpupanel.ui.widgets.table_view import TableView
from gpupanel.ui.workers.comparison_worker import ComparedRun

_ROW_HEIGHT = 28
_NARROWEST_NAME = 208
"""Pixels for mark and name; the table scrolls sideways where the numbers leave less."""


class LegendView(TableView[ComparedRun]):
    """As high as its rows; a click on a run's check mark, or the space bar, hides or shows it."""

    def __init__(self, model: LegendModel, parent: QWidget | None = None) -> None:
        super().__init__(model, "comparison_legend", "Compared runs", _ROW_HEIGHT, parent)
        self.setIconSize(MARK_SIZE)
        self.setAlternatingRowColors(False)
        self.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        header = self.horizontalHeader()
        header.setStretchLastSection(False)
        header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        header.sectionResized.connect(self._share_width)
        for change in (model.modelReset, model.rowsInserted, model.rowsRemoved):
            change.connect(self._fit)
        theme.changes.changed.connect(model.refresh)
        self._fit()

    @override
    def sizeHint(self) -> QSize:
        header = self.horizontalHeader().sizeHint().height()
        rows = _ROW_HEIGHT * self.content.rowCount()
        frame = 2 * self.frameWidth()
        bar = self.horizontalScrollBar()
        room = bar.sizeHint().height() if bar.isVisible() else 0
        return QSize(480, header + rows + frame + room)

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._share_width()

    @Slot()
    def _fit(self) -> None:
        self.horizontalHeader().setSectionResizeMode(0, QHeaderView.ResizeMode.Fixed)
        self._share_width()
        self.setFixedHeight(self.sizeHint().height())
        self.updateGeometry()

    @Slot()
    def _share_width(self) -> None:
        """The names have what the numbers leave them, since they can be shortened."""
        header = self.horizontalHeader()
        others = sum(header.sectionSize(column) for column in range(1, header.count()))
        width = max(_NARROWEST_NAME, self.viewport().width() - others)
        if width != header.sectionSize(0):
            header.resizeSection(0, width)
