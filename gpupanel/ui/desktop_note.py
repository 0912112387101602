"""Notes of the desktop, where there is one that shows them; without one nothing happens."""

from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtWidgets import QApplication, QSystemTrayIcon

from gpupanel.domain.visible_text import visible_line

_SHOWN_MS = 10_000
_PORTAL = "org.freedesktop.portal"
_NOTE_ID = "gpupanel-run"
"""The newest note of a run takes the place of the one before."""


class DesktopNotes(QObject):
    """Shows notes by the tray, as Qt does, or by the desktop's portal where there is no tray.

    An icon stands in the tray only while a note is shown.
    """

    clicked = Signal()
    """A person clicked a note."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._tray: QSystemTrayIcon | None = None
        self._ending = QTimer(self, singleShot=True, interval=_SHOWN_MS)
        self._ending.timeout.connect(self.stop)

    def show(self, title: str, text: str) -> None:
        """Show a note; never waits, and never fails.

        Args:
            title: What happened, in a few words.
            text: A sentence; names in it are shown as they are.
        """
        title, text = _plain(title), _plain(text)
        if QSystemTrayIcon.isSystemTrayAvailable() and QSystemTrayIcon.supportsMessages():
            self._show_by_tray(title, text)
        else:
            _show_by_portal(title, text)

    def stop(self) -> None:
        """Take the icon away."""
        self._ending.stop()
        if self._tray is not None:
            self._tray.hide()

    def _show_by_tray(self, title: str, text: str) -> None:
        if self._tray is None:
            self._tray = QSystemTrayIcon(QApplication.windowIcon(), self)
            self._tray.setToolTip("gpupanel")
            self._tray.messageClicked.connect(self.clicked)
            self._tray.activated.connect(self.clicked)
        self._tray.show()
        self._tray.showMessage(title, text, QApplication.windowIcon(), _SHOWN_MS)
        self._ending.start()


def _show_by_portal(title: str, text: str) -> None:
    """As https://flatpak.github.io/xdg-desktop-portal has it; it needs no answer.

    The older ``org.freedesktop.Notifications`` takes an unsigned number, which PySide cannot send.
    """
    try:
        # Here and not above: not every build of Qt has it, and most windows never need it.
        from PySide6.QtDBus import QDBusConnection, QDBusMessage
    except ImportError:
        return
    bus = QDBusConnection.sessionBus()
    if not bus.isConnected():
        return
    call = QDBusMessage.createMethodCall(
        f"{_PORTAL}.Desktop",
        "/org/freedesktop/portal/desktop",
        f"{_PORTAL}.Notification",
        "AddNotification",
    )
    call.setArguments([_NOTE_ID, {"title": title, "body": text, "priority": "normal"}])
    bus.send(call)


def _plain(words: str) -> str:
    """Without what some desktops take for markup, which could load a file."""
    return (
        visible_line(words)
        .replace("<", "\N{SINGLE LEFT-POINTING ANGLE QUOTATION MARK}")
        .replace(">", "\N{SINGLE RIGHT-POINTING ANGLE QUOTATION MARK}")
    )
