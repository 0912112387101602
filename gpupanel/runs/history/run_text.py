"""A run of a list as text: how it stands, and whether it is one that a person searches."""

import time

from gpupanel.domain.hours import hours_text
from gpupanel.runs.following.end_text import short_end_text
from gpupanel.runs.history.run_summary import RunSummary

_FLAWS = {
    "run_newer": "newer version",
    "run_incomplete": "files missing",
    "run_damaged": "damaged",
    "run_unreadable": "unreadable",
    "run_folder_unsafe": "unsafe",
}


def run_outcome_text(run: RunSummary) -> str:
    """How the run ended or how far it is, and what is odd about its folder.

    "completed", "running, 45 %", "frozen", "ended without saving", "suspended, hours begin 22:00",
    "lost, files missing", "unreadable"; empty: nothing is known.
    """
    words = []
    if run.is_running and run.problem is not None:
        words.append("frozen")
    elif run.is_running:
        done = None if run.progress is None else run.progress.fraction
        words.append("running" if done is None else f"running, {int(done * 100.0)} %")
    elif run.outcome is not None:
        words.append(short_end_text(run.outcome, run.saved) or run.outcome.value)
        if later := hours_text(run.hours_begin_s, time.time()):
            words.append(later)
    if run.flaw is not None:
        words.append(_FLAWS[run.flaw.code])
    return ", ".join(words)


def searched_text(run: RunSummary) -> str:
    """What is searched of a run, in lower case.

    Its name, label, notes, tags, profile, task, strategy, devices, how it ended and why, and when
    it was started (``2026-11-21``), as its folder has it.
    """
    outcome = "running" if run.is_running else "" if run.outcome is None else run.outcome.value
    parts = (
        run.label,
        run.profile_name,
        run.name,
        run.notes,
        *run.tags,
        run.task,
        run.strategy,
        run.strategy.replace("_", " "),
        *run.devices,
        *run.device_keys,
        outcome,
        run_outcome_text(run),
        "" if run.problem is None else run.problem.message,
        "" if run.flaw is None else run.flaw.message,
    )
    # A line each, so that no word is found over the border of two.
    return "\n".join(parts).casefold()
