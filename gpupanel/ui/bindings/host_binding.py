"""Binds a window to the host that it works on: what is said of it, and what is left out."""

from PySide6.QtCore import QObject, Qt, Slot
from PySide6.QtWidgets import QDialog, QWidget

from gpupanel.domain.visible_text import visible_line
from gpupanel.hosts.here.link_state import LinkCondition, LinkState
from gpupanel.ui.bindings.drops import Drops
from gpupanel.ui.bindings.history_binding import HistoryBinding
from gpupanel.ui.host.connection import HostConnection
from gpupanel.ui.host.strip import HostStrip
from gpupanel.ui.menus.window_actions import WindowActions
from gpupanel.ui.panels.profile_bar import ProfileBar
from gpupanel.ui.run_page.page import LivePage
from gpupanel.ui.runs_page import RunsPage
from gpupanel.ui.session_page import SessionPage
from gpupanel.ui.workers.folder_worker import FolderWatch


class HostBinding(QObject):
    """Shows how the connection is, and lists the runs anew when they have changed there.

    Args:
        connection: To the host.
        strip: Says whose machine it is.
        history: Lists the runs.
        folder: Asks whether runs can be kept there.
        page: Reads the data of the session, and says where a model is saved.
        runs: Says where the runs are kept.
        drops: Says which files of this machine are wanted there, and chooses them.
        window: What dialogs stand before.
    """

    def __init__(
        self,
        connection: HostConnection,
        strip: HostStrip,
        history: HistoryBinding,
        folder: FolderWatch,
        page: SessionPage,
        runs: RunsPage,
        drops: Drops,
        window: QWidget,
    ) -> None:
        super().__init__(window)
        self._window, self._drops = window, drops
        drops.copyOffered.connect(self._offer_copy)
        self._connection, self._strip, self._folder = connection, strip, folder
        self._page, self._runs = page, runs
        self._was_cut = False
        connection.stateChanged.connect(self._show)
        connection.runsChanged.connect(history.refresh)
        connection.runsChanged.connect(self._show_now)
        connection.allTold.connect(history.begin_anew)
        strip.againRequested.connect(connection.try_again)
        self._show_now()
        self._say_folder(connection.state)

    def stop(self) -> None:
        """Let the connection go; runs on the host go on."""
        for dialog in self._window.findChildren(QDialog, "copy_dialog"):
            dialog.close()  # it ends rsync
        self._connection.stop()

    @Slot(object)
    def _offer_copy(self, paths: tuple[str, ...]) -> None:
        # Here and not above: most windows on a host copy nothing.
        from gpupanel.ui.host.copy_dialog import CopyDialog

        dialog = CopyDialog(paths, self._window)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.copied.connect(self._drops.choose)
        dialog.show()  # there may be hours of it

    @Slot()
    def _show_now(self) -> None:
        copies = self._connection.host.copies
        problem = copies.runs_problem or copies.copy_problem
        self._strip.setState(self._connection.state, problem)

    @Slot(object)
    def _show(self, state: LinkState) -> None:
        self._show_now()
        if state.kind is LinkCondition.CONNECTED:
            self._folder.look()
            if self._was_cut:
                self._page.preview_again()  # it may have been asked in vain
        self._say_folder(state)
        self._was_cut = state.kind is not LinkCondition.CONNECTED

    def _say_folder(self, state: LinkState) -> None:
        """The folder of copies is nobody's concern: runs are kept there."""
        host = self._connection.host.host
        folder = "the folder of runs" if state.hello is None else state.hello.runs_dir
        words = visible_line(f"{folder} on {host}")
        self._page.plan.setRunsFolder(words)
        self._runs.panel.setFolder(words)


def leave_out(actions: WindowActions, bar: ProfileBar, live: LivePage) -> None:
    """Take out of the window what works on this machine alone.

    What is left somewhere all the same is refused by name where it would be done.
    """
    actions.tensorboard.setVisible(False)
    actions.tensorboard.setShortcut("")
    # The files of a template would be copied into a folder of this machine.
    bar.templates_menu.menuAction().setVisible(False)
    live.exports.setElsewhere()
