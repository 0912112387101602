"""What an attempt of a run is made of: the one value that its parts are given."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from gpupanel.domain.events import Event
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.problem import ProblemError
from gpupanel.domain.request import Request
from gpupanel.domain.run_layout import RunLayout
from gpupanel.runs.directory.requests import ask, is_asked
from gpupanel.runs.directory.tails import LineTail
from gpupanel.runs.supervision.checked_run import CheckedRun
from gpupanel.runs.supervision.finding_watch import FindingWatch
from gpupanel.runs.supervision.gpu_claims import GpuClaims
from gpupanel.runs.supervision.gpu_loss import GpuLossWatch
from gpupanel.runs.supervision.hours_watch import HoursWatch
from gpupanel.runs.supervision.node_samples import NodeSamples
from gpupanel.runs.supervision.watchdogs import Patience

_MOST_URGENT_FIRST = (Request.END, Request.STOP, Request.SUSPEND)


class StopRequests:
    """Reads the requests that end a run: from its folder, and signals to the supervisor."""

    def __init__(self, layout: RunLayout) -> None:
        self._layout = layout
        self._is_signalled = False
        self._reach_trainers = True

    def signal_stop(self) -> None:
        """Somebody ends the supervisor, or the machine shuts down: let the run save first.

        May be called from a signal's handler: it touches no disk.
        """
        self._is_signalled = True

    def ending(self) -> Request | None:
        """The request that ends the run, the most urgent one where there are several."""
        wanted = _MOST_URGENT_FIRST if self._is_anything_asked() else ()
        asked = next((each for each in wanted if is_asked(self._layout, each)), None)
        if self._is_signalled and asked not in (Request.STOP, Request.END):
            self._write_stop()
            return Request.STOP
        return asked

    @property
    def reach_trainers(self) -> bool:
        """Whether trainers see :meth:`ending` for themselves: not where nothing can be written."""
        return self._reach_trainers

    def _is_anything_asked(self) -> bool:
        """Whether the folder has any file: asked several times a second, and mostly it has none."""
        try:
            with os.scandir(self._layout.requests) as files:
                return next(files, None) is not None
        except OSError:
            return True  # each request is asked for by itself

    def _write_stop(self) -> None:
        try:
            ask(self._layout, Request.STOP)
        except ProblemError:
            self._reach_trainers = False


@dataclass(frozen=True, slots=True)
class AttemptSetup:
    """What is started, how, and who hears of it.

    Attributes:
        run: What was checked of it is handed to its processes.
        plan: What to start.
        command: Of a trainer, without the run's directory.
        patience: How long the watchdogs wait.
        report: Writes an event of the supervisor's.
        append_line: Appends a line that a process on another node has reported.
        events: The events of the run, read up to where the attempt begins.
        requests: That end the run.
        gpus: Knows which GPUs of the run are lost.
        claims: Say to other users which GPUs the run holds.
        hours: Has the run suspended when its hours end.
        findings: Finds out why the training is slow, or learns badly; ``None``: the run trains
            nothing.
        node_samples: Takes what the devices of a cluster's nodes report.
    """

    run: CheckedRun
    plan: LaunchPlan
    command: Sequence[str]
    patience: Patience
    report: Callable[[Event], None]
    append_line: Callable[[str], None]
    events: LineTail
    requests: StopRequests
    gpus: GpuLossWatch
    claims: GpuClaims
    hours: HoursWatch
    findings: FindingWatch | None = None
    node_samples: NodeSamples = field(default_factory=NodeSamples)
