"""How the run of an entry ended, read from its directory."""

from gpupanel.domain.outcome import Outcome
from gpupanel.domain.problem import Problem
from gpupanel.domain.run_layout import RunLayout
from gpupanel.runs.history.summaries import summarize_run
from gpupanel.runs.queue.entry import EntryState, QueueEntry
from gpupanel.runs.queue.running_runs import goes_on


def ended_entry(entry: QueueEntry) -> QueueEntry | None:
    """The entry as it is after its run has ended; ``None`` while that goes on."""
    if entry.run is None or not (entry.run / "profile.toml").exists():
        return _ended(entry, Outcome.LOST, _removed(entry))
    layout = RunLayout(entry.run)
    if goes_on(layout):
        return None
    summary = summarize_run(layout)
    if summary.is_running:
        return None
    if summary.outcome is not None:
        return _ended(entry, summary.outcome, summary.problem)
    # Nobody can tell any more: its folder went this moment, or cannot be read.
    is_there = layout.profile.exists()
    return _ended(entry, Outcome.LOST, summary.flaw if is_there else _removed(entry))


def _ended(entry: QueueEntry, outcome: Outcome, problem: Problem | None) -> QueueEntry:
    told = () if problem is None else (problem,)
    return entry.model_copy(
        update={"state": EntryState.ENDED, "outcome": outcome, "problems": told}
    )


def _removed(entry: QueueEntry) -> Problem:
    return Problem(
        code="run_removed",
        message=f"The folder of “{entry.name}” was removed while the queue looked after it.",
        hint="Add its profile to the queue again; that makes a new run.",
        detail=str(entry.run or ""),
    )
