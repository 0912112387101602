"""The composition root of the window."""

import sys
from pathlib import Path

from PySide6.QtCore import QCoreApplication, QEvent, QSettings
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QApplication

from gpupanel.files import resources
from gpupanel.runs.notes.waking import wake_users_courier
from gpupanel.runs.trust.trusted import trust_problem
from gpupanel.ui import theme
from gpupanel.ui.closing import EndingSignals, Leaving, leave
from gpupanel.ui.error_bridge import ErrorBridge
from gpupanel.ui.garbage_collection import GarbageCollection
from gpupanel.ui.main_window import MainWindow
from gpupanel.ui.remembered import remembered_settings
from gpupanel.ui.settings_file import open_settings
from gpupanel.ui.window_settings import runs_folder

_SWITCH_INTERVAL_S = 0.0005
"""A tenth of Python's own: the window's thread gives way at each call into Qt, and with a worker
that reads a long history would wait the whole of it hundreds of times a frame."""


def open_window(target: Path | None) -> int:
    """Open the window and stay until it is closed, and what was ordered in it is done.

    Args:
        target: A profile to open, or the directory of a run to show.

    Returns:
        The exit status of the application.
    """
    application = make_application()
    garbage = GarbageCollection(application)
    garbage.install()
    settings, unusable = open_settings()
    window = make_window(application, settings, runs_folder(remembered_settings(settings)))
    bridge = ErrorBridge(window)
    bridge.raised.connect(window.report_error)
    bridge.install()
    leaving, closing = Leaving(application), window.closing
    closing.closed.connect(leaving.begin)
    signals = EndingSignals(window.close, closing.close_unasked, lambda: closing.is_closed, window)
    window.show()
    if target is None:
        window.begin_unasked()
    window.begin()
    if target is not None:
        window.open_target(target)
    wake_users_courier()
    window.report_unusable(tuple(each for each in (unusable, trust_problem()) if each is not None))
    try:
        status = application.exec()
        leave(window, status)
    finally:
        bridge.uninstall()
        signals.uninstall()
        dispose(window)
        garbage.uninstall()
    return status


def dispose(window: MainWindow) -> None:
    """Take a closed window apart in Qt's own order: the parts first that others need last.

    Left to the end of a Python function, parts go as their references do; that crashed.
    """
    window.deleteLater()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


def make_application() -> QApplication:
    """The application, without the style sheet that :func:`make_window` adds.

    Its names are those of its settings and of its desktop entry.
    """
    sys.setswitchinterval(_SWITCH_INTERVAL_S)
    application = QApplication(sys.argv[:1])
    application.setApplicationName("gpupanel")
    application.setOrganizationName("gpupanel")
    application.setDesktopFileName("org.gpupanel.gpupanel")
    icon = resources.path("icons", "gpupanel.svg")
    if icon.is_file():
        application.setWindowIcon(QIcon(str(icon)))
    theme.prepare(application)
    return application


def make_window(application: QApplication, settings: QSettings, runs_dir: Path) -> MainWindow:
    """The window, and the style sheet after it: see :func:`~gpupanel.ui.theme.prepare`."""
    window = MainWindow(settings, runs_dir)
    theme.follow_system(application)
    return window
