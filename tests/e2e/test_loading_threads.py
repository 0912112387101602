"""What uses Qt is loaded in the window's thread: elsewhere it ends the process now and then."""

import json
import os
import subprocess
import sys
from pathlib import Path

from tests.fakes.run_directory import WrittenRun

ROOT = Path(__file__).parents[2]
NOTING_WINDOW = ROOT / "tests" / "fakes" / "noting_window.py"


def test_that_what_draws_a_run_that_is_opened_at_once_is_loaded_in_the_windows_thread(
    tmp_path: Path, runs_dir: Path
) -> None:
    with WrittenRun(runs_dir) as written:
        written.begin()
        for step in range(1, 4):
            written.step(step)
    home = {f"XDG_{name}_HOME": str(tmp_path / name) for name in ("CONFIG", "DATA", "STATE")}
    environment = {**os.environ, **home, "QT_QPA_PLATFORM": "offscreen", "PYTHONPATH": str(ROOT)}
    answer = subprocess.run(
        [sys.executable, "-P", str(NOTING_WINDOW), str(written.layout.root)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120.0,
        check=False,
    )
    assert answer.returncode == 0, answer.stderr
    is_in_main_thread: dict[str, bool] = json.loads(answer.stdout.splitlines()[-1])
    assert is_in_main_thread["pyqtgraph.Qt"]
    assert [name for name, is_main in is_in_main_thread.items() if not is_main] == []
