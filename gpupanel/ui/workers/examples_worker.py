"""Reads examples of a run with what it made of them, by a process of its own."""

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QObject, Signal, Slot
from typing_extensions import override

from gpupanel.domain.problem import Problem
from gpupanel.domain.shown_examples import ExampleChoice, ShownExamples, ShownRequest
from gpupanel.runs.shown_examples import SHOWN_COMMAND, shown_examples
from gpupanel.ui.workers.facade import WorkerFacade


class ExamplesLoader(WorkerFacade):
    """Asks for one choice at a time; a new one ends the one before."""

    loaded = Signal(object, object)
    """The :class:`ExampleChoice` of the last request, and its :class:`ShownExamples`."""
    busyChanged = Signal(bool)
    """Whether examples are being read."""

    def __init__(
        self, command: Sequence[str] = SHOWN_COMMAND, parent: QObject | None = None
    ) -> None:
        super().__init__("shown-examples", parent)
        self._command = command
        self._choice: ExampleChoice | None = None

    def load(self, request: ShownRequest) -> None:
        """Read these; the ones asked for before will not come."""
        was_busy = self.is_busy()
        self.drop()
        self._choice = request.choice
        work = partial(shown_examples, request, self.dropped, command=self._command)
        self.submit(work, self._take)
        if not was_busy:
            self.busyChanged.emit(True)

    @Slot()
    def cancel(self) -> None:
        """Read none any more."""
        if self.is_busy():
            self.drop()
            self.busyChanged.emit(False)

    @override
    def stop(self) -> None:
        """Read none any more, and leave no process behind."""
        self.cancel()
        super().stop()

    def _take(self, found: ShownExamples) -> None:
        self.busyChanged.emit(False)
        self.loaded.emit(self._choice, found)

    @Slot(object)
    @override
    def _on_failed(self, problems: tuple[Problem, ...]) -> None:
        self._take(ShownExamples(problems=problems))
        super()._on_failed(problems)
