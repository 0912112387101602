"""Shows where the run stands on everything of the window that steers it or shows it."""

from PySide6.QtCore import QObject, Slot

from gpupanel.domain.outcome import Outcome
from gpupanel.ui.device_labels import DeviceLabels
from gpupanel.ui.panels.device_panel import DevicePanel
from gpupanel.ui.panels.progress_panel import ProgressPanel
from gpupanel.ui.panels.run_bar import RunBar
from gpupanel.ui.process_text import other_process_lines
from gpupanel.ui.run_actions import run_actions
from gpupanel.ui.run_control import RunControl
from gpupanel.ui.run_state import RunState
from gpupanel.ui.run_texts import run_progress_text, short_run_text
from gpupanel.ui.session import Session


class RunBinding(QObject):
    """Binds buttons, progress and devices to the run; they know neither it nor each other."""

    def __init__(
        self,
        session: Session,
        control: RunControl,
        bar: RunBar,
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
        bar.resumeRequested.connect(control.resume)
        bar.endRequested.connect(control.doubt_end)
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
        run, shown = session.run_state, self._control.shown_status
        progress = run_progress_text(run, session.run_status)
        self._bar.setState(session.state_text, session.state_tone, progress)
        others = other_process_lines(preparation.other_processes, DeviceLabels(session.inventory))
        self._bar.setButtons(session.buttons, errors, others)
        actions = run_actions(run, shown)
        is_suspended = shown is not None and shown.outcome is Outcome.SUSPENDED
        self._bar.setResume(actions.resume_tip if is_suspended and actions.can_resume else "")
        # The row below belongs to the run that is shown, the bar to the one that goes on.
        if run is RunState.LAUNCHING:
            self._progress.setStatus(None, session.state_text)
        else:
            self._progress.setStatus(shown, "" if shown is None else short_run_text(shown))
        status = session.run_status
        pids = status.pids if run.is_busy and status is not None else ()
        self._devices.setOwnProcesses(frozenset(pids))
