"""Asks whether runs can be kept in their folder, off the GUI thread: a disk may never answer."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Qt, QTimer, Signal, Slot
from PySide6.QtWidgets import QApplication
from typing_extensions import override

from gpupanel.domain.problem import Problem
from gpupanel.runs.folder_examination import PATIENCE_S, silent_disk
from gpupanel.ui.workers.facade import WorkerFacade
from gpupanel.ui.workers.worker_thread import Worker
from gpupanel.ui.workers.workplace import workplace

AGAIN_MS = 5_000
"""Somebody mends it meanwhile; a folder where nothing is wrong is not asked again and again."""


class FolderWatch(WorkerFacade):
    """Says before a start what keeps runs out of their folder.

    Asked when it begins, after each start and end of a run, and when a person comes back to the
    window; every few seconds as long as something is wrong.

    Args:
        folder: Of runs.
        ask: Why nothing can be kept there, or ``None``; the machine that is worked on is asked
            when left out.
        parent: Owns the facade.
        patience_s: How long the disk may take to answer before it is said that it does not.
    """

    found = Signal(object)
    """The :class:`Problem`; ``None``: runs can be kept there."""

    def __init__(
        self,
        folder: Path,
        ask: Callable[[Path], Problem | None] | None = None,
        parent: QObject | None = None,
        patience_s: float = PATIENCE_S,
    ) -> None:
        super().__init__("folder of runs", parent, Worker(may_be_cut_short=True))
        self._folder, self._patience_s = folder, patience_s
        self._ask = ask or workplace().folder_problem
        self._again = QTimer(self, singleShot=True, interval=AGAIN_MS)
        self._again.timeout.connect(self.look)
        self._patience = QTimer(self, singleShot=True, interval=round(patience_s * 1000.0))
        self._patience.timeout.connect(self._lose_patience)
        application = QApplication.instance()
        if isinstance(application, QApplication):
            application.applicationStateChanged.connect(self._look_if_active)

    @Slot()
    def look(self) -> None:
        """Ask now, unless an answer is waited for; ``found`` follows."""
        if not (self.is_busy() or self._thread.is_ending):
            self._again.stop()
            self._patience.start()
            self.submit(partial(self._ask, self._folder), self._take, self._take_failure)

    @override
    def stop(self) -> None:
        """Ask no more."""
        self._again.stop()
        self._patience.stop()
        self.drop()
        super().stop()

    def _take(self, problem: Problem | None) -> None:
        self._patience.stop()
        if problem is not None:
            self._again.start()
        self.found.emit(problem)

    def _take_failure(self, problems: tuple[Problem, ...]) -> None:
        self._take(problems[0])

    @Slot()
    def _lose_patience(self) -> None:
        self.found.emit(silent_disk(self._folder, self._patience_s))

    @Slot(Qt.ApplicationState)
    def _look_if_active(self, state: Qt.ApplicationState) -> None:
        if state is Qt.ApplicationState.ApplicationActive:
            self.look()
