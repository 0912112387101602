"""A setting against what runs reached: each run a point that can be chosen."""

from collections.abc import Mapping, Sequence

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QColor
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDialog,
    QHBoxLayout,
    QLabel,
    QStackedLayout,
    QVBoxLayout,
    QWidget,
)

from gpupanel.domain.number_text import short_number
from gpupanel.domain.visible_text import visible_line
from gpupanel.runs.history.run_summary import RunSummary
from gpupanel.ui import formatting
from gpupanel.ui.panels.runs_panel.setting_columns import is_setting
from gpupanel.ui.plots.scatter_plot import ScatterPlot, ScatterPoint
from gpupanel.ui.theme import GRID
from gpupanel.ui.widgets.labels import EmptyState
from gpupanel.ui.widgets.scatter_axis import CategoryAxis, NumberAxis, can_be_log, is_wide
from gpupanel.ui.widgets.screen_fit import resize_within_screen
from gpupanel.ui.widgets.table_model import Column

_GREATEST = 1e300
_USUAL_Y = ("accuracy", "loss")


class ScatterDialog(QDialog):
    """Two columns of the table as axes; what is chosen in the table has a colour."""

    runChosen = Signal(str)
    """A person chose the run of that name."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("scatter_dialog")
        self.setWindowTitle("Scatter of runs")
        self._runs: tuple[RunSummary, ...] = ()
        self._colors: Mapping[str, QColor] = {}
        self._columns: tuple[dict[str, Column[RunSummary]], ...] = ({}, {})
        self._picked: set[QComboBox] = set()
        self._x = self._box("scatter_x", "Across")
        self._y = self._box("scatter_y", "Up")
        self._x_log = self._switch("scatter_x_log", "&Logarithmic across")
        self._y_log = self._switch("scatter_y_log", "Logarithmic &up")
        self.plot = ScatterPlot(self)
        self.plot.chosen.connect(self._on_chosen)
        self._empty = EmptyState(
            "Nothing to draw yet",
            "Points appear here once runs differ in a setting and have reached something.",
        )
        self._word = QLabel(self)
        self._word.setObjectName("scatter_word")
        self._word.setTextFormat(Qt.TextFormat.PlainText)
        self._word.setProperty("tone", "muted")
        self._compose()
        resize_within_screen(self, 96 * GRID, 68 * GRID)

    def setRuns(
        self,
        runs: Sequence[RunSummary],
        colors: Mapping[str, QColor],
        across: Sequence[Column[RunSummary]],
        up: Sequence[Column[RunSummary]],
    ) -> None:
        """Draw these runs; the axes that a person chose stay, as long as they are offered.

        Args:
            runs: All that the table shows.
            colors: Of those that are chosen, by the names of their directories.
            across: What the axis from left to right can show, the usual one first.
            up: What the other one can show.
        """
        self._runs, self._colors = tuple(runs), colors
        self._columns = tuple({column.key: column for column in each} for each in (across, up))
        reached = self._columns[1]
        usual = (next(iter(self._columns[0]), None), next(filter(reached.get, _USUAL_Y), None))
        for box, columns, key in zip((self._x, self._y), self._columns, usual, strict=True):
            self._offer(box, columns, key)
        self._draw()

    def _offer(
        self, box: QComboBox, columns: Mapping[str, Column[RunSummary]], usual: str | None
    ) -> None:
        before = [box.itemData(place) for place in range(box.count())]
        if before == [*columns]:
            return
        chosen = box.currentData()
        key = chosen if chosen in columns and box in self._picked else usual
        box.blockSignals(True)
        box.clear()
        for column in columns.values():
            box.addItem(visible_line(column.title), column.key)
        box.setCurrentIndex(max(0, box.findData(key)))
        box.blockSignals(False)
        if key != chosen:
            self._choose_scale(box)

    def _compose(self) -> None:
        axes = QHBoxLayout()
        axes.setSpacing(GRID)
        for title, box in (("&Across", self._x), ("U&p", self._y)):
            label = QLabel(title, self)
            label.setBuddy(box)
            axes.addWidget(label)
            axes.addWidget(box, 1)
        logs = QHBoxLayout()
        logs.setSpacing(2 * GRID)
        logs.addWidget(self._x_log)
        logs.addWidget(self._y_log)
        logs.addStretch(1)
        self._stack = QStackedLayout()
        self._stack.addWidget(self.plot)
        self._stack.addWidget(self._empty)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(2 * GRID, 2 * GRID, 2 * GRID, 2 * GRID)
        layout.setSpacing(GRID)
        layout.addLayout(axes)
        layout.addLayout(logs)
        layout.addLayout(self._stack, 1)
        layout.addWidget(self._word)

    def _box(self, name: str, title: str) -> QComboBox:
        box = QComboBox(self)
        box.setObjectName(name)
        box.setAccessibleName(title)
        box.setToolTip("What this axis shows: settings that differ, and what runs reached")
        box.currentIndexChanged.connect(self._on_axis)
        return box

    def _switch(self, name: str, title: str) -> QCheckBox:
        switch = QCheckBox(title, self)
        switch.setObjectName(name)
        switch.setToolTip("By powers of ten; only where all numbers are above 0")
        switch.toggled.connect(self._draw)
        return switch

    @Slot()
    def _on_axis(self) -> None:
        box = self._x if self.sender() is self._x else self._y
        self._picked.add(box)
        self._choose_scale(box)
        self._draw()

    def _choose_scale(self, box: QComboBox) -> None:
        """Powers of ten where numbers are far apart."""
        place = 0 if box is self._x else 1
        column = self._columns[place].get(box.currentData())
        numbers = [] if column is None else _numbers(column, self._runs)
        switch = (self._x_log, self._y_log)[place]
        switch.blockSignals(True)
        switch.setChecked(is_wide(numbers))
        switch.blockSignals(False)

    @Slot()
    def _draw(self) -> None:
        across = self._columns[0].get(self._x.currentData())
        up = self._columns[1].get(self._y.currentData())
        points = [] if across is None or up is None else self._points(across, up)
        self._stack.setCurrentIndex(0 if points else 1)
        if across is None or up is None or not points:
            self.plot.setPoints((), None, None, ("", ""))
            self._word.clear()
            return
        xs = [point.x for point in points]
        numbers = [x for x in xs if not isinstance(x, str)]
        is_number = len(numbers) == len(xs)
        x_axis: CategoryAxis | NumberAxis = (
            NumberAxis(
                numbers,
                across.number_text or short_number,
                is_log=self._log(self._x_log, numbers),
                are_chosen=is_setting(across.key),
            )
            if is_number
            else CategoryAxis(map(str, xs))
        )
        self._x_log.setEnabled(is_number and can_be_log(numbers))
        ys = [point.y for point in points]
        is_log = self._log(self._y_log, ys)
        self._y_log.setEnabled(can_be_log(ys))
        y_axis = NumberAxis(ys, up.number_text or short_number, is_log=is_log)
        self.plot.setPoints(points, x_axis, y_axis, (across.title, up.title))
        left_out = len(self._runs) - len(points)
        drawn = f"{formatting.count(len(points))} runs"
        self._word.setText(
            f"{drawn}; {formatting.count(left_out)} without such values" if left_out else drawn
        )

    def _log(self, switch: QCheckBox, numbers: Sequence[float]) -> bool:
        return switch.isChecked() and can_be_log(numbers)

    def _points(self, across: Column[RunSummary], up: Column[RunSummary]) -> list[ScatterPoint]:
        points = []
        for run in self._runs:
            x = _value(across, run)
            y = _value(up, run)
            if x is None or not isinstance(y, float):
                continue
            tip = f"{run.title}\n{across.title}: {across.text(run)}\n{up.title}: {up.text(run)}"
            points.append(ScatterPoint(run.name, x, y, tip, self._colors.get(run.name)))
        return points

    @Slot(str)
    def _on_chosen(self, name: str) -> None:
        self.runChosen.emit(name)
        run = next((each for each in self._runs if each.name == name), None)
        across = self._columns[0].get(self._x.currentData())
        up = self._columns[1].get(self._y.currentData())
        if run is not None and across is not None and up is not None:
            parts = (f"{column.title}: {column.text(run)}" for column in (across, up))
            self._word.setText(visible_line(f"{run.title}. {', '.join(parts)}"))


def _value(column: Column[RunSummary], run: RunSummary) -> str | float | None:
    """A number where the column is one of numbers, else what its cell says."""
    value = None if column.order is None else column.order(run)
    if value is None:
        return None
    if column.number_text is None or isinstance(value, str):
        return column.text(run)
    # What is not finite, or so great that no axis has room for it, is drawn nowhere.
    return float(value) if abs(value) < _GREATEST else None


def _numbers(column: Column[RunSummary], runs: Sequence[RunSummary]) -> list[float]:
    values = (_value(column, run) for run in runs)
    return [value for value in values if isinstance(value, float)]
