"""Offers a run that waits to be resumed, in a window that shows none yet."""

from PySide6.QtCore import QObject, QSettings, Slot

from gpupanel.domain.outcome import Outcome
from gpupanel.domain.visible_text import visible_beginning
from gpupanel.runs.history.run_summary import RunSummary
from gpupanel.ui import formatting
from gpupanel.ui.bindings.opened_runs import OpenedRuns
from gpupanel.ui.panels.live_panel import LivePanel
from gpupanel.ui.remembered import remember_hidden_run, remembered_hidden_run
from gpupanel.ui.run_control import RunControl
from gpupanel.ui.session_page import SessionPage
from gpupanel.ui.workers.history_worker import RunHistory

_ENDS = {
    Outcome.SUSPENDED: ("is suspended", "was suspended"),
    Outcome.STOPPED: ("was stopped", "was stopped"),
    Outcome.FAILED: ("failed", "failed"),
    Outcome.LOST: ("was interrupted", "was interrupted"),
}


class WaitingRun(QObject):
    """Says so in Session and in Live until a run is shown, whichever.

    Args:
        history: Knows the runs.
        control: Resumes it, and knows which run is shown.
        opened: Shows it.
        page: Says it beside the settings.
        live: Says it where curves would be.
        settings: Remember of which run nobody wants to hear it.
        parent: The window.
    """

    def __init__(
        self,
        history: RunHistory,
        control: RunControl,
        opened: OpenedRuns,
        page: SessionPage,
        live: LivePanel,
        settings: QSettings,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._history, self._control, self._opened = history, control, opened
        self._page, self._live, self._settings = page, live, settings
        self._runs: tuple[RunSummary, ...] = ()
        self._waiting: RunSummary | None = None
        history.listed.connect(self._on_listed)
        history.toResumeFound.connect(self._show)
        control.shownChanged.connect(self._leave)
        for button in (page.resume, live.resume):
            button.clicked.connect(self._resume)
        for button in (page.open_waiting, live.open_waiting):
            button.clicked.connect(self._open)
        page.hide_waiting.clicked.connect(self._hide)

    @Slot(object)
    def _on_listed(self, runs: tuple[RunSummary, ...]) -> None:
        if self._control.shown is None and runs != self._runs:
            self._runs = runs
            self._history.find_run_to_resume()

    @Slot(object)
    def _show(self, run: RunSummary | None) -> None:
        if self._control.shown is not None:
            return
        self._waiting = run
        if run is None:
            self._page.set_waiting("")
            self._live.setWaiting("", "")
            return
        is_hidden = remembered_hidden_run(self._settings) == run.name
        self._page.set_waiting("" if is_hidden else _sentence(run))
        self._live.setWaiting(_title(run), f"It can go on from {_place(run)}.")

    @Slot()
    def _leave(self) -> None:
        self._waiting = None
        self._page.set_waiting("")

    @Slot()
    def _open(self) -> None:
        if self._waiting is not None:
            self._opened.open(self._waiting.path)

    @Slot()
    def _resume(self) -> None:
        if self._waiting is not None:
            self._open()
            self._control.resume()

    @Slot()
    def _hide(self) -> None:
        if self._waiting is not None:
            remember_hidden_run(self._settings, self._waiting.name)
            self._page.set_waiting("")


def _title(run: RunSummary) -> str:
    return f"{visible_beginning(run.title)} {_ends(run)[0]}"


def _sentence(run: RunSummary) -> str:
    when = "" if run.ended_s is None else f" {formatting.day(run.ended_s)}"
    name = visible_beginning(run.title)
    return f"{name} {_ends(run)[1]}{when} and can go on from {_place(run)}."


def _ends(run: RunSummary) -> tuple[str, str]:
    return _ENDS[run.outcome or Outcome.LOST]


def _place(run: RunSummary) -> str:
    step = None if run.saved is None else run.saved.checkpoint_step
    return "its last checkpoint" if step is None else f"step {formatting.count(step)}"
