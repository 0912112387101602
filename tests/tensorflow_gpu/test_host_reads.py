"""Nothing of a step is read by the host: cards work through a call without waiting for it."""

import json
import os
import sys
from pathlib import Path

import pytest

from tests.forked.processes import run_forked
from tests.patience import PATIENCE_S
from tests.tensorflow_gpu.fixtures import CardsOfThisProcess

pytestmark = [pytest.mark.tensorflow, pytest.mark.long]

ALL_EXAMPLES = 12 * 32 * (6 + 1) * 4
"""Bytes of all examples of ``count_copies.py``."""


@pytest.mark.parametrize("feed", ["resident", "streamed"])
@pytest.mark.parametrize("count", [1, 2])
def test_that_a_call_is_read_once_after_it_was_launched_however_many_steps_it_has(
    cards_in_process: CardsOfThisProcess, tmp_path: Path, count: int, feed: str
) -> None:
    script = str(Path(__file__).with_name("count_copies.py"))
    done = run_forked(
        [sys.executable, "-P", script, str(count), feed],
        env={**os.environ, "GPUPANEL_TEST_CUDA_COPIES": str(tmp_path / "copies")},
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        server=cards_in_process.server,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    for found in json.loads(done.stdout.splitlines()[-1]).values():
        for call in found.values():
            # So the call after it is launched while the card still computes this one.
            assert call["launched"]["to the host"] == []
            assert len(call["waited for"]["to the host"]) == 1
        if feed == "resident":
            # What stays on a card is not copied to it step by step.
            copied = found["12"]["launched"]["to a card"]
            assert all(size < ALL_EXAMPLES / 8 for size in copied)
