"""The trials of a sweep: which values each has, the same ones whenever they are asked for."""

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Final

from gpupanel.domain.number_text import short_number
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.profile import LONGEST_NAME, Profile
from gpupanel.domain.setting import SettingType, within_words
from gpupanel.domain.sweep import (
    MOST_TRIALS,
    SweepMethod,
    SweepSettings,
    Swept,
    SweptRange,
    SweptValue,
)
from gpupanel.domain.sweep_mistakes import sweep_mistakes, swept_setting, with_values
from gpupanel.domain.toml_text import toml_value

SEED: Final = "training.seed"
SEEDS: Final = 2**31
"""Seeds are below."""
_DIGITS = 6
"""Significant digits of a number from a range."""
_NAMED_DIGITS = 3
"""Of those that a trial's name has: the run's profile has all."""
_MOST_DRAWS = 100
"""Attempts per trial: short ranges repeat the same values."""
_ENUMERATED = 4
"""Combinations per trial up to which all of them are listed and shuffled."""

Values = Mapping[str, SweptValue]


@dataclass(frozen=True, slots=True)
class Axis:
    """What one setting can be in a sweep.

    Attributes:
        key: Of the setting, from the top.
        values: All of them; empty where a range has more than are worth counting.
        low: Of a range.
        high: Of a range.
        log: Whether its factors are equal.
        is_whole: Whether its numbers are whole ones.
    """

    key: str
    values: tuple[SweptValue, ...] = ()
    low: float = 0.0
    high: float = 0.0
    log: bool = False
    is_whole: bool = False

    def at(self, fraction: float) -> SweptValue:
        """The value at a fraction of the axis, from 0 to 1 (1 itself excluded for lists)."""
        if self.values:
            return self.values[min(int(fraction * len(self.values)), len(self.values) - 1)]
        return self._number(fraction)

    def evenly(self, count: int) -> tuple[SweptValue, ...]:
        """Evenly spaced values of the range, without duplicates."""
        found = (self._number(place / (count - 1)) for place in range(count))
        return tuple(dict.fromkeys(found))

    def _number(self, fraction: float) -> SweptValue:
        if self.log:
            low, high = math.log(self.low), math.log(self.high)
            number = math.exp(low + fraction * (high - low))
        else:
            number = self.low + fraction * (self.high - self.low)
        return self.rounded(number)

    def rounded(self, number: float) -> SweptValue:
        """A number of the range, within it and with few digits."""
        short = round(number) if self.is_whole else float(f"{number:.{_DIGITS}g}")
        within = min(max(short, self.low), self.high)
        return int(within) if self.is_whole else within


def sweep_of(profile: Profile) -> SweepSettings:
    """The sweep of a profile that has one that can be started.

    Raises:
        ProblemError: The sweep cannot be started; one problem for each mistake.
    """
    problems = sweep_mistakes(profile)
    if problems or profile.sweep is None:
        raise ProblemError(*problems)
    return profile.sweep


def axes_of(profile: Profile) -> tuple[Axis, ...]:
    """What each setting of the profile's sweep can be.

    Raises:
        ProblemError: The sweep cannot be started; one problem for each mistake.
    """
    sweep = sweep_of(profile)
    # As a written profile has them, where tables stand last: the trials that a sweep's own file
    # gives are those that were shown before it was started.
    ordered = sorted(sweep.values.items(), key=lambda each: isinstance(each[1], SweptRange))
    return tuple(_axis(profile, sweep, key, swept) for key, swept in ordered)


def trial_count(profile: Profile) -> int:
    """How many trials the sweep has at most; known before the first one starts.

    Raises:
        ProblemError: The sweep cannot be started.
    """
    sweep, axes = sweep_of(profile), axes_of(profile)
    if sweep.method is not SweepMethod.BAYESIAN:
        return len(trials_of(profile))
    count = min(sweep.trials, _size(axes) or sweep.trials)
    _check_runs(profile, count)
    return count


def trials_of(profile: Profile) -> tuple[Values, ...]:
    """The values of each trial of a grid or of a random sweep, in order; no two are equal.

    They follow from the profile alone: a sweep that is interrupted goes on with the same ones.

    Raises:
        ProblemError: The sweep cannot be started, or a grid has too many combinations.
    """
    sweep, axes = sweep_of(profile), axes_of(profile)
    if sweep.method is SweepMethod.GRID or not axes:
        size = _size(axes) or 0
        if size > MOST_TRIALS:
            raise ProblemError(_grid_too_large(axes, size))
        found = tuple(_all(axes))
    else:
        found = tuple(itertools.islice(_at_random(axes, sweep), sweep.trials))
    _check_runs(profile, len(found))
    return found


def repeats_of(profile: Profile) -> tuple[Values, ...]:
    """What the runs of one trial differ in; a single run that differs in nothing is one, too.

    Raises:
        ProblemError: The sweep cannot be started.
    """
    sweep, first = sweep_of(profile), profile.training.seed
    seeds: list[Values] = [{SEED: (first + place) % SEEDS} for place in range(sweep.seeds)]
    folds: list[Values] = [{}]
    if sweep.folds > 1:
        part = {"data.validation_fraction": 1.0 / sweep.folds}
        folds = [{**part, "data.fold": number} for number in range(1, sweep.folds + 1)]
    if sweep.seeds == 1:
        seeds = [{}]
    return tuple({**seed, **each} for seed in seeds for each in folds)


