"""What a run does, as curves."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer, Signal, Slot
from PySide6.QtGui import QAction, QKeySequence, QShortcut
from PySide6.QtWidgets import QMenu, QPushButton, QSizePolicy, QStackedLayout, QToolButton, QWidget

from gpupanel.domain.device import DeviceInventory
from gpupanel.domain.events import RunEnded
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.visible_text import visible_beginning
from gpupanel.runs.following.event_tail import Part
from gpupanel.runs.following.readings import SampleBatch
from gpupanel.ui import theme
from gpupanel.ui.plots.axis_tools import SHORT_ZOOM_HINT, ZOOM_HINT, AxisTools
from gpupanel.ui.plots.own_figures import MOST_PLOTS
from gpupanel.ui.plots.picture import PictureFormat
from gpupanel.ui.plots.picture_menu import PictureMenu
from gpupanel.ui.plots.plot_library import PlotLibrary
from gpupanel.ui.plots.plot_wall import PlotWall
from gpupanel.ui.plots.run_curves import RunCurves
from gpupanel.ui.plots.zoom_keys import ZoomKeys
from gpupanel.ui.theme import GRID
from gpupanel.ui.widgets.labels import EmptyState, Note, ShorterLabel
from gpupanel.ui.widgets.layouts import column_in, row_in
from gpupanel.ui.widgets.tips import wrapped

if TYPE_CHECKING:
    from gpupanel.ui.plots.time_plot import TimePlot

_HINT = f"{ZOOM_HINT} Double-click a plot's title to see that plot alone."
_PREPARE_AFTER_MS = 600
"""When the window stands and nobody waits for it, and before a run needs the plots."""

_NAMED = 8
"""Figures without a plot that are named."""

_NOTHING_SENTENCE = (
    "Press Start: loss, accuracy, utilization, memory and speed\n"
    "appear here while the run trains. A past run can be opened under Runs."
)
RESUME_TIP = "Continues the run from its last checkpoint, in the same folder"
OPEN_TIP = "Shows its curves, devices and log in Live"
_NOTHING = ("No data yet", _NOTHING_SENTENCE)
_OPENING = ("Opening the run", "Its curves appear here in a moment.")
_STARTING = (
    "The run is starting",
    "Curves appear here with the first readings of the devices and the first step.",
)
_ENDED = (
    "No data",
    "The run ended before its first step and its first readings.",
)


class LivePanel(QWidget):
    """Takes events and samples in at any rate; plots draw them on a timer of their own."""

    tableRequested = Signal()
    """All values of the run are wanted as a file."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.curves = RunCurves()
        self._inventory: DeviceInventory | None = None
        self._has_ended = self._has_samples = False
        self._drawn = self.curves.devices
        self._empty = EmptyState(*_NOTHING)
        self.resume = self._empty.add_button("Resume", "live_resume", RESUME_TIP)
        """Lets the run go on that waits for that."""
        self.resume.setProperty("role", "primary")
        self.open_waiting = self._empty.add_button("Open", "live_open", OPEN_TIP)
        """Shows it as it is."""
        self._wall = PlotWall(self.curves)
        self._axes = AxisTools(
            "live_",
            time_tip="Horizontal axis: time of the run, without pauses",
            has_mnemonics=False,
        )
        self._axes.setAxis(self._wall.axis)
        self._axes.setEpochsKnown(False)
        self._hint = ShorterLabel()
        # The tools come first: it has what they leave.
        self._hint.setMinimumWidth(1)
        self._hint.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self._hint.setProperty("tone", "muted")
        self._hint.setProperty("textSize", "small")
        self.setFileNote("")
        self._more = self._make_more_button()
        self._follow = QPushButton("Reset zoom")
        self._follow.setObjectName("live_whole_run")
        self._follow.setProperty("role", "quiet")
        self._follow.setToolTip(wrapped(f"Shows the whole run again and follows it. {_HINT}"))
        self._follow.setEnabled(False)
        self._all = QPushButton("All plots")
        self._all.setObjectName("live_all_plots")
        self._all.setToolTip("Shows all plots again (Esc)")
        self._all.hide()
        self._all.clicked.connect(self._wall.show_all)
        escape = QShortcut(QKeySequence(Qt.Key.Key_Escape), self)
        escape.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        escape.setEnabled(False)
        escape.activated.connect(self._wall.show_all)
        self._wall.enlargedChanged.connect(self._all.setVisible)
        self._wall.enlargedChanged.connect(escape.setEnabled)
        self._follow.clicked.connect(self._wall.follow)
        self._wall.followingChanged.connect(self._follow.setDisabled)
        self._wall.axisChanged.connect(self._axes.setAxis)
        self._wall.epochsKnown.connect(self._axes.setEpochsKnown)
        self._axes.axisChosen.connect(self._wall.setAxis)
        self._axes.smoothing.valueChanged.connect(self._wall.setSmoothing)
        self._axes.logarithmic.toggled.connect(self._wall.setLogarithmic)
        ZoomKeys(self, self._wall.span, self._wall.showSpan, self._wall.follow)
        self._undrawn = Note()
        self._undrawn.setObjectName("undrawn_figures")
        self._undrawn.hide()
        self._wall.undrawnChanged.connect(self._show_undrawn)
        self._stack = QStackedLayout()
        self._arrange()
        self._library = PlotLibrary()
        self._preparing = QTimer(self)
        self._preparing.timeout.connect(self._prepare_one)
        self._preparing.start(_PREPARE_AFTER_MS)

    @property
    def plot_wall(self) -> PlotWall:
        """The plots."""
        return self._wall

    def setWaiting(self, title: str, sentence: str) -> None:
        """Offer a run that waits to be resumed, while none is shown; empty: none waits."""
        if title:
            self._empty.setTexts(title, sentence, with_buttons=True)
        else:
            self._empty.setTexts(*_NOTHING)

    def clear(self) -> None:
        """Forget the run that is shown: another one is opened."""
        self._show_run(RunCurves())
        self.setFileNote("")
        self._has_ended = self._has_samples = False
        self.setComplete(is_complete=False)
        self._empty.setTexts(*_OPENING)
        self._stack.setCurrentIndex(0)
        self._preparing.start(0)

    def setDevices(self, inventory: DeviceInventory) -> None:
        """Draw utilization and memory of these devices, in their colours."""
        if self._inventory is not None and self._inventory.devices == inventory.devices:
            return
        self._inventory = inventory
        self.curves.set_devices(inventory)
        self._wall.setDevices(inventory)

    def setPlan(self, plan: LaunchPlan) -> None:
        """Know which device does which part of the work."""
        self.curves.set_plan(plan)
        self._wall.showDevices()

    def addEvents(self, parts: Sequence[Part]) -> None:
        """Take in what the run reported since the last call."""
        self.curves.add_events(parts)
        if parts:
            self._has_ended = isinstance(parts[-1], RunEnded)
        self._show_what_there_is()

    def addSamples(self, samples: SampleBatch) -> None:
        """Take in what the devices reported since the last call."""
        self.curves.add_samples(samples)
        self._show_what_there_is()
        if not self._has_samples:
            self._has_samples = True
            self._wall.redraw_soon(at_once=True)

    def setComplete(self, *, is_complete: bool) -> None:
        """Whether the run ended, and all that it recorded was taken in."""
        self._wall.setComplete(is_complete=is_complete)

    def _arrange(self) -> None:
        plots = QWidget()
        tools = QWidget()
        row = row_in(tools)
        for tool in (self._more, self._follow, self._all):
            self._axes.addTool(tool)
        row.addWidget(self._axes)
        row.addWidget(self._hint, 1)
        column = column_in(plots, spacing=GRID // 2)
        column.addWidget(tools)
        column.addWidget(self._undrawn)
        column.addWidget(self._wall, 1)
        self._stack.addWidget(self._empty)
        self._stack.addWidget(plots)
        self.setLayout(self._stack)

    def picture(self, title: str, wanted: PictureFormat, *, is_on_white: bool) -> bytes:
        """What the plots show, as the content of a file.

        Args:
            title: Above them.
            wanted: Of which kind.
            is_on_white: In light colours, whatever the window looks like.
        """
        with theme.painted_in(theme.LIGHT if is_on_white else theme.current()):
            return self._wall.picture(title).content(wanted)

    def setFileNote(self, word: str) -> None:
        """Say what became of a file; empty: how to zoom."""
        # A hint that is cut off helps nobody.
        self._hint.setForms((word,) if word else (SHORT_ZOOM_HINT, ""))
        self._hint.setToolTip(wrapped(word or _HINT))

    def shown_plots(self) -> dict[str, bool]:
        """Which plots are shown, by what they are called in the menu."""
        return {entry.text(): entry.isChecked() for entry in self._choices.values()}

    def set_shown_plots(self, shown: Mapping[str, bool]) -> None:
        """Show and hide plots as a window before did; of others, as it is usual."""
        wanted = {**self.shown_plots(), **shown}
        if any(wanted[entry.text()] for entry in self._choices.values()):
            for entry in self._choices.values():
                entry.setChecked(wanted[entry.text()])

    def setTableBusy(self, is_busy: bool) -> None:
        """Whether a table is being written."""
        self._table.setEnabled(not is_busy)

    def _make_more_button(self) -> QToolButton:
        button = QToolButton()
        button.setObjectName("live_more")
        button.setText("More ▾")
        button.setToolTip("Which plots are shown, and the curves as files")
        button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        menu = QMenu(button)
        self._choices: dict[TimePlot, QAction] = {}
        for plots, is_usual in ((self._wall.usual_plots, True), (self._wall.further_plots, False)):
            for plot in plots:
                entry = menu.addAction(plot.title())
                entry.setCheckable(True)
                entry.setChecked(is_usual)
                entry.toggled.connect(self._show_chosen_plots)
                self._choices[plot] = entry
            menu.addSeparator()
        self._table = menu.addAction("Export CSV…")
        self._table.setObjectName("live_save_curves")
        self._table.triggered.connect(self.tableRequested)
        self.pictures = PictureMenu(menu)
        """The formats of pictures of the plots, of which one is chosen."""
        self.pictures.setTitle("Save picture")
        menu.addMenu(self.pictures)
        button.setMenu(menu)
        return button

    @Slot()
    def _show_chosen_plots(self) -> None:
        chosen = tuple(plot for plot, entry in self._choices.items() if entry.isChecked())
        for plot in chosen:
            # The last one stays: a page without plots would look broken.
            self._choices[plot].setEnabled(len(chosen) > 1)
        self._wall.setShownPlots(chosen)

    @Slot(object)
    def _show_undrawn(self, names: tuple[str, ...]) -> None:
        """Say of which figures of a program there is no plot."""
        self._undrawn.setHidden(not names)
        first = ", ".join(map(visible_beginning, names[:_NAMED]))
        more = f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
        self._undrawn.setText(
            f"The first {MOST_PLOTS} figures of the program have a plot. Not drawn: {first}{more}; "
            "Export CSV has them."
        )

    def _show_run(self, curves: RunCurves) -> None:
        self.curves = curves
        if self._inventory is not None:
            curves.set_devices(self._inventory)
        self._wall.setCurves(curves)
        self._wall.follow()

    def _show_what_there_is(self) -> None:
        if self.curves.devices is not self._drawn:
            # There are readings of another device, such as the host.
            self._drawn = self.curves.devices
            self._wall.showDevices()
        if self.curves.has_points:
            self._axes.setSteps(self.curves.steps.last_step)
            self._show_plots()
        elif self.curves.has_begun:
            self._empty.setTexts(*(_ENDED if self._has_ended else _STARTING))

    def _show_plots(self) -> None:
        if all(plot.is_prepared for plot in self._wall.plots):
            if self._stack.currentIndex() != 1:
                self._stack.setCurrentIndex(1)
                # Not at the next turn of its timer: until then each plot said that it has nothing.
                self._wall.redraw()
        else:
            self._preparing.start(0)

    @Slot()
    def _prepare_one(self) -> None:
        # A part of them a turn of the event loop, so that the window answers in between.
        unprepared = next((plot for plot in self._wall.plots if not plot.is_prepared), None)
        if not self.window().isVisible():
            # Closed: it may be taken apart at any moment, also while a plot is being made.
            self._preparing.stop()
        elif unprepared is None:
            self._preparing.stop()
            self._show_what_there_is()
        else:
            self._preparing.setInterval(0)
            if self._library.is_loaded:
                unprepared.prepare()
            else:
                self._library.load_some()
