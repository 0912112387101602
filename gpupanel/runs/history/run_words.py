"""How a run in a list stands, in words."""

from gpupanel.runs.following.end_words import short_end_words
from gpupanel.runs.history.run_summary import RunSummary

_FLAWS = {
    "run_newer": "newer version",
    "run_incomplete": "files missing",
    "run_damaged": "damaged",
    "run_unreadable": "unreadable",
    "run_folder_unsafe": "unsafe",
}


def run_outcome_words(run: RunSummary) -> str:
    """How the run ended or how far it is, and what is odd about its folder.

    "completed", "running, 45 %", "frozen", "ended without saving", "lost, files missing",
    "unreadable"; empty: nothing is known.
    """
    words = []
    if run.is_running and run.problem is not None:
        words.append("frozen")
    elif run.is_running:
        done = None if run.progress is None else run.progress.fraction
        words.append("running" if done is None else f"running, {int(done * 100.0)} %")
    elif run.outcome is not None:
        words.append(short_end_words(run.outcome, run.saved) or run.outcome.value)
    if run.flaw is not None:
        words.append(_FLAWS[run.flaw.code])
    return ", ".join(words)
