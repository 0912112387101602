"""Asks a person before a run or a process is ended, and before unknown code is executed."""

from PySide6.QtCore import QObject, Slot

from gpupanel.domain.problem import Problem
from gpupanel.domain.telemetry import DeviceProcess
from gpupanel.runs.following.end_text import unsaved_text
from gpupanel.runs.following.status import RunStatus
from gpupanel.runs.trust.user_code import UserCode
from gpupanel.ui.questions import Questions
from gpupanel.ui.run_control import RunControl
from gpupanel.ui.session import Session
from gpupanel.ui.workers.ending_worker import ProcessEnder
from gpupanel.ui.workers.launch_worker import Order


class EndConfirmation(QObject):
    """Stands between a second click on Stop and the end of the run."""

    def __init__(
        self, session: Session, control: RunControl, questions: Questions, parent: QObject
    ) -> None:
        super().__init__(parent)
        self._session = session
        self._control = control
        self._questions = questions
        self._is_asking = False
        control.endDoubted.connect(self._ask)
        control.ended.connect(self._withdraw)

    @Slot()
    def _ask(self) -> None:
        if self._is_asking:
            return
        self._is_asking = True
        try:
            asked_about = self._control.active
            name = "the run" if asked_about is None else asked_about.name
            status = self._session.run_status or RunStatus()
            if self._questions.about_ending_run(name, _loss(status)):
                self._control.end_now(asked_about)
        finally:
            self._is_asking = False

    @Slot()
    def _withdraw(self) -> None:
        """The run has ended meanwhile: there is nothing to decide any more."""
        self._questions.withdraw_ending_run()


def _loss(status: RunStatus) -> str:
    if status.program:
        return (
            "It was interrupted as Ctrl+C does, and ends by itself. What the program has not saved "
            "by then would be lost."
        )
    return f"It was asked to stop, and saves before it ends. {unsaved_text(status.saved_work)}"


class TrustConfirmation(QObject):
    """Stands between a start that was refused for want of trust and the same start again."""

    def __init__(
        self, control: RunControl, questions: Questions, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._control = control
        self._questions = questions
        control.notTrusted.connect(self._ask)

    @Slot(object, object)
    def _ask(self, order: Order, code: tuple[UserCode, ...]) -> None:
        if self._questions.about_code(code):
            self._control.start_trusted(order, code)
        else:
            self._control.give_up_start()


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

    def stop(self) -> None:
        """End no process any more."""
        self._ender.stop()

    @Slot(object)
    def _remember(self, process: DeviceProcess) -> None:
        self._asked.add((process.pid, process.started_s))

    @Slot(object)
    def _show_refusal(self, problems: tuple[Problem, ...]) -> None:
        self._questions.show_problems("The process was not ended.", problems)
