"""What a script cannot train as a run does, it refuses before it trains."""

import os
import sys
from pathlib import Path

import pytest

from gpupanel.planning.script.stand_alone import stand_alone_script
from tests.forked.processes import run_forked
from tests.sessions.both import plan_of
from tests.unit.trainer.array_code import array_profile
from tests.unit.trainer.trained_runs import SGD

pytestmark = pytest.mark.tensorflow


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("masks", "one label, or a row of labels, for each example"),
        ("pixels", "one label, or a row of labels, for each example"),
        ("inputs", "one input and one output for each example"),
        ("tasks", "one input and one output for each example"),
        ("rows", "A script does not know a loss of your own"),
    ],
)
def test_that_a_script_refuses_arrays_and_a_loss_of_ones_own(
    tmp_path: Path, name: str, words: str
) -> None:
    profile = array_profile(name, tmp_path, SGD)
    script = tmp_path / "script.py"
    script.write_text(stand_alone_script(profile, plan_of(profile)), encoding="utf-8")

    done = run_forked(
        [sys.executable, str(script)],
        env={**os.environ, "CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "3"},
        capture_output=True,
        text=True,
        check=False,
        cwd=str(tmp_path),
    )
    assert (done.returncode, words in done.stderr) == (1, True), done.stderr[-2000:]
    assert not (tmp_path / "model.keras").exists()
