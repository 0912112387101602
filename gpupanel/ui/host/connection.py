"""The connection of a window to the host that it works on, as the window hears of it."""

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from gpupanel.hosts.here.host import OtherMachine
from gpupanel.hosts.here.link_state import LinkState
from gpupanel.hosts.here.ssh import PROGRAM

_RUNS_TOLD_MS = 300
"""Of thousands of runs that are told at once the list is made anew three times a second."""


class HostConnection(QObject):
    """Lives in the window's thread; the connection has one of its own.

    Args:
        name: Of the host, as the person gives it to ``ssh``.
        program: The command of gpupanel there.
        parent: Owns it.

    Attributes:
        host: What is asked there.

    Raises:
        ProblemError: Too many windows work on that host already.
        OSError: No copies of its runs can be kept here.
    """

    stateChanged = Signal(object)
    """How the connection is: a :class:`LinkState`."""
    runsChanged = Signal()
    """The runs there have changed."""
    allTold = Signal()
    """All runs there are listed for the first time."""
    _told = Signal(bool)

    def __init__(self, name: str, program: str = PROGRAM, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._soon = QTimer(self, singleShot=True, interval=_RUNS_TOLD_MS)
        self._soon.timeout.connect(self.runsChanged)
        self._told.connect(self._tell_soon)
        self._are_all_told = False
        self.host = OtherMachine(name, self.stateChanged.emit, self._told.emit, program)

    @property
    def state(self) -> LinkState:
        """How the connection is now."""
        return self.host.link.state

    def begin(self) -> None:
        """Connect; ``stateChanged`` follows."""
        self.host.start()

    @Slot()
    def try_again(self) -> None:
        """Connect now, and let ssh ask what it has to."""
        self.host.link.try_again()

    def stop(self) -> None:
        """Let the connection go; runs there go on."""
        self.blockSignals(True)
        self._soon.stop()
        self.host.end()

    @Slot(bool)
    def _tell_soon(self, is_whole: bool) -> None:
        if is_whole and not self._are_all_told:
            self._are_all_told = True
            self.allTold.emit()
        if not self._soon.isActive():
            self._soon.start()
