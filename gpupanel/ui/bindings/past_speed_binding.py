"""Says how long a training may take, from what the same one took on this machine before."""

from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Slot

from gpupanel.domain.problem import ProblemError
from gpupanel.runs.directory.profile_file import anchored
from gpupanel.runs.history.past_speed import PastSpeed
from gpupanel.ui.panels.plan_panel.panel import PlanPanel
from gpupanel.ui.session import Session
from gpupanel.ui.workers.history_worker import RunHistory

DELAY_MS = 300
"""After the last change."""


class PastSpeedBinding(QObject):
    """Has the runs searched for the same training when the plan has changed.

    Args:
        plan: Shows it.
        history: Knows the runs, and searches beside the window's thread.
    """

    def __init__(
        self, session: Session, plan: PlanPanel, history: RunHistory, parent: QObject
    ) -> None:
        super().__init__(parent)
        self._session, self._plan, self._history = session, plan, history
        self._is_stopped = False
        self._timer = QTimer(self, singleShot=True, interval=DELAY_MS)
        self._timer.timeout.connect(self._ask)
        session.preparationChanged.connect(self.ask_soon)
        session.profileChanged.connect(self.ask_soon)
        history.listed.connect(self.ask_soon)
        history.pastSpeedFound.connect(self._show)

    def stop(self) -> None:
        """Ask for nothing any more."""
        self._is_stopped = True
        self._timer.stop()

    @Slot()
    def ask_soon(self) -> None:
        """Ask again, once nothing changes any more."""
        if not self._is_stopped:
            self._timer.start()

    @Slot()
    def _ask(self) -> None:
        plan, profile = self._session.preparation.plan, self._session.profile
        if plan is None or profile.task != "train":
            self._plan.setPastSpeed(None)
            return
        used = {place.device_key for place in plan.places or plan.replicas}
        try:
            named = anchored(profile, Path.cwd())
        except ProblemError:
            self._plan.setPastSpeed(None)  # no run can name such a path
        else:
            self._history.find_past_speed(named, frozenset(used), self._session.inventory)

    @Slot(object)
    def _show(self, speed: PastSpeed | None) -> None:
        if not self._timer.isActive():
            self._plan.setPastSpeed(speed)
