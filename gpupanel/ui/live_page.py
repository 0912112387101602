"""The Live tab: the run that is shown, its curves or what it found, and its log."""

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QUrl, Signal, Slot
from PySide6.QtGui import QDesktopServices, QDragEnterEvent, QDropEvent, QResizeEvent
from PySide6.QtWidgets import QScrollArea, QSplitter, QStackedWidget, QVBoxLayout, QWidget
from typing_extensions import override

from gpupanel.domain.device import DeviceInventory
from gpupanel.domain.events import MemoryReturned
from gpupanel.domain.problem import Problem
from gpupanel.domain.profile import Profile
from gpupanel.domain.run_layout import RunLayout
from gpupanel.domain.visible_text import visible_line
from gpupanel.runs.following.follower import FollowedRun
from gpupanel.runs.following.memory_text import returned_words
from gpupanel.runs.following.status import RunStatus
from gpupanel.runs.following.unread_problems import unread_file_problem, unread_problem
from gpupanel.runs.history.run_summary import RunSummary
from gpupanel.runs.tools.export.export_format import ExportFormat, ModelExportFormat
from gpupanel.ui.checkpoint_offer import checkpoint_offer
from gpupanel.ui.device_labels import DeviceLabels
from gpupanel.ui.dropped_files import kind_to_predict_on, local_paths
from gpupanel.ui.panels.evaluation_panel import EvaluationPanel
from gpupanel.ui.panels.findings_panel import FindingsPanel
from gpupanel.ui.panels.live_panel import LivePanel
from gpupanel.ui.panels.log_panel import LogPanel
from gpupanel.ui.panels.run_banner import RunBanner
from gpupanel.ui.panels.run_parts import RunPartsPanel
from gpupanel.ui.resume_on_selected import ResumeOnSelected, resume_on_selected
from gpupanel.ui.run_actions import offers_resume, restart_text, run_actions
from gpupanel.ui.run_control import RunControl
from gpupanel.ui.run_devices import devices_of_run, shown_plan
from gpupanel.ui.run_links import links_of
from gpupanel.ui.run_state import card_words, status_words
from gpupanel.ui.session import Session
from gpupanel.ui.theme import GRID
from gpupanel.ui.workers.run_reader import RunFacts

if TYPE_CHECKING:
    from gpupanel.domain.plan import LaunchPlan
    from gpupanel.runs.following.readings import SampleBatch


_LOW = 480
"""Pixels: a lower page, as on a small screen at 150 %, has no room for curves and log."""