def runs_of(profile: Profile) -> tuple[Values, ...]:
    """The values of each run of a grid or of a random sweep: those of its trial, and its own.

    Raises:
        ProblemError: As :func:`trials_of` and :func:`repeats_of`.
    """
    repeats = repeats_of(profile)
    return tuple({**values, **own} for values in trials_of(profile) for own in repeats)


def trial_profile(profile: Profile, number: int, values: Values) -> Profile:
    """The profile of a run of one trial; its name says what differs.

    Args:
        profile: With the sweep.
        number: Of the trial, counted from 1.
        values: By their keys from the top.

    Raises:
        ProblemError: These values do not go together.
    """
    differs = values_text(profile, values)
    name = f"{profile.name} {number}: {differs}" if differs else f"{profile.name} {number}"
    if len(name) > LONGEST_NAME:
        name = f"{name[: LONGEST_NAME - 1]}…"
    return with_values(profile, dict(values)).model_copy(update={"name": name})


def values_text(profile: Profile, values: Values) -> str:
    """The values of a trial in one line, in a few digits: "learning rate 0.01, optimizer adam".

    Settings are called as in the window; by their keys where that would not distinguish them.
    """
    settings = {key: swept_setting(profile, key) for key in values}
    titles = [within_words(each.title) if each else key for key, each in settings.items()]
    return ", ".join(
        f"{title if titles.count(title) == 1 else key} {_value_text(value)}"
        for (key, value), title in zip(values.items(), titles, strict=True)
    )


def _value_text(value: SweptValue) -> str:
    if isinstance(value, float):
        return short_number(value, _NAMED_DIGITS)
    return value if isinstance(value, str) else toml_value(value)


def _axis(profile: Profile, sweep: SweepSettings, key: str, swept: Swept) -> Axis:
    if not isinstance(swept, SweptRange):
        return Axis(key, _distinct(swept))
    setting = swept_setting(profile, key)
    is_whole = setting is not None and setting.type is not SettingType.NUMBER
    low, high = swept.low, swept.high
    if is_whole:
        low, high = float(math.ceil(low)), float(math.floor(high))
    axis = Axis(key, (), low, high, swept.log, is_whole)
    if sweep.method is SweepMethod.GRID and swept.steps is not None:
        return Axis(key, axis.evenly(swept.steps))
    return axis


def _distinct(values: Sequence[SweptValue]) -> tuple[SweptValue, ...]:
    """Each value once; 1, 1.0 and true are three."""
    return tuple({(type(each), each): each for each in values}.values())


def _size(axes: Sequence[Axis]) -> int | None:
    """How many combinations there are; ``None``: more than can be counted."""
    sizes = [
        len(axis.values) or (int(axis.high - axis.low) + 1 if axis.is_whole else 0) for axis in axes
    ]
    return math.prod(sizes) if all(sizes) else None


def _all(axes: Sequence[Axis]) -> Iterator[Values]:
    """Every combination, the last axis fastest."""
    keys = [axis.key for axis in axes]
    values = [axis.values or range(int(axis.low), int(axis.high) + 1) for axis in axes]
    for combination in itertools.product(*values):
        yield dict(zip(keys, combination, strict=True))


def _at_random(axes: Sequence[Axis], sweep: SweepSettings) -> Iterator[Values]:
    # Only random() itself gives the same numbers in every version of Python.
    random = Random(sweep.seed)  # noqa: S311 - no secret
    size = _size(axes)
    if size is not None and size <= _ENUMERATED * sweep.trials:
        yield from sorted(_all(axes), key=lambda _: random.random())
        return
    seen = set[str]()
    for _ in range(_MOST_DRAWS * sweep.trials):
        values = {axis.key: axis.at(random.random()) for axis in axes}
        text = toml_value(values)
        if text not in seen:
            seen.add(text)
            yield values


def _check_runs(profile: Profile, trials: int) -> None:
    runs = trials * len(repeats_of(profile))
    if runs > MOST_TRIALS:
        raise ProblemError(
            Problem(
                code="sweep_too_large",
                field="sweep.seeds",
                message=f"The sweep has {runs:,} runs: {trials:,} trials with "
                f"{len(repeats_of(profile)):,} runs each; a sweep has at most {MOST_TRIALS:,}.",
                hint="Try fewer trials, or with fewer seeds or folds.",
            )
        )


def _grid_too_large(axes: Sequence[Axis], size: int) -> Problem:
    each = " x ".join(str(len(axis.values)) for axis in axes)
    return Problem(
        code="sweep_too_large",
        field="sweep.values",
        message=f"The grid has {size:,} combinations ({each}); a sweep has at most "
        f"{MOST_TRIALS:,} trials.",
        hint='Leave values out, or use method = "random" with a number of trials.',
    )
