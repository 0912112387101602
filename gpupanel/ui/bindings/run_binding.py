"""Shows where the run stands on everything of the window that steers it or shows it."""

from PySide6.QtCore import QObject, Slot

from gpupanel.ui.bindings.opened_runs import OpenedRuns
from gpupanel.ui.device_labels import DeviceLabels
from gpupanel.ui.panels.device_panel import DevicePanel
from gpupanel.ui.panels.run_bar import RunBar
from gpupanel.ui.process_text import other_process_lines
from gpupanel.ui.run_control import RunControl
from gpupanel.ui.run_page.page import LivePage
from gpupanel.ui.run_state import RunState
from gpupanel.ui.run_texts import run_progress_text, short_run_text
from gpupanel.ui.session import Session


class RunBinding(QObject):
    """Binds buttons, progress and devices to the run; they know neither it nor each other.

    Args:
        session: Knows how the run stands that goes on.
        control: Starts and steers it.
        bar: Shows that, and starts one.
        live: Shows a run, and steers it where it is the one that goes on.
        devices: Marks its processes.
        opened: Goes to the page of a run.
        parent: The window.
    """

    def __init__(
        self,
        session: Session,
        control: RunControl,
        bar: RunBar,
        live: LivePage,
        devices: DevicePanel,
        opened: OpenedRuns,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._session, self._control = session, control
        self._bar, self._live, self._devices = bar, live, devices
        self._opened = opened
        bar.startRequested.connect(control.start)
        bar.runRequested.connect(self._show_steered)
        live.banner.buttons.endRequested.connect(control.doubt_end)
        session.preparationChanged.connect(self.show_run)
        session.checkingChanged.connect(self.show_run)
        session.runChanged.connect(self.show_run)
        control.shownChanged.connect(self.show_run)
        control.shownStatusChanged.connect(self.show_run)
        self.show_run()

    @Slot()
    def show_run(self) -> None:
        """Show it anew: its state changed, or what it is called."""
        session, control = self._session, self._control
        preparation, run = session.preparation, session.run_state
        errors = sum(problem.is_error for problem in preparation.problems)
        steered = control.steered if session.state_is_of_run else None
        self._bar.setRun("" if steered is None else self._live.words.title_of(steered))
        progress = run_progress_text(run, session.run_status)
        self._bar.setState(session.state_text, session.state_tone, progress)
        others = other_process_lines(preparation.other_processes, DeviceLabels(session.inventory))
        self._bar.setButtons(session.buttons, errors, others)
        self._show_shown()
        status = session.run_status
        pids = status.pids if run.is_busy and status is not None else ()
        self._devices.setOwnProcesses(frozenset(pids))

    def _show_shown(self) -> None:
        """How far the run is that is shown; a run that is being made stands where none is."""
        session, control = self._session, self._control
        banner, shown = self._live.banner, control.shown_status
        is_first = control.shown is None and session.run_state is RunState.LAUNCHING
        if is_first:
            banner.setRun(session.profile.name)
            banner.progress.setStatus(None, session.state_text)
        elif control.shown is None:
            banner.setRun("")
        else:
            banner.progress.setStatus(shown, "" if shown is None else short_run_text(shown))
        goes_on = control.active is not None and control.active == control.shown
        banner.buttons.setSteering(session.buttons if goes_on or is_first else None)

    @Slot()
    def _show_steered(self) -> None:
        if self._control.steered is not None:
            self._opened.open(self._control.steered.root)
