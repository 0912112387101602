"""What of a run's events stands in its report, read once from the beginning, in bounded memory."""

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from gpupanel.domain import events
from gpupanel.domain.problem import Problem, Severity
from gpupanel.domain.run_layout import RunLayout
from gpupanel.runs.following.event_tail import EventTail, Part
from gpupanel.runs.following.steps import StepBatch
from gpupanel.runs.following.unread_problems import unread_problem
from gpupanel.runs.history.curves import CurveRecorder, MetricPoints

LONGEST_S: Final = 60.0
"""Reading takes so long at most: a million steps take seconds, what a stranger wrote has no end."""
_PORTION_S: Final = 5.0
MOST_POINTS: Final = 800
"""The most points of a curve: as many as a printed page shows."""
MOST_PROBLEMS: Final = 100
_MOST_RATES: Final = 2 * MOST_POINTS
_MOST_STEPS_ONE_BY_ONE: Final = 50_000
"""Later ones are read in bulk, with the learning rate of the first and the last of each portion."""


class ReportCancelledError(Exception):
    """Nobody wants the report any more."""


@dataclass
class RunEvents:
    """What a run reported.

    Attributes:
        curves: Of what was measured at all, by the names of metrics.
        rates: Step and learning rate, ascending.
        problems: At most :data:`MOST_PROBLEMS`, in their order, each once.
        more_problems: How many others there were.
        findings: What was found about the training, the last of each code and device.
        restarts: How often the run was started again.
        devices: The last answer of TensorFlow in the process that leads.
        data: Sizes of its sets; ``None``: it came to none.
        parameters: Of the model, all and those that are trained.
        fine_tuning: When more layers began to learn, and which.
        shares: As they were chosen last by measuring, with what was measured.
        evaluation: What an evaluation found.
        predicted: Examples that were predicted.
        epochs: Done.
    """

    curves: Mapping[str, MetricPoints] = field(default_factory=dict)
    rates: list[tuple[int, float]] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    more_problems: int = 0
    findings: list[events.FindingReported] = field(default_factory=list)
    restarts: int = 0
    devices: events.DevicesReady | None = None
    data: events.DataReady | None = None
    parameters: events.ModelReady | None = None
    fine_tuning: events.FineTuningBegan | None = None
    shares: events.SharesChosen | None = None
    evaluation: events.EvaluationDone | None = None
    predicted: int | None = None
    epochs: int = 0


def read_events(
    layout: RunLayout,
    is_cancelled: Callable[[], bool] = lambda: False,
    longest_s: float = LONGEST_S,
) -> RunEvents:
    """Read the events of a run as far as they go now.

    Args:
        layout: The run.
        is_cancelled: Asked now and then.
        longest_s: What was not read by then is left out, and a problem says so.

    Raises:
        OSError: They cannot be read.
        ReportCancelledError: So it was asked.
    """
    reader = _Reader()
    tail = EventTail(layout.events)
    until_s = time.monotonic() + longest_s
    while True:
        if is_cancelled():
            raise ReportCancelledError
        parts = tail.read()
        # What was read at last counts, unless that takes long, too.
        last_s = max(until_s, time.monotonic() + _PORTION_S)
        for part in parts:
            reader.take(part)
            if is_cancelled():
                raise ReportCancelledError
            if time.monotonic() > last_s:
                return reader.result(_TOO_LONG)
        if not tail.has_more:
            return reader.result()
        if time.monotonic() > until_s:
            return reader.result(_TOO_LONG)


class _Reader:
    def __init__(self) -> None:
        self._found = RunEvents()
        self._curves = CurveRecorder(MOST_POINTS)
        self._unread = 0
        self._left = _MOST_STEPS_ONE_BY_ONE

    def take(self, part: Part) -> None:
        self._curves.add((part,))
        found = self._found
        match part:
            case StepBatch():
                self._take_rates(part)
            case events.StepsDone():
                self._take_rate(part)
            case events.EpochDone():
                found.epochs = part.epoch
            case events.TrainingResumed():
                self._found.rates = [each for each in found.rates if each[0] <= part.step]
            case events.RunRestarted():
                found.restarts += 1
                self._take_problem(part.problem)
            case events.ProblemReported():
                self._take_problem(part.problem)
            case events.FindingReported():
                others = [each for each in found.findings if each.identity != part.identity]
                found.findings = [*others, part][-MOST_PROBLEMS:]
            case events.TrainingEnded() | events.RunEnded():
                self._take_problem(part.problem)
            case events.DevicesReady() if part.process == 0:
                found.devices = part
            case events.DataReady():
                found.data = part
            case events.ModelReady():
                found.parameters = part
            case events.FineTuningBegan():
                found.fine_tuning = found.fine_tuning or part
            case events.SharesChosen():
                found.shares = part
            case events.EvaluationDone():
                found.evaluation = part
            case events.PredictionsSaved():
                found.predicted = part.examples
            case events.UnknownEvent():
                self._unread += 1
            case _:
                pass

    def result(self, *more: Problem) -> RunEvents:
        self._found.curves = self._curves.points()
        self._found.problems += [each for each in (*more, unread_problem(self._unread)) if each]
        return self._found

    def _take_problem(self, problem: Problem | None) -> None:
        if problem is None or problem in self._found.problems:
            return
        if len(self._found.problems) < MOST_PROBLEMS:
            self._found.problems.append(problem)
        else:
            self._found.more_problems += 1

    def _take_rates(self, steps: StepBatch) -> None:
        one_by_one = len(steps) <= self._left
        if one_by_one:
            self._left -= len(steps)
        for step in steps if one_by_one else (steps.first, steps.last):
            self._take_rate(step)

    def _take_rate(self, step: events.StepsDone) -> None:
        rate, rates = step.learning_rate, self._found.rates
        if rate is None or not math.isfinite(rate):
            return
        if rates and step.step <= rates[-1][0]:
            return  # done again after a resumption that was not reported
        rates.append((step.step, rate))
        if len(rates) > _MOST_RATES:
            self._found.rates = [*rates[:-1:2], rates[-1]]


_TOO_LONG = Problem(
    code="events_too_long",
    severity=Severity.WARNING,
    message="Reading all events of the run would take too long: curves and problems here are those "
    "of its beginning.",
    hint="Outcome and metrics at the top are those of its end.",
)
