"""A trace of so many steps of the training loop."""

from typing import Final

import tensorflow as tf

from gpupanel.domain.trace import TraceRequest
from gpupanel.trainer.started_run import StartedRun
from gpupanel.trainer.tracing.profiler import Profiler

_MOST_LONG_CALLS: Final = 3
"""The steps of a call are decided before the call that comes before it: after so many they are as
few as was asked, or will not be, as several processes agree on their number."""


class StepTrace:
    """Looks between calls whether a trace is asked for, and counts the steps that it has.

    Args:
        run: Each of its processes traces itself.
    """

    def __init__(self, run: StartedRun) -> None:
        self._profiler = Profiler(run)
        self._request: TraceRequest | None = None
        self._mark: tf.profiler.experimental.Trace | None = None
        self._long_calls = 0
        self._first_step = self._steps = 0

    @property
    def most_steps(self) -> int | None:
        """How many steps a call should have at most; ``None``: nobody asks for a trace."""
        return None if self._request is None else self._request.steps

    @property
    def is_wanted(self) -> bool:
        """Whether a trace is asked for, or goes on."""
        return self._profiler.is_tracing or self._profiler.asked() is not None

    def begin_call(self, step: int, steps: int, left: int | None = None) -> None:
        """Start the profiler if that is asked for.

        Args:
            step: Updates done so far.
            steps: Of the call that comes.
            left: Until something else than steps follows, these included, where it is worth while
                to wait until then rather than trace fewer; ``None``: it is not.
        """
        if not self._profiler.is_tracing:
            self._request = self._profiler.asked()
            if self._request is None or self._is_too_long(steps, self._request):
                return
            if left is not None and left < self._request.steps:
                return
            self._first_step, self._steps, self._long_calls = step, 0, 0
            self._profiler.start()
        if self._profiler.is_tracing and self._mark is None:
            # TensorBoard's profiler knows a step by such an event ("_r": nothing stands above it).
            self._mark = tf.profiler.experimental.Trace("train", step_num=step, _r=1)
            self._mark.__enter__()

    def end_call(self, steps: int) -> None:
        """Count the steps of a call; stop the profiler after those that were asked for."""
        if self._mark is not None:
            self._mark.__exit__(None, None, None)
            self._mark = None
        if not self._profiler.is_tracing or self._request is None:
            return
        self._steps += steps
        if self._steps >= self._request.steps or self._profiler.is_withdrawn():
            self.finish()

    def finish(self) -> None:
        """Stop the profiler, if it runs: no step comes any more."""
        self._profiler.finish(self._first_step, self._steps or None)
        self._request = None

    def _is_too_long(self, steps: int, request: TraceRequest) -> bool:
        self._long_calls += 1
        return steps > request.steps and self._long_calls <= _MOST_LONG_CALLS
