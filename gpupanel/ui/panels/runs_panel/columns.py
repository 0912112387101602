"""What the table of runs tells of each run, a column for each thing."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from gpupanel.runs.history.run_summary import RunSummary
from gpupanel.runs.history.run_words import run_outcome_words
from gpupanel.ui import formatting


@dataclass(frozen=True, slots=True)
class RunColumn:
    """One column.

    Attributes:
        key: By which it is remembered.
        text: What its cells say.
        order: What it is sorted by; ``None``: not known, which is last in either direction.
        is_shown: Unless a person chose otherwise.
    """

    key: str
    title: str
    tip: str
    text: Callable[[RunSummary], str]
    order: Callable[[RunSummary], str | float | None]
    is_number: bool = False
    is_shown: bool = True


def _capitalised(text: str) -> str:
    return text[:1].upper() + text[1:]


def _outcome(run: RunSummary) -> str:
    return _capitalised(run_outcome_words(run)) or formatting.DASH


def _when(run: RunSummary) -> str:
    if run.started_s is None:
        return formatting.DASH
    try:
        moment = datetime.fromtimestamp(run.started_s).astimezone()
    except (OverflowError, OSError, ValueError):
        return formatting.DASH  # a clock beyond all calendars
    return moment.strftime("%Y-%m-%d %H:%M")


def _lasted(run: RunSummary) -> float | None:
    if run.is_running and run.started_s is not None:
        return max(0.0, time.time() - run.started_s)
    return run.lasted_s


def _devices(run: RunSummary) -> str:
    return ", ".join(formatting.device_labels(run.devices)) or formatting.DASH


def _first_line(text: str) -> str:
    return text.partition("\n")[0]


def _words(name: str) -> str:
    return _capitalised(name.replace("_", " ")) or formatting.DASH


COLUMNS = (
    RunColumn(
        "name",
        "Name",
        "What you called the run (F2); else the name of its profile.",
        lambda run: run.title,
        lambda run: run.title.casefold(),
    ),
    RunColumn("started", "Started", "When the run was started.", _when, lambda run: run.started_s),
    RunColumn(
        "outcome",
        "Outcome",
        (
            "How the run ended, or its progress. Lost: its process disappeared without reporting "
            "an end."
        ),
        _outcome,
        _outcome,
    ),
    RunColumn(
        "took",
        "Took",
        "From start to end, with start-up and pauses; until now for a run in progress.",
        lambda run: formatting.duration(_lasted(run)),
        _lasted,
        is_number=True,
    ),
    RunColumn(
        "accuracy",
        "Accuracy",
        "Fraction of validation examples (or of the examples of an evaluation) classified "
        "correctly. A dash: no validation.",
        lambda run: formatting.fraction(run.judged.accuracy),
        lambda run: run.judged.accuracy,
        is_number=True,
    ),
    RunColumn(
        "loss",
        "Loss",
        "Mean loss over the validation examples, or those of an evaluation; lower is better.",
        lambda run: formatting.number(run.judged.loss),
        lambda run: run.judged.loss,
        is_number=True,
    ),
    RunColumn(
        "mean_error",
        "Mean error",
        "Mean absolute error over the validation examples, or those of an evaluation, where "
        "values are predicted.",
        lambda run: formatting.number(run.judged.mean_absolute_error),
        lambda run: run.judged.mean_absolute_error,
        is_number=True,
        is_shown=False,
    ),
    RunColumn(
        "training_accuracy",
        "Training accuracy",
        "Fraction of training examples classified correctly in the last epoch.",
        lambda run: formatting.fraction(run.trained.accuracy),
        lambda run: run.trained.accuracy,
        is_number=True,
        is_shown=False,
    ),
    RunColumn(
        "training_loss",
        "Training loss",
        "Mean loss over the training examples in the last epoch.",
        lambda run: formatting.number(run.trained.loss),
        lambda run: run.trained.loss,
        is_number=True,
        is_shown=False,
    ),
    RunColumn(
        "speed",
        "Speed",
        "Examples per second over all devices; start-up and validation not counted.",
        lambda run: formatting.rate(run.examples_per_second),
        lambda run: run.examples_per_second,
        is_number=True,
    ),
    RunColumn(
        "devices",
        "Devices",
        "The physical devices that it used.",
        _devices,
        lambda run: _devices(run) if run.devices else None,
    ),
    RunColumn(
        "strategy",
        "Strategy",
        "How the work was divided.",
        lambda run: _words(run.strategy),
        lambda run: run.strategy or None,
        is_shown=False,
    ),
    RunColumn(
        "task",
        "Task",
        "Whether it trained, evaluated or predicted.",
        lambda run: _words(run.task),
        lambda run: run.task,
        is_shown=False,
    ),
    RunColumn(
        "profile",
        "Profile",
        "The name of the profile that the run was started with.",
        lambda run: run.profile_name,
        lambda run: run.profile_name.casefold(),
        is_shown=False,
    ),
    RunColumn(
        "notes",
        "Notes",
        "What you noted about the run: the first line of it.",
        lambda run: _first_line(run.notes),
        lambda run: _first_line(run.notes).casefold() or None,
    ),
)
"""In the order of the table."""


def run_tip(run: RunSummary) -> str:
    """All that the row has no room for."""
    lines = [run.title, str(run.path)]
    if run.label:
        lines.append(f"Profile: {run.profile_name}")
    for problem in (run.problem, run.flaw):
        if problem is not None:
            lines += ["", problem.message, problem.hint]
    if run.notes:
        lines += ["", run.notes]
    return "\n".join(lines).rstrip()
