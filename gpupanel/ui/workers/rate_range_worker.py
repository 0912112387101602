"""Has learning rates tried by a process of its own."""

from collections.abc import Sequence

from PySide6.QtCore import QObject, Signal

from gpupanel.domain.rate_range import RateRange, RateRangeRequest
from gpupanel.runs.rate_range import RATE_RANGE_COMMAND, try_learning_rates
from gpupanel.ui.workers.single_request import SingleRequestFacade


class RateFinder(SingleRequestFacade):
    """One range test at a time; a new request ends the one before.

    Whatever becomes of the process, the answer is a :class:`RateRange`: a death or an answer that
    cannot be read is a problem in it.
    """

    found = Signal(object)
    """The :class:`RateRange` of the last request."""

    def __init__(
        self, command: Sequence[str] = RATE_RANGE_COMMAND, parent: QObject | None = None
    ) -> None:
        super().__init__("rate range", parent)
        self._command = command

    def begin(self, request: RateRangeRequest, device: str) -> None:
        """Try that on the device with that key; ends a test that goes on."""
        command = self._command
        self.carry_out(
            lambda dropped, _: try_learning_rates(request, device, dropped, command),
            self.found.emit,
            failed=lambda problems: RateRange(problems=problems),
        )
