"""What keeps the sweep of a profile from being started, as one problem for each mistake.

The values are held against the settings themselves, by reading the profile with each of them.
"""

import difflib
from collections.abc import Iterator
from typing import Final

from gpupanel.domain.data_source import Holdout
from gpupanel.domain.outcome import Metrics
from gpupanel.domain.problem import Fix, Problem, ProblemError
from gpupanel.domain.profile import Profile
from gpupanel.domain.profile_toml import profile_from_document
from gpupanel.domain.program_sweep import program_mistakes, swept_argument, with_arguments
from gpupanel.domain.setting import Setting, SettingType, settings_of
from gpupanel.domain.sweep import (
    MOST_SWEPT,
    MOST_TRIALS,
    SweepMethod,
    SweepSettings,
    Swept,
    SweptRange,
    SweptValue,
)
from gpupanel.domain.toml_text import toml_value
from gpupanel.domain.value import Value

_OF_FOLDS: Final = ("data.fold", "data.validation_fraction", "data.holdout")
_NOT_SWEPT: Final = ("name", "task", "sweep")
_NUMBERS: Final = (SettingType.COUNT, SettingType.NUMBER, SettingType.CHOICE_OR_COUNT)
_PATHS: Final = (SettingType.PATH, SettingType.FILES)
_UNKNOWN_KEY_HINTS: Final = {
    False: 'Name it from the top, such as "training.learning_rate".',
    True: "Write it into the arguments of the program in braces, such as --lr={lr}.",
}
METRICS: Final = tuple(name for name in Metrics.model_fields if not name.startswith("test_"))
"""What is measured in each epoch, and can be what trials are compared by."""


def with_values(profile: Profile, values: dict[str, SweptValue]) -> Profile:
    """The profile of one training with other values, by their keys from the top.

    Raises:
        ProblemError: One of them is not allowed, or there is no such table.
    """
    if profile.script is not None:
        return with_arguments(profile, profile.script, values)
    document = profile.for_one_run.model_dump(mode="json", exclude_none=True)
    for key, value in values.items():
        *tables, name = key.split(".")
        inner = document
        for table in tables:
            inner = inner.setdefault(table, {})
        inner[name] = list(value) if isinstance(value, tuple) else value
    return profile_from_document(document)


def swept_setting(profile: Profile, key: str) -> Setting | None:
    """The setting of this very profile that a key leads to; ``None``: there is none to sweep."""
    found = _located(profile, key)
    return None if found is None else found[1]


def sweepable_settings(
    table: Value, path: str = "", within: str = ""
) -> Iterator[tuple[str, Value, Setting]]:
    """The settings of a profile, of the kinds that it has, each with its key and its table.

    Args:
        table: The profile.
        path: What stands before the keys of the table, with a dot at its end.
        within: The name of the table in the one above; empty: it is the profile itself.
    """
    if within:
        yield from ((f"{path}{each.name}", table, each) for each in settings_of(type(table)))
    for name in type(table).model_fields:
        inner = getattr(table, name)
        if isinstance(inner, Value) and name not in _NOT_SWEPT:
            yield from sweepable_settings(inner, f"{path}{name}.", name)


def sweep_mistakes(profile: Profile) -> tuple[Problem, ...]:
    """Everything that keeps the sweep from being started, as far as the profile says."""
    sweep = profile.sweep
    if sweep is None or not sweep.has_trials:
        return (_nothing_swept(),)
    problems = [*_of_the_whole(profile, sweep)]
    problems += [*_of_seeds(sweep), *_of_folds(profile, sweep)]
    if sweep.halves and profile.script is None:
        problems += _of_rungs(profile, sweep)
    if len(sweep.values) > MOST_SWEPT:
        return (*problems, _too_many_settings(len(sweep.values)))
    for key, swept in sweep.values.items():
        problems += _of_setting(profile, sweep, key, swept)
    return tuple(problems)


