"""Which devices a person opened or folded, remembered from window to window."""

import json
from collections.abc import Mapping

from PySide6.QtCore import QSettings

_KEY = "devices/open"


def remembered_folds(settings: QSettings) -> dict[str, bool]:
    """By the devices' keys; empty when nothing, or nothing readable, is remembered."""
    try:
        document = json.loads(str(settings.value(_KEY, "{}")))
    except ValueError:
        return {}
    if not isinstance(document, dict):
        return {}
    return {key: is_open for key, is_open in document.items() if isinstance(is_open, bool)}


def remember_folds(settings: QSettings, folds: Mapping[str, bool]) -> None:
    """Keep them for the next window."""
    settings.setValue(_KEY, json.dumps(dict(folds)))
