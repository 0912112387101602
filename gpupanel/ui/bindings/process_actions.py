"""What End… in the list of a device's processes does."""

from PySide6.QtCore import QObject, Slot

from gpupanel.domain.problem import Problem
from gpupanel.domain.telemetry import DeviceProcess
from gpupanel.ui.questions import Questions
from gpupanel.ui.session import Session
from gpupanel.ui.workers.ending_worker import ProcessEnder


class ProcessActions(QObject):
    """Asks the person, then the process: the first time it may save, the second time it may not.

    Args:
        session: Knows the processes of the run that goes on.
        questions: Asks the person.
        parent: The window.
    """

    def __init__(self, session: Session, questions: Questions, parent: QObject) -> None:
        super().__init__(parent)
        self._session = session
        self._questions = questions
        self._asked: set[tuple[int, float | None]] = set()
        self._ender = ProcessEnder(self)
        self._ender.asked.connect(self._remember)
        self._ender.refused.connect(self._show_refusal)

    @Slot(object)
    def end(self, process: DeviceProcess) -> None:
        """End a process, if the person says so."""
        by_force = (process.pid, process.started_s) in self._asked
        if not self._questions.about_ending(process, by_force=by_force):
            return
        status = self._session.run_status
        pids = status.pids if status is not None and self._session.run_state.is_busy else ()
        self._ender.end(process, frozenset(pids), by_force=by_force)

    def close(self) -> None:
        """End no process any more."""
        self._ender.stop()

    @Slot(object)
    def _remember(self, process: DeviceProcess) -> None:
        self._asked.add((process.pid, process.started_s))

    @Slot(object)
    def _show_refusal(self, problems: tuple[Problem, ...]) -> None:
        self._questions.show_problems("The process was not ended.", problems)
