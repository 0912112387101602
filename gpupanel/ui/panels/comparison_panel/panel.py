"""Two to eight runs side by side."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from PySide6.QtCore import QEvent, Qt, Signal, Slot
from PySide6.QtGui import QAction
from PySide6.QtWidgets import (
    QFrame,
    QLabel,
    QScrollArea,
    QStackedWidget,
    QWidget,
)
from typing_extensions import override

from gpupanel.runs.history.differences import Difference
from gpupanel.runs.history.run_summary import RunSummary
from gpupanel.ui import formatting, theme
from gpupanel.ui.panels.comparison_panel.comparison_curves import ComparisonCurves
from gpupanel.ui.panels.comparison_panel.curve_grid import CurveGrid
from gpupanel.ui.panels.comparison_panel.difference_table import DifferenceTable
from gpupanel.ui.panels.comparison_panel.legend import LegendModel, LegendView
from gpupanel.ui.panels.comparison_panel.picture import ComparisonPicture
from gpupanel.ui.panels.comparison_panel.tools import ExportTools, ViewTools
from gpupanel.ui.plots.axis_range import AxisKind
from gpupanel.ui.plots.picture import PictureFormat
from gpupanel.ui.plots.zoom_keys import ZoomKeys
from gpupanel.ui.widgets.labels import ElidedLabel, EmptyState
from gpupanel.ui.widgets.layouts import column_in, row_in
from gpupanel.ui.widgets.tips import wrapped
from gpupanel.ui.workers.comparison_worker import ComparedRun

_GAP = 8
_LEAST_PAGE = 64
_LEAST_PLOTS = 160
"""Pixels of a row of plots and a little of the next."""


class ComparisonPanel(QWidget):
    """The legend, and below it the curves or the differences of the profiles.

    :attr:`head` goes into the row above it, beside what leads back to all runs.
    """

    settingsRequested = Signal(object)
    """The settings of a run are to be used for another one: its :class:`RunSummary`."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("comparison_panel")
        self._runs: tuple[ComparedRun, ...] = ()
        self._styles: tuple[int, ...] = ()
        self._has_baseline = False
        self._curves = ComparisonCurves()
        self._legend = LegendModel(self)
        self.grid = CurveGrid(self._curves)
        self._differences = DifferenceTable()
        self._empty = EmptyState("", "")
        self._tools = ViewTools()
        self.exports = ExportTools()
        self._word = ElidedLabel()
        self._word.setProperty("tone", "muted")
        self._word.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.head = self._make_head()
        self._pages = QStackedWidget()
        ZoomKeys(self, self.grid.span, self.grid.show_span, self.grid.show_whole)
        self._compose()
        self._connect()

    @property
    def runs(self) -> tuple[ComparedRun, ...]:
        """What is compared, as far as it was read."""
        return self._runs

    def setSummaries(
        self,
        runs: Sequence[RunSummary],
        styles: Sequence[int] | None = None,
        *,
        has_baseline: bool = False,
    ) -> None:
        """Compare these runs, of which nothing was read yet.

        Args:
            runs: Which.
            styles: Numbers of their colours and kinds of line; left out: by their places.
            has_baseline: The first one is what the others are compared with.
        """
        self._has_baseline = has_baseline
        self._styles = tuple(range(len(runs)) if styles is None else styles)
        self._runs = tuple(
            ComparedRun(run, style=style) for run, style in zip(runs, self._styles, strict=True)
        )
        self._curves.hidden = frozenset()
        self._legend.set_runs((), ())
        self.grid.show_whole()
        self.setFileNote("")
        self._show()
        self.setDifferences(())

    def setRun(self, place: int, run: ComparedRun) -> None:
        """Show what a run has come to."""
        styled = replace(run, style=self._styles[place])
        self._runs = (*self._runs[:place], styled, *self._runs[place + 1 :])
        self._show()

    def setDifferences(self, found: tuple[Difference, ...]) -> None:
        """Show in what the runs differ."""
        titles = [run.summary.title for run in distinct_titles(self._runs)]
        self._differences.setDifferences(
            titles, found, self._styles, has_baseline=self._has_baseline
        )

    def setFileNote(self, word: str) -> None:
        """Say what became of a file."""
        self._word.setText(word)
        self._word.setToolTip(wrapped(word))

    def setTableBusy(self, is_busy: bool) -> None:
        """Whether a table is being written."""
        self.exports.setTableBusy(is_busy)

    def picture(self, wanted: PictureFormat, *, is_on_white: bool) -> bytes:
        """What is shown of the curves, with the legend, as the content of a file.

        Args:
            wanted: Of which kind.
            is_on_white: In light colours, whatever the window looks like.
        """
        with theme.painted_in(theme.LIGHT if is_on_white else theme.current()):
            plots = self.grid.picture_plots()
            return ComparisonPicture(self._curves, self._legend.texts(), plots).content(wanted)

    def _make_head(self) -> QWidget:
        head = QWidget()
        layout = row_in(head)
        layout.addWidget(self._word, 1)
        layout.addWidget(self.exports)
        return head

    def _compose(self) -> None:
        scroll = QScrollArea()
        scroll.setAccessibleName("Comparison")
        scroll.setWidgetResizable(True)
        scroll.setFrameShape(QFrame.Shape.NoFrame)
        self.grid.setProperty("page", "true")
        scroll.setWidget(self.grid)
        for page in (self._empty, scroll, self._differences):
            self._pages.addWidget(page)
        # Each of them scrolls: what is above has its height first.
        self._pages.setMinimumHeight(_LEAST_PAGE)
        layout = column_in(self, spacing=_GAP)
        layout.addWidget(self._tools)
        self._table = LegendView(self._legend)
        self._use = QAction("Use these settin&gs", self._table)
        self._use.setObjectName("comparison_use")
        self._use.setToolTip("Copies the run's settings into the Session tab")
        self._table.addAction(self._use)
        self._table.setContextMenuPolicy(Qt.ContextMenuPolicy.ActionsContextMenu)
        self._note = _note()
        layout.addWidget(self._table)
        layout.addWidget(self._note)
        layout.addWidget(self._pages, 1)

    @override
    def event(self, event: QEvent) -> bool:
        done = super().event(event)
        if event.type() in (QEvent.Type.Resize, QEvent.Type.LayoutRequest):
            self._share_height()
        return done

    def _share_height(self) -> None:
        """The table of runs has what its rows need, as long as one row of plots has room."""
        taken = self._tools.heightForWidth(self.width()) + self._note.sizeHint().height()
        self._table.setRoom(self.height() - taken - 3 * _GAP - _LEAST_PLOTS)

    def _connect(self) -> None:
        self._tools.differencesChosen.connect(self._choose_page)
        self._tools.axes.axisChosen.connect(self._set_axis)
        self._tools.axes.smoothing.valueChanged.connect(self._set_span)
        self._tools.axes.logarithmic.toggled.connect(self._set_log)
        self._use.triggered.connect(self._use_chosen)
        self._tools.wholeRequested.connect(self.grid.show_whole)
        self.grid.wholeChanged.connect(self._tools.setWhole)
        self._legend.hiddenChanged.connect(self._set_hidden)
        self.grid.runToggled.connect(self._legend.toggle)

    def _show(self) -> None:
        shown = distinct_titles(self._runs)
        self._curves.set_runs(shown)
        self._legend.set_runs(shown, self._curves.metrics())
        self._tools.axes.setEpochsKnown(self._curves.knows_epochs)
        self._tools.axes.setSteps(max((run.step for run in shown), default=0))
        self._leave_unknown_epochs()
        self.grid.refresh()
        self.exports.setPictureEnabled(bool(self._curves.metrics()))
        self._show_page()

    def _leave_unknown_epochs(self) -> None:
        """Count steps where it turns out that no run has reported how long its epochs are."""
        is_read = all(run.is_read for run in self._runs)
        if self._curves.axis is AxisKind.EPOCH and is_read and not self._curves.knows_epochs:
            self._curves.axis = AxisKind.STEP
            self._tools.axes.setAxis(AxisKind.STEP)
            self.grid.show_whole()

    @Slot()
    def _use_chosen(self) -> None:
        chosen = self._table.chosen_rows()
        if chosen:
            self.settingsRequested.emit(chosen[0].summary)

    @Slot(bool)
    def _choose_page(self, _are_differences: bool) -> None:
        self._show_page()

    def _show_page(self) -> None:
        if self._tools.shows_differences:
            self._pages.setCurrentWidget(self._differences)
        elif self._curves.metrics():
            self._pages.setCurrentIndex(1)
        else:
            if all(run.is_read for run in self._runs):
                self._empty.setTexts(
                    "No data yet",
                    "None of these runs has made a step. Their curves appear here with the first.",
                )
            else:
                self._empty.setTexts("Reading…", "The runs' curves appear here in a moment.")
            self._pages.setCurrentWidget(self._empty)

    @Slot(object)
    def _set_axis(self, axis: AxisKind) -> None:
        self._curves.axis = axis
        self.grid.show_whole()
        self.grid.refresh()

    @Slot(float)
    def _set_span(self, span: float) -> None:
        self._curves.span = span
        self.grid.refresh()

    @Slot(bool)
    def _set_log(self, is_log: bool) -> None:
        self._curves.is_log = is_log
        self.grid.refresh()

    @Slot(object)
    def _set_hidden(self, hidden: frozenset[int]) -> None:
        self._curves.hidden = hidden
        self.grid.refresh()


def _note() -> QLabel:
    note = QLabel(
        "Colours and line styles identify runs here, not devices. Best values in brackets."
    )
    note.setProperty("tone", "muted")
    note.setProperty("textSize", "small")
    return note


def distinct_titles(runs: Sequence[ComparedRun]) -> tuple[ComparedRun, ...]:
    """The runs, those that are called the same with their start, or by their directories."""
    found = [run.summary for run in runs]
    dated = (f"{each.title} · {formatting.day_and_time(each.started_s)}" for each in found)
    titles = _apart([each.title for each in found], dated)
    titles = _apart(titles, (each.name for each in found))
    return tuple(
        replace(run, summary=run.summary.model_copy(update={"label": title}))
        if title != run.summary.title
        else run
        for run, title in zip(runs, titles, strict=True)
    )


def _apart(titles: list[str], longer: Iterable[str]) -> list[str]:
    """The titles, and in place of those that are there more than once longer ones."""
    return [
        title if titles.count(title) == 1 else other
        for title, other in zip(titles, longer, strict=True)
    ]
