"""Columns of single settings and metrics: each that a listed run has can be shown."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial

from gpupanel.domain.outcome import SET_METRICS, Metrics
from gpupanel.runs.history.run_settings import RunSettings, SettingKey, SettingValue, setting_keys
from gpupanel.runs.history.run_summary import RunSummary
from gpupanel.ui import formatting
from gpupanel.ui.panels.runs_panel.columns import COLUMNS
from gpupanel.ui.setting_titles import metric_title, part_and_metric, setting_tip, setting_title
from gpupanel.ui.widgets.table_model import Column

DIFFERS = "differs"
"""What settings are that listed runs do not have in common."""
_SETTING, _METRIC = "setting:", "metric:"
_SHOWN_ALREADY = frozenset({"loss", "accuracy", "test_loss", "test_accuracy"})
"""Training and test have columns of their own for these, and validation for all."""


@dataclass(frozen=True, slots=True)
class ColumnOffer:
    """A column that can be shown.

    Attributes:
        key: By which it is remembered.
        what: What kind of column it is, for people: "differs", "setting", "metric"; empty: one of
            those that every list of runs has.
    """

    key: str
    title: str
    tip: str
    what: str = ""


class SettingColumns:
    """Knows the settings of the listed runs, and makes columns of them."""

    def __init__(self) -> None:
        self._settings: Mapping[str, RunSettings] = {}
        self._keys: tuple[SettingKey, ...] = ()
        self._numeric: frozenset[str] = frozenset()

    @property
    def settings(self) -> Mapping[str, RunSettings]:
        """The settings of each run, by the name of its directory."""
        return self._settings

    def set_settings(self, settings: Mapping[str, RunSettings]) -> None:
        """Take these settings, of each run by the name of its directory."""
        self._settings = settings
        self._keys = setting_keys(settings)
        self._numeric = frozenset(each.key for each in self._keys if each.is_number)

    def offers(self, runs: Iterable[RunSummary]) -> tuple[ColumnOffer, ...]:
        """What can be shown of these runs: settings that differ, metrics, all other settings."""
        made = [
            (
                ColumnOffer(
                    f"{_SETTING}{each.key}", setting_title(each.key), setting_tip(each.key)
                ),
                each.differs,
            )
            for each in self._keys
        ]
        differing = (
            ColumnOffer(each.key, each.title, each.tip, DIFFERS) for each, is_so in made if is_so
        )
        others = (
            ColumnOffer(each.key, each.title, each.tip, "setting")
            for each, is_so in made
            if not is_so
        )
        return (*differing, *_metric_offers(runs), *others)

    def column(self, key: str) -> Column[RunSummary] | None:
        """The column of that key; ``None``: there is none such."""
        if key.startswith(_SETTING):
            return self._setting_column(key.removeprefix(_SETTING))
        name = key.removeprefix(_METRIC)
        if key.startswith(_METRIC) and name in Metrics.model_fields:
            return _metric_column(name)
        return None

    def _setting_column(self, key: str) -> Column[RunSummary]:
        is_number = key in self._numeric
        return Column(
            setting_title(key),
            setting_tip(key),
            lambda run: _text(self._value(key, run)),
            partial(self._order, key, is_number),
            is_number=is_number,
            key=f"{_SETTING}{key}",
            number_text=_text if is_number else None,
        )

    def _order(self, key: str, is_number: bool, run: RunSummary) -> SettingValue | None:
        value = self._value(key, run)
        return value if value is None or is_number else _text(value).casefold()

    def _value(self, key: str, run: RunSummary) -> SettingValue | None:
        settings = self._settings.get(run.name)
        return None if settings is None else settings.value_of(key)


def is_setting(key: str) -> bool:
    """Whether that key is of a column of a setting."""
    return key.startswith(_SETTING)


def is_single(key: str) -> bool:
    """Whether that key is of a column that is made when it is asked for."""
    return key.startswith((_SETTING, _METRIC))


def fixed_offers() -> tuple[ColumnOffer, ...]:
    """The columns that every list of runs has."""
    return tuple(ColumnOffer(column.key, column.title, column.tip) for column in COLUMNS)


def _metric_offers(runs: Iterable[RunSummary]) -> Iterable[ColumnOffer]:
    found = {name for run in runs for name in run.metrics.model_dump(exclude_none=True)}
    for name in Metrics.model_fields:
        is_shown = name in _SHOWN_ALREADY or name.startswith("val_")
        if name in found and not is_shown:
            column = _metric_column(name)
            yield ColumnOffer(column.key, column.title, column.tip, "metric")


def _metric_column(name: str) -> Column[RunSummary]:
    metric = SET_METRICS[part_and_metric(name)[1]]
    words = formatting.fraction if metric.is_fraction else formatting.number
    return Column(
        metric_title(name),
        f"{metric.tip} ({name})",
        lambda run: words(getattr(run.metrics, name)),
        lambda run: getattr(run.metrics, name),
        is_number=True,
        key=f"{_METRIC}{name}",
        number_text=words,
    )


def _text(value: SettingValue | None) -> str:
    match value:
        case None:
            return formatting.DASH
        case str():
            return value
    return formatting.setting_number(value)
