"""The Live tab: the run that is shown, its curves or what it found, and its log."""

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QUrl, Signal, Slot
from PySide6.QtGui import QDesktopServices, QDragEnterEvent, QDropEvent, QResizeEvent
from PySide6.QtWidgets import QScrollArea, QSplitter, QStackedWidget, QVBoxLayout, QWidget
from typing_extensions import override

from gpupanel.domain.run_layout import RunLayout
from gpupanel.runs.following.follower import FollowedRun
from gpupanel.runs.following.status import RunStatus
from gpupanel.ui.dropped_files import kind_to_predict_on, local_paths
from gpupanel.ui.panels.evaluation_panel import EvaluationPanel
from gpupanel.ui.panels.findings_panel import FindingsPanel
from gpupanel.ui.panels.live_panel import LivePanel
from gpupanel.ui.panels.log_panel import LogPanel
from gpupanel.ui.panels.run_banner import RunBanner
from gpupanel.ui.panels.run_parts import RunPartsPanel
from gpupanel.ui.run_control import RunControl
from gpupanel.ui.run_devices import devices_of_run, known_devices, shown_plan
from gpupanel.ui.session import Session
from gpupanel.ui.shown_models import model_of_shown
from gpupanel.ui.shown_words import ShownWords
from gpupanel.ui.theme import GRID
from gpupanel.ui.workers.run_reader import RunFacts

if TYPE_CHECKING:
    from gpupanel.runs.following.readings import SampleBatch


_LOW = 480
"""Pixels: a lower page, as on a small screen at 150 %, has no room for curves and log."""


class LivePage(QWidget):
    """Binds plots, findings and log to the run that is shown, be it live or past.

    Its panels are public: who does what a person asks for there connects to them.
    """

    filesDropped = Signal(object)
    """The model of the run is to predict on what was dropped: paths, a tuple of str."""

    def __init__(
        self, session: Session, control: RunControl, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._session = session
        self._control = control
        self._waiting: list[SampleBatch] = []
        self._has_more = True
        self.setAcceptDrops(True)
        self.banner = RunBanner()
        self.words = ShownWords(session, control, self.banner)
        self.findings = FindingsPanel()
        self.parts = RunPartsPanel()
        self.live = LivePanel()
        self.evaluation = EvaluationPanel()
        self._found = QStackedWidget()
        self._found.addWidget(self.live)
        self._found.addWidget(self.evaluation)
        self.log = LogPanel()
        self._is_low = False
        splitter = self._splitter = QSplitter(Qt.Orientation.Vertical)
        splitter.addWidget(_CurvesArea(self.findings, self._found))
        splitter.addWidget(self.log)
        splitter.setStretchFactor(0, 5)
        splitter.setStretchFactor(1, 1)
        splitter.setCollapsible(0, False)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(2 * GRID, 2 * GRID, 2 * GRID, GRID)
        layout.setSpacing(GRID)
        layout.addWidget(self.banner)
        layout.addWidget(self.parts)
        layout.addWidget(splitter, 1)
        self._connect()

    def _connect(self) -> None:
        self._session.inventoryChanged.connect(self._show_devices)
        self._session.preparationChanged.connect(self._show_unknown_devices)
        self._control.shownChanged.connect(self._begin)
        self._control.shownOpened.connect(self._on_opened)
        self._control.followed.connect(self._add)
        self._control.shownStatusChanged.connect(self._show_status)
        self.banner.folderRequested.connect(self._open_folder)
        self.evaluation.predictions.folderRequested.connect(self._open_folder)

    @Slot(object)
    def _begin(self, layout: RunLayout) -> None:
        self._waiting, self._has_more = [], True
        self.findings.setFindings(())
        self.parts.setRun(None)
        self.live.clear()
        self._found.setCurrentWidget(self.live)
        self.log.clear(layout.trainer_log)
        self._show_devices()

    @Slot(object)
    def _on_opened(self, facts: RunFacts) -> None:
        shown = None if facts.plan is None else shown_plan(facts.plan)
        self.parts.setRun(shown)
        if shown is not None:
            self.live.setPlan(shown)
        self._show_devices()
        if facts.profile is not None and facts.profile.task != "train":
            self.evaluation.begin(facts.profile.task)
            self._found.setCurrentWidget(self.evaluation)

    @Slot(object)
    def _add(self, followed: FollowedRun) -> None:
        self.live.addEvents(followed.parts)
        self.log.append(followed.log, followed.log_skipped_bytes)
        if known_devices(self._session) is None:
            # Their curves need the devices first; these are listed in a moment.
            self._waiting.append(followed.readings)
        else:
            self.live.addSamples(followed.readings)
        self._has_more = followed.has_more
        self._show_completeness()
        if not followed.has_more:
            self.live.plot_wall.redraw()

    @Slot(object)
    def _show_status(self, status: RunStatus) -> None:
        layout = self._control.shown
        if layout is not None:
            self.evaluation.setStatus(status, layout.root, self._control.shown_confusion)
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
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        is_low = self.height() < _LOW
        if is_low != self._is_low:
            self._is_low = is_low
            self.log.setLow(is_low=is_low)
            # The curves first; a person draws the log up where it is wanted.
            self._splitter.setSizes([_LOW, 1] if is_low else [5 * _LOW, _LOW])

    @override
    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if self._takes(local_paths(event.mimeData())):
            event.acceptProposedAction()
        else:
            event.ignore()

    @override
    def dropEvent(self, event: QDropEvent) -> None:
        paths = local_paths(event.mimeData())
        if not self._takes(paths):
            event.ignore()
            return
        self.filesDropped.emit(paths)
        event.acceptProposedAction()

    def _takes(self, paths: tuple[str, ...]) -> bool:
        return bool(model_of_shown(self._control)) and kind_to_predict_on(paths) is not None


class _CurvesArea(QScrollArea):
    """On a small screen plots keep a size at which they can be read.

    Args:
        findings: Above them, never wider than what is seen: sentences are not scrolled along.
        curves: The plots, or what an evaluation found.
    """

    def __init__(self, findings: QWidget, curves: QWidget) -> None:
        super().__init__()
        self._findings = findings
        self.setAccessibleName("Curves and findings")
        self.setWidgetResizable(True)
        page = QWidget()
        page.setProperty("page", "true")
        column = QVBoxLayout(page)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GRID)
        column.addWidget(findings, 0, Qt.AlignmentFlag.AlignLeft)
        column.addWidget(curves, 1)
        self.setWidget(page)

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._findings.setFixedWidth(self.viewport().width())
