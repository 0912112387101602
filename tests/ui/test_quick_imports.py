"""Imports of the window's code that PySide6 and the garbage collection do not hold up."""

import json
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from gpupanel.ui.quick_imports import quick_imports

ROOT = Path(__file__).parents[2]
NEEDED_LATER = (
    "gpupanel.devices.doctor",
    "gpupanel.devices.nvml",
    "gpupanel.runs.cluster.environments",
    *(
        f"gpupanel.runs.tools.{name}."
        for name in ("batch_search.search", "bench", "self_test", "tracing")
    ),
)
"""What the Doctor, the readings of devices and tools take along that few windows open."""
CHILD = """
import gc, json, linecache
from gpupanel.ui.quick_imports import quick_imports

with quick_imports():
    collecting = gc.isenabled()
    import gpupanel.ui.app
import sys
from PySide6.QtCore import QObject
feature = sys.modules["shibokensupport.feature"]
print(json.dumps({
    "collecting": [collecting, gc.isenabled()],
    "read": [name for name in linecache.cache if "/gpupanel/" in name],
    "known": feature.pyside_feature_dict["gpupanel.ui.main_window"],
    "objectName": hasattr(QObject, "objectName"),
    "modules": sorted(name for name in sys.modules if name.startswith("gpupanel.")),
}))
"""


def test_that_the_window_is_imported_without_sources_garbage_and_tools() -> None:
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen", "PYTHONPATH": str(ROOT)}
    child = subprocess.run(
        [sys.executable, "-c", CHILD],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    answer = json.loads(child.stdout)
    assert answer["collecting"] == [False, True]
    assert answer["read"] == []
    assert answer["known"] == 0  # as PySide6 itself answers for a module that uses it
    assert answer["objectName"]
    unneeded = [name for name in answer["modules"] if name.startswith(NEEDED_LATER)]
    assert unneeded == []


def test_that_modules_are_known_by_their_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    feature = sys.modules["shibokensupport.feature"]
    # Put back after the test: quick_imports replaces it for good.
    monkeypatch.setattr(feature, "_mod_uses_pyside", feature._mod_uses_pyside)
    with quick_imports():
        pass
    answers = {
        name: feature._mod_uses_pyside(ModuleType(name))
        for name in ("gpupanel.ui", "gpupanel.ui.app", "gpupanel.ui_of_another", "pyqtgraph", "os")
    }
    assert answers == {
        "gpupanel.ui": True,
        "gpupanel.ui.app": True,
        "gpupanel.ui_of_another": False,
        "pyqtgraph": True,
        "os": False,
    }


def test_that_a_pyside_that_does_not_ask_is_left_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "shibokensupport.feature", ModuleType("feature"))
    with quick_imports():
        pass
    assert not hasattr(sys.modules["shibokensupport.feature"], "_mod_uses_pyside")
