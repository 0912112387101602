"""Which runs a filter finds: by what they reached and were started with, and by their tags."""

import difflib
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from operator import methodcaller
from typing import Final

from gpupanel.domain.outcome import SET_METRICS, Metrics
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.run_filter import RunFilter, ValueComparison, keys_named, plain_name
from gpupanel.domain.time_spent import TimeCategory
from gpupanel.runs.history.run_settings import RunSettings, SettingValue
from gpupanel.runs.history.run_summary import RunSummary
from gpupanel.runs.history.run_text import searched_text

_LONGEST_QUOTED: Final = 40
"""Characters of what was typed."""
_ValueOf = Callable[[RunSummary], SettingValue | None]


def needs_settings(wanted: RunFilter) -> bool:
    """Whether it compares something that a summary does not have."""
    return any(plain_name(each.name) not in _FIELDS for each in wanted.comparisons)


def run_finder(
    wanted: RunFilter,
    runs: Sequence[RunSummary],
    settings: Mapping[str, RunSettings],
    text_of: Callable[[RunSummary], str] = searched_text,
) -> Callable[[RunSummary], bool]:
    """Says of a run whether the filter finds it.

    Args:
        wanted: The filter.
        runs: All that there are: what none of them has cannot be compared.
        settings: What they were started with, by the names of their directories; empty where the
            filter needs none.
        text_of: As :func:`~gpupanel.runs.history.run_text.searched_text`; who searches the same
            runs again and again remembers it.

    Raises:
        ProblemError: It compares what no run has, or a number with a text.
    """
    compared = [
        (comparison, _values_of(comparison, runs, settings)) for comparison in wanted.comparisons
    ]
    for comparison, values_of in compared:
        _check(comparison, values_of, runs)
    tags = frozenset(wanted.tags)
    # Parts of words will do; upper and lower case are the same.
    words = [word.casefold() for word in wanted.words]

    def is_found(run: RunSummary) -> bool:
        text = text_of(run)
        for word in words:
            if word not in text:
                return False
        return tags <= {tag.casefold() for tag in run.tags} and all(
            any(comparison.holds(value) for value in values_of(run))
            for comparison, values_of in compared
        )

    return is_found


def _values_of(
    comparison: ValueComparison,
    runs: Sequence[RunSummary],
    settings: Mapping[str, RunSettings],
) -> Callable[[RunSummary], Iterator[SettingValue]]:
    """The values of a run that the comparison means: of several keys of one name, each."""
    field = _FIELDS.get(plain_name(comparison.name))
    if field is not None:
        return partial(_field_value, field)
    known = dict.fromkeys(key for each in settings.values() for key, _ in each.pairs)
    keys = keys_named(comparison.name, known)
    if not keys and runs:
        raise ProblemError(_unknown(comparison.name, known))
    return partial(_setting_values, keys, settings)


def _field_value(field: _ValueOf, run: RunSummary) -> Iterator[SettingValue]:
    value = field(run)
    if value is not None:
        yield value


def _setting_values(
    keys: Sequence[str], settings: Mapping[str, RunSettings], run: RunSummary
) -> Iterator[SettingValue]:
    own = settings.get(run.name)
    if own is not None:
        yield from (value for key, value in own.pairs if key in keys)


def _check(
    comparison: ValueComparison,
    values_of: Callable[[RunSummary], Iterator[SettingValue]],
    runs: Sequence[RunSummary],
) -> None:
    if not comparison.is_order or comparison.number is not None:
        return
    found = [value for run in runs for value in values_of(run)]
    if found and not any(isinstance(value, str) for value in found):
        raise ProblemError(
            Problem(
                code="run_filter_not_a_number",
                message=f"{_quoted(comparison.name)} is a number, {_quoted(comparison.text)} is "
                "none that can be compared.",
                hint=f"Compare it with a number: {_short(comparison.name)} {comparison.sign} "
                f"{found[0]:.4g}.",
            )
        )


def _unknown(name: str, keys: Mapping[str, object]) -> Problem:
    names = [*_FIELDS, *(key.rpartition(".")[2] for key in keys), *keys]
    near = difflib.get_close_matches(plain_name(name), names, n=1)
    hint = (
        f"Did you mean {_short(near[0])}?"
        if near
        else "Columns… lists what there is; to search for these words, put them in quotes."
    )
    return Problem(
        code="run_filter_unknown",
        message=f"No run has a setting or metric {_quoted(name)}.",
        hint=hint,
        field=_short(name),
    )


def _quoted(text: str) -> str:
    return f"“{_short(text)}”"


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST_QUOTED else f"{text[: _LONGEST_QUOTED - 1]}…"


def _started(run: RunSummary) -> str | None:
    if run.started_s is None:
        return None
    try:
        return datetime.fromtimestamp(run.started_s).astimezone().strftime("%Y-%m-%d %H:%M")
    except (OverflowError, OSError, ValueError):
        return None  # a clock beyond all calendars


def _outcome(run: RunSummary) -> str | None:
    if run.is_running:
        return "running"
    return None if run.outcome is None else run.outcome.value


def _quality(name: str, run: RunSummary) -> float | None:
    return run.quality_of(name)


def _trained(name: str, run: RunSummary) -> float | None:
    value: float | None = getattr(run.trained, name)
    return value


def _metric(name: str, run: RunSummary) -> float | None:
    value: float | None = getattr(run.metrics, name)
    return value


_FIELDS: Final[Mapping[str, _ValueOf]] = {
    "name": lambda run: run.title,
    "run": lambda run: run.name,
    "profile": lambda run: run.profile_name,
    "started": _started,
    "outcome": _outcome,
    "duration": lambda run: run.lasted_s,
    "restarts": lambda run: run.restarts,
    "speed": lambda run: run.examples_per_second,
    "examples_per_second": lambda run: run.examples_per_second,
    "data_wait": lambda run: run.waiting_for_data,
    "waiting_for_data": lambda run: run.waiting_for_data,
    **{
        f"time_{activity.value}": methodcaller("part_of_time", activity)
        for activity in TimeCategory
    },
    "energy": lambda run: None if run.energy is None else run.energy.watt_hours,
    "energy_per_epoch": lambda run: None if run.energy is None else run.energy.per_epoch_wh,
    "energy_per_million_examples": lambda run: (
        None if run.energy is None else run.energy.per_million_examples_wh
    ),
    "devices": lambda run: ", ".join(run.devices) or None,
    "strategy": lambda run: run.strategy or None,
    "task": lambda run: run.task,
    "notes": lambda run: run.notes or None,
    "tags": lambda run: ", ".join(run.tags) or None,
    **{name: partial(_quality, name) for name in SET_METRICS},
    **{f"training_{name}": partial(_trained, name) for name in SET_METRICS},
    **{
        name: partial(_metric, name)
        for name in Metrics.model_fields
        if name.startswith(("val_", "test_"))
    },
}
"""What a summary knows, by the names that comparisons use; a measure without more is the one that
says how good the model is, as in the table."""
