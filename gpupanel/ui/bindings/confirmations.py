"""Asks a person before a run or a process is ended, and before unknown code is executed."""

import time

from PySide6.QtCore import QObject, Signal, Slot

from gpupanel.domain.hours import moment_text
from gpupanel.domain.problem import Problem
from gpupanel.domain.telemetry import DeviceProcess
from gpupanel.runs.following.end_text import unsaved_text
from gpupanel.runs.following.status import RunStatus
from gpupanel.runs.trust.trusted import CodeNotTrustedError
from gpupanel.ui.questions import HoursChoice, Questions
from gpupanel.ui.run_control import RunControl
from gpupanel.ui.session import Session
from gpupanel.ui.workers.ending_worker import ProcessEnder
from gpupanel.ui.workers.launch_worker import Order, ResumeOrder, StartDoubt


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


class StartConfirmation(QObject):
    """Stands between a start that was refused and the same start again: nobody trusted its code.

    Or its hours have not begun: then it may also wait for them in the queue.
    """

    queueRequested = Signal(object)
    """An :data:`Order` is to wait in the queue."""

    def __init__(
        self, control: RunControl, questions: Questions, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._control = control
        self._questions = questions
        control.doubted.connect(self._ask)

    @Slot(object, object)
    def _ask(self, order: Order, doubt: StartDoubt) -> None:
        if self._is_wanted_now(order, doubt):
            self._control.start_anyway(order, doubt)
        else:
            self._control.give_up_start()

    def _is_wanted_now(self, order: Order, doubt: StartDoubt) -> bool:
        if isinstance(doubt, CodeNotTrustedError):
            return self._questions.about_code(doubt.code)
        choice = self._questions.about_hours(
            doubt.words,
            moment_text(doubt.begin_s, time.time()),
            resumes=isinstance(order, ResumeOrder),
        )
        if choice is HoursChoice.QUEUE:
            self.queueRequested.emit(order)
        return choice is HoursChoice.NOW


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
