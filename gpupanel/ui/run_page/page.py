"""The Live tab: the page of the run that is shown, with all that belongs to it."""

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QUrl, Signal, Slot
from PySide6.QtGui import (
    QAction,
    QDesktopServices,
    QKeySequence,
    QResizeEvent,
)
from PySide6.QtWidgets import QVBoxLayout, QWidget
from typing_extensions import override

from gpupanel.domain.run_layout import RunLayout
from gpupanel.runs.following.follower import FollowedRun
from gpupanel.runs.following.status import RunStatus
from gpupanel.ui.menus.window_actions import WindowActions
from gpupanel.ui.panels.findings_panel import FindingsPanel
from gpupanel.ui.panels.live_panel import LivePanel
from gpupanel.ui.panels.log_panel import LogPanel
from gpupanel.ui.panels.run_parts import RunPartsPanel
from gpupanel.ui.run_control import RunControl
from gpupanel.ui.run_devices import devices_of_run, known_devices, shown_plan
from gpupanel.ui.run_page.banner import RunBanner
from gpupanel.ui.run_page.evaluations.page import EvaluationsPage
from gpupanel.ui.run_page.export_page import ExportPage
from gpupanel.ui.run_page.model_runs_page import ModelRunsPage
from gpupanel.ui.run_page.predictions_page import PredictionsPage
from gpupanel.ui.run_page.tabs import RunTabs
from gpupanel.ui.run_page.words import ShownWords
from gpupanel.ui.session import Session
from gpupanel.ui.shown_models import model_of_shown
from gpupanel.ui.task_choices import can_predict_on
from gpupanel.ui.theme import GRID
from gpupanel.ui.widgets.file_drops import TakesFiles
from gpupanel.ui.widgets.layouts import column_in
from gpupanel.ui.widgets.page_scroll import PageScroll
from gpupanel.ui.workers.run_reader import RunFacts

if TYPE_CHECKING:
    from gpupanel.runs.following.readings import SampleBatch


