"""What a run measured over all its steps, each step once: the last word on it counts."""

from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import nan
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from gpupanel.domain.events import (
    MOST_FIGURES,
    DataReady,
    EpochDone,
    Event,
    FiguresReported,
    FitBegan,
    ScriptStarted,
    StepsDone,
    TrainingResumed,
)
from gpupanel.domain.run_layout import RunLayout
from gpupanel.domain.steps_line import STEP_METRICS
from gpupanel.runs.directory.tails import LineTail
from gpupanel.runs.following.event_tail import decode_parts
from gpupanel.runs.following.figures import FigureBatch
from gpupanel.runs.following.run_clock import RunClock
from gpupanel.runs.following.steps import StepBatch
from gpupanel.runs.history.metrics import EPOCH_METRICS, METRICS, VALIDATED

Floats: TypeAlias = NDArray[np.float64]

_FIRST_CAPACITY = 1_024
_WAITING = "waiting_for_data"
_STEP, _TIME, _REPORTS, _FIRST_VALUE = 0, 1, 2, 3
"""Rows of a table: how many reports a point is the mean of, and then those of the metrics."""


@dataclass(frozen=True, slots=True, eq=False)
class MetricPoints:
    """One curve; nobody writes to its arrays.

    Attributes:
        steps: Optimizer updates since the start of the run, ascending, one dimension.
        times_s: Time of the run at each of them, ascending: it stands still between the end of a
            run and its resumption.
        values: What was measured, finite.
    """

    steps: Floats
    times_s: Floats
    values: Floats

    def __len__(self) -> int:
        return int(self.values.size)

    def last(self) -> float | None:
        """The newest value; ``None`` where there is none."""
        return float(self.values[-1]) if len(self) else None

    def best(self, *, more_is_better: bool) -> float | None:
        """The best value; ``None`` where there is none."""
        if not len(self):
            return None
        return float(self.values.max() if more_is_better else self.values.min())