def _of_the_whole(profile: Profile, sweep: SweepSettings) -> Iterator[Problem]:
    if profile.script is not None:
        yield from program_mistakes(sweep)
    elif profile.task != "train":
        yield Problem(
            code="sweep_without_training",
            field="task",
            message="Only trainings can be swept.",
            hint='Set task = "train".',
            fix=Fix.of("Train", "task", "train"),
        )
    if sweep.metric not in METRICS:
        near = difflib.get_close_matches(sweep.metric, METRICS, n=1)
        yield Problem(
            code="sweep_metric_unknown",
            field="sweep.metric",
            message=f"sweep.metric is {toml_value(sweep.metric[:100])}, which is not measured in "
            "each epoch.",
            hint=f"Did you mean {near[0]}?" if near else f"Use one of {', '.join(METRICS)}.",
        )
    elif (
        profile.script is None
        and sweep.metric.startswith("val_")
        and not _validates(profile, sweep)
    ):
        measured = sweep.metric.removeprefix("val_")
        yield Problem(
            code="sweep_metric_not_measured",
            field="sweep.metric",
            message=f"{sweep.metric} is not measured: the profile has no validation examples.",
            hint="Set data.validation_fraction, or compare by a metric of the training.",
            fix=Fix.of(f"Compare by {measured}", "sweep.metric", measured)
            if measured in ("loss", "accuracy", "mean_absolute_error")
            else None,
        )


def _validates(profile: Profile, sweep: SweepSettings) -> bool:
    return sweep.folds > 1 or profile.data.may_validate


def _of_seeds(sweep: SweepSettings) -> Iterator[Problem]:
    if sweep.seeds > 1 and "training.seed" in sweep.values:
        yield Problem(
            code="sweep_seeds_swept",
            field="sweep.values.training.seed",
            message=f"training.seed is swept, and each trial is to be trained with {sweep.seeds} "
            "seeds of its own.",
            hint="Take training.seed out of the swept settings, or set sweep.seeds to 1.",
        )


def _of_folds(profile: Profile, sweep: SweepSettings) -> Iterator[Problem]:
    """Why examples cannot be divided into folds."""
    if sweep.folds == 1 or profile.script is not None:
        return
    swept = next((key for key in _OF_FOLDS if key in sweep.values), None)
    if swept is not None:
        yield Problem(
            code="sweep_folds_impossible",
            field=f"sweep.values.{swept}",
            message=f"{swept} is swept, and cross-validation decides it for each run.",
            hint="Take it out of the swept settings, or leave sweep.folds out.",
        )
    data = profile.data
    if data.has_validation_set:
        yield Problem(
            code="sweep_folds_impossible",
            field="sweep.folds",
            message="The data has a validation set of its own, so no folds are held out.",
            hint="Leave data.validation_path empty, or sweep.folds out.",
        )
    elif data.holdout is not Holdout.RANDOM:
        yield Problem(
            code="sweep_folds_impossible",
            field="sweep.folds",
            message="The last examples are held out, as of a series: with folds most runs would be "
            "trained on what comes after the examples that validate.",
            hint='Set data.holdout to "random", or leave sweep.folds out.',
        )


def _of_rungs(profile: Profile, sweep: SweepSettings) -> Iterator[Problem]:
    """Why trials cannot be compared at the rungs of successive halving."""
    training, first = profile.training, sweep.first_rung
    if "training.epochs" not in sweep.values and first >= training.epochs:
        yield Problem(
            code="sweep_rungs_wrong",
            field="sweep.first_rung",
            message=f"The first rung is after epoch {first:,}, and trials end after epoch "
            f"{training.epochs:,}: none would be paused, and all be trained to their end.",
            hint="Set sweep.first_rung lower, or training.epochs higher.",
        )
    every, is_swept = training.validate_every, "training.validate_every" in sweep.values
    if sweep.metric.startswith("val_") and (is_swept or first % every):
        validated = (
            "not all trials validate after it"
            if is_swept
            else (f"trials are validated every {every:,} epochs")
        )
        yield Problem(
            code="sweep_rungs_wrong",
            field="sweep.first_rung",
            message=f"{sweep.metric} is not measured at each rung: the first one is after epoch "
            f"{first:,}, and {validated}.",
            hint="Set sweep.first_rung to a multiple of training.validate_every, and do not sweep "
            "that.",
        )


def _of_setting(
    profile: Profile, sweep: SweepSettings, key: str, swept: Swept
) -> Iterator[Problem]:
    field = f"sweep.values.{key}"
    found = _located(profile, key)
    if found is None:
        near = difflib.get_close_matches(key, [*_keys(profile)], n=1)
        yield Problem(
            code="sweep_key_unknown",
            field=field,
            message=f"{toml_value(key[:200])} is not a setting of this profile that can be swept.",
            hint=f"Did you mean {near[0]}?"
            if near
            else _UNKNOWN_KEY_HINTS[profile.script is not None],
        )
        return
    table, setting = found
    hindered = setting.hindered_by(table)
    beside = f"{key.rpartition('.')[0]}.{hindered}"
    if hindered is not None and beside not in sweep.values:
        yield Problem(
            code="sweep_setting_unused",
            field=field,
            message=f"{key} means nothing with this profile's {beside}: all trials would be equal.",
            hint=f"Change {beside}, or sweep it, too.",
        )
    if isinstance(swept, SweptRange):
        yield from _of_range(profile, sweep, key, setting, swept)
    else:
        yield from _of_list(profile, key, setting, swept)


