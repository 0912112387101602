"""What can be done with a comparison: how it is drawn, and what can be taken along."""

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QButtonGroup, QPushButton, QToolButton, QWidget

from gpupanel.ui.plots.axis_tools import ZOOM_HINT, AxisTools, switch
from gpupanel.ui.plots.picture_menu import TABLE_TIP, PictureMenu
from gpupanel.ui.widgets.flow_layout import FlowLayout
from gpupanel.ui.widgets.layouts import row_in
from gpupanel.ui.widgets.tips import wrapped


class ViewTools(QWidget):
    """Curves or differences; how the curves are drawn.

    Attributes:
        axes: What is counted, smoothing, logarithms.
    """

    differencesChosen = Signal(bool)
    """Whether the differences are to be shown; else the curves."""
    wholeRequested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._curves = switch(
            "&Curves", "show_curves", "Loss, accuracy and speed of the runs, one plot each"
        )
        self._differences = switch(
            "&Differences", "show_differences", "Settings and devices in which the runs differ"
        )
        self.axes = AxisTools(
            time_tip="Horizontal axis: time since each run's start, without pauses"
        )
        self._whole = QPushButton("Reset &zoom")
        self._whole.setObjectName("whole_runs")
        self._whole.setToolTip(wrapped(f"Shows the whole range again. {ZOOM_HINT}"))
        self._whole.setEnabled(False)
        self._compose()
        self._differences.toggled.connect(self._on_differences_toggled)
        self._whole.clicked.connect(self.wholeRequested)

    @property
    def shows_differences(self) -> bool:
        """Whether the differences were chosen; else the curves."""
        return self._differences.isChecked()

    @Slot(bool)
    def setWhole(self, is_whole: bool) -> None:
        """Whether the runs are shown whole."""
        self._whole.setEnabled(not is_whole)

    def _compose(self) -> None:
        layout = FlowLayout(self)
        group = QButtonGroup(self)
        for button in (self._curves, self._differences):
            group.addButton(button)
            layout.addWidget(button)
        self._curves.setChecked(True)
        self.axes.addTool(self._whole)
        layout.addWidget(self.axes)

    @Slot(bool)
    def _on_differences_toggled(self, is_on: bool) -> None:
        self.axes.setEnabled(not is_on)
        self.differencesChosen.emit(is_on)


class ExportTools(QWidget):
    """Saves what is compared into files; says what became of it."""

    tableRequested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._table = QPushButton("E&xport CSV…")
        self._table.setObjectName("save_curves")
        self._table.setToolTip(TABLE_TIP)
        self._picture = QToolButton()
        self._picture.setObjectName("save_picture")
        self._picture.setText("Save &picture…")
        self._picture.setToolTip(
            wrapped(
                "Saves the plots with their legend: as a PNG picture on white, or as the menu says"
            )
        )
        self._picture.setPopupMode(QToolButton.ToolButtonPopupMode.MenuButtonPopup)
        self.pictures = PictureMenu(self._picture)
        """The formats of pictures, of which one is chosen."""
        self._picture.setMenu(self.pictures)
        layout = row_in(self)
        layout.addWidget(self._table)
        layout.addWidget(self._picture)
        self._table.clicked.connect(self.tableRequested)
        self._picture.clicked.connect(self.pictures.choose_first)

    def setTableBusy(self, is_busy: bool) -> None:
        """Whether a table is being written: one at a time."""
        self._table.setEnabled(not is_busy)

    def setPictureEnabled(self, is_enabled: bool) -> None:
        """Whether there is anything to draw."""
        self._picture.setEnabled(is_enabled)
