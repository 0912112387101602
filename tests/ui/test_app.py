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
import gc, json, os, signal, sys
from pathlib import Path
from PySide6.QtCore import QTimer
from gpupanel.ui import app

titles, collecting, early = [], [], []
ignores = sys.argv[1] == "ignores"
# Whoever starts the tests in the background has them ignore it.
signal.signal(signal.SIGINT, signal.SIG_IGN if ignores else signal.default_int_handler)

class InterruptedWindow(app.MainWindow):
    def begin(self):
        early.extend({"numpy", "pyqtgraph"} & set(sys.modules))
        super().begin()
        # Once all of it stands, and what it looks at in its first second is seen.
        QTimer.singleShot(1000, self.interrupt)

    def interrupt(self):
        titles.append(self.windowTitle())
        collecting.append(gc.isenabled())
        os.kill(os.getpid(), signal.SIGINT)
        if ignores:
            QTimer.singleShot(500, self.close_unless_closed)

    def close_unless_closed(self):
        titles.append(self.windowTitle() if self.isVisible() else "closed")
        self.close()

app.MainWindow = InterruptedWindow
status = app.open_window(Path(sys.argv[2]) if len(sys.argv) > 2 else None)
print(json.dumps({
    "status": status,
    "titles": titles,
    "python_collects": [*collecting, gc.isenabled()],
    "early": sorted(early),
    "tensorflow": sorted({"tensorflow", "keras", "gpupanel.trainer"} & set(sys.modules)),
}))
"""


def _opened(
    tmp_path: Path, runs_dir: Path, *arguments: str, interrupt: str = "closes"
) -> dict[str, object]:
    environment = {
        **os.environ,
        "QT_QPA_PLATFORM": "offscreen",
        "XDG_CONFIG_HOME": str(tmp_path / "config"),
        "GPUPANEL_RUNS_DIR": str(runs_dir),
        "PYTHONPATH": str(ROOT),
    }
    child = subprocess.run(
        [sys.executable, "-c", CHILD, interrupt, *arguments],
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
    assert answer["titles"] == ["first training[*] \N{EM DASH} gpupanel"]
    assert answer["tensorflow"] == []
    assert answer["early"] == []  # they take a tenth of a second before anything can be seen
    assert answer["python_collects"] == [False, True]  # collected by a timer while it is open


def test_that_the_window_opens_on_a_profile(tmp_path, runs_dir):
    write_profile(tmp_path / "mine.toml", Profile(name="mine"))

    answer = _opened(tmp_path, runs_dir, str(tmp_path / "mine.toml"))

    assert answer["titles"] == ["mine[*] \N{EM DASH} mine.toml \N{EM DASH} gpupanel"]


def test_that_ctrl_c_leaves_a_window_open_that_was_started_in_the_background(tmp_path, runs_dir):
    answer = _opened(tmp_path, runs_dir, interrupt="ignores")

    assert answer["status"] == 0
    assert answer["titles"] == 2 * ["first training[*] \N{EM DASH} gpupanel"]
