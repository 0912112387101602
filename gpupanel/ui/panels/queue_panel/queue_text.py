"""What the queue's table says of an entry."""

from gpupanel.runs.queue.entry import EntryState, QueueEntry
from gpupanel.runs.queue.waiting_line import WaitingLine
from gpupanel.ui import formatting
from gpupanel.ui.run_state import outcome_words


def line_words(line: WaitingLine) -> str:
    """How many wait and run, in one short line."""
    waiting, running = len(line.waiting), len(line.running)
    parts = [f"{running} running" if running else "", f"{waiting} waiting" if waiting else ""]
    parts.append("paused: nothing more is started" if line.paused else "")
    return " · ".join(part for part in parts if part) or "none waiting"


def state_words(entry: QueueEntry) -> str:
    """Where the entry stands."""
    match entry.state:
        case EntryState.WAITING:
            return "Waiting"
        case EntryState.RUNNING:
            return "Running"
        case EntryState.REFUSED:
            return "Cannot start"
        case EntryState.ENDED:
            return outcome_words(entry.outcome) if entry.outcome is not None else "Ended"


def device_words(entry: QueueEntry) -> str:
    """The devices that it needs."""
    names = [formatting.short_device_name(name) for name in entry.devices]
    return ", ".join(names) or formatting.DASH


def why_words(entry: QueueEntry, *, is_paused: bool) -> str:
    """Why it waits, or what became of it.

    Args:
        entry: The entry.
        is_paused: Nothing is started now.
    """
    if entry.is_waiting:
        return "The queue is paused." if is_paused else entry.waits or formatting.DASH
    if entry.problems:
        return entry.problems[0].message
    return "" if entry.run is None else entry.run.name


def tip(entry: QueueEntry, *, is_paused: bool) -> str:
    """All that is known of it, a line each."""
    lines = [entry.name, why_words(entry, is_paused=is_paused)]
    for problem in entry.problems:
        lines += [problem.message, problem.hint]
    lines.append("" if entry.run is None else str(entry.run))
    return "\n".join(dict.fromkeys(line for line in lines if line))
