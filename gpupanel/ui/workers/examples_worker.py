"""Reads examples of a run with what it made of them, by a process of its own."""

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QObject, Signal

from gpupanel.domain.shown_examples import ShownExamples, ShownRequest
from gpupanel.runs.shown_examples import SHOWN_COMMAND, shown_examples
from gpupanel.ui.workers.single_request import SingleRequestFacade


class ExamplesLoader(SingleRequestFacade):
    """Asks for one choice at a time; a new one ends the one before."""

    loaded = Signal(object, object)
    """The :class:`ExampleChoice` of the last request, and its :class:`ShownExamples`."""

    def __init__(
        self, command: Sequence[str] = SHOWN_COMMAND, parent: QObject | None = None
    ) -> None:
        super().__init__("shown-examples", parent)
        self._command = command

    def load(self, request: ShownRequest) -> None:
        """Read these; the ones asked for before will not come."""
        command = self._command
        self.carry_out(
            lambda dropped, _: shown_examples(request, dropped, command=command),
            partial(self.loaded.emit, request.choice),
            failed=lambda problems: ShownExamples(problems=problems),
        )
