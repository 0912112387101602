"""TensorFlow's own code sees the cards of the stand-in, and gives out their memory."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.nvml.standin import RTX_3060, RTX_4090
from tests.patience import PATIENCE_S
from tests.tensorflow_gpu.fixtures import Cards

pytestmark = pytest.mark.tensorflow

MIB = 2**20
CONTEXT_MIB = 256


def asked(cards: Cards, how: str, tensors: int = 0, **more: str) -> dict[str, Any]:
    """What a process answers that gives out memory so."""
    done = subprocess.run(
        [sys.executable, "-P", str(Path(__file__).with_name("hold_memory.py")), how, str(tensors)],
        env={**os.environ, **cards.environment(), **more},
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_that_memory_grows_with_what_is_held(cards: Cards) -> None:
    found = asked(cards, "growth", 4)
    assert found["names"] == [RTX_4090.name, RTX_3060.name]
    assert found["logical"] == 2
    assert found["error"] == ""
    # A card gives whole regions: growth asks for twice as much each time.
    assert 256 * MIB <= found["current"][0] <= 260 * MIB
    held = {uuid: bytes_ // MIB - CONTEXT_MIB for uuid, bytes_ in found["held"].items()}
    assert 256 <= held[RTX_4090.uuid] <= 520
    assert held[RTX_3060.uuid] <= 4


def test_that_a_limit_is_held_and_what_is_beyond_it_is_refused(cards: Cards) -> None:
    found = asked(cards, "limit", 20)
    assert "GPU:0" in found["error"] or "OOM" in found["error"]
    assert found["current"][0] <= 512 * MIB
    assert found["held"][RTX_4090.uuid] == (512 + CONTEXT_MIB) * MIB
