"""What a window remembers is read whatever stands in the file of its settings."""

import json

import pytest
from PySide6.QtCore import QSettings

from gpupanel.ui import remembered
from gpupanel.ui.bindings.last_session import saved_session
from gpupanel.ui.window_settings import WindowSettings

KEYS = (
    remembered._FOLDS,
    remembered._COLORS,
    remembered._SECTIONS,
    remembered._COLUMNS,
    remembered._SETTINGS,
    "session/last",
)
HUGE = 10**40


@pytest.mark.parametrize(
    "written",
    ["[" * 100_000, '{"a":' * 100_000, str(HUGE), "9" * 5000, "\0", "null", '{"profile": null}'],
    ids=["lists", "objects", "number", "digits", "NUL", "null", "session"],
)
def test_that_what_is_no_document_is_forgotten(tmp_path, written):
    settings = QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat)
    for key in KEYS:
        settings.setValue(key, written)

    assert remembered.remembered_folds(settings) == {}
    assert remembered.remembered_sections(settings) == {}
    assert remembered.remembered_device_colors(settings) == {}
    assert remembered.remembered_columns(settings).widths == {}
    assert remembered.remembered_settings(settings) == WindowSettings()
    assert saved_session(settings) is None


def test_that_a_column_is_no_wider_than_one_can_be(tmp_path):
    settings = QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat)
    widths = {"name": HUGE, "started": 120, "state": 2**31}
    settings.setValue(remembered._COLUMNS, json.dumps({"widths": widths}))
    assert remembered.remembered_columns(settings).widths == {"started": 120}
