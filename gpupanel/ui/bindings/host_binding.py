"""Binds a window to the host that it works on: what is said of it, and what is left out."""

from PySide6.QtCore import QObject, Slot

from gpupanel.hosts.here.link import LinkKind, LinkState
from gpupanel.ui.bindings.history_binding import HistoryBinding
from gpupanel.ui.host.connection import HostConnection
from gpupanel.ui.host.strip import HostStrip
from gpupanel.ui.menus.window_actions import WindowActions
from gpupanel.ui.run_page.page import LivePage
from gpupanel.ui.session_page import SessionPage
from gpupanel.ui.workers.folder_worker import FolderWatch


class HostBinding(QObject):
    """Shows how the connection is, and lists the runs anew when they have changed there.

    Args:
        connection: To the host.
        strip: Says whose machine it is.
        history: Lists the runs.
        folder: Asks whether runs can be kept there.
        parent: The window.
    """

    def __init__(
        self,
        connection: HostConnection,
        strip: HostStrip,
        history: HistoryBinding,
        folder: FolderWatch,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._connection, self._strip, self._folder = connection, strip, folder
        connection.stateChanged.connect(self._show)
        connection.runsChanged.connect(history.refresh)
        strip.againRequested.connect(connection.try_again)
        strip.setState(connection.state)

    def stop(self) -> None:
        """Let the connection go; runs on the host go on."""
        self._connection.stop()

    @Slot(object)
    def _show(self, state: LinkState) -> None:
        self._strip.setState(state)
        if state.kind is LinkKind.CONNECTED:
            self._folder.look()


def leave_out(actions: WindowActions, page: SessionPage, live: LivePage) -> None:
    """Take out of the window what works on this machine alone.

    What is left somewhere all the same is refused by name where it would be done.
    """
    runs = (actions.queue, actions.new_sweep, actions.sweeps, actions.trace, actions.tensorboard)
    for action in (*runs, actions.open_script):
        action.setVisible(False)
        action.setShortcut("")
    page.open_sweep.hide()
    live.exports.setElsewhere()
