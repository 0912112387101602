"""The window: lays out panels and pages, lists its parts, and decides nothing itself."""

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QFileInfo, QSettings, Qt, Slot
from PySide6.QtGui import QCloseEvent, QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QHBoxLayout, QMainWindow, QSplitter, QWidget
from typing_extensions import override

from gpupanel.domain.problem import Problem
from gpupanel.ui.bindings.drops import Drops
from gpupanel.ui.bindings.history_binding import HistoryBinding
from gpupanel.ui.bindings.last_session import is_first_start
from gpupanel.ui.bindings.opened_runs import OpenedRuns
from gpupanel.ui.bindings.queue_binding import QueueBinding
from gpupanel.ui.bindings.starting_session import StartingSession
from gpupanel.ui.bindings.welcome import Welcome
from gpupanel.ui.bindings.window_closing import WindowClosing
from gpupanel.ui.bindings.window_settings_binding import WindowSettingsBinding
from gpupanel.ui.dropped_files import has_local_paths, local_paths
from gpupanel.ui.part_list import add_parts
from gpupanel.ui.questions import Questions
from gpupanel.ui.theme import GRID
from gpupanel.ui.widgets.layouts import column_in
from gpupanel.ui.widgets.reading_order import move_focus
from gpupanel.ui.widgets.screen_fit import resize_within_screen
from gpupanel.ui.window_core import WindowCore
from gpupanel.ui.window_parts import UNEXPECTED, StopRank, WindowParts
from gpupanel.ui.workers.cluster_worker import ClusterWatch

if TYPE_CHECKING:
    from gpupanel.ui.host.connection import HostConnection

_SIZE = (1280, 800)
"""Pixels of a first window, where the screen has them."""


class MainWindow(QMainWindow):
    """Everything that a person sees.

    Args:
        settings: Where the recent profiles and the window's place are remembered.
        runs_dir: Where runs are kept.
        questions: Asks the person; dialogs over this window when left out.
        cluster_watch: Reads clusters; by a process of Ray's when left out.
        connection: To the host that is worked on; this machine when left out.
    """

    def __init__(
        self,
        settings: QSettings,
        runs_dir: Path,
        questions: Questions | None = None,
        cluster_watch: ClusterWatch | None = None,
        connection: "HostConnection | None" = None,
    ) -> None:
        super().__init__()
        self.setObjectName("main_window")
        self.setAcceptDrops(True)
        questions = questions or Questions(self)
        self.core = core = WindowCore(self, settings, runs_dir, questions, cluster_watch)
        self.session, self.control, self.profiles = core.session, core.control, core.profiles
        self.window_actions, self.tabs = core.actions, core.tabs
        self.profile_bar, self.run_bar = core.profile_bar, core.run_bar
        self.devices = core.devices
        self.session_page, self.live_page, self.runs = core.session_page, core.live_page, core.runs
        self._lay_out()
        self.parts = WindowParts(questions, self)
        """What works in the window, by its class."""
        add_parts(core, self.parts)
        if connection is not None:
            self._bind_host(connection)
        asking = (core.control, core.profiles, questions)
        self.closing = WindowClosing(self, core.session, *asking, settings, self.parts.stops())

    def begin(self) -> None:
        """Watch devices and runs; a run that goes on is followed at once."""
        interval = self.parts[WindowSettingsBinding].value.sampling
        self.core.device_watch.start(interval.milliseconds)
        self.parts[HistoryBinding].refresh()
        self.core.folder_watch.look()
        self.parts[QueueBinding].begin()

    def begin_unasked(self) -> None:
        """Show the last session; at the first start an example, and what else there is to begin."""
        core = self.core
        if is_first_start(core.settings):
            Welcome(core.session, core.control, core.profiles, core.session_page, self)
        StartingSession(core.session, core.control, core.settings, self)

    def open_target(self, target: Path) -> None:
        """Open a profile or a program, or show the run in that directory."""
        if QFileInfo(str(target)).isDir():
            self.parts[OpenedRuns].open(target)
        else:
            self.core.profiles.open_file(target)

    @Slot(object)
    def report_error(self, problem: Problem) -> None:
        """Show something that should not have happened."""
        self.parts.refusals(UNEXPECTED).show((problem,))

    def report_unusable(self, problems: tuple[Problem, ...]) -> None:
        """Show which files the window does without; it works on."""
        if problems:
            title = "Not everything that was remembered is here."
            self.core.questions.show_problems(title, problems)

    def _bind_host(self, connection: "HostConnection") -> None:
        # Here and not above: most windows work on this machine.
        from gpupanel.ui.bindings.drops import Drops
        from gpupanel.ui.bindings.host_binding import HostBinding, leave_out
        from gpupanel.ui.host.strip import HostStrip

        core, strip = self.core, HostStrip(connection.host.host, self)
        self._rows.insertWidget(0, strip)
        folder, history = core.folder_watch, self.parts[HistoryBinding]
        # It ends last of all: what is asked there is answered until then.
        told = (history, folder, core.session_page, core.runs, self.parts[Drops])
        self.parts.add(HostBinding(connection, strip, *told, self), ending=StopRank.RUN)
        leave_out(core.actions, core.profile_bar, core.live_page)

    def _lay_out(self) -> None:
        splitter = QSplitter(Qt.Orientation.Horizontal)
        splitter.setChildrenCollapsible(False)
        splitter.addWidget(self.devices)
        splitter.addWidget(self.tabs)
        self.devices.setContentsMargins(2 * GRID, GRID, 0, GRID)
        splitter.setStretchFactor(1, 1)
        splitter.setSizes([320, 960])
        central = QWidget()
        self._rows = layout = column_in(central, spacing=0)
        bar = QHBoxLayout()
        bar.setSpacing(2 * GRID)
        bar.setContentsMargins(2 * GRID, GRID // 4, 2 * GRID, GRID // 2)
        bar.addWidget(self.profile_bar)
        bar.addWidget(self.run_bar, 1)
        layout.addLayout(bar)
        layout.addWidget(splitter, 1)
        self.setCentralWidget(central)
        central.setFocus()
        resize_within_screen(self, *_SIZE)

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
            self.parts[Drops].take(paths)

    @override
    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() is QEvent.Type.WindowStateChange:
            self.core.device_watch.set_seen(is_seen=not self.isMinimized())

    @override
    def closeEvent(self, event: QCloseEvent) -> None:
        if not self.closing.close():
            event.ignore()