def _of_range(
    profile: Profile, sweep: SweepSettings, key: str, setting: Setting, swept: SweptRange
) -> Iterator[Problem]:
    field = f"sweep.values.{key}"
    if setting.type not in _NUMBERS:
        yield _of_values(
            field, f"{key} takes a list of values: it is not a number.", "Give it a list."
        )
        return
    if swept.low >= swept.high:
        yield _of_values(
            field, f"The range of {key} is empty: low is not below high.", "Exchange the two."
        )
    elif swept.log and swept.low <= 0:
        yield _of_values(
            f"{field}.low",
            f"The range of {key} is logarithmic and begins at {swept.low:g}.",
            "Begin above 0, or leave log out.",
        )
    elif sweep.method is SweepMethod.GRID and swept.steps is None:
        yield _of_values(
            f"{field}.steps",
            f"The range of {key} does not say how many values a grid takes of it.",
            "Add steps = 4, or list the values.",
        )
    is_whole = setting.type is not SettingType.NUMBER
    for end in (swept.low, swept.high):
        yield from _of_value(profile, key, setting, round(end) if is_whole else end)


def _of_list(
    profile: Profile, key: str, setting: Setting, swept: tuple[SweptValue, ...]
) -> Iterator[Problem]:
    field = f"sweep.values.{key}"
    if not swept:
        yield _of_values(field, f"{key} has no values.", "List at least one, or leave it out.")
    elif len(swept) > MOST_TRIALS:
        yield _of_values(
            field,
            f"{key} has {len(swept):,} values; a sweep has at most {MOST_TRIALS:,} trials.",
            "Give it a range.",
        )
    else:
        for value in dict.fromkeys(swept):
            yield from _of_value(profile, key, setting, value)


def _of_value(profile: Profile, key: str, setting: Setting, value: SweptValue) -> Iterator[Problem]:
    field = f"sweep.values.{key}"
    if setting.type in _PATHS:
        chosen = [choice.value for choice in setting.choices]
        paths = value if isinstance(value, tuple) else (value,)
        if any(str(each) not in chosen and not str(each).startswith("/") for each in paths):
            yield _of_values(
                field,
                f"{key} has {toml_value(value)}: whose folder that is in, a sweep cannot know.",
                "Give the whole path, from / on.",
            )
            return
    try:
        with_values(profile, {key: value})
    except ProblemError as error:
        yield from (
            problem.model_copy(update={"field": field, "fix": None, "alternatives": ()})
            for problem in error.problems
        )


def _located(profile: Profile, key: str) -> tuple[Value, Setting] | None:
    """The table of the profile that a key leads to, and the setting in it."""
    if profile.script is not None:
        argument = swept_argument(profile, profile.script, key)
        return None if argument is None else (profile.script, argument)
    *tables, name = key.split(".")
    if key.split(".")[0] in _NOT_SWEPT:
        return None
    inner: object = profile
    for table in tables:
        fields = type(inner).model_fields if isinstance(inner, Value) else {}
        inner = getattr(inner, table) if table in fields else None
    if not isinstance(inner, Value):
        return None
    named = (each for each in settings_of(type(inner)) if each.name == name)
    setting = next(named, None)
    return None if setting is None else (inner, setting)


def _keys(profile: Profile) -> Iterator[str]:
    if profile.script is not None:
        return iter(sorted(profile.script.placeholders))
    return (key for key, _, _ in sweepable_settings(profile))


def _of_values(field: str, message: str, hint: str) -> Problem:
    return Problem(code="sweep_values_invalid", field=field, message=message, hint=hint)


def _nothing_swept() -> Problem:
    return Problem(
        code="sweep_empty",
        field="sweep.values",
        message="The profile does not say what to try: [sweep.values] is missing or empty.",
        hint='Add [sweep.values] with lines such as "training.learning_rate" = [0.01, 0.001].',
    )


def _too_many_settings(count: int) -> Problem:
    return Problem(
        code="sweep_values_invalid",
        field="sweep.values",
        message=f"The sweep has {count:,} settings; {MOST_SWEPT} are the most.",
        hint="Leave out those that matter least.",
    )
