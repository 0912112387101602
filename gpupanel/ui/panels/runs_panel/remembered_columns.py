"""How a person wants the columns of the table of runs, remembered from window to window."""

import json
from dataclasses import asdict

from PySide6.QtCore import QSettings

from gpupanel.ui.panels.runs_panel.table import ColumnChoices

_KEY = "runs/columns"


def remembered_columns(settings: QSettings) -> ColumnChoices:
    """What is usual when nothing, or nothing readable, is remembered."""
    try:
        document = json.loads(str(settings.value(_KEY, "{}")))
    except ValueError:
        document = None
    if not isinstance(document, dict):
        return ColumnChoices({}, {})
    shown, widths = document.get("shown"), document.get("widths")
    return ColumnChoices(
        {key: is_shown for key, is_shown in shown.items() if isinstance(is_shown, bool)}
        if isinstance(shown, dict)
        else {},
        {key: width for key, width in widths.items() if type(width) is int and width > 0}
        if isinstance(widths, dict)
        else {},
        str(document.get("sorted_by", "started")),
        descending=document.get("descending") is not False,
    )


def remember_columns(settings: QSettings, choices: ColumnChoices) -> None:
    """Keep them for the next window."""
    settings.setValue(_KEY, json.dumps(asdict(choices)))
