"""Shows where the run stands on everything of the window that steers it or shows it."""

from PySide6.QtCore import QObject, Slot

from gpupanel.ui.device_labels import DeviceLabels
from gpupanel.ui.panels.device_panel import DevicePanel
from gpupanel.ui.panels.profile_bar import ProfileBar
from gpupanel.ui.panels.progress_panel import ProgressPanel
from gpupanel.ui.process_text import other_process_lines
from gpupanel.ui.run_control import RunControl
from gpupanel.ui.run_state import short_words
from gpupanel.ui.session import Session


class RunBinding(QObject):
    """Binds buttons, progress and devices to the run; they know neither it nor each other."""

    def __init__(
        self,
        session: Session,
        control: RunControl,
        bar: ProfileBar,
        progress: ProgressPanel,
        devices: DevicePanel,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._session = session
        self._control = control
        self._bar = bar
        self._progress = progress
        self._devices = devices
        bar.startRequested.connect(control.start)
        bar.stopRequested.connect(control.stop)
        bar.suspendRequested.connect(control.suspend)
        session.preparationChanged.connect(self._show)
        session.checkingChanged.connect(self._show)
        session.runChanged.connect(self._show)
        control.shownStatusChanged.connect(self._show)
        self._show()

    @Slot()
    def _show(self) -> None:
        session = self._session
        preparation = session.preparation
        errors = sum(problem.is_error for problem in preparation.problems)
        self._bar.setState(session.state_words, session.state_tone)
        others = other_process_lines(preparation.other_processes, DeviceLabels(session.inventory))
        self._bar.setButtons(session.buttons, errors, others)
        status = session.run_status or self._control.shown_status
        self._progress.setStatus(status, "" if status is None else short_words(status))
        pids = status.pids if session.run_state.is_busy and status is not None else ()
        self._devices.setOwnProcesses(frozenset(pids))
