"""The window: composes panels, workers and the session, and decides nothing itself."""

from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QEvent, QFileInfo, QSettings, Qt, Slot
from PySide6.QtGui import QCloseEvent, QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QHBoxLayout, QMainWindow, QSplitter, QWidget
from typing_extensions import override

from gpupanel.domain.problem import Problem
from gpupanel.domain.run_layout import RunLayout
from gpupanel.runs.tools.data_preview import preview_data
from gpupanel.ui.bindings.batch_fit_binding import BatchFitBinding
from gpupanel.ui.bindings.bench_binding import BenchBinding
from gpupanel.ui.bindings.comparison import Comparison
from gpupanel.ui.bindings.confirmations import EndConfirmation, ProcessActions, TrustConfirmation
from gpupanel.ui.bindings.device_colors_binding import DeviceColorsBinding
from gpupanel.ui.bindings.device_history_binding import DeviceHistoryBinding
from gpupanel.ui.bindings.doctor_binding import DoctorBinding
from gpupanel.ui.bindings.download_binding import DownloadBinding
from gpupanel.ui.bindings.drops import Drops
from gpupanel.ui.bindings.examples_binding import ExamplesBinding
from gpupanel.ui.bindings.export_binding import ExportBinding
from gpupanel.ui.bindings.finding_fixes import FindingFixes
from gpupanel.ui.bindings.history_binding import HistoryBinding
from gpupanel.ui.bindings.last_session import LastSession, is_first_start
from gpupanel.ui.bindings.layers_binding import LayersBinding
from gpupanel.ui.bindings.live_curve_files import LiveCurveFiles
from gpupanel.ui.bindings.menu_binding import MenuBinding
from gpupanel.ui.bindings.model_use import ModelUse
from gpupanel.ui.bindings.new_sweep_binding import NewSweepBinding
from gpupanel.ui.bindings.note_binding import NoteBinding
from gpupanel.ui.bindings.past_speed_binding import PastSpeedBinding
from gpupanel.ui.bindings.profile_binding import ProfileBinding
from gpupanel.ui.bindings.queue_binding import QueueBinding
from gpupanel.ui.bindings.rate_range_binding import RateRangeBinding
from gpupanel.ui.bindings.run_binding import RunBinding
from gpupanel.ui.bindings.scan_binding import ScanBinding
from gpupanel.ui.bindings.self_test_binding import SelfTestBinding
from gpupanel.ui.bindings.settings_reuse import LongerTraining, RetryWithFix, SettingsReuse
from gpupanel.ui.bindings.shown_devices import ShownDevices
from gpupanel.ui.bindings.starting_session import StartingSession
from gpupanel.ui.bindings.sweeps_binding import SweepsBinding
from gpupanel.ui.bindings.tensorboard_binding import TensorBoardBinding
from gpupanel.ui.bindings.trace_binding import TraceBinding
from gpupanel.ui.bindings.undo_binding import UndoBinding
from gpupanel.ui.bindings.welcome import Welcome
from gpupanel.ui.bindings.window_closing import WindowClosing
from gpupanel.ui.bindings.window_settings_binding import WindowSettingsBinding
from gpupanel.ui.dropped_files import has_local_paths, local_paths
from gpupanel.ui.live_page import LivePage
from gpupanel.ui.main_tabs import MainTabs
from gpupanel.ui.menus.window_actions import WindowActions
from gpupanel.ui.panels.device_panel import DevicePanel
from gpupanel.ui.panels.profile_bar import ProfileBar
from gpupanel.ui.panels.progress_panel import ProgressPanel
from gpupanel.ui.panels.run_bar import RunBar
from gpupanel.ui.profile_actions import ProfileActions
from gpupanel.ui.questions import Questions
from gpupanel.ui.remembered import (
    remember_folds,
    remember_sections,
    remembered_folds,
    remembered_sections,
)
from gpupanel.ui.run_control import RunControl
from gpupanel.ui.runs_page import RunsPage
from gpupanel.ui.session import Session
from gpupanel.ui.session_page import SessionPage
from gpupanel.ui.theme import GRID
from gpupanel.ui.widgets.cut_texts import CutTexts
from gpupanel.ui.widgets.layouts import column_in
from gpupanel.ui.widgets.reading_order import move_focus
from gpupanel.ui.widgets.screen_fit import resize_within_screen
from gpupanel.ui.workers.cluster_worker import ClusterWatch
from gpupanel.ui.workers.device_worker import DeviceWatch
from gpupanel.ui.workers.folder_worker import FolderWatch
from gpupanel.ui.workers.launch_worker import Launcher
from gpupanel.ui.workers.sweep_start_worker import SweepStarter
from gpupanel.ui.workers.tool_worker import QuestionWorker