class CurveRecorder:
    """Adds up a run's events to curves.

    A run that was resumed does again what came after its last checkpoint: what was measured
    there before is forgotten as soon as it is known to be done again.

    Args:
        most_points: The most points a curve may have. When there would be more, those of equal
            spans of steps become their mean, as if the run had reported less often. ``None``:
            all points are kept.
    """

    def __init__(self, most_points: int | None = None) -> None:
        self._clock = RunClock()
        self._steps = _Table(len(STEP_METRICS), most_points)
        self._epochs = _Table(len(EPOCH_METRICS), most_points)
        self._figures: dict[str, _Table] = {}
        self._most_points = most_points
        self._steps_per_epoch: int | None = None
        self._is_program = self._has_fit = False

    @property
    def steps_per_epoch(self) -> int | None:
        """How long an epoch is; ``None`` where the run did not report it."""
        return self._steps_per_epoch

    @property
    def step(self) -> int:
        """Updates done, as far as is known; 0 before the first."""
        tables = (self._steps, self._epochs, *self._figures.values())
        return int(max(table.last_step for table in tables))

    def add(self, parts: Iterable[Event | StepBatch | FigureBatch]) -> None:
        """Take in what the run reported, in the order in which it was written."""
        for part in parts:
            match part:
                case StepBatch():
                    self._add_steps(part)
                case StepsDone():
                    self._add_steps(StepBatch.of((part,)))
                case FigureBatch():
                    self._add_figures(part)
                case FiguresReported():
                    self._add_figures(FigureBatch.of((part,)))
                case _:
                    self._add_other(part)

    def points(self) -> dict[str, MetricPoints]:
        """The curves so far by the names of their metrics, of what has been measured at all.

        Figures of a program of the person's own have the names that it gives them, the first
        :data:`~gpupanel.domain.events.MOST_FIGURES` of them.
        """
        own = (each for name, table in self._figures.items() for each in table.points((name,)))
        found = (*self._steps.points(STEP_METRICS), *self._epochs.points(EPOCH_METRICS), *own)
        return {name: points for name, points in found if len(points)}

    def _add_other(self, event: Event) -> None:
        time_s = self._clock.see(event)
        match event:
            case DataReady() if event.steps_per_epoch > 0:
                self._steps_per_epoch = event.steps_per_epoch
            case ScriptStarted():
                self._is_program = True
            case FitBegan():
                self._has_fit = True
                self._steps_per_epoch = event.steps_per_epoch or self._steps_per_epoch
            case TrainingResumed():
                for table in (self._steps, self._epochs, *self._figures.values()):
                    table.cut(event.step + 1)
            case EpochDone():
                values = [getattr(event.metrics, name) for name in EPOCH_METRICS]
                moment = self._clock.seconds(time_s)
                rows = np.array([event.step, moment, 1, *values], dtype=np.float64)
                self._epochs.append(rows[:, np.newaxis])
                for name, value in event.metrics.own.items():
                    own = np.array([event.step, moment, 1, value], dtype=np.float64)
                    self._add_own(name, own[:, np.newaxis])
            case _:
                pass

    def _add_figures(self, batch: FigureBatch) -> None:
        moments = self._clock.moments(self._clock.see_steps(batch))
        said = np.asarray(batch.step)
        steps = np.where(np.isnan(said), self.step, said)
        for reported, (places, values) in batch.figures.items():
            at = np.asarray(places)
            rows = np.stack((steps[at], moments[at], np.ones(at.size), np.asarray(values)))
            self._add_own(self._name_of(reported), rows)

    def _add_own(self, name: str, rows: Floats) -> None:
        """Add what is measured as a person's own code or program calls it."""
        if name not in self._figures:
            if len(self._figures) == MOST_FIGURES:
                return
            self._figures[name] = _Table(1, self._most_points)
        self._figures[name].append(rows)

    def _name_of(self, reported: str) -> str:
        """What a figure is called here, where it may be called as a metric.

        Nobody knows whether a loop of the person's own means the same by it: percent, or a part of
        1. What Keras's fit gives with its steps is the twin of what it validates.
        """
        twin = f"{VALIDATED}{reported.removeprefix(VALIDATED)}"
        is_taken = reported in METRICS or (not self._has_fit and twin in METRICS)
        return f"{reported} (reported)" if is_taken else reported

    def _add_steps(self, batch: StepBatch) -> None:
        times_s = self._clock.see_steps(batch)
        values = dict(batch.metrics)
        if self._is_program:
            # It reports no waiting: its steps have no number for that.
            values[_WAITING] = array("d", [nan]) * len(batch)
        rows = np.stack(
            (
                np.asarray(batch.step, dtype=np.float64),
                self._clock.moments(times_s),
                np.ones(len(batch)),
                *values.values(),
            )
        )
        # An epoch that ended with the first of these steps stands until it is reported anew.
        self._epochs.cut(float(rows[_STEP].min()) + 1)
        self._steps.append(rows)


