"""Finding runs by what a person remembers of them."""

from collections.abc import Iterable

from gpupanel.runs.history.run_summary import RunSummary
from gpupanel.runs.history.run_words import run_outcome_words


def matches(run: RunSummary, words: Iterable[str]) -> bool:
    """Whether each of the words is found in the run.

    Args:
        run: It is looked for in its name, label, notes, profile, task, strategy, devices, how it
            ended and why, and in when it was started (``2026-11-21``) as its folder tells.
        words: Parts of words will do; upper and lower case are the same.
    """
    text = _searched(run)
    return all(word.casefold() in text for word in words)


def search_words(text: str) -> tuple[str, ...]:
    """What was typed, as words that all have to be found."""
    return tuple(text.split())


def _searched(run: RunSummary) -> str:
    outcome = "running" if run.is_running else "" if run.outcome is None else run.outcome.value
    parts = (
        run.label,
        run.profile_name,
        run.name,
        run.notes,
        run.task,
        run.strategy,
        run.strategy.replace("_", " "),
        *run.devices,
        *run.device_keys,
        outcome,
        run_outcome_words(run),
        "" if run.problem is None else run.problem.message,
        "" if run.flaw is None else run.flaw.message,
    )
    # A line each, so that no word is found over the border of two.
    return "\n".join(parts).casefold()
