"""A change to a profile in the words of its setting, for people.

Changes also come from files of runs; one that fits no setting is shown as TOML.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, get_args

from pydantic import TypeAdapter, ValidationError

from gpupanel.domain.change_toml import change_toml
from gpupanel.domain.data import DataSettings
from gpupanel.domain.inference import InferenceSettings
from gpupanel.domain.kind import SOURCE, kinds_of
from gpupanel.domain.memory import (
    DEFAULT_MEMORY_KEY,
    AllMemory,
    GrowingMemory,
    LimitedMemory,
    MemoryPolicy,
)
from gpupanel.domain.model import ModelSettings
from gpupanel.domain.problem import Change
from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.domain.setting import EVERY, Setting, settings_of, within_words
from gpupanel.domain.strategy import StrategySettings
from gpupanel.domain.toml_text import toml_value
from gpupanel.domain.training import TrainingSettings
from gpupanel.domain.value import Value

_KINDS: Final = {"data": kinds_of(DataSettings), "model": kinds_of(ModelSettings)}
_TABLES: Final[Mapping[str, Sequence[type[Value]]]] = {
    "devices": (DeviceSettings,),
    "memory": get_args(get_args(MemoryPolicy)[0]),
    "strategy": (StrategySettings,),
    "training": (TrainingSettings,),
    "inference": (InferenceSettings,),
    **{table: tuple(kind.values for kind in kinds) for table, kinds in _KINDS.items()},
}
"""The types of each table of a profile: one, or one for each kind."""
_POLICY: Final[TypeAdapter[Any]] = TypeAdapter(MemoryPolicy)
_POLICIES: Final = {"all": "take all", "growth": "grow as needed"}
_SUMMED: Final = ("shares", "split_mib")
"""Lists of numbers that divide something."""
_PLACES: Final = "placement"
_DEVICES: Final = "visible"
_KEY_CHARACTERS: Final = 12
"""Characters of a device's UUID that are shown: enough to identify it on a machine."""


def change_text(change: Change, names: Mapping[str, str] | None = None) -> str:
    """The change in the words of its setting: "Optimizer: Adam", "Remove momentum".

    Args:
        change: One key and its value.
        names: Of devices, by key; one without a name here is named by the start of its UUID.
    """
    names = names or {}
    table, *path = change.path or ("",)
    if table == "memory" and path:
        key, *path = path
        return _memory_text(change, _memory_device(key, names), path)
    if table in _KINDS and path in ([], [SOURCE]):
        return f"{table.capitalize()}: {_kind_name(table, change.value)}"
    setting = _setting(table, path)
    if setting is None:
        return change_toml(change)
    subject = f"{setting.title} of {path[1]}" if len(path) > 1 else setting.title
    return _text(subject, setting, change.value, names)


def changes_text(changes: Sequence[Change], names: Mapping[str, str] | None = None) -> str:
    """Several changes in words: "Shares: 3 + 2; Mixed precision: on"; empty without any."""
    return "; ".join(change_text(change, names) for change in changes)


def _memory_text(change: Change, device: str, path: Sequence[str]) -> str:
    subject = f"Memory of {device}"
    if not path or path == ["policy"]:
        if change.value is None:
            return f"Remove memory setting of {device}"
        return f"{subject}: {memory_policy_text(change.value)}"
    setting = _setting("memory", path)
    if setting is None:
        return change_toml(change)
    return _text(f"{subject}, {within_words(setting.title)}", setting, change.value, {})


def _memory_device(key: str, names: Mapping[str, str]) -> str:
    return "all other GPUs" if key == DEFAULT_MEMORY_KEY else _device_name(key, names)


def memory_policy_text(value: object) -> str:
    """How much of a GPU's memory may be taken: "grow as needed", "limit of 4,096 MiB".

    Args:
        value: The policy's name, or the policy as JSON holds it.
    """
    if isinstance(value, str):
        return _POLICIES.get(value, value)
    try:
        policy = _POLICY.validate_python(value)
    except ValidationError:
        return toml_value(value)
    match policy:
        case AllMemory() | GrowingMemory():
            return _POLICIES[policy.policy]
        case LimitedMemory():
            return f"{'grow up to' if policy.growth else 'limit of'} {policy.limit_mib:,} MiB"
    growing = ", growing" if policy.growth else ""
    return f"split into {_sum(policy.split_mib)} MiB{growing}"


def _kind_name(table: str, value: object) -> str:
    source = value.get(SOURCE) if isinstance(value, dict) else value
    return next((kind.name for kind in _KINDS[table] if kind.source == source), str(source))


def _setting(table: str, path: Sequence[str]) -> Setting | None:
    """The setting that a path leads to, or into; ``None``: there is none."""
    tables, name = (_TABLES.get(table, ()), path[0]) if path else ((Profile,), table)
    found = (each for values in tables for each in settings_of(values) if each.name == name)
    return next(found, None)


def _text(subject: str, setting: Setting, value: object, names: Mapping[str, str]) -> str:
    if value is None and not setting.off:
        return f"Remove {within_words(subject)}"
    return f"{subject}: {setting_value_text(setting, value, names)}"


def setting_value_text(setting: Setting, value: object, names: Mapping[str, str]) -> str:
    """The value of a setting in words: "on", "every 2 epochs", "48 + 16".

    Args:
        setting: Which.
        value: As JSON holds it.
        names: Of devices, by key.
    """
    match value:
        case None:
            return setting.off
        case bool():
            return "on" if value else "off"
        case str():
            names_of = {choice.value: choice.name for choice in setting.choices}
            return names_of.get(value, value)
        case int() | float():
            return _number_text(setting, value)
        case list():
            return _list_text(setting, value, names)
    return toml_value(value)


def _number_text(setting: Setting, value: float) -> str:
    if setting.name == _PLACES:
        return f"device {value}"
    if not value and setting.off:
        return setting.off
    if value == 1 and setting.prefix == EVERY and setting.unit:
        return f"{setting.prefix}{setting.unit}"
    unit = setting.unit if value == 1 or setting.unit in ("", "MiB") else f"{setting.unit}s"
    return f"{setting.prefix}{value:,} {unit}".rstrip()


def _list_text(setting: Setting, values: Sequence[object], names: Mapping[str, str]) -> str:
    if setting.name == _DEVICES:
        return ", ".join(_device_name(str(key), names) for key in values) or setting.off
    if setting.name in _SUMMED:
        return f"{_sum(values)} {setting.unit}".rstrip()
    return ", ".join(str(value) for value in values) or setting.off


def _sum(values: Sequence[object]) -> str:
    return " + ".join(f"{value:,}" if isinstance(value, int) else str(value) for value in values)


def _device_name(key: str, names: Mapping[str, str]) -> str:
    short = key if len(key) <= _KEY_CHARACTERS else f"{key[:_KEY_CHARACTERS]}…"
    return names.get(key, "CPU" if key == "cpu" else short)