preview_here = replace(preview_data, limit_s=30.0)
_SIZE = (1280, 800)
"""Pixels of a first window, where the screen has them."""


class MainWindow(QMainWindow):
    """Everything that a person sees.

    Args:
        settings: Where the recent profiles and the window's place are remembered.
        runs_dir: Where runs are kept.
        questions: Asks the person; dialogs over this window when left out.
        cluster_watch: Reads clusters; by a process of Ray's when left out.
    """

    def __init__(
        self,
        settings: QSettings,
        runs_dir: Path,
        questions: Questions | None = None,
        cluster_watch: ClusterWatch | None = None,
    ) -> None:
        super().__init__()
        self.setObjectName("main_window")
        self.setAcceptDrops(True)
        self._settings = settings
        self._questions = questions or Questions(self)
        self.session = Session(parent=self)
        DeviceColorsBinding(self.session, settings, self)
        self.control = RunControl(self.session, Launcher(self), runs_dir, self)
        self.profiles = ProfileActions(self.session, settings, self._questions, self)
        self._process_actions = ProcessActions(self.session, self._questions, self)
        self._device_watch = DeviceWatch(self, folder=runs_dir)
        self._folder_watch = FolderWatch(runs_dir, parent=self)
        self._folder_watch.found.connect(self.session.set_folder_problem)
        self._doctor_binding = DoctorBinding(self.session, self._device_watch, self)
        self._preview_loader = QuestionWorker(preview_here, self)
        self.window_actions = WindowActions(self)
        self.profile_bar = ProfileBar(self.window_actions)
        self.run_bar = RunBar(self.window_actions)
        self.devices = DevicePanel()
        self.devices.setFolds(remembered_folds(settings))
        self.session_page = SessionPage(self.session, self._preview_loader)
        self.session_page.sections.set_folds(remembered_sections(settings))
        self.session_page.plan.setRunsFolder(str(runs_dir))
        self.shown_devices = ShownDevices(
            self.session,
            self._device_watch,
            cluster_watch or ClusterWatch(self),
            self.devices,
            self.session_page,
            self,
        )
        self._scan = ScanBinding(self.session, self.session_page, self)
        self._layers = LayersBinding(self.session, self.session_page, self)
        self._rates = RateRangeBinding(self.session, self.session_page, self)
        self._batches = BatchFitBinding(self.session, self.session_page, self)
        self._self_test = SelfTestBinding(self.session, self.session_page, self)
        self._doctor_binding.selfTestRequested.connect(self._self_test.open)
        self._bench = BenchBinding(self.session, self.session_page, runs_dir, self)
        self._download = DownloadBinding(self.session, self.session_page, parent=self)
        self.live_page = LivePage(self.session, self.control)
        self._examples = ExamplesBinding(self.live_page, self.control, self)
        self.runs = RunsPage(runs_dir)
        self._history = HistoryBinding(self.runs, runs_dir, self._questions, settings, self)
        self._past_speed = PastSpeedBinding(
            self.session, self.session_page.plan, self._history.worker, self
        )
        self._bench.comparer.compared.connect(self._past_speed.ask_soon)
        self._comparison = Comparison(self.runs, self._questions, self)
        self._live_curves = LiveCurveFiles(self.live_page.live, self.control, self._questions, self)
        self._exports = ExportBinding(self.live_page, self.runs, self._questions, self)
        self._tensorboard = TensorBoardBinding(self.live_page, self._questions, self)
        self._trace = TraceBinding(self.window_actions.trace, self.live_page, self.control, self)
        self._sweeps = SweepsBinding(self.window_actions.sweeps, runs_dir, self._questions, self)
        self._sweeps.runOpened.connect(self.runs.runOpened)
        self._new_sweep = NewSweepBinding(
            self.window_actions.new_sweep,
            self.session,
            self.profiles,
            self._history.worker,
            SweepStarter(runs_dir, self),
            self._questions,
            self,
        )
        self._new_sweep.started.connect(self._sweeps.show_sweep)
        self._sweeps.newRequested.connect(self._new_sweep.open)
        self.session_page.sweep.openRequested.connect(self._new_sweep.open)
        self._queue = QueueBinding(
            self.session,
            self.control,
            self.profiles,
            self.run_bar,
            self.runs,
            runs_dir,
            self._questions,
            self,
        )
        self.progress = ProgressPanel()
        self._compose()
        ProfileBinding(self.session, self.profiles, self.profile_bar, self.devices, self)
        RunBinding(self.session, self.control, self.run_bar, self.progress, self.devices, self)
        self.settings = WindowSettingsBinding(
            settings, self.window_actions, self._device_watch, runs_dir, self
        )
        undoing = UndoBinding(self.session, self.window_actions, self)
        undoing.settingsChanged.connect(self.tabs.show_session)
        CutTexts(self)
        self._notes = NoteBinding(self.session, self.control, self.settings, self)
        self._menus = MenuBinding(
            self.window_actions,
            self.session,
            self.control,
            self.profile_bar,
            self.live_page,
            self.tabs,
            self._doctor_binding,
            self,
        )
        TrustConfirmation(self.control, self._questions, self)
        EndConfirmation(self.session, self.control, self._questions, self)
        retry_with_fix = RetryWithFix(
            self.session, self.control, self.profiles, self.live_page, self
        )
        retry_with_fix.notStarted.connect(self.tabs.show_session)
        self._longer = LongerTraining(
            self.session, self.control, self.live_page, self._questions, self
        )
        finding_fixes = FindingFixes(self.session, self.profiles, self.live_page, self)
        finding_fixes.used.connect(self.tabs.show_session)
        reuse = SettingsReuse(self.profiles, self.live_page, self.runs, self)
        reuse.used.connect(self.tabs.show_session)
        model_use = ModelUse(self.session, self.profiles, self.live_page, self)
        model_use.used.connect(self.tabs.show_session)
        self._drops = Drops(
            self.session_page.data,
            self.session_page.model,
            self.profiles.open_file,
            self._open_run,
            self,
        )
        self._drops.chosen.connect(self.tabs.show_session)
        self._drops.refused.connect(self._show_refusal)
        self._last_session = LastSession(self.session, self.profiles, settings, self)
        self.closing = self._make_closing()
        DeviceHistoryBinding(self.session, self.shown_devices, self.devices, self)
        self._connect()

    def begin(self) -> None:
        """Watch devices and runs; a run that goes on is followed at once."""
        self._device_watch.start(self.settings.value.sampling.milliseconds)
        self._history.refresh()
        self._folder_watch.look()
        self._queue.begin()

    def begin_unasked(self) -> None:
        """Show the last session; at the first start an example, and what else there is to begin."""
        if is_first_start(self._settings):
            Welcome(self.session, self.control, self.profiles, self.session_page, self)
        StartingSession(self.session, self.control, self._settings, self)

    def open_target(self, target: Path) -> None:
        """Open a profile, or show the run in that directory."""
        if QFileInfo(str(target)).isDir():
            self._open_run(target)
        else:
            self.profiles.open_file(target)

    @Slot(object)
    def report_error(self, problem: Problem) -> None:
        """Show something that should not have happened."""
        self._show_errors((problem,))

    def report_unusable(self, problems: tuple[Problem, ...]) -> None:
        """Show which files the window does without; it works on."""
        if problems:
            self._questions.show_problems("Not everything that was remembered is here.", problems)

    @Slot(object)
    def _show_errors(self, problems: tuple[Problem, ...]) -> None:
        self._questions.show_problems("Something unexpected happened.", problems)

    @Slot(object)
    def _show_not_longer(self, problems: tuple[Problem, ...]) -> None:
        self._questions.show_problems("The run cannot be trained longer.", problems)

    def _compose(self) -> None:
        self.tabs = MainTabs(self.session_page, self.live_page, self.runs)
        splitter = QSplitter(Qt.Orientation.Horizontal)
        splitter.setChildrenCollapsible(False)
        splitter.addWidget(self.devices)
        splitter.addWidget(self.tabs)
        self.devices.setContentsMargins(2 * GRID, GRID, 0, GRID)
        splitter.setStretchFactor(1, 1)
        splitter.setSizes([320, 960])
        central = QWidget()
        layout = column_in(central, spacing=0)
        bar = QHBoxLayout()
        bar.setSpacing(2 * GRID)
        bar.setContentsMargins(2 * GRID, GRID // 4, 2 * GRID, GRID // 2)
        bar.addWidget(self.profile_bar)
        bar.addWidget(self.run_bar, 1)
        layout.addLayout(bar)
        layout.addWidget(splitter, 1)
        layout.addWidget(self.progress)
        self.setCentralWidget(central)
        central.setFocus()
        resize_within_screen(self, *_SIZE)

    def _connect(self) -> None:
        self._device_watch.refused.connect(self._show_errors)
        self._folder_watch.refused.connect(self._show_errors)
        self.shown_devices.refused.connect(self._show_errors)
        self._doctor_binding.refused.connect(self._show_errors)
        self._preview_loader.refused.connect(self._show_errors)
        self._scan.refused.connect(self._show_errors)
        self._layers.refused.connect(self._show_errors)
        self._rates.refused.connect(self._show_errors)
        self._batches.refused.connect(self._show_errors)
        self._self_test.refused.connect(self._show_errors)
        self._bench.refused.connect(self._show_errors)
        self._trace.refused.connect(self._show_errors)
        self._longer.refused.connect(self._show_not_longer)
        self._examples.refused.connect(self._show_errors)
        self._download.refused.connect(self._show_refusal)
        self.session_page.plan.fieldActivated.connect(self.devices.show_field)
        self.devices.doctorRequested.connect(self._doctor_binding.open_doctor)
        self.devices.wakeRequested.connect(self._device_watch.wake)
        self.session_page.plan.doctorRequested.connect(self._doctor_binding.open_doctor)
        self.devices.endRequested.connect(self._process_actions.end)
        self.control.launched.connect(self.tabs.show_live)
        self.control.launched.connect(self._history.refresh)
        self.control.ended.connect(self._history.refresh)
        for happened in (self.control.launched, self.control.ended, self.control.refused):
            happened.connect(self._folder_watch.look)
        self.control.refused.connect(self._show_refusal)
        self.live_page.keepSharesRequested.connect(self.session_page.choose_shares)
        self.runs.runOpened.connect(self._open_run)
        self.live_page.banner.runRequested.connect(self._open_run)
        self._history.listed.connect(self.live_page.setRuns)
        self._history.goingFound.connect(self._follow_going)
        self._queue.report.countsChanged.connect(self.tabs.show_queue)
        self.tabs.runsShown.connect(self._queue.report.mark_seen)
        self._queue.runBegan.connect(self._history.refresh)
        self._queue.entryOpened.connect(self.tabs.show_session)

    @Slot(object)
    def _open_run(self, path: Path) -> None:
        self.control.open(RunLayout(path.absolute()))
        self.tabs.show_live()

    @Slot(object)
    def _follow_going(self, path: Path) -> None:
        if self.control.shown is None:
            self.control.follow(RunLayout(path))
            self.tabs.show_live()

    @Slot(object)
    def _show_refusal(self, problems: tuple[Problem, ...]) -> None:
        self._questions.show_problems("That could not be done.", problems)

    @override
    def focusNextPrevChild(self, next: bool) -> bool:
        return move_focus(self, forward=next)

    @override
    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if has_local_paths(event.mimeData()):
            event.acceptProposedAction()

    @override
    def dropEvent(self, event: QDropEvent) -> None:
        paths = local_paths(event.mimeData())
        if paths:
            event.acceptProposedAction()
            self._drops.take(paths)

    @override
    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() is QEvent.Type.WindowStateChange:
            self._device_watch.set_seen(is_seen=not self.isMinimized())

    @override
    def closeEvent(self, event: QCloseEvent) -> None:
        if not self.closing.close():
            event.ignore()

    def _make_closing(self) -> WindowClosing:
        parts = (self.session.close, self._process_actions.close, self._device_watch.stop)
        searches = (self._rates, self._batches, self._self_test, self._bench, self._trace)
        readers = (self._scan, self._layers, *searches, self._download, self._examples)
        asked = (self._doctor_binding, self._folder_watch, self._preview_loader)
        children = (self.shown_devices, *asked, *readers)
        queued = (self._queue, self._sweeps, self._new_sweep)
        runs = (self._past_speed, self._history, *queued, self._comparison, self._exports)
        others = (*children, *runs, self._live_curves, self._tensorboard)
        ends = (*(each.stop for each in others), self.control.close)
        keeping = (self._remember_folds, self._last_session.stop, self._notes.stop)
        stops = (*keeping, self.tabs.stop, self._menus.stop, *parts, *ends)
        asking = (self.control, self.profiles, self._questions)
        return WindowClosing(self, self.session, *asking, self._settings, stops)

    def _remember_folds(self) -> None:
        remember_folds(self._settings, self.devices.folds())
        remember_sections(self._settings, self.session_page.sections.folds())
