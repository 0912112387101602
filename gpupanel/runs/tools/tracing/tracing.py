"""Has a training traced by TensorFlow's profiler while it goes on, and reads what came of it."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from importlib.util import find_spec
from pathlib import Path
from threading import Event
from typing import Final

from gpupanel.domain.child_command import python_module_command
from gpupanel.domain.plan import LaunchPlan, ProcessRole
from gpupanel.domain.problem import Problem, ProblemError, Severity
from gpupanel.domain.request import Request
from gpupanel.domain.run_layout import RunLayout
from gpupanel.domain.trace import (
    TraceAnswer,
    TracedDevice,
    TraceRecord,
    TraceRequest,
)
from gpupanel.files.guarded_files import make_folder, remove, status
from gpupanel.files.plan_file import plan_if_readable
from gpupanel.files.trace_files import trace_records
from gpupanel.files.whole_files import write_whole
from gpupanel.runs.directory.disk_problems import disk_problem
from gpupanel.runs.history.run_summary import RunSummary
from gpupanel.runs.history.summaries import summarize_run
from gpupanel.runs.questions.question import OnProgress, Question, ignore_progress
from gpupanel.runs.tools.tracing.untraced_gpus import gpus_not_traced

_READER: Final = "gpupanel.trainer.tracing"
"""Is given the run's folder and that of the trace in it, and answers on standard output."""
_POLL_S: Final = 0.1
_SUMMARY_INTERVAL_S: Final = 1.0
_SHORTEST_S, _LONGEST_S = 0.5, 600.0
_what_it_says: Final = Question[TraceRequest, TraceAnswer](
    code="trace",
    process="the process that reads the trace",
    work="reading the trace",
    command=(),
    answer=TraceAnswer,
    limit_s=300.0,
    slow_hint="Take one of fewer steps.",
    death_hint="The trace may be too large for this machine's memory: take one of fewer steps.",
    field="",
)


class TraceStage(StrEnum):
    """What a trace that was asked for waits for."""

    TRACING = "Waiting for the steps, and tracing them…"
    READING = "Reading the trace…"


@dataclass(frozen=True, slots=True)
class Trace:
    """A trace of a run, and what it says.

    Attributes:
        folder: Where TensorBoard's profiler finds all of it.
        plan: Of the run, which names devices and processes.
        notes: What the profiler could not trace, in its own words.
        problems: Why there is none, or why it cannot be read.
        warning: What it lacks: GPUs that were not traced.
    """

    layout: RunLayout
    plan: LaunchPlan | None = None
    folder: Path | None = None
    record: TraceRecord | None = None
    devices: tuple[TracedDevice, ...] = ()
    notes: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = field(default=())
    warning: Problem | None = None

    @property
    def processes(self) -> dict[int, str]:
        """Names of the run's processes by their place; empty where there is one."""
        return processes_of(self.plan)


@dataclass(frozen=True, slots=True)
class RunTraces:
    """What there is of a run.

    Attributes:
        records: Its traces by their number.
        processes: Names of its workers by their place; empty where one process does all.
        trace: The one that was asked for.
    """

    layout: RunLayout
    records: Mapping[int, TraceRecord] = field(default_factory=dict)
    processes: Mapping[int, str] = field(default_factory=dict)
    trace: Trace | None = None


def traces_of(layout: RunLayout, trace: Trace | None = None) -> RunTraces:
    """Which traces there are of a run now, beside one that was asked for."""
    plan = plan_if_readable(layout)
    return RunTraces(layout, trace_records(layout), processes_of(plan), trace)


def processes_of(plan: LaunchPlan | None) -> dict[int, str]:
    """The workers of a run, by their place in its gang; empty where one process does all."""
    if plan is None:
        return {}
    return {
        place: process.name
        for place, process in enumerate(plan.processes)
        if process.role is ProcessRole.WORKER
    }


def has_profiler_page() -> bool:
    """Whether TensorBoard can show a whole trace here: its profiler is a package of its own."""
    return any(find_spec(name) is not None for name in ("tensorboard_plugin_profile", "xprof"))


def take_trace(
    layout: RunLayout,
    steps: int,
    process: int | None = None,
    *,
    cancelled: Event | None = None,
    on_progress: OnProgress = ignore_progress,
) -> Trace:
    """Have the next steps of a training traced, wait for that, and read it.

    The training goes on, a little slower meanwhile. Steps before training begins are waited for.

    Args:
        layout: A run that goes on.
        steps: How many.
        process: Whose: its place in the plan's gang; ``None``: the first that computes.
        cancelled: Set, by any thread, when it is not wanted any more: nothing is traced then.
        on_progress: Called with what it waits for: a :class:`TraceStage`.

    Returns:
        What it says; or the problems, where it could not be read.

    Raises:
        ProblemError: The run cannot be traced: it trains nothing, has ended, has no such process,
            or is being traced; or it ended meanwhile.
    """
    plan = plan_if_readable(layout)
    request = _request(layout, plan, steps, process)
    before = set(trace_records(layout))
    _ask(layout, request)
    on_progress(TraceStage.TRACING)
    number = _awaited(layout, before, cancelled)
    if number is None:
        return Trace(layout, plan)
    on_progress(TraceStage.READING)
    return read_trace(layout, number, cancelled=cancelled)