class _Table:
    """Rows of numbers that grow to the right, in order of the step.

    What was handed out is never written to again: it is replaced where something is taken back.
    """

    def __init__(self, values: int, most_points: int | None) -> None:
        self._columns = np.empty((_FIRST_VALUE + values, _FIRST_CAPACITY))
        self._length = 0
        self._most = most_points
        self._span = 1.0

    @property
    def last_step(self) -> float:
        return float(self._columns[_STEP, self._length - 1]) if self._length else 0.0

    def cut(self, step: float) -> None:
        """Forget everything from that step on."""
        known = self._columns[_STEP, : self._length]
        length = int(np.searchsorted(known, step))
        if length < self._length:
            self._columns, self._length = self._columns.copy(), length

    def append(self, rows: Floats) -> None:
        """Add what was measured; where a step is reported again, what was known from it on goes."""
        if rows.shape[1] > 1:
            later = np.minimum.accumulate(rows[_STEP, ::-1])[::-1]
            rows = rows[:, np.append(rows[_STEP, :-1] < later[1:], True)]
        self.cut(float(rows[_STEP, 0]))
        self._keep_time_rising(rows[_TIME])
        end = self._length + rows.shape[1]
        if end > self._columns.shape[1]:
            grown = np.empty((self._columns.shape[0], 2 * end))
            grown[:, : self._length] = self._columns[:, : self._length]
            self._columns = grown
        self._columns[:, self._length : end] = rows
        self._length = end
        if self._most is not None and self._length > self._most:
            self._thin(self._most // 2)

    def points(self, names: Iterable[str]) -> Iterator[tuple[str, MetricPoints]]:
        known = self._columns[:, : self._length]
        for row, name in enumerate(names, start=_FIRST_VALUE):
            finite = np.isfinite(known[row])
            columns = known if finite.all() else known[:, finite]
            yield name, MetricPoints(columns[_STEP], columns[_TIME], columns[row])

    def _keep_time_rising(self, times: Floats) -> None:
        """A clock that was set back, or a moment before the run's beginning, moves no curve back.

        Args:
            times: Changed in place; not-a-number where the clock does not know it.
        """
        least = float(self._columns[_TIME, self._length - 1]) if self._length else 0.0
        times[np.isnan(times)] = least
        np.maximum.accumulate(np.maximum(times, least), out=times)

    def _thin(self, count: int) -> None:
        """Put the mean of each span of steps in the place of its points, for so many of them.

        The spans only grow, and are as long at the run's beginning as at its end.
        """
        known = self._columns[:, : self._length]
        while (starts := self._starts_of_spans(known[_STEP])).size > count:
            self._span *= 2.0
        ends = np.append(starts[1:], self._length) - 1
        reports, values = known[_REPORTS], known[_FIRST_VALUE:]
        # Not each epoch is validated: a mean is of what was measured.
        weights = np.where(np.isnan(values), 0.0, reports)
        sums = np.add.reduceat(np.where(weights, values, 0.0) * weights, starts, axis=1)
        counted = np.add.reduceat(weights, starts, axis=1)
        means = np.divide(sums, counted, out=np.full_like(sums, np.nan), where=counted > 0.0)
        # A mean stands where the last of its points stood, as a report of several steps does.
        self._columns = np.vstack((known[:_REPORTS, ends], np.add.reduceat(reports, starts), means))
        self._length = starts.size

    def _starts_of_spans(self, steps: Floats) -> NDArray[np.intp]:
        spans = np.ceil(steps / self._span)
        return np.flatnonzero(np.diff(spans, prepend=-1.0))


class CurveReader:
    """Follows the events of one run from its beginning, whether it goes on or ended long ago.

    Args:
        layout: The run.
        most_points: As :class:`CurveRecorder` takes it.
    """

    def __init__(self, layout: RunLayout, most_points: int | None = None) -> None:
        self.layout = layout
        self._tail = LineTail(layout.events)
        self._recorder = CurveRecorder(most_points)

    @property
    def has_more(self) -> bool:
        """Whether more waits than one read takes."""
        return self._tail.has_more

    @property
    def step(self) -> int:
        """Updates done, as far as was read."""
        return self._recorder.step

    @property
    def steps_per_epoch(self) -> int | None:
        """See :attr:`CurveRecorder.steps_per_epoch`."""
        return self._recorder.steps_per_epoch

    def read(self) -> bool:
        """Take in what was written since the last read, at most 1 MiB of it.

        Returns:
            Whether there was anything.

        Raises:
            OSError: The directory cannot be read.
        """
        block = self._tail.read_block()
        self._recorder.add(decode_parts(block))
        return bool(block)

    def points(self) -> dict[str, MetricPoints]:
        """The curves, as far as they were read."""
        return self._recorder.points()
