"""Ctrl+C in a script or a notebook ends the waiting for a run, and not the run."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gpupanel import api
from gpupanel.domain.outcome import Outcome
from tests.patience import PATIENCE_S

SCRIPT = """
import signal, sys
from gpupanel import api

# Whoever starts the tests in the background has them ignore it.
signal.signal(signal.SIGINT, signal.default_int_handler)
try:
    api.run({
        "name": "of a notebook",
        "devices": {"visible": ["cpu"]},
        "data": {"source": "digits", "validation_fraction": 0.2},
        "model": {"source": "mlp", "hidden": [8]},
        "training": {"epochs": 2, "global_batch_size": 64, "tensorboard": False},
    })
except KeyboardInterrupt:
    print("interrupted")
"""


@pytest.mark.long
def test_that_an_interrupted_script_leaves_its_run_going(tmp_path: Path, runs_dir: Path) -> None:
    script = subprocess.Popen(
        [sys.executable, "-c", SCRIPT],
        stdout=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
        start_new_session=True,  # Ctrl+C reaches the whole group of a terminal's foreground
    )
    deadline = time.monotonic() + PATIENCE_S
    while not list(runs_dir.glob("*/events.jsonl")):
        assert time.monotonic() < deadline
        assert script.poll() is None
        time.sleep(0.05)
    os.killpg(script.pid, signal.SIGINT)
    said, _ = script.communicate(timeout=PATIENCE_S)
    assert said == "interrupted\n"
    (run,) = api.runs(runs_dir=runs_dir)
    assert run.outcome is None, "it had ended before it was interrupted"
    assert run.wait(PATIENCE_S) is Outcome.COMPLETED
