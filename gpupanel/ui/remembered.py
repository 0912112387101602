"""How a person wants parts of the window, remembered from window to window."""

import json
from collections.abc import Mapping
from dataclasses import asdict

from pydantic import ValidationError
from PySide6.QtCore import QSettings

from gpupanel.ui.panels.runs_panel.column_choices import ColumnChoices
from gpupanel.ui.window_settings import WindowSettings

_FOLDS = "devices/open"
_LINES = "devices/lines"
_COLORS = "devices/colors"
_SECTIONS = "session/open"
_PLOTS = "live/plots"
_COLUMNS = "runs/columns"
_SETTINGS = "window/settings"
_HIDDEN_RUN = "session/hidden_run"
_MOST_PIXELS = 10_000
"""The greatest width of a column; Qt has none of more than 2^31."""


def remembered_folds(settings: QSettings) -> dict[str, bool]:
    """Which devices were opened or folded, by their keys."""
    return _truths(_document(settings, _FOLDS))


def remember_folds(settings: QSettings, folds: Mapping[str, bool]) -> None:
    """Keep which devices are opened or folded for the next window."""
    settings.setValue(_FOLDS, json.dumps(dict(folds)))


def remembered_device_lines(settings: QSettings) -> bool:
    """Whether each device has one line."""
    return _document(settings, _LINES).get("in_lines") is True


def remember_device_lines(settings: QSettings, *, in_lines: bool) -> None:
    """Keep whether each device has one line for the next window."""
    settings.setValue(_LINES, json.dumps({"in_lines": in_lines}))


def remembered_plots(settings: QSettings) -> dict[str, bool]:
    """Which plots of a run are shown or hidden, by their titles."""
    return _truths(_document(settings, _PLOTS))


def remember_plots(settings: QSettings, shown: Mapping[str, bool]) -> None:
    """Keep which plots are shown for the next window."""
    settings.setValue(_PLOTS, json.dumps(dict(shown)))


def remembered_hidden_run(settings: QSettings) -> str:
    """The directory's name of the run of which nobody wants to hear that it waits; or empty."""
    return str(settings.value(_HIDDEN_RUN, ""))


def remember_hidden_run(settings: QSettings, name: str) -> None:
    """Keep that for the next window."""
    settings.setValue(_HIDDEN_RUN, name)


def remembered_device_colors(settings: QSettings) -> dict[str, int]:
    """The numbers of the devices' colours, by their keys."""
    found = _document(settings, _COLORS)
    return {key: number for key, number in found.items() if type(number) is int and number >= 0}


def remember_device_colors(settings: QSettings, numbers: Mapping[str, int]) -> None:
    """Keep the numbers of the devices' colours for the next window."""
    settings.setValue(_COLORS, json.dumps(dict(numbers)))


def remembered_sections(settings: QSettings) -> dict[str, bool]:
    """Which sections of the Session tab were opened or folded, by their titles."""
    return _truths(_document(settings, _SECTIONS))


def remember_sections(settings: QSettings, sections: Mapping[str, bool]) -> None:
    """Keep which sections are opened or folded for the next window."""
    settings.setValue(_SECTIONS, json.dumps(dict(sections)))


def remembered_columns(settings: QSettings) -> ColumnChoices:
    """The columns of the table of runs."""
    document = _document(settings, _COLUMNS)
    widths, order = document.get("widths"), document.get("order")
    return ColumnChoices(
        _truths(document.get("shown")),
        {
            key: width
            for key, width in widths.items()
            if type(width) is int and 0 < width <= _MOST_PIXELS
        }
        if isinstance(widths, dict)
        else {},
        str(document.get("sorted_by", "started")),
        descending=document.get("descending") is not False,
        order=tuple(key for key in order if isinstance(key, str))
        if isinstance(order, list)
        else (),
        grouped_by=_text(document, "grouped_by"),
        figure=_text(document, "figure"),
        baseline=_text(document, "baseline"),
        trainings_only=document.get("trainings_only") is not False,
    )


def remember_columns(settings: QSettings, choices: ColumnChoices) -> None:
    """Keep the columns of the table of runs for the next window."""
    settings.setValue(_COLUMNS, json.dumps(asdict(choices)))


def remembered_settings(settings: QSettings) -> WindowSettings:
    """The settings of the window; of those that cannot be read, the defaults."""
    read: dict[str, object] = {}
    for key, chosen in _document(settings, _SETTINGS).items():
        try:
            WindowSettings.model_validate({key: chosen})
        except ValidationError:
            continue
        read[key] = chosen
    return WindowSettings.model_validate(read)


def remember_settings(settings: QSettings, chosen: WindowSettings) -> None:
    """Keep the settings of the window for the next one."""
    settings.setValue(_SETTINGS, chosen.model_dump_json())


def _document(settings: QSettings, key: str) -> dict[str, object]:
    """What is remembered under a key; empty when nothing, or nothing readable, is."""
    try:
        document = json.loads(str(settings.value(key, "{}")))
    except (ValueError, RecursionError):
        return {}
    return document if isinstance(document, dict) else {}


def _text(document: dict[str, object], key: str) -> str:
    found = document.get(key)
    return found if isinstance(found, str) else ""


def _truths(found: object) -> dict[str, bool]:
    if not isinstance(found, dict):
        return {}
    return {key: value for key, value in found.items() if isinstance(value, bool)}
