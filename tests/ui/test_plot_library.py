"""What draws curves is loaded in parts, between which the window answers."""

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
CHILD = """
import json, sys
import gpupanel.ui.app
from PySide6.QtWidgets import QApplication
from gpupanel.ui.plots.plot_library import PlotLibrary

application, library, turns = QApplication([]), PlotLibrary(), []
while not library.is_loaded:
    before = set(sys.modules)
    library.load_some()
    turns.append(sorted(set(sys.modules) - before))
print(json.dumps([turn for turn in turns if turn]))
"""


def test_that_pyqtgraph_and_what_it_takes_along_are_loaded_at_turns_of_their_own() -> None:
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen", "PYTHONPATH": str(ROOT)}
    child = subprocess.run(
        [sys.executable, "-c", CHILD],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    *before, last = json.loads(child.stdout)
    assert "gpupanel.ui.plots.plot_canvas" in last
    assert not any(name.startswith(("numpy", "PySide6.", "multiprocessing")) for name in last)
    assert any("numpy" in turn for turn in before)
