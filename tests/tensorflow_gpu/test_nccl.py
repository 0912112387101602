"""Two cards on a machine without NCCL: TensorFlow is asked for it, and gradients are summed."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from gpupanel.domain.run_layout import RunLayout
from gpupanel.domain.strategy import AllReduce
from gpupanel.files.cache_folder import CACHE_DIR_VARIABLE
from gpupanel.files.plan_file import read_plan
from tests.patience import PATIENCE_S
from tests.tensorflow_gpu.fixtures import Cards

pytestmark = pytest.mark.tensorflow

PROFILE = """
[strategy]
kind = "mirrored"
[model]
source = "mlp"
hidden = [32]
[training]
epochs = 1
global_batch_size = 64
"""


@pytest.mark.slow
def test_that_cards_without_nccl_sum_in_another_way_and_it_is_said(
    cards: Cards, tmp_path: Path, runs_dir: Path
) -> None:
    profile = tmp_path / "profile.toml"
    profile.write_text(PROFILE)
    nothing_remembered = {CACHE_DIR_VARIABLE: str(tmp_path / "cache")}
    done = subprocess.run(
        [sys.executable, "-P", "-m", "gpupanel", "run", str(profile)],
        env={**os.environ, **cards.environment(has_nccl=False), **nothing_remembered},
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    said = " ".join(done.stderr.split())
    assert "TensorFlow does not find libnccl.so.2. Gradients are summed by hierarchical" in said
    assert "tensorflow[and-cuda]==" in said
    (root,) = runs_dir.iterdir()
    assert read_plan(RunLayout(root)).all_reduce is AllReduce.HIERARCHICAL_COPY
