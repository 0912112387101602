"""Requests that end a run: from its folder, and from signals to the supervisor."""

from gpupanel.domain.problem import ProblemError
from gpupanel.domain.request import Request
from gpupanel.domain.run_layout import RunLayout
from gpupanel.runs.directory.requests import ask, is_asked

_MOST_URGENT_FIRST = (Request.END, Request.STOP, Request.SUSPEND)


class StopRequests:
    """Reads the requests of a run, and passes on the signal that ends the supervisor."""

    def __init__(self, layout: RunLayout) -> None:
        self._layout = layout
        self._is_signalled = False
        self._reached = True

    def signal_stop(self) -> None:
        """Somebody ends the supervisor, or the machine shuts down: let the run save first.

        May be called from a signal's handler: it touches no disk.
        """
        self._is_signalled = True

    def ending(self) -> Request | None:
        """The request that ends the run, the one that wins where there are several."""
        asked = next((each for each in _MOST_URGENT_FIRST if is_asked(self._layout, each)), None)
        if self._is_signalled and asked not in (Request.STOP, Request.END):
            self._pass_on()
            return Request.STOP
        return asked

    @property
    def reach_trainers(self) -> bool:
        """Whether trainers see :meth:`ending` for themselves: not where nothing can be written."""
        return self._reached

    def _pass_on(self) -> None:
        try:
            ask(self._layout, Request.STOP)
        except ProblemError:
            self._reached = False
