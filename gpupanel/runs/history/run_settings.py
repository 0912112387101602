"""The settings that runs were started with, as values that tables sort and searches compare."""

import json
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from gpupanel.domain.run_layout import RunLayout
from gpupanel.domain.toml_text import read_toml
from gpupanel.files.guarded_files import open_to_read
from gpupanel.runs.directory.profile_file import LARGEST_PROFILE_BYTES
from gpupanel.runs.history.run_summary import RunSummary

SettingValue = str | float
_BARE_KEY: Final = re.compile(r"[A-Za-z0-9_-]+")
_NO_CHOICE: Final = ("schema_version", "name", "task", "devices.described", "strategy.kind")
"""Keys that nobody chooses, or that a summary has."""
_MOST_SETTINGS: Final = 300
_LONGEST_TEXT: Final = 200
"""Characters; a profile of ours has nothing longer but paths."""
_MOST_SHARED: Final = 20_000


@dataclass(frozen=True, slots=True)
class RunSettings:
    """What a profile says, key by key.

    Attributes:
        pairs: Dotted keys (``training.learning_rate``) and values in the profile's order: a number
            as it is, true and false as TOML has them, a list as one text.
    """

    pairs: tuple[tuple[str, SettingValue], ...] = ()

    def value_of(self, key: str) -> SettingValue | None:
        """The value of a key; ``None``: the profile has no such key."""
        return next((value for name, value in self.pairs if name == key), None)


@dataclass(slots=True)
class RunSettingsReader:
    """Reads the profiles of runs; equal settings of several runs are kept once.

    What cannot be read has no settings; why, the run's summary says.
    """

    _shared: dict[tuple[str, SettingValue], tuple[str, SettingValue]] = field(default_factory=dict)

    def read(self, runs: Sequence[RunSummary]) -> dict[str, RunSettings]:
        """The settings of each of these runs, by the names of their directories."""
        return {run.name: self._read(run) for run in runs}

    def _read(self, run: RunSummary) -> RunSettings:
        try:
            with open_to_read(RunLayout(run.path).profile) as file:
                document = read_toml(file.read(LARGEST_PROFILE_BYTES).decode())
        except (OSError, ValueError):
            return RunSettings()
        pairs: list[tuple[str, SettingValue]] = []
        for pair in _leaves(document, ""):
            if len(pairs) == _MOST_SETTINGS:
                break
            pairs.append(self._kept(pair))
        return RunSettings(tuple(pairs))

    def _kept(self, pair: tuple[str, SettingValue]) -> tuple[str, SettingValue]:
        if len(self._shared) > _MOST_SHARED:
            self._shared.clear()
        return self._shared.setdefault(pair, pair)


@dataclass(frozen=True, slots=True)
class SettingKey:
    """A key that any of several runs has.

    Attributes:
        key: Dotted.
        differs: Not all of them say the same, or some lack it.
        is_number: All that say something say a number.
    """

    key: str
    differs: bool
    is_number: bool


def setting_keys(settings: Mapping[str, RunSettings]) -> tuple[SettingKey, ...]:
    """The keys of several runs, in the order of the first profile that has it."""
    readable = [each for each in settings.values() if each.pairs]
    # Of ten thousand runs nearly all pairs are the same: each is looked at once.
    counts: Counter[tuple[str, SettingValue]] = Counter()
    for each in readable:
        counts.update(each.pairs)
    found: dict[str, list[tuple[SettingValue, int]]] = {}
    for (key, value), count in counts.items():
        found.setdefault(key, []).append((value, count))
    return tuple(
        SettingKey(
            key,
            differs=len(values) > 1 or values[0][1] < len(readable),
            is_number=not any(isinstance(value, str) for value, _ in values),
        )
        for key, values in found.items()
    )


def _leaves(node: object, path: str) -> Iterator[tuple[str, SettingValue]]:
    if path in _NO_CHOICE:
        return
    if isinstance(node, dict):
        for name, value in node.items():
            key = name if _BARE_KEY.fullmatch(name) else json.dumps(name, ensure_ascii=False)
            yield from _leaves(value, f"{path}.{key}" if path else key)
    elif len(path) <= _LONGEST_TEXT:
        yield path, _value(node)


def _value(node: object) -> SettingValue:
    if isinstance(node, int | float) and not isinstance(node, bool) and math.isfinite(node):
        return float(node)
    text = node if isinstance(node, str) else json.dumps(node, ensure_ascii=False, default=str)
    return text if len(text) <= _LONGEST_TEXT else f"{text[: _LONGEST_TEXT - 1]}…"
