"""The settings of a run in the words of the window, table by table."""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from gpupanel.domain.change_text import memory_policy_text, setting_value_text
from gpupanel.domain.data import DataSettings
from gpupanel.domain.kind import SOURCE, Kind, kinds_of
from gpupanel.domain.memory import DEFAULT_MEMORY_KEY
from gpupanel.domain.model import ModelSettings
from gpupanel.domain.number_text import DASH
from gpupanel.domain.profile import Profile
from gpupanel.domain.setting import Setting, SettingType, settings_of
from gpupanel.domain.value import Value
from gpupanel.runs.report.markup import Html, element, note, section, text
from gpupanel.runs.report.material import ReportMaterial

_LEFT_OUT: Final = ("described",)
"""What names of devices mean; nobody chose it."""
_LONGEST_VALUE: Final = 400
_MOST_MEMORY: Final = 64


def settings_section(material: ReportMaterial) -> Html:
    """Every setting that means something in this run; those left as they come are pale."""
    profile = material.profile
    if profile is None:
        return Html()
    names = {} if material.plan is None else {each.key: each.name for each in material.plan.devices}
    groups = (
        *_groups_of_task(profile),
        ("Strategy", profile.strategy, ()),
        ("Devices", profile.devices, ()),
    )
    cards = []
    for title, values, kinds in groups:
        source = getattr(values, SOURCE, None)
        kind = next((each.name for each in kinds if each.source == source), None)
        rows = [] if kind is None else [_row("Kind", kind)]
        rows += _rows(values, names)
        cards.append(_card(title, rows))
    cards.append(_card("Memory", _memory(profile, names)))
    return section(
        "Settings",
        note("Pale: as a new session has it. Settings that mean nothing here are left out."),
        element("div", *filter(None, cards), class_="cards"),
    )


def _groups_of_task(profile: Profile) -> tuple[tuple[str, Value, Sequence[Kind]], ...]:
    if profile.script is not None:
        return (("Program", profile.script, ()),)
    is_training = profile.task == "train"
    return (
        ("Data", profile.data, kinds_of(DataSettings)),
        ("Model", profile.model, kinds_of(ModelSettings)),
        ("Training", profile.training, ()) if is_training else ("Task", profile.inference, ()),
    )


def _card(title: str, rows: list[Html]) -> Html:
    if not rows:
        return Html()
    return element("div", element("h3", title), element("dl", *rows), class_="card")


def _rows(values: Value, names: Mapping[str, str], before: str = "") -> Iterator[Html]:
    dumped = values.model_dump(mode="json")
    for setting in settings_of(type(values)):
        if setting.name in _LEFT_OUT or not setting.applies_in(values):
            continue
        value = getattr(values, setting.name)
        title = f"{before}{setting.title}"
        if isinstance(value, Value):
            yield from _rows(value, names, f"{title}: ")
            continue
        shown = _value_text(setting, dumped[setting.name], names)
        yield _row(title, shown or setting.off or DASH, is_default=value == setting.default)


def _value_text(setting: Setting, value: object, names: Mapping[str, str]) -> str:
    """A value in words; of variables only the names, since a report is sent and they are not."""
    if isinstance(value, dict):
        if setting.name == "environment":
            return ", ".join(value)
        several = setting.type is SettingType.NAMED_LISTS
        shown = {name: ", ".join(each) if several else each for name, each in value.items()}
        return ("; " if several else ", ").join(f"{name} = {each}" for name, each in shown.items())
    if setting.name == "arguments" and isinstance(value, list):
        return shlex.join(map(str, value))
    return setting_value_text(setting, value, names)


def _memory(profile: Profile, names: Mapping[str, str]) -> list[Html]:
    return [
        _row(
            "All other GPUs" if key == DEFAULT_MEMORY_KEY else names.get(key, key),
            memory_policy_text(policy.model_dump(mode="json")),
        )
        for key, policy in list(profile.memory.items())[:_MOST_MEMORY]
    ]


def _row(title: str, value: str, *, is_default: bool = False) -> Html:
    shown = element("dd", text(value, _LONGEST_VALUE))
    return element("div", element("dt", title), shown, class_="pale" if is_default else "")
