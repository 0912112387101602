"""Every setting of a profile by its key from the top: ``training.learning_rate``."""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import get_args

from gpupanel.domain.profile import Profile
from gpupanel.domain.setting import Setting, settings_of, within_words
from gpupanel.domain.strategy import AllReduce, StrategyKind
from gpupanel.domain.value import Value

_KEY = re.compile(r"(?<![\w./-])[a-z]+(?:\.[a-z][a-z0-9_]*)+\b(?! =|/)")
"""A dotted key that is no part of a path, and has not its value behind it as in a profile."""
_LABELS = {
    each.value: within_words(each.choice.name)
    for choices in (StrategyKind, AllReduce)
    for each in choices
    if "_" in each.value
}
_CHOICE = re.compile(rf"(?<![\w./-])(?:{'|'.join(_LABELS)})(?![\w/-])")
"""A value of a profile that is no word."""


@cache
def settings_by_key(values: type[Value] = Profile) -> Mapping[str, Setting]:
    """What the settings declare, by their dotted keys, in the order of the profile's tables.

    Where several kinds have a key, it is the first kind's; keys of a person's choice, such as those
    of devices, are not among them.
    """
    found: dict[str, Setting] = {}
    for key, setting in _settings(values, ""):
        found.setdefault(key, setting)
    return found


def with_titles(words: str) -> str:
    """Words of a problem as a window says them: “Learning rate” for ``training.learning_rate``.

    A key whose title depends on the kind of data or model stays as it is. Strategies are called
    by their labels, too: "one device" for ``one_device``.
    """
    titled = _KEY.sub(lambda found: _quoted(found[0]), words)
    return _CHOICE.sub(lambda found: _LABELS[found[0]], titled)


def _quoted(key: str) -> str:
    titles = _titles().get(key, ())
    return f"“{titles[0]}”" if len(titles) == 1 else key


@cache
def _titles() -> Mapping[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for key, setting in _settings(Profile, ""):
        found[key] = tuple(dict.fromkeys((*found.get(key, ()), setting.title)))
    return found


def _settings(values: type[Value], path: str) -> Iterator[tuple[str, Setting]]:
    for setting in settings_of(values):
        yield f"{path}{setting.name}", setting
    for name, info in values.model_fields.items():
        for inner in _values_in(info.annotation):
            yield from _settings(inner, f"{path}{name}.")


def _values_in(annotation: object) -> Iterator[type[Value]]:
    """The kinds of a table: of a union, each of them."""
    if isinstance(annotation, type) and issubclass(annotation, Value):
        yield annotation
    for part in get_args(annotation):
        yield from _values_in(part)
