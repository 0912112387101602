"""What is told of a run: its end, whoever sees it, and what its supervisor reports before."""

import os
import select
import socket
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

from gpupanel.domain import number_text
from gpupanel.domain.child_command import python_module_command
from gpupanel.domain.events import Event, ProblemReported, RunRestarted
from gpupanel.domain.hours import hours_text
from gpupanel.domain.notes import NoteKind
from gpupanel.domain.outcome import Outcome
from gpupanel.domain.problem import Problem
from gpupanel.domain.problem_text import problem_sentences
from gpupanel.domain.run_layout import RunLayout
from gpupanel.domain.visible_text import visible_beginning
from gpupanel.files.process_log import write_to_process_log
from gpupanel.runs.detached import start_detached
from gpupanel.runs.directory.run_lock import STARTING_S
from gpupanel.runs.notes.posting import are_wanted, post

if TYPE_CHECKING:
    from gpupanel.runs.history.run_summary import RunSummary

_STALLED: Final = frozenset({"no_step", "no_first_step", "no_end"})
_OUT_OF_MEMORY: Final = frozenset({"out_of_memory", "host_out_of_memory"})
_NEEDS_YOU: Final = frozenset({"cluster_waiting"})
_MOST_METRICS: Final = 4
_LOOK_S: Final = 1.0


def note_event(layout: RunLayout, event: Event) -> None:
    """Tell of what a supervisor reports, where it is worth a note; its end is not told here."""
    if not isinstance(event, RunRestarted | ProblemReported) or not are_wanted():
        return
    match event:
        case RunRestarted(problem=Problem() as problem):
            title = f"{_name(layout)}: started again{_here()}"
            _post(layout, _kind_of(problem), title, problem, event.time_s)
        case ProblemReported(problem=problem) if problem.code in _NEEDS_YOU:
            title = f"{_name(layout)}: waits{_here()}"
            _post(layout, NoteKind.NEEDS_YOU, title, problem, event.time_s)


def note_end(layout: RunLayout) -> bool:
    """Tell how a run has ended that nobody supervises any more; says whether it has."""
    if not are_wanted():
        return True
    summary = _summary(layout)
    if summary.is_running:
        return False
    if summary.outcome is None:
        return True  # its folder is gone
    kind = _kind_of_end(summary)
    title = f"{visible_beginning(summary.title)}: {summary.outcome.value}{_here()}"
    words = problem_sentences(summary.problem) if summary.problem else _came_to(summary)
    text = f"{words}\n{layout.root}"
    post(kind, title, text, run=str(layout.root), about=f"end {summary.ended_s}")
    return True


def guard_end(layout: RunLayout) -> None:
    """Have a process tell how the run ended that outlives this one, should it be killed."""
    if not are_wanted():
        return
    command = python_module_command(__name__, str(layout.root), str(os.getpid()))
    try:
        start_detached(command, layout.trainer_log, "who tells of the end")
    except OSError as error:
        write_to_process_log(f"notes: nobody will tell should this process be killed: {error}")


def wait_for_end_of(pid: int) -> None:
    """Wait, without using the processor, until a process has ended that is there now."""
    try:
        descriptor = os.pidfd_open(pid)
    except OSError:
        return
    try:
        poll = select.poll()
        poll.register(descriptor, select.POLLIN)
        poll.poll()
    finally:
        os.close(descriptor)


def _kind_of(problem: Problem | None) -> NoteKind:
    code = "" if problem is None else problem.code
    if code in _OUT_OF_MEMORY:
        return NoteKind.OUT_OF_MEMORY
    return NoteKind.STALLED if code in _STALLED else NoteKind.FAILED


def _kind_of_end(summary: "RunSummary") -> NoteKind:
    has_failed = summary.outcome in (Outcome.FAILED, Outcome.LOST)
    return _kind_of(summary.problem) if has_failed else NoteKind.ENDED


def _post(layout: RunLayout, kind: NoteKind, title: str, problem: Problem, time_s: float) -> None:
    text = f"{problem_sentences(problem)}\n{layout.root}"
    post(kind, title, text, run=str(layout.root), about=f"{kind.value} {time_s}")


def _came_to(summary: "RunSummary") -> str:
    known = summary.metrics.model_dump(exclude_none=True)
    first = sorted(known, key=lambda name: not name.startswith("val_"))[:_MOST_METRICS]
    metrics = ", ".join(f"{name} {number_text.number(known[name])}" for name in first)
    lasted = summary.lasted_s
    took = f"It took {number_text.duration(lasted)}." if lasted is not None else ""
    later = hours_text(summary.hours_begin_s, time.time())
    hours = f"Its {later}." if later else ""
    return " ".join(each for each in (f"{metrics}." if metrics else "", took, hours) if each)


def _summary(layout: RunLayout) -> "RunSummary":
    # Here and not above: every supervisor loads this module, and few have anything to tell.
    from gpupanel.runs.history.summaries import summarize_run

    return summarize_run(layout, with_since=False)


def _name(layout: RunLayout) -> str:
    return visible_beginning(_summary(layout).title)


def _here() -> str:
    """People have several machines."""
    return f" on {socket.gethostname()}"


def main() -> None:
    """Tell how a run ended, as soon as its supervisor has."""
    layout, supervisor = RunLayout(Path(sys.argv[1])), int(sys.argv[2])
    wait_for_end_of(supervisor)
    # A run that was begun just now counts as one that goes on for a while; one that somebody
    # resumed meanwhile has another such process.
    until_s = time.monotonic() + 2.0 * STARTING_S
    while not note_end(layout) and time.monotonic() < until_s:
        time.sleep(_LOOK_S)


if __name__ == "__main__":
    main()
