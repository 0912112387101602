"""What the table of runs shows of each run, a column for each thing."""

import time
from collections import Counter
from collections.abc import Callable, Mapping
from functools import lru_cache
from operator import methodcaller
from typing import Final

from gpupanel.domain.outcome import FURTHER_METRICS, Outcome
from gpupanel.domain.run_layout import RunLayout
from gpupanel.domain.time_spent import TimeCategory
from gpupanel.runs.history.run_summary import RunSummary
from gpupanel.runs.history.run_text import run_outcome_text
from gpupanel.ui import formatting
from gpupanel.ui.widgets.labels import Tone
from gpupanel.ui.widgets.table_model import Column


def _capitalised(text: str) -> str:
    return text[:1].upper() + text[1:]


def _outcome(run: RunSummary) -> str:
    return _capitalised(run_outcome_text(run)) or formatting.DASH


def _outcome_tone(run: RunSummary) -> Tone:
    """What went wrong is seen in a long list before it is read."""
    if run.is_running:
        return Tone.PLAIN if run.problem is None else Tone.WARNING
    if run.flaw is not None or run.outcome in (Outcome.FAILED, Outcome.LOST):
        return Tone.ERROR
    return Tone.PLAIN


_MOST_NAMED = 8
"""Devices of a run; of more is said how many there are of each."""


def _lasted(run: RunSummary) -> float | None:
    return run.lasts_s(time.time())


def _devices(run: RunSummary) -> str:
    return _devices_text(run.devices)


@lru_cache(maxsize=256)
def _devices_text(names: tuple[str, ...]) -> str:
    """Most runs of a list are on the same devices."""
    if len(names) <= _MOST_NAMED:
        return ", ".join(formatting.device_labels(names)) or formatting.DASH
    counts = Counter(map(formatting.short_device_name, names))
    return ", ".join(
        f"{count} \N{MULTIPLICATION SIGN} {name}" if count > 1 else name
        for name, count in counts.items()
    )


_TASKS: Final = {"script": "Own program"}
"""Words for tasks whose name is not one."""


def _whole(number: float | None) -> str:
    return formatting.DASH if number is None else formatting.count(round(number))


def _tags(run: RunSummary) -> str:
    return ", ".join(run.tags)


def _first_line(text: str) -> str:
    return text.partition("\n")[0]


def _model_run(run: RunSummary) -> str:
    return "" if run.model_run is None else RunLayout(run.model_run).name


def _words(name: str) -> str:
    return _capitalised(name.replace("_", " ")) or formatting.DASH


def _number(
    title: str,
    tip: str,
    key: str,
    number_of: Callable[[RunSummary], float | None],
    words: Callable[[float | None], str],
    *,
    is_shown: bool = True,
) -> Column[RunSummary]:
    """A column of numbers, sorted by them."""
    return Column(
        title,
        tip,
        lambda run: words(number_of(run)),
        number_of,
        is_number=True,
        is_shown=is_shown,
        key=key,
        number_text=words,
    )


