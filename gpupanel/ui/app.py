"""The composition root of the window."""

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

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
from gpupanel.ui.workers.workplace import work_on

if TYPE_CHECKING:
    from gpupanel.ui.host.connection import HostConnection

_SWITCH_INTERVAL_S = 0.0005
"""A tenth of Python's own: the window's thread gives way at each call into Qt, and with a worker
that reads a long history would wait the whole of it hundreds of times a frame."""


def open_window(target: Path | None, host: str = "", program: str = "") -> int:
    """Open the window and stay until it is closed, and what was ordered in it is done.

    Args:
        target: A profile to open, or the directory of a run to show.
        host: The machine to work on, as ``ssh`` knows it; empty: this one.
        program: The command of gpupanel there; empty: as its shell finds it.

    Returns:
        The exit status of the application.
    """
    application = make_application()
    garbage = GarbageCollection(application)
    garbage.install()
    connection = _connected(host, program, application) if host else None
    settings, unusable = open_settings() if connection is None else _settings_for(connection)
    runs_dir = runs_folder(remembered_settings(settings))
    window = make_window(application, settings, runs_dir, connection)
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
    if connection is not None:
        connection.begin()
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


def _connected(host: str, program: str, application: QApplication) -> "HostConnection":
    """The connection to a host, on which this process works from now on."""
    # Here and not above: most windows work on this machine.
    from gpupanel.hosts.here.ssh import PROGRAM
    from gpupanel.runs.questions.question import ask_children_by
    from gpupanel.ui.host.connection import HostConnection

    connection = HostConnection(host, program or PROGRAM, application)
    os.environ.update(connection.host.variables())
    work_on(connection.host)
    ask_children_by(connection.host.ask_child)
    return connection


def _settings_for(connection: "HostConnection") -> tuple[QSettings, None]:
    """What a window remembers for that host: its last session is one of the GPUs there."""
    file = connection.host.mirror.root / "window.ini"
    return QSettings(str(file), QSettings.Format.IniFormat), None


def make_window(
    application: QApplication,
    settings: QSettings,
    runs_dir: Path,
    connection: "HostConnection | None" = None,
) -> MainWindow:
    """The window, and the style sheet after it: see :func:`~gpupanel.ui.theme.prepare`."""
    window = MainWindow(settings, runs_dir, connection=connection)
    theme.follow_system(application)
    return window
