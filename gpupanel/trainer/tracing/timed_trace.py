"""A trace of a process that counts no steps, for some seconds."""

from typing import Final

from gpupanel.trainer.started_run import StartedRun
from gpupanel.trainer.tracing.profiler import Profiler

_SECONDS: Final = 1.0
"""Where its asker did not say."""


class TimedTrace:
    """Looks now and then whether a trace is asked for, and when it has lasted long enough.

    Args:
        run: Of a worker that does what its coordinator says.
    """

    def __init__(self, run: StartedRun) -> None:
        self._profiler = Profiler(run)
        self._seconds = _SECONDS

    def look(self) -> None:
        """Start or stop the profiler if it is time to."""
        if not self._profiler.is_tracing:
            request = self._profiler.asked()
            if request is not None:
                self._seconds = request.seconds or _SECONDS
                self._profiler.start()
        elif self._profiler.seconds >= self._seconds or self._profiler.is_withdrawn():
            self._profiler.finish()