class LivePage(TakesFiles, QWidget):
    """Binds plots, findings and log to the run that is shown, be it live or past.

    Its panels are public: who does what a person asks for there connects to them.

    Args:
        session: Knows the devices.
        control: Knows the run that is shown.
        actions: The buttons that steer it follow them; some of its own when left out.
        parent: The owner in Qt's sense.
    """

    filesDropped = Signal(object)
    """The model of the run is to predict on what was dropped: paths, a tuple of str."""

    def __init__(
        self,
        session: Session,
        control: RunControl,
        actions: WindowActions | None = None,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._session = session
        self._control = control
        self._waiting: list[SampleBatch] = []
        self._has_more = True
        self.setAcceptDrops(True)
        self.banner = RunBanner(actions)
        self.words = ShownWords(session, control, self.banner)
        self.findings = FindingsPanel()
        self.parts = RunPartsPanel()
        self.live = LivePanel()
        self.evaluations = EvaluationsPage()
        self.predictions = PredictionsPage()
        self.exports = ExportPage()
        self.log = LogPanel()
        self._curves = _CurvesArea(self.findings, self.live)
        devices = PageScroll("Devices of the run")
        column = column_in(devices.page)
        column.setContentsMargins(0, GRID, 0, 0)
        column.addWidget(self.parts)
        column.addStretch(1)
        self.tabs = RunTabs(
            {
                "Curves": (self._curves, "What the run does, and what was found in it"),
                "Devices": (devices, "Processes, shares and layers, and what TensorFlow reports"),
                "Evaluation": (self.evaluations, "How good its model is"),
                "Predict": (self.predictions, "What its model says of other examples"),
                "Export": (self.exports, "As a report or a script; its model for other programs"),
                "Log": (self.log, "What the trainer and TensorFlow print"),
            }
        )
        layout = QVBoxLayout(self)
        layout.setContentsMargins(2 * GRID, GRID, 2 * GRID, GRID)
        layout.setSpacing(GRID // 2)
        layout.addWidget(self.banner)
        layout.addWidget(self.tabs, 1)
        self._connect()

    def _connect(self) -> None:
        self._session.inventoryChanged.connect(self._show_devices)
        self._session.preparationChanged.connect(self._show_unknown_devices)
        self._control.shownChanged.connect(self._begin)
        self._control.shownOpened.connect(self._on_opened)
        self._control.followed.connect(self._add)
        self._control.shownStatusChanged.connect(self._show_status)
        self.words.actionsChanged.connect(self.exports.setActions)
        self.exports.folderRequested.connect(self._open_folder)
        self.log.attentionChanged.connect(self._show_attention)
        find = QAction("Search the log", self)
        find.setShortcut(QKeySequence(QKeySequence.StandardKey.Find))
        find.triggered.connect(self._search_log)
        self.addAction(find)

    def show_model_runs(self, page: ModelRunsPage) -> None:
        """Go to the tab of evaluations, or of predictions."""
        self.tabs.show_page(page)

    @Slot()
    def _search_log(self) -> None:
        self.tabs.show_page(self.log)
        self.log.begin_search()

    @Slot(str)
    def _show_attention(self, words: str) -> None:
        self.tabs.set_badge(self.log, words)

    @Slot(object)
    def _begin(self, layout: RunLayout) -> None:
        self._waiting, self._has_more = [], True
        self.findings.setFindings(())
        self.parts.setRun(None)
        self.live.clear()
        self.exports.begin()
        self._show_tabs(is_program=False)
        self.tabs.show_page(self._curves)
        self.log.clear(layout.trainer_log)
        self._show_devices()

    @Slot(object)
    def _on_opened(self, facts: RunFacts) -> None:
        self._show_tabs(is_program=facts.profile is not None and facts.profile.script is not None)
        shown = None if facts.plan is None else shown_plan(facts.plan)
        self.parts.setRun(shown)
        if shown is not None:
            self.live.setPlan(shown)
        self._show_devices()

    @Slot(object)
    def _add(self, followed: FollowedRun) -> None:
        self.live.addEvents(followed.parts)
        self.log.append(followed.log, followed.log_skipped_bytes)
        if known_devices(self._session) is None:
            # Their curves need the devices first; these are listed in a moment.
            self._waiting.append(followed.readings)
        else:
            self.live.addSamples(followed.readings)
        had_more, self._has_more = self._has_more, followed.has_more
        self._show_completeness()
        if not followed.has_more:
            self.live.plot_wall.redraw_soon(at_once=had_more)

    def _show_tabs(self, *, is_program: bool) -> None:
        """A program of the person's own has no model that gpupanel could use."""
        for page in (self.evaluations, self.predictions):
            self.tabs.set_shown(page, shown=not is_program)
        self.exports.setProgram(is_program=is_program)

    @Slot(object)
    def _show_status(self, status: RunStatus) -> None:
        if status.program:
            self._show_tabs(is_program=True)
        self.findings.setFindings(status.findings)
        self.parts.setStatus(status)
        self._show_completeness()

    @Slot()
    def _show_devices(self) -> None:
        inventory, facts = known_devices(self._session), self._control.shown_facts
        if inventory is None:
            return
        inventory = devices_of_run(None if facts is None else facts.plan, inventory)
        self.parts.setInventory(inventory)
        self.live.setDevices(inventory)
        waiting, self._waiting = self._waiting, []
        for samples in waiting:
            self.live.addSamples(samples)
        self._show_completeness()

    @Slot()
    def _show_unknown_devices(self) -> None:
        if self._session.no_devices and self._waiting:
            self._show_devices()

    def _show_completeness(self) -> None:
        status = self._control.shown_status
        is_complete = status is not None and status.has_ended and not self._has_more
        self.log.setComplete(is_complete=is_complete)
        self.live.setComplete(is_complete=is_complete and not self._waiting)

    @Slot()
    def _open_folder(self) -> None:
        if self._control.shown is not None:
            QDesktopServices.openUrl(QUrl.fromLocalFile(str(self._control.shown.root)))

    @override
    def can_take(self, paths: tuple[str, ...]) -> bool:
        can_predict = can_predict_on(self._control.shown_profile, paths)
        return can_predict and bool(model_of_shown(self._control))

    @override
    def take(self, paths: tuple[str, ...]) -> None:
        if not self.predictions.single.give(paths):
            self.filesDropped.emit(paths)


class _CurvesArea(PageScroll):
    """On a small screen plots keep a size at which they can be read.

    Args:
        findings: Above them, never wider than what is seen: sentences are not scrolled along.
        curves: The plots.
    """

    def __init__(self, findings: QWidget, curves: QWidget) -> None:
        super().__init__("Curves and findings")
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
        self._findings = findings
        column = column_in(self.page, spacing=GRID // 2)
        column.setContentsMargins(0, GRID // 2, 0, 0)
        column.addWidget(findings, 0, Qt.AlignmentFlag.AlignLeft)
        column.addWidget(curves, 1)

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._findings.setFixedWidth(self.viewport().width())
