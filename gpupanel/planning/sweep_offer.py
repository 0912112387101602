"""Which settings of a profile can be tried in a sweep, and which values to begin with."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from gpupanel.domain.profile import Profile
from gpupanel.domain.script import ScriptSettings
from gpupanel.domain.setting import Bounds, Setting, SettingType, settings_of
from gpupanel.domain.sweep import Swept, SweptRange, SweptValue
from gpupanel.domain.sweep_mistakes import sweepable_settings, swept_setting
from gpupanel.domain.value import Value

NUMBERS: Final = (SettingType.COUNT, SettingType.NUMBER, SettingType.CHOICE_OR_COUNT)
"""Settings that may have a range."""
_OFFERED: Final = (
    *NUMBERS,
    SettingType.SWITCH,
    SettingType.CHOICE,
    SettingType.COUNTS,
    SettingType.SIZE,
    SettingType.TEXT,
    SettingType.DURATION,
    SettingType.PATH,
)
_ONLY_OTHERWISE: Final = ("inference",)
"""Tables that mean nothing for a training."""
_SOMETHING: Final = 0.001
_OF_THE_MOST: Final = 0.2
"""Where a number is 0 or left out, trying begins around these: of what has no bound, of one that
has."""
_BELOW_THE_MOST: Final = 0.9
_GROUPS: Final = ("training", "model", "data", "strategy", "devices")
"""What is tried most comes first."""


@dataclass(frozen=True, slots=True)
class SweptOffer:
    """A setting that can be tried.

    Attributes:
        key: From the top.
        setting: What it declares.
        group: The titles of the tables that it is in.
        value: In the profile; ``None``: left out.
    """

    key: str
    setting: Setting
    group: str
    value: object


def swept_offers(profile: Profile) -> tuple[SweptOffer, ...]:
    """All settings that trials of this very profile can differ in, the usual ones first."""
    return tuple(sorted(_offers(profile), key=_order))


def offer_of(profile: Profile, key: str) -> SweptOffer:
    """The setting that a key leads to, also where it is not among the offers.

    A key that leads to none is shown by its name, so that it can be seen and left out.
    """
    setting = swept_setting(profile, key)
    if setting is None:
        return SweptOffer(key, Setting(key, SettingType.OTHER, key, "", default=None), "", None)
    if profile.script is not None:
        return _of_argument(profile, profile.script, setting)
    inner: object = profile
    for name in key.split("."):
        inner = getattr(inner, name)
    return SweptOffer(key, setting, _group(profile, key), inner)


def first_values(offer: SweptOffer, *, as_range: bool) -> Swept:
    """Values around that of the profile, to begin with.

    Args:
        offer: The setting.
        as_range: A range is wanted where the setting may have one; else a list.
    """
    setting, value = offer.setting, offer.value
    if setting.type is SettingType.SWITCH:
        return (True, False)
    if setting.type is SettingType.CHOICE:
        return tuple(choice.value for choice in setting.choices)
    if setting.type in NUMBERS:
        return _numbers(setting, value, as_range=as_range)
    if setting.type is SettingType.DURATION and value is None:
        return tuple(_plain(each) for each in setting.examples)
    if setting.type is SettingType.COUNTS:
        counts = value if isinstance(value, tuple) and value else (64,)
        return (counts, tuple(2 * each for each in counts))
    return (_plain(value),) if value is not None else ()


def as_range(swept: Swept, offer: SweptOffer) -> SweptRange:
    """The range from the least to the greatest of listed numbers."""
    if isinstance(swept, SweptRange):
        return swept
    numbers = [float(each) for each in swept if isinstance(each, int | float)]
    if len(set(numbers)) < 2:
        found = first_values(offer, as_range=True)
        assert isinstance(found, SweptRange)
        return found
    low, high = min(numbers), max(numbers)
    return SweptRange(low=low, high=high, log=low > 0 and high >= 30 * low, steps=len(set(numbers)))


def as_list(swept: Swept, offer: SweptOffer) -> tuple[SweptValue, ...]:
    """The two ends of a range."""
    if not isinstance(swept, SweptRange):
        return swept
    is_whole = offer.setting.type is not SettingType.NUMBER
    return tuple(round(each) if is_whole else each for each in (swept.low, swept.high))


def _of_argument(profile: Profile, script: ScriptSettings, setting: Setting) -> SweptOffer:
    """What a name in the arguments of a program stands for: of its type is what is known of it."""
    value = script.values.get(setting.name)
    swept = None if profile.sweep is None else profile.sweep.values.get(setting.name)
    if not isinstance(swept, SweptRange):
        known = tuple(swept or (() if value is None else (value,)))
        setting = replace(setting, type=_type_of(known))
    return SweptOffer(setting.name, setting, "Arguments", value)


def _type_of(values: Sequence[SweptValue]) -> SettingType:
    kinds = {type(each) for each in values}
    for kind, of_kind in (
        (SettingType.SWITCH, {bool}),
        (SettingType.COUNT, {int}),
        (SettingType.NUMBER, {int, float}),
    ):
        if kinds and kinds <= of_kind:
            return kind
    return SettingType.TEXT


def _offers(profile: Profile) -> Iterator[SweptOffer]:
    if profile.script is not None:
        yield from (offer_of(profile, name) for name in sorted(profile.script.placeholders))
        return
    swept = profile.sweep.values if profile.sweep is not None else {}
    for key, table, setting in sweepable_settings(profile):
        if setting.type not in _OFFERED or key.split(".")[0] in _ONLY_OTHERWISE:
            continue
        hindered = setting.hindered_by(table)
        if hindered is not None and f"{key.rpartition('.')[0]}.{hindered}" not in swept:
            continue
        yield SweptOffer(key, setting, _group(profile, key), getattr(table, setting.name))


def _order(offer: SweptOffer) -> tuple[int, bool]:
    table = offer.key.split(".")[0]
    place = _GROUPS.index(table) if table in _GROUPS else len(_GROUPS)
    return place, offer.setting.advanced


def _group(profile: Profile, key: str) -> str:
    """The titles of the tables above a setting: "Training, Schedule"."""
    table: object = profile
    titles = []
    for name in key.split(".")[:-1]:
        declared = settings_of(type(table)) if isinstance(table, Value) else ()
        title = next((each.title for each in declared if each.name == name), "")
        titles.append(title or name.replace("_", " ").capitalize())
        table = getattr(table, name)
    return ", ".join(titles)


def _numbers(setting: Setting, value: object, *, as_range: bool) -> Swept:
    is_whole = setting.type is not SettingType.NUMBER
    bounds = setting.bounds
    middle = _middle(setting, value)
    is_fraction = bounds.most is not None and bounds.most <= 1.0
    factor = 2.0 if is_whole or is_fraction else 10.0
    low, high = _within(bounds, middle / factor), _within(bounds, middle * factor)
    if is_whole:
        low, high = float(math.ceil(low)), float(math.floor(high))
    if as_range and low < high:
        return SweptRange(low=low, high=high, log=low > 0.0 and factor > 2.0)
    listed = sorted({low, _within(bounds, middle), high})
    return tuple(round(each) if is_whole else each for each in listed)


def _middle(setting: Setting, value: object) -> float:
    """The number around which values are tried: the profile's own, unless it turns things off."""
    for each in (value, *setting.examples):
        if isinstance(each, int | float) and not isinstance(each, bool) and each > 0:
            return float(each)
    if setting.type is not SettingType.NUMBER:
        return 1.0
    return _SOMETHING if setting.bounds.most is None else setting.bounds.most * _OF_THE_MOST


def _within(bounds: Bounds, number: float) -> float:
    """The number with few digits, or the nearest one that the bounds allow."""
    if bounds.most is not None and number >= bounds.most:
        number = bounds.most * (_BELOW_THE_MOST if bounds.below_most else 1.0)
    if bounds.least is not None and number < bounds.least:
        number = bounds.least
    return float(f"{number:.6g}")


def _plain(value: object) -> SweptValue:
    if isinstance(value, tuple):
        return tuple(each for each in value if isinstance(each, int | float | str))
    return value if isinstance(value, bool | int | float | str) else str(value)
