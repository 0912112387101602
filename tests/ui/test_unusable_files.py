"""Real windows that find something else in the place of a file of theirs."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.patience import PATIENCE_S

ROOT = Path(__file__).parents[2]
CHILD = """
import json, sys
from PySide6.QtCore import QTimer
from gpupanel.ui import app
from gpupanel.ui.dialogs.problem_dialog import ProblemDialog

said, kept = [], []

class OpenedWindow(app.MainWindow):
    def begin(self):
        super().begin()
        # What it asks its workers in its first seconds is answered.
        QTimer.singleShot(2500, self.look)

    def look(self):
        for dialog in self.findChildren(ProblemDialog):
            said.append(dialog.text())
            dialog.close()
        self.core.settings.setValue("tests/kept", "yes")
        kept.append(self.core.settings.value("tests/kept"))
        self.close()

app.MainWindow = OpenedWindow
status = app.open_window(None)
print(json.dumps({"status": status, "said": said, "kept": kept}))
"""


def _fifo(place: Path) -> None:
    os.mkfifo(place)


def _folder(place: Path) -> None:
    place.mkdir()


def _dangling_link(place: Path) -> None:
    place.symlink_to(place.with_name("gone") / "nowhere")


KINDS = {
    "a FIFO (named pipe)": _fifo,
    "a folder": _folder,
    "a symbolic link that leads nowhere": _dangling_link,
}
PLACES = {
    "settings": ("config/gpupanel/gpupanel.conf", "The file of the window's settings"),
    "queue": ("state/queue/queue.json", "The queue in"),
    "trusted": ("trust/trusted.json", "The list of trusted code"),
}


def _opened(tmp_path: Path, runs_dir: Path) -> dict[str, list[str]]:
    environment = {
        **os.environ,
        "QT_QPA_PLATFORM": "offscreen",
        "XDG_CONFIG_HOME": str(tmp_path / "config"),
        "GPUPANEL_CONFIG_DIR": str(tmp_path / "trust"),
        "GPUPANEL_STATE_DIR": str(tmp_path / "state"),
        "GPUPANEL_RUNS_DIR": str(runs_dir),
        "PYTHONPATH": str(ROOT),
    }
    child = subprocess.run(
        [sys.executable, "-c", CHILD],
        env=environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert child.returncode == 0, child.stderr
    assert "Traceback" not in child.stderr
    return json.loads(child.stdout.splitlines()[-1])


@pytest.mark.parametrize(
    "first",
    [0, *(pytest.param(first, marks=pytest.mark.slow) for first in range(1, len(KINDS)))],
)
def test_that_a_window_opens_without_files_of_its_own_and_says_so(
    tmp_path: Path, runs_dir: Path, first: int
) -> None:
    kinds = [*KINDS, *KINDS][first:]
    files = {kind: tmp_path / name for kind, (name, _) in zip(kinds, PLACES.values(), strict=False)}
    for kind, file in files.items():
        file.parent.mkdir(parents=True)
        KINDS[kind](file)
    before = {file: os.lstat(file) for file in files.values()}

    answer = _opened(tmp_path, runs_dir)

    assert answer["status"] == 0
    for kind, (_, sentence) in zip(files, PLACES.values(), strict=True):
        (said,) = [each for each in answer["said"] if sentence in each]
        assert said.count(sentence) == 1, said
        assert kind in said
    assert answer["kept"] == ["yes"], "for this window"
    for file, status in before.items():
        after = os.lstat(file)
        assert (after.st_ino, after.st_mode) == (status.st_ino, status.st_mode), "it stays"


def test_that_a_window_whose_files_are_missing_says_nothing_and_keeps_its_settings(
    tmp_path: Path, runs_dir: Path
) -> None:
    answer = _opened(tmp_path, runs_dir)

    assert answer["said"] == []
    assert "kept=yes" in (tmp_path / "config/gpupanel/gpupanel.conf").read_text(encoding="utf-8")