COLUMNS: tuple[Column[RunSummary], ...] = (
    Column(
        "Name",
        "What you called the run (F2); else the name of its profile.",
        lambda run: run.title,
        lambda run: run.title.casefold(),
        key="name",
    ),
    Column(
        "Started",
        "When the run was started.",
        lambda run: formatting.day_and_time(run.started_s),
        lambda run: run.started_s,
        key="started",
    ),
    Column(
        "Outcome",
        (
            "How the run ended, or its progress. Lost: its process disappeared without reporting "
            "an end."
        ),
        _outcome,
        _outcome,
        key="outcome",
        tone=_outcome_tone,
    ),
    _number(
        "Duration",
        "How long its processes were there, with start-up, until now for a run in progress; "
        "without the time until it was resumed, and without what the machine slept.",
        "took",
        _lasted,
        formatting.duration,
    ),
    _number(
        "Restarts",
        "How often the run was started again: resumed by you, or restarted automatically. A dash: "
        "nobody counted.",
        "restarts",
        lambda run: run.restarts,
        _whole,
    ),
    _number(
        "Accuracy",
        "Fraction of validation examples (or of the examples of an evaluation) classified "
        "correctly. A dash: no validation.",
        "accuracy",
        lambda run: run.quality_of("accuracy"),
        formatting.fraction,
    ),
    _number(
        "Loss",
        "Mean loss over the validation examples, or those of an evaluation; lower is better.",
        "loss",
        lambda run: run.quality_of("loss"),
        formatting.number,
    ),
    _number(
        "Mean error",
        "Mean absolute error over the validation examples, or those of an evaluation, where "
        "values are predicted.",
        "mean_error",
        lambda run: run.quality_of("mean_absolute_error"),
        formatting.number,
        is_shown=False,
    ),
    *(
        _number(
            metric.title,
            f"{metric.tip} Over the validation examples, or those of an evaluation.",
            metric.name,
            methodcaller("quality_of", metric.name),
            formatting.fraction if metric.is_fraction else formatting.number,
            is_shown=False,
        )
        for metric in FURTHER_METRICS
        if metric.name not in ("accuracy", "mean_absolute_error")
    ),
    _number(
        "Test accuracy",
        "Fraction of the test examples classified correctly, after the training. A dash: no test "
        "set, or it validates.",
        "test_accuracy",
        lambda run: run.metrics.test_accuracy,
        formatting.fraction,
        is_shown=False,
    ),
    _number(
        "Test loss",
        "Mean loss over the test examples, after the training.",
        "test_loss",
        lambda run: run.metrics.test_loss,
        formatting.number,
        is_shown=False,
    ),
    _number(
        "Training accuracy",
        "Fraction of training examples classified correctly in the epoch of the model, or in the "
        "last one.",
        "training_accuracy",
        lambda run: run.trained.accuracy,
        formatting.fraction,
        is_shown=False,
    ),
    _number(
        "Training loss",
        "Mean loss over the training examples in the epoch of the model, or the last one.",
        "training_loss",
        lambda run: run.trained.loss,
        formatting.number,
        is_shown=False,
    ),
    _number(
        "Model's epoch",
        "The epoch whose weights its model has, and of which the metrics are. A dash: it saved no "
        "model, or an earlier version did.",
        "kept_epoch",
        lambda run: run.kept_epoch,
        lambda epoch: formatting.count(None if epoch is None else round(epoch)),
        is_shown=False,
    ),
    _number(
        "Data wait",
        "The share of the training time in which the devices waited for examples: reading them "
        "took longer than computing.",
        "data_wait",
        lambda run: run.waiting_for_data,
        formatting.fraction,
        is_shown=False,
    ),
    *(
        _number(
            activity.label,
            f"{activity.description} The part of the training's time, a mean over the devices.",
            f"time_{activity.value}",
            methodcaller("part_of_time", activity),
            formatting.fraction,
            is_shown=False,
        )
        for activity in TimeCategory
        if activity is not TimeCategory.WAITING_FOR_DATA
    ),
    _number(
        "Energy",
        "Watt-hours that the run's devices took, by their own counters or their power over time; "
        "other processes on them included. A dash: none of them says it.",
        "energy",
        lambda run: None if run.energy is None else run.energy.watt_hours,
        formatting.watt_hours,
        is_shown=False,
    ),
    _number(
        "Energy per epoch",
        "Watt-hours for each whole epoch, start-up and validation included.",
        "energy_per_epoch",
        lambda run: None if run.energy is None else run.energy.per_epoch_wh,
        formatting.watt_hours,
        is_shown=False,
    ),
    _number(
        "Energy per million examples",
        "Watt-hours for each million examples trained on.",
        "energy_per_million_examples",
        lambda run: None if run.energy is None else run.energy.per_million_examples_wh,
        formatting.watt_hours,
        is_shown=False,
    ),
    _number(
        "Speed",
        "Examples per second over all devices; start-up and validation not counted.",
        "speed",
        lambda run: run.examples_per_second,
        formatting.rate,
    ),
    Column(
        "Devices",
        "The physical devices that it used.",
        _devices,
        lambda run: _devices(run) if run.devices else None,
        key="devices",
    ),
    Column(
        "Strategy",
        "How the work was divided.",
        lambda run: _words(run.strategy),
        lambda run: run.strategy or None,
        is_shown=False,
        key="strategy",
    ),
    Column(
        "Task",
        "Whether it trained, evaluated, predicted or ran a program of your own.",
        lambda run: _TASKS.get(run.task, _words(run.task)),
        lambda run: run.task,
        is_shown=False,
        key="task",
    ),
    Column(
        "Model of",
        "The run whose model an evaluation or a prediction took.",
        lambda run: _model_run(run) or formatting.DASH,
        lambda run: _model_run(run) or None,
        is_shown=False,
        key="model_of",
    ),
    Column(
        "Profile",
        "The name of the profile that the run was started with.",
        lambda run: run.profile_name,
        lambda run: run.profile_name.casefold(),
        is_shown=False,
        key="profile",
    ),
    Column(
        "Tags",
        "Short words that you gave the run (F2); tag:baseline in the search finds those with one.",
        _tags,
        lambda run: _tags(run).casefold() or None,
        key="tags",
    ),
    Column(
        "Notes",
        "What you noted about the run: the first line of it.",
        lambda run: _first_line(run.notes),
        lambda run: _first_line(run.notes).casefold() or None,
        key="notes",
    ),
)
"""The columns in the order of the table."""
SHOWN_WHERE_ANY: Mapping[str, Callable[[RunSummary], object]] = {
    "restarts": lambda run: run.restarts,
    "tags": lambda run: run.tags,
    "notes": lambda run: run.notes,
}
"""Columns that are usually only there where some run has something in them."""
GIVING_WAY: Final = ("devices", "restarts", "speed", "notes", "tags", "took", "loss", "accuracy")
"""Columns that are left out of a narrow table unless a person chose them, the first one first; of
loss and accuracy one stays."""
STARTED = next(place for place, column in enumerate(COLUMNS) if column.key == "started")


def run_tip(run: RunSummary) -> str:
    """All that the row has no room for."""
    lines = [run.title, str(run.path)]
    if run.label:
        lines.append(f"Profile: {run.profile_name}")
    if run.model_run is not None:
        lines.append(f"Model of: {_model_run(run)}")
    for problem in (run.problem, run.flaw):
        if problem is not None:
            lines += ["", problem.message, problem.hint]
    if run.notes:
        lines += ["", run.notes]
    return "\n".join(lines).rstrip()