def read_trace(layout: RunLayout, number: int, *, cancelled: Event | None = None) -> Trace:
    """What a trace of a run says.

    Args:
        layout: The run, which may have ended.
        number: Of the trace.
        cancelled: Set, by any thread, when the answer is not wanted any more.
    """
    plan, record = plan_if_readable(layout), trace_records(layout).get(number)
    folder = layout.trace(number)
    if record is None:
        return Trace(layout, plan, problems=(_gone(layout),))
    if record.problem is not None:
        return Trace(layout, plan, folder, record, problems=(record.problem,))
    # As arguments, which hold any path: JSON holds none that is no UTF-8.
    command = python_module_command(_READER, str(layout.root), str(folder))
    answer = replace(_what_it_says, command=command).answered(None, cancelled=cancelled)
    if isinstance(answer, Problem):
        return Trace(layout, plan, folder, record, problems=(answer,))
    warning = None if answer.problems else gpus_not_traced(plan, record, answer.devices)
    return Trace(
        layout, plan, folder, record, answer.devices, answer.notes, answer.problems, warning
    )


def _request(
    layout: RunLayout, plan: LaunchPlan | None, steps: int, process: int | None
) -> TraceRequest:
    summary = summarize_run(layout)
    if not summary.is_running:
        raise ProblemError(_ended(layout))
    if summary.task != "train" or plan is None:
        raise ProblemError(_without_steps(layout))
    names = processes_of(plan) or {0: plan.gang[0].name}
    place = next(iter(names)) if process is None else process
    if place not in names:
        raise ProblemError(_no_such_process(layout, names))
    is_served = plan.gang[0].role is ProcessRole.COORDINATOR
    seconds = _seconds(steps, plan, summary) if is_served else None
    return TraceRequest(steps=steps, process=place, seconds=seconds)


def _seconds(steps: int, plan: LaunchPlan, summary: RunSummary) -> float:
    """About how long so many steps take."""
    speed = summary.examples_per_second or 0.0
    seconds = steps * plan.global_batch_size / speed if speed > 0.0 else 1.0
    return min(max(seconds, _SHORTEST_S), _LONGEST_S)


def _ask(layout: RunLayout, request: TraceRequest) -> None:
    path = layout.requests / Request.TRACE
    try:
        make_folder(layout.requests, layout.root)
        if status(path, layout.root) is not None:
            raise ProblemError(_goes_on(layout))
        write_whole(path, request.model_dump_json(), private=True, within=layout.root)
    except OSError as error:
        raise ProblemError(disk_problem(error, layout.requests)) from error


def _awaited(layout: RunLayout, before: set[int], cancelled: Event | None) -> int | None:
    """The number of the trace once it is whole; ``None``: it was cancelled.

    Raises:
        ProblemError: There will be none.
    """
    try:
        seen_s = time.monotonic()
        while cancelled is None or not cancelled.is_set():
            # In this order: the record is written before the request is withdrawn.
            is_asked = _is_asked(layout)
            new = sorted(set(trace_records(layout)) - before)
            if new and not is_asked:
                return new[-1]
            if not is_asked:
                raise ProblemError(_not_written(layout))
            if time.monotonic() - seen_s > _SUMMARY_INTERVAL_S:
                seen_s = time.monotonic()
                if not summarize_run(layout, with_since=False).is_running:
                    raise ProblemError(_ended_meanwhile(layout))
            time.sleep(_POLL_S)
    finally:
        _withdraw(layout)
    return None


def _is_asked(layout: RunLayout) -> bool:
    try:
        return status(layout.requests / Request.TRACE, layout.root) is not None
    except OSError:
        return False


def _withdraw(layout: RunLayout) -> None:
    try:
        remove(layout.requests / Request.TRACE, layout.root)
    except OSError:
        return  # its folder is gone, and the request with it


def _ended(layout: RunLayout) -> Problem:
    return Problem(
        code="trace_of_ended_run",
        message=f"{layout.name} does not run: only steps that are done now can be traced.",
        hint="Start or resume it, then take the trace.",
    )


def _ended_meanwhile(layout: RunLayout) -> Problem:
    return Problem(
        code="trace_run_ended",
        message=f"{layout.name} ended before its steps were traced.",
        hint="Resume it, or train for longer, and take the trace earlier.",
    )


def _without_steps(layout: RunLayout) -> Problem:
    return Problem(
        code="trace_without_steps",
        message=f"{layout.name} does no training steps that could be traced.",
        hint="Only runs whose task is train are traced.",
    )


def _no_such_process(layout: RunLayout, names: dict[int, str]) -> Problem:
    return Problem(
        code="trace_without_process",
        message=f"{layout.name} has no such process to trace.",
        hint=f"It has {', '.join(names.values())}.",
    )


def _goes_on(layout: RunLayout) -> Problem:
    return Problem(
        code="trace_goes_on",
        message=f"A trace of {layout.name} was asked for already and is not finished.",
        hint="Wait until it is: steps before the first one take some time.",
    )


def _not_written(layout: RunLayout) -> Problem:
    return Problem(
        code="trace_not_written",
        message=f"The trace of {layout.name} could not be written.",
        hint="Is its disk full, or its folder read-only? The training continues.",
    )


def _gone(layout: RunLayout) -> Problem:
    return Problem(
        code="trace_gone",
        severity=Severity.WARNING,
        message=f"This trace of {layout.name} is gone.",
        hint="Take another one while the run trains.",
    )
