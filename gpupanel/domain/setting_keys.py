"""Every setting of a profile by its key from the top: ``training.learning_rate``."""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import get_args

from gpupanel.domain.profile import Profile
from gpupanel.domain.setting import Setting, settings_of
from gpupanel.domain.value import Value


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
