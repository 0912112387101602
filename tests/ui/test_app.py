"""The application as a process of its own."""

import json
import os
import subprocess
import sys
from pathlib import Path

from gpupanel.domain.profile import Profile
from gpupanel.runs.directory.profile_file import write_profile

ROOT = Path(__file__).parents[2]
CHILD = """
import json, os, signal, sys, threading
from pathlib import Path
from PySide6.QtWidgets import QApplication
from gpupanel.ui.app import open_window

titles = []

def interrupt():
    titles.extend(each.windowTitle() for each in QApplication.topLevelWidgets() if each.isVisible())
    os.kill(os.getpid(), signal.SIGINT)

threading.Timer(2.5, interrupt).start()
status = open_window(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
print(json.dumps({
    "status": status,
    "titles": titles,
    "tensorflow": sorted({"tensorflow", "keras", "gpupanel.trainer"} & set(sys.modules)),
}))
"""


def _opened(tmp_path: Path, runs_dir: Path, *arguments: str) -> dict[str, object]:
    environment = {
        **os.environ,
        "QT_QPA_PLATFORM": "offscreen",
        "XDG_CONFIG_HOME": str(tmp_path / "config"),
        "GPUPANEL_RUNS_DIR": str(runs_dir),
        "PYTHONPATH": str(ROOT),
    }
    child = subprocess.run(
        [sys.executable, "-c", CHILD, *arguments],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert child.returncode == 0, child.stderr
    assert "Traceback" not in child.stderr
    return json.loads(child.stdout.splitlines()[-1])


def test_that_the_window_opens_closes_and_never_imports_tensorflow(tmp_path, runs_dir):
    answer = _opened(tmp_path, runs_dir)

    assert answer["status"] == 0
    assert answer["titles"] == ["untitled[*] \N{EM DASH} gpupanel"]
    assert answer["tensorflow"] == []


def test_that_the_window_opens_on_a_profile(tmp_path, runs_dir):
    write_profile(tmp_path / "mine.toml", Profile(name="mine"))

    answer = _opened(tmp_path, runs_dir, str(tmp_path / "mine.toml"))

    assert answer["titles"] == ["mine[*] \N{EM DASH} gpupanel"]
