"""Heat maps are those of Grad-CAM, and a model is traced once for all of them."""

import json
import sys
from pathlib import Path

import pytest

from tests.forked.processes import run_forked
from tests.unit.trainer.trained_runs import CHILD_ENVIRONMENT


@pytest.mark.tensorflow
def test_that_a_second_heat_map_needs_no_trace_and_each_is_as_without_a_graph() -> None:
    done = run_forked(
        [sys.executable, str(Path(__file__).with_name("tell_heat_maps.py"))],
        env=CHILD_ENVIRONMENT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    told = json.loads(done.stdout)
    assert len(told["differences"]) >= 8
    assert max(told["differences"]) < 1e-5
    assert told["calls"] == 1
    assert told["reasons"] == 2 * ["The model has no convolutional layer."]
    assert told["calls of flat"] == 1
