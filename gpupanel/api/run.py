"""A run: what it reports, what it measured, and what can be asked of it."""

import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from gpupanel.domain.events import Event
from gpupanel.domain.outcome import Metrics, Outcome
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.profile import Profile
from gpupanel.domain.request import Request
from gpupanel.domain.run_layout import RunLayout
from gpupanel.runs.directory.disk_problems import disk_problem
from gpupanel.runs.directory.profile_file import read_run_profile
from gpupanel.runs.directory.requests import ask
from gpupanel.runs.following.follower import RunFollower
from gpupanel.runs.history.curves import CurveReader
from gpupanel.runs.history.run_summary import RunSummary
from gpupanel.runs.history.summaries import summarize_run
from gpupanel.runs.launcher import resume

_POLL_S: Final = 0.1


@dataclass(frozen=True, slots=True, eq=False)
class MetricCurve:
    """What a run measured of one quantity.

    Attributes:
        steps: Optimizer updates since the start of the run, ascending; shape [n].
        seconds: Time of the run at each of them, without pauses; shape [n].
        values: What was measured, all finite; shape [n].
    """

    steps: NDArray[np.float64]
    seconds: NDArray[np.float64]
    values: NDArray[np.float64]


class Run:
    """One run, by its directory. It is read anew with each question: the run may go on.

    Made by :func:`gpupanel.api.run`, :func:`gpupanel.api.open_run` and
    :func:`gpupanel.api.runs`.
    """

    def __init__(self, layout: RunLayout) -> None:
        self._layout = layout

    @override
    def __repr__(self) -> str:
        return f"Run({str(self.folder)!r})"

    @property
    def name(self) -> str:
        """The name of the run's directory."""
        return self._layout.name

    @property
    def folder(self) -> Path:
        """The run's directory with events, telemetry, logs, checkpoints and the model."""
        return self._layout.root

    @property
    def profile(self) -> Profile:
        """What it was started with.

        Raises:
            ProblemError: It cannot be read.
        """
        return read_run_profile(self._layout)

    @property
    def is_running(self) -> bool:
        """Whether it goes on."""
        return self._summary.is_running

    @property
    def outcome(self) -> Outcome | None:
        """How it ended; ``None`` while it goes on, and where that is not known."""
        return self._summary.outcome

    @property
    def problem(self) -> Problem | None:
        """What ended it, where it did not end well."""
        return self._summary.problem

    @property
    def last_metrics(self) -> Metrics:
        """What it reached over whole sets; while it goes on, in the last epoch that is done."""
        return self._summary.metrics

    @property
    def model(self) -> Path | None:
        """The trained model, a ``.keras`` file; ``None``: none was saved."""
        path = self._layout.model
        return path if path.is_file() else None

    def events(self, *, follow: bool = True) -> Iterator[Event]:
        """What it has reported, event by event, from its beginning.

        Args:
            follow: Wait for what it is going to report, until it has ended.

        Raises:
            ProblemError: Its directory cannot be read.
        """
        with closing(RunFollower(self._layout)) as follower:
            while True:
                # Before what is new is read: what was written until its end is read then.
                goes_on = follow and self.is_running
                try:
                    update = follower.poll()
                except OSError as error:
                    raise ProblemError(disk_problem(error, self.folder)) from error
                yield from update.events
                if update.has_more:
                    continue
                if not goes_on:
                    return
                if update.is_empty:
                    time.sleep(_POLL_S)

    def metrics(self) -> dict[str, MetricCurve]:
        """All that it has measured, by name: ``loss`` of steps, ``val_loss`` of epochs, and so on.

        Raises:
            ProblemError: Its directory cannot be read.
        """
        reader = CurveReader(self._layout)
        try:
            while reader.read() or reader.has_more:
                pass
        except OSError as error:
            raise ProblemError(disk_problem(error, self.folder)) from error
        return {
            name: MetricCurve(points.steps, points.times_s, points.values)
            for name, points in reader.points().items()
        }

    def wait(self, timeout_s: float | None = None) -> Outcome | None:
        """Wait until it has ended.

        Args:
            timeout_s: No longer than that.

        Returns:
            How it ended; ``None``: it goes on, or that is not known.
        """
        until_s = None if timeout_s is None else time.monotonic() + timeout_s
        while self.is_running and (until_s is None or time.monotonic() < until_s):
            time.sleep(_POLL_S)
        return self.outcome

    def stop(self) -> None:
        """Ask it to finish its step, save, and end; :meth:`wait` waits for that.

        Raises:
            ProblemError: Its directory cannot be written.
        """
        self._ask(Request.STOP)

    def suspend(self) -> None:
        """Ask it to save a checkpoint, end, and free its devices; :meth:`resume` goes on.

        Raises:
            ProblemError: Its directory cannot be written.
        """
        self._ask(Request.SUSPEND)

    def checkpoint(self) -> None:
        """Ask it to save a checkpoint after its next step, and go on.

        Raises:
            ProblemError: Its directory cannot be written.
        """
        self._ask(Request.CHECKPOINT)

    def resume(self, *, outside_hours: bool = False) -> None:
        """Start it again in its own directory: it goes on from its last checkpoint.

        Args:
            outside_hours: Also where its hours have not begun, which is refused otherwise.

        Raises:
            ProblemError: It runs, has come to its end, or has nothing to go on from.
        """
        resume(self._layout, outside_hours=outside_hours)

    def _ask(self, request: Request) -> None:
        if self.is_running:
            ask(self._layout, request)

    @property
    def _summary(self) -> RunSummary:
        return summarize_run(self._layout)
