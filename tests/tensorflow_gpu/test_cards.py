"""TensorFlow's own code sees the cards of the stand-in, and gives out their memory."""

import json
import os
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from gpupanel.domain.memory import Allocator, GrowingMemory, available_mib, kept_aside_mib
from tests.forked.processes import run_forked
from tests.nvml.standin import RTX_3060, RTX_4090, StandinGpu, StandinState
from tests.patience import PATIENCE_S
from tests.tensorflow_gpu.fixtures import CardsOfThisProcess

pytestmark = pytest.mark.tensorflow

MIB = 2**20
CONTEXT_MIB = 256


def asked(cards: CardsOfThisProcess, how: str, tensors: int = 0, **more: str) -> dict[str, Any]:
    """What a process answers that gives out memory so."""
    done = run_forked(
        [sys.executable, "-P", str(Path(__file__).with_name("hold_memory.py")), how, str(tensors)],
        env={**os.environ, **more},
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        server=cards.server,
    )
    assert done.returncode == 0, done.stderr
    created = re.findall(r"with (\d+) MB memory:.*? name: ([^,]+),", done.stderr)
    limits = {name: int(size) for size, name in created}
    return {**json.loads(done.stdout), "limits_mib": limits}


def test_that_memory_grows_with_what_is_held(cards_in_process: CardsOfThisProcess) -> None:
    found = asked(cards_in_process, "growth", 4)
    assert found["names"] == [RTX_4090.name, RTX_3060.name]
    assert found["logical"] == 2
    assert found["error"] == ""
    # A card gives whole regions: growth asks for twice as much each time.
    assert 256 * MIB <= found["current"][0] <= 260 * MIB
    held = {uuid: bytes_ // MIB - CONTEXT_MIB for uuid, bytes_ in found["held"].items()}
    assert 256 <= held[RTX_4090.uuid] <= 520
    assert held[RTX_3060.uuid] <= 4


@pytest.mark.long
def test_that_a_limit_is_held_and_what_is_beyond_it_is_refused(
    cards_in_process: CardsOfThisProcess,
) -> None:
    found = asked(cards_in_process, "limit", 20)
    assert "GPU:0" in found["error"]
    assert found["current"][0] <= 512 * MIB
    assert found["held"][RTX_4090.uuid] == (512 + CONTEXT_MIB) * MIB


SIZES = (
    (1_024, "8.6"),
    (2_047 + CONTEXT_MIB, "8.9"),
    (2_048 + CONTEXT_MIB, "8.6"),
    (3_072, "8.6"),
    (6_144, "6.1"),
    (8_192, "7.0"),
    (11_264, "7.5"),
    (12_288, "8.6"),
    (24_564, "8.9"),
    (81_559, "9.0"),
)


def test_that_tensorflow_takes_what_the_planning_says_of_ten_sizes(
    cards_in_process: CardsOfThisProcess,
) -> None:
    """A growing GPU has the limit of what is free beside the context less what is kept aside."""
    gpus = tuple(
        StandinGpu(
            name=f"Card {number}",
            uuid=f"GPU-{number:08d}-aaaa-4aaa-8aaa-000000000000",
            bus=f"00000000:{number + 1:02X}:00.0",
            capability=capability,
            memory_total_mib=size,
            memory_reserved_mib=0,
        )
        for number, (size, capability) in enumerate(SIZES)
    )
    cards_in_process.tell(StandinState(gpus=gpus))
    found = asked(cards_in_process, "growth", CUDA_DEVICE_ORDER="PCI_BUS_ID")
    expected = {}
    for gpu in gpus:
        free = gpu.memory_total_mib - CONTEXT_MIB
        major, minor = map(int, gpu.capability.split("."))
        expected[gpu.name] = free - kept_aside_mib(free, (major, minor))
    assert found["limits_mib"] == expected
    for gpu in gpus:
        # The context may be larger, and no more is promised than there is with any.
        major, minor = map(int, gpu.capability.split("."))
        total = gpu.memory_total_mib
        promised = available_mib(GrowingMemory(), Allocator.BFC, total, (major, minor))
        assert 0 <= promised <= expected[gpu.name]
