"""What the parts of a window work with: session, run and files, and the panels and pages."""

from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QSettings
from PySide6.QtWidgets import QMainWindow

from gpupanel.runs.questions.data_preview import preview_data
from gpupanel.ui.bindings.device_colors_binding import DeviceColorsBinding
from gpupanel.ui.main_tabs import MainTabs
from gpupanel.ui.menus.window_actions import WindowActions
from gpupanel.ui.panels.device_panel import DevicePanel
from gpupanel.ui.panels.profile_bar import ProfileBar
from gpupanel.ui.panels.run_bar import RunBar
from gpupanel.ui.profile_actions import ProfileActions
from gpupanel.ui.questions import Questions
from gpupanel.ui.run_control import RunControl
from gpupanel.ui.run_page.page import LivePage
from gpupanel.ui.runs_page import RunsPage
from gpupanel.ui.session import Session
from gpupanel.ui.session_page import SessionPage
from gpupanel.ui.workers.cluster_worker import ClusterWatch
from gpupanel.ui.workers.device_worker import DeviceWatch
from gpupanel.ui.workers.folder_worker import FolderWatch
from gpupanel.ui.workers.launch_worker import Launcher
from gpupanel.ui.workers.tool_worker import QuestionWorker

preview_here = replace(preview_data, limit_s=30.0)


class WindowCore:
    """Made first, and the same for every window; what works with it is listed as parts.

    Args:
        window: Owns what has no place in a layout.
        settings: Where the recent profiles and the window's place are remembered.
        runs_dir: Where runs are kept.
        questions: Asks the person.
        cluster_watch: Reads clusters; by a process of Ray's when left out.
    """

    def __init__(
        self,
        window: QMainWindow,
        settings: QSettings,
        runs_dir: Path,
        questions: Questions,
        cluster_watch: ClusterWatch | None = None,
    ) -> None:
        self.window, self.settings, self.runs_dir = window, settings, runs_dir
        self.questions = questions
        self.session = Session(parent=window)
        # Before all that paints devices.
        DeviceColorsBinding(self.session, settings, window)
        self.control = RunControl(self.session, Launcher(window), runs_dir, window)
        self.profiles = ProfileActions(self.session, settings, questions, window)
        self.device_watch = DeviceWatch(window, folder=runs_dir)
        self.cluster_watch = cluster_watch or ClusterWatch(window)
        self.folder_watch = FolderWatch(runs_dir, parent=window)
        self.preview_loader = QuestionWorker(preview_here, window)
        self.actions = WindowActions(window)
        self.profile_bar = ProfileBar(self.actions)
        self.run_bar = RunBar(self.actions)
        self.devices = DevicePanel()
        self.session_page = SessionPage(self.session, self.preview_loader)
        self.session_page.plan.setRunsFolder(str(runs_dir))
        self.live_page = LivePage(self.session, self.control, self.actions)
        self.runs = RunsPage(runs_dir)
        self.tabs = MainTabs(self.session_page, self.live_page, self.runs)
