"""Two windows at once on one folder of runs and one queue: whoever comes second is told."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gpupanel.domain.events import CheckpointSaved
from gpupanel.domain.outcome import Outcome
from gpupanel.domain.profile import Profile
from gpupanel.domain.run_layout import RunLayout
from gpupanel.runs.locations import queue_dir
from gpupanel.runs.queue import orders
from gpupanel.runs.queue.queue_files import QueueFiles
from tests.fakes.run_directory import WrittenRun

ROOT = Path(__file__).parents[2]
BUSY_WINDOW = ROOT / "tests" / "fakes" / "busy_window.py"
ROUNDS = 50


def resumable_run(runs_dir: Path, name: str) -> RunLayout:
    path = "checkpoints/step-000000003"
    with WrittenRun(runs_dir, Profile(name=name)) as written:
        written.begin()
        written.step(3)
        written.write(CheckpointSaved(time_s=1.0, path=path, epoch=1, step=3, seconds=0.1))
        (written.layout.root / path).mkdir(parents=True)
        written.end(Outcome.STOPPED)
    return written.layout


@pytest.mark.slow
@pytest.mark.alone
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_that_two_windows_at_once_lose_no_edit_without_a_word_and_act_on_no_other_run(
    runs_dir: Path, state_dir: Path, tmp_path: Path, seed: int
) -> None:
    run, other, bystander = (resumable_run(runs_dir, name) for name in ("run", "other", "third"))
    untouched = {path: path.read_bytes() for path in bystander.root.iterdir() if path.is_file()}
    files = QueueFiles(queue_dir())
    orders.pause(files)
    for name in ("first", "second", "third"):
        orders.add(files, Profile(name=name), runs_dir)
    start_s = int(time.time()) + 8
    windows = []
    for number in (2 * seed, 2 * seed + 1):
        home = tmp_path / f"home-{number}"
        home.mkdir()
        environment = {
            **os.environ,
            "HOME": str(home),
            "XDG_CONFIG_HOME": str(home),
            "QT_QPA_PLATFORM": "offscreen",
            "PYTHONPATH": str(ROOT),
        }
        given = (run.root, number, start_s, ROUNDS, other.root)
        windows.append(
            subprocess.Popen(
                [sys.executable, "-P", str(BUSY_WINDOW), *map(str, given)],
                env=environment,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
        )
    ends = [window.communicate(timeout=180.0) for window in windows]
    for window, (out, err) in zip(windows, ends, strict=True):
        said = [line for line in err.splitlines() if "propagateSizeHints" not in line]
        assert (window.returncode, said) == (0, []), out
    reports = [json.loads(out.splitlines()[-1]) for out, _ in ends]
    line = files.read()
    kept: dict[str, int] = {}
    for report in reports:
        assert not [code for code, _ in report["shown"] if code in {"unexpected_error", "bug"}]
        for entry_id, _ in report["edits"]:
            kept[entry_id] = kept.get(entry_id, 0) + 1
    for entry in line.entries:
        assert entry.revision == kept.get(entry.id, 0), "each that was told done, is counted once"
        assert files.profile(entry.id).name == entry.name
    assert not other.root.exists()
    assert {path: path.read_bytes() for path in untouched} == untouched
