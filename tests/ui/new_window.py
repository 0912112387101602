"""A window as the product makes it."""

from pathlib import Path

from PySide6.QtCore import QSettings
from PySide6.QtWidgets import QApplication

from gpupanel.ui import theme
from gpupanel.ui.main_window import MainWindow
from gpupanel.ui.questions import Questions
from gpupanel.ui.workers.cluster_worker import ClusterWatch


def new_window(
    settings: QSettings,
    runs_dir: Path,
    questions: Questions,
    cluster_watch: ClusterWatch | None = None,
) -> MainWindow:
    """The style sheet comes after the window, as in ``gpupanel.ui.app``: in a third of the time.

    Where there is none, as in tests of what windows do, there is none afterwards.
    """
    application = QApplication.instance()
    assert isinstance(application, QApplication)
    if not application.styleSheet():
        return MainWindow(settings, runs_dir, questions, cluster_watch)
    application.setStyleSheet("")
    try:
        return MainWindow(settings, runs_dir, questions, cluster_watch)
    finally:
        theme.show(application, theme.current())
