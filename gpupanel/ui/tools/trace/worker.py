"""Has a running training traced, lists its traces, and reads one."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from threading import Event

from PySide6.QtCore import QObject, Signal

from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.run_layout import RunLayout
from gpupanel.domain.trace import TraceRecord
from gpupanel.files.plan_file import plan_if_readable
from gpupanel.files.trace_files import trace_records
from gpupanel.runs.tools.tracing.tracing import Trace, processes_of, read_trace, take_trace
from gpupanel.ui.workers.single_request import Report, SingleRequestFacade

_Work = Callable[[Event, Report], Trace]


@dataclass(frozen=True, slots=True)
class RunTraces:
    """What there is of a run.

    Attributes:
        records: Its traces by their number.
        processes: Names of its workers by their place; empty where one process does all.
    """

    layout: RunLayout
    records: Mapping[int, TraceRecord]
    processes: Mapping[int, str]


class RunTracer(SingleRequestFacade):
    """One request at a time; a trace that is cancelled is withdrawn from the run.

    Whatever becomes of it, the answer is a :class:`Trace`: what went wrong is a problem in it.
    """

    traced = Signal(object)
    """The :class:`Trace` of the last request."""
    listed = Signal(object)
    """The :class:`RunTraces` of the run that was asked about; after each trace, too."""
    progressed = Signal(object)
    """What is waited for: a :class:`TraceStage`."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__("trace of a run", parent)

    def take(self, layout: RunLayout, steps: int, process: int | None) -> None:
        """Trace the next steps of a run that goes on.

        Args:
            layout: The run.
            steps: How many.
            process: Whose: its place in the plan's gang; ``None``: the first that computes.
        """

        def work(dropped: Event, report: Report) -> Trace:
            try:
                return take_trace(layout, steps, process, cancelled=dropped, on_progress=report)
            except ProblemError as error:
                return _without(layout, error.problems)

        self._answer(layout, work)

    def read(self, layout: RunLayout, number: int) -> None:
        """Read a trace that was taken before.

        Args:
            layout: The run, which may have ended.
            number: Of the trace.
        """
        self._answer(layout, lambda dropped, _: read_trace(layout, number, cancelled=dropped))

    def list(self, layout: RunLayout) -> None:
        """Find out which traces there are of a run; what is being done is dropped."""
        self.carry_out(lambda _dropped, _report: _traces_of(layout), self.listed.emit)

    def _answer(self, layout: RunLayout, work: _Work) -> None:
        """Emit what comes of it, and then the traces that there are afterwards."""

        def answer(dropped: Event, report: Report) -> tuple[Trace, RunTraces | None]:
            return work(dropped, report), _traces_of(layout)

        def emit(found: tuple[Trace, RunTraces | None]) -> None:
            trace, traces = found
            self.traced.emit(trace)
            if traces is not None:
                self.listed.emit(traces)

        self.carry_out(
            answer,
            emit,
            failed=lambda problems: (_without(layout, problems), None),
            report=self.progressed.emit,
        )


def _traces_of(layout: RunLayout) -> RunTraces:
    return RunTraces(layout, trace_records(layout), processes_of(plan_if_readable(layout)))


def _without(layout: RunLayout, problems: tuple[Problem, ...]) -> Trace:
    return Trace(layout, problems=problems)
