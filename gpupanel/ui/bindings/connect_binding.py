"""Opens another window, which works on another machine."""

from functools import partial

from PySide6.QtCore import QObject, QSettings, Qt, Slot
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QWidget

from gpupanel.domain.child_command import python_module_command
from gpupanel.runs.detached import start_detached
from gpupanel.runs.locations import queue_dir
from gpupanel.ui.workers.facade import WorkerFacade

_HOSTS_KEY = "hosts/recent"
_MOST_RECENT = 8


class ConnectBinding(QObject):
    """Asks for the host, and starts a window of its own for it: this one stays what it is.

    Args:
        action: Opens the dialog.
        settings: Where the hosts are remembered.
        window: What the dialog stands before.
    """

    def __init__(self, action: QAction, settings: QSettings, window: QWidget) -> None:
        super().__init__(window)
        self._settings, self._window = settings, window
        self._worker = WorkerFacade("other window", self)
        self.refused = self._worker.refused
        """Why no window was opened: a tuple of :class:`Problem`."""
        action.triggered.connect(self.open)

    def stop(self) -> None:
        """Open no more."""
        self._worker.stop()

    @Slot()
    def open(self) -> None:
        """Ask which machine is meant."""
        # Here and not above: most windows work on this machine.
        from gpupanel.hosts.here.known_hosts import configured_hosts
        from gpupanel.ui.host.connect_dialog import ConnectDialog

        hosts = dict.fromkeys((*self._recent(), *configured_hosts()))
        dialog = ConnectDialog(tuple(hosts), self._window)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.chosen.connect(self._connect)
        dialog.open()

    @Slot(str, str)
    def _connect(self, host: str, there: str) -> None:
        recent = [host, *(each for each in self._recent() if each != host)][:_MOST_RECENT]
        self._settings.setValue(_HOSTS_KEY, recent)
        named = ("--host", host, *(("--there", there) if there else ()))
        self._worker.submit(partial(_open_window, named))

    def _recent(self) -> list[str]:
        found = self._settings.value(_HOSTS_KEY, [])
        found = [found] if isinstance(found, str) else found
        return [each for each in found if isinstance(each, str)] if isinstance(found, list) else []


def _open_window(arguments: tuple[str, ...]) -> None:
    folder = queue_dir().parent
    folder.mkdir(parents=True, exist_ok=True)
    command = python_module_command("gpupanel", *arguments)
    start_detached(command, folder / "other-windows.log", "window of another machine")