class LivePage(QWidget):
    """Binds plots, findings, log and banner to the run that is shown, be it live or past."""

    evaluateRequested = Signal(object, str, bool)
    """A trained model is to be measured: its :class:`Profile` or ``None``, its path, and whether
    its training had a validation or a test set."""
    predictRequested = Signal(object, str, object)
    """The model of the run is to predict on what was dropped: its :class:`Profile` or ``None``, its
    path, and the paths; none where a person is to choose them."""
    keepSharesRequested = Signal(object)
    """The shares that the run measured are to be given ones: a tuple of int."""
    settingsRequested = Signal(object)
    """The settings of the shown run are to be used for another one: its :class:`RunLayout`."""
    longerRequested = Signal()
    """The shown run is to be trained for more epochs."""
    exportRequested = Signal(object, object)
    """The shown run is to be exported: its :class:`RunLayout`, and as which
    :class:`ExportFormat` or :class:`ModelExportFormat`."""
    exportOtherRequested = Signal(object, object)
    """A model with the weights that the run did not keep is to be exported: its
    :class:`RunLayout`, and as which :class:`ModelExportFormat`."""
    tensorboardRequested = Signal(object)
    """TensorBoard is to show the run that is shown: its :class:`RunLayout`."""
    findingFixRequested = Signal(object)
    """The settings of the run are wanted with a change: its :class:`Fix`."""
    fixRequested = Signal(object)
    """The run is to be tried again with a change: its :class:`Fix`."""

    def __init__(
        self, session: Session, control: RunControl, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._session = session
        self._control = control
        self._plan: LaunchPlan | None = None
        self._facts: RunFacts | None = None
        self._waiting: list[SampleBatch] = []
        self._has_more = True
        self._runs: tuple[RunSummary, ...] = ()
        self.setAcceptDrops(True)
        self.banner = RunBanner()
        self.findings = FindingsPanel()
        self.parts = RunPartsPanel()
        self.live = LivePanel()
        self.evaluation = EvaluationPanel()
        self._findings = QStackedWidget()
        self._findings.addWidget(self.live)
        self._findings.addWidget(self.evaluation)
        self.log = LogPanel()
        self._is_low = False
        splitter = self._splitter = QSplitter(Qt.Orientation.Vertical)
        splitter.addWidget(_CurvesArea(self.findings, self._findings))
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

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        is_low = self.height() < _LOW
        if is_low != self._is_low:
            self._is_low = is_low
            self.log.setLow(is_low=is_low)
            # The curves first; a person draws the log up where it is wanted.
            self._splitter.setSizes([_LOW, 1] if is_low else [5 * _LOW, _LOW])

    @Slot(object)
    def setRuns(self, runs: tuple[RunSummary, ...]) -> None:
        """Know all runs, the newest first: some belong to the one that is shown."""
        self._runs = runs
        self._show_links()

    def _show_links(self) -> None:
        shown = self._control.shown
        links = links_of(None if shown is None else shown.root, self._runs)
        self.banner.setLinks(links)
        self.banner.setLabel(visible_line(links.label))

    @property
    def profile(self) -> Profile | None:
        """Of the run that is shown; ``None`` while none is, or where it cannot be read."""
        return None if self._facts is None else self._facts.profile

    def _connect(self) -> None:
        self._session.inventoryChanged.connect(self._show_devices)
        self._session.runChanged.connect(self._show_ways_on)
        self._session.preparationChanged.connect(self._show_ways_on)
        self._session.preparationChanged.connect(self._show_unknown_devices)
        self._control.shownChanged.connect(self._begin)
        self._control.shownOpened.connect(self._on_opened)
        self._control.followed.connect(self._add)
        self._control.shownStatusChanged.connect(self._show_status)
        self._control.checkpointAsked.connect(self._show_ways_on)
        self.banner.returnRequested.connect(self._return)
        self.banner.folderRequested.connect(self._open_folder)
        self.banner.settingsRequested.connect(self._use_settings)
        self.banner.exportRequested.connect(self._export)
        self.banner.checkpointRequested.connect(self._control.save_checkpoint)
        self.banner.resumeRequested.connect(self._control.resume)
        self.banner.resumeOnSelectedRequested.connect(self._resume_on_selected)
        self.banner.changedDataAccepted.connect(self._control.resume_with_changed_data)
        self.banner.evaluateRequested.connect(self._evaluate)
        self.banner.predictRequested.connect(self._predict)
        self.banner.evaluateOtherRequested.connect(self._evaluate_other)
        self.banner.predictOtherRequested.connect(self._predict_other)
        self.banner.exportOtherRequested.connect(self._export_other)
        self.banner.longerRequested.connect(self.longerRequested)
        self.banner.tensorboardRequested.connect(self._open_tensorboard)
        self.banner.fixRequested.connect(self.fixRequested)
        self.findings.fixRequested.connect(self.findingFixRequested)
        self.parts.keepRequested.connect(self.keepSharesRequested)
        self.evaluation.folderRequested.connect(self._open_folder)

    @Slot(object)
    def _begin(self, layout: RunLayout) -> None:
        self._plan = self._facts = None
        self._waiting, self._has_more = [], True
        self.findings.setFindings(())
        self.parts.setRun(None)
        self.live.clear()
        self._findings.setCurrentWidget(self.live)
        self.log.clear(layout.trainer_log)
        self.banner.setRun(layout.name, "")
        self.banner.setProblem(None)
        self.banner.setCard("")
        self.banner.setStory("")
        self.banner.setMemory("")
        self.banner.setGaps("")
        self.banner.setNotice("")
        self.banner.setSettingsReadable(readable=False)
        self._show_links()
        self._show_devices()
        self._show_ways_on()

    @Slot(object)
    def _on_opened(self, facts: RunFacts) -> None:
        self._plan, self._facts = facts.plan, facts
        shown = None if facts.plan is None else shown_plan(facts.plan)
        self.parts.setRun(shown)
        if shown is not None:
            self.live.setPlan(shown)
        self.banner.setSettingsReadable(readable=facts.profile is not None)
        self._show_gaps()
        self._show_ways_on()
        self._show_devices()
        if facts.profile is not None and facts.profile.task != "train":
            self.evaluation.begin(facts.profile.task)
            self._findings.setCurrentWidget(self.evaluation)

    @Slot(object)
    def _add(self, followed: FollowedRun) -> None:
        self.live.addEvents(followed.parts)
        self.log.append(followed.log, followed.log_skipped_bytes)
        if self._known_devices is None:
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
            self.banner.setRun(layout.name, status_words(status))
            self.banner.setCard(card_words(status))
            self.evaluation.setStatus(status, layout.root, self._control.shown_confusion)
        self.findings.setFindings(status.findings)
        self.parts.setStatus(status)
        self.banner.setStory(restart_text(status, self._device_names()))
        self.banner.setProblem(_problem_to_show(status), status.log_tail)
        self._show_memory(status.memory_returned)
        self._show_completeness()
        self._show_gaps()
        self._show_ways_on()

    @property
    def _known_devices(self) -> DeviceInventory | None:
        """Of the session; none where its cluster cannot be asked: those of the run are shown."""
        if self._session.inventory is None and self._session.no_devices:
            return DeviceInventory(devices=())
        return self._session.inventory

    def _device_names(self) -> dict[str, str]:
        """Of this machine's devices and the run's, by key."""
        inventory = self._known_devices
        known = None if inventory is None else devices_of_run(self._plan, inventory)
        return DeviceLabels(known).names()

    def _show_memory(self, returned: MemoryReturned | None) -> None:
        if returned is None:
            self.banner.setMemory("")
            return
        is_held = any(device.still_held_mib for device in returned.devices)
        self.banner.setMemory(returned_words(returned, self._device_names()), is_held=is_held)

    def _show_gaps(self) -> None:
        """Say what of the run's folder this version cannot read."""
        facts, status = self._facts, self._control.shown_status
        gaps = [
            unread_file_problem(name)
            for name, content in (
                ("profile", facts and facts.profile),
                ("plan", facts and facts.plan),
            )
            if facts is not None and content is None
        ]
        unread = None if status is None else unread_problem(status.unread_lines)
        gaps += [] if unread is None else [unread]
        words = " ".join(problem.message for problem in gaps)
        self.banner.setGaps(words, " ".join(problem.hint for problem in gaps))

    @Slot()
    def _show_ways_on(self) -> None:
        another_goes_on = self._control.active not in (None, self._control.shown)
        self.banner.setReturnVisible(visible=another_goes_on)
        state, shown = self._session.run_state, self._control.shown_status
        goes_on = shown if self._control.active == self._control.shown else None
        is_saving = self._control.is_saving_checkpoint
        self.banner.setCheckpointOffer(checkpoint_offer(state, goes_on, is_saving=is_saving))
        asks = offers_resume(shown) and not state.is_busy
        self.banner.setActions(
            run_actions(state, shown, self._selected_devices_resume() if asks else None)
        )
        ending = shown.ending_problem if shown is not None and shown.has_ended else None
        can_try = not state.is_busy and self.profile is not None
        self.banner.setFixes(ending, can_try=can_try)

    def _selected_devices_resume(self) -> ResumeOnSelected:
        return resume_on_selected(self._session, self.profile)

    @Slot()
    def _resume_on_selected(self) -> None:
        order = self._selected_devices_resume().order
        if order is not None:
            self._control.resume_with(*order)

    @Slot()
    def _show_devices(self) -> None:
        inventory = self._known_devices
        if inventory is None:
            return
        inventory = devices_of_run(self._plan, inventory)
        self.parts.setInventory(inventory)
        self.live.setDevices(inventory)
        waiting, self._waiting = self._waiting, []
        for samples in waiting:
            self.live.addSamples(samples)
        self._show_completeness()

    def _show_completeness(self) -> None:
        status = self._control.shown_status
        is_complete = status is not None and status.has_ended and not self._has_more
        self.log.setComplete(is_complete=is_complete)
        self.live.setComplete(is_complete=is_complete and not self._waiting)

    @Slot()
    def _show_unknown_devices(self) -> None:
        if self._session.no_devices and self._waiting:
            self._show_devices()

    @Slot()
    def _return(self) -> None:
        if self._control.active is not None:
            self._control.open(self._control.active)

    @Slot(object)
    def _export(self, wanted: ExportFormat | ModelExportFormat) -> None:
        if self._control.shown is not None:
            self.exportRequested.emit(self._control.shown, wanted)

    @Slot()
    def _open_tensorboard(self) -> None:
        if self._control.shown is not None:
            self.tensorboardRequested.emit(self._control.shown)

    @Slot()
    def _use_settings(self) -> None:
        if self._control.shown is not None:
            self.settingsRequested.emit(self._control.shown)

    @Slot(object)
    def _export_other(self, wanted: ModelExportFormat) -> None:
        if self._control.shown is not None:
            self.exportOtherRequested.emit(self._control.shown, wanted)

    @Slot()
    def _evaluate(self) -> None:
        if self._facts is not None:
            self._evaluate_model(self._facts.layout.model)

    @Slot()
    def _evaluate_other(self) -> None:
        other = self._other_model()
        if other is not None:
            self._evaluate_model(other)

    def _evaluate_model(self, model: Path) -> None:
        status = self._control.shown_status
        metrics = None if status is None else status.metrics
        was_measured = metrics is not None and (metrics.val_loss, metrics.test_loss) != _NONE
        self.evaluateRequested.emit(self.profile, str(model), was_measured)

    @Slot()
    def _predict(self) -> None:
        if self._facts is not None:
            self.predictRequested.emit(self.profile, str(self._facts.layout.model), ())

    @Slot()
    def _predict_other(self) -> None:
        other = self._other_model()
        if other is not None:
            self.predictRequested.emit(self.profile, str(other), ())

    def _other_model(self) -> Path | None:
        """With the weights that the run did not keep; ``None`` where there is none."""
        status = self._control.shown_status
        saved = None if status is None else status.model_saved
        if self._facts is None or saved is None or not saved.other_path:
            return None
        return self._facts.layout.other_model(is_best=not saved.is_best)

    @override
    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if self._model_path() and kind_to_predict_on(local_paths(event.mimeData())) is not None:
            event.acceptProposedAction()
        else:
            event.ignore()

    @override
    def dropEvent(self, event: QDropEvent) -> None:
        model, paths = self._model_path(), local_paths(event.mimeData())
        if not model or kind_to_predict_on(paths) is None:
            event.ignore()
            return
        self.predictRequested.emit(self.profile, model, paths)
        event.acceptProposedAction()

    def _model_path(self) -> str:
        """Of the model that the run saved, or took; empty where there is none."""
        status = self._control.shown_status
        if self._facts is None or self.profile is None or status is None:
            return ""
        if self.profile.task != "train":
            return self.profile.model.chosen_path
        return str(self._facts.layout.model) if status.model is not None else ""

    @Slot()
    def _open_folder(self) -> None:
        if self._control.shown is not None:
            QDesktopServices.openUrl(QUrl.fromLocalFile(str(self._control.shown.root)))


_NONE = (None, None)


def _problem_to_show(status: RunStatus) -> Problem | None:
    """What keeps the run, or ended it, or what it reported last since it was started again."""
    reported = status.problems[status.problems_before :]
    return status.stuck or status.ending_problem or (reported[-1] if reported else None)


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
