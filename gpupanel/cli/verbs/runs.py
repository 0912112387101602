"""``gpupanel runs``: the runs of a folder."""

from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from typing import Annotated

import typer
from rich.table import Table

from gpupanel.cli.options import (
    JsonOption,
    RunsDirOption,
)
from gpupanel.cli.output import (
    EXIT_FAILED,
    NONE_GIVEN,
    answers,
    print_json,
    print_problems,
    refuse,
    shown,
)
from gpupanel.domain.metric import Metric
from gpupanel.domain.outcome import FURTHER_METRICS
from gpupanel.domain.problem import ProblemError
from gpupanel.domain.run_filter import parse_run_filter
from gpupanel.runs.history.finding import needs_settings, run_finder
from gpupanel.runs.history.run_settings import RunSettingsReader
from gpupanel.runs.history.run_summary import RunSummary
from gpupanel.runs.history.run_text import run_outcome_text
from gpupanel.runs.history.summaries import list_runs
from gpupanel.runs.locations import default_runs_dir

_Text = Callable[[RunSummary], str]
_MORE = {
    metric.title: metric
    for metric in FURTHER_METRICS
    if metric.name not in ("accuracy", "mean_absolute_error")
}
_NUMBERS = (
    "took",
    "restarts",
    "accuracy",
    "loss",
    "mean error",
    *_MORE,
    "test accuracy",
    "test loss",
    "test mean error",
    "examples/s",
)


FilterOption = Annotated[
    str,
    typer.Option(
        "--filter",
        metavar="TEXT",
        help='Only runs that this finds: "val_accuracy > 0.9 and model = cnn and tag:baseline".',
        show_default=False,
    ),
]


def runs(
    runs_dir: RunsDirOption = None, *, wanted: FilterOption = "", json: JsonOption = False
) -> None:
    """List past and present runs, newest first."""
    try:
        there = list_runs(runs_dir or default_runs_dir())
        found = _filtered(there, wanted)
    except ProblemError as error:
        refuse(error, json=json, status=EXIT_FAILED)
    if json:
        print_json({"runs": [summary.model_dump(mode="json") for summary in found]})
        return
    if there and not found:
        answers.print(f"No run is found by that ({len(there):,} in all).")
        return
    if not found:
        answers.print("No runs yet: start one with `gpupanel run PROFILE`.")
        return
    answers.print(_table(found))
    print_problems(run.problem for run in found if run.is_running and run.problem is not None)


def _filtered(there: tuple[RunSummary, ...], wanted: str) -> tuple[RunSummary, ...]:
    """The runs that match the filter.

    Raises:
        ProblemError: What is wanted cannot be understood.
    """
    parsed = parse_run_filter(wanted)
    settings = RunSettingsReader().read(there) if needs_settings(parsed) else {}
    return tuple(filter(run_finder(parsed, there, settings), there))


def _table(found: tuple[RunSummary, ...]) -> Table:
    """A row per run; columns in which no run has anything are left out.

    Accuracy and loss are those of the validation; of an evaluation, those that it found. Those of
    a test set that does not validate have columns of their own.
    """
    columns: dict[str, _Text] = {
        "run": lambda run: run.name,
        "name": lambda run: run.label,
        "started": lambda run: _moment(run.started_s),
        "outcome": run_outcome_text,
        "took": lambda run: _span(run.lasted_s),
        "restarts": lambda run: str(run.restarts) if run.restarts else "",
        "accuracy": lambda run: _number(run.quality.accuracy),
        "loss": lambda run: _number(run.quality.loss),
        "mean error": lambda run: _number(run.quality.mean_absolute_error),
        **{title: partial(_quality, metric) for title, metric in _MORE.items()},
        "test accuracy": lambda run: _number(run.tested.accuracy),
        "test loss": lambda run: _number(run.tested.loss),
        "test mean error": lambda run: _number(run.tested.mean_absolute_error),
        "examples/s": lambda run: shown(run.examples_per_second),
        "devices": lambda run: ", ".join(run.devices),
        "tags": lambda run: ", ".join(run.tags),
        "notes": lambda run: run.notes.partition("\n")[0],
    }
    table = Table(box=None, pad_edge=False, header_style="dim")
    kept = []
    for title, text in columns.items():
        texts = [text(run) for run in found]
        if any(each not in ("", NONE_GIVEN) for each in texts):
            table.add_column(
                title,
                justify="right" if title in _NUMBERS else "left",
                overflow="fold",
                no_wrap=title == "started",
            )
            kept.append(texts)
    for row in zip(*kept, strict=True):
        table.add_row(*(text or NONE_GIVEN for text in row))
    return table


def _quality(metric: Metric, run: RunSummary) -> str:
    return _number(run.quality.value_of(metric))


def _number(value: float | None) -> str:
    return NONE_GIVEN if value is None else f"{value:.4f}"


def _span(seconds: float | None) -> str:
    if seconds is None:
        return NONE_GIVEN
    minutes, second = divmod(round(seconds), 60)
    hours, minute = divmod(minutes, 60)
    return f"{hours}:{minute:02}:{second:02}" if hours else f"{minute}:{second:02}"


def _moment(seconds: float | None) -> str:
    if seconds is None:
        return NONE_GIVEN
    try:
        moment = datetime.fromtimestamp(seconds, UTC).astimezone()
    except (OverflowError, OSError, ValueError):
        return NONE_GIVEN  # a clock beyond all calendars
    return moment.strftime("%Y-%m-%d %H:%M")
