"""Plans for cards with a memory policy each, and what TensorFlow makes of them."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from gpupanel.domain.memory import (
    AllMemory,
    GrowingMemory,
    LimitedMemory,
    MemoryPolicy,
    SplitMemory,
    kept_aside_mib,
)
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.domain.strategy import StrategyKind, StrategySettings
from gpupanel.planning.context import Known
from gpupanel.planning.prepare import Preparation, prepare
from gpupanel.runs.readiness import read_machine
from tests.forked.processes import run_forked
from tests.nvml.machines import HOPPER
from tests.nvml.standin import RTX_3060, RTX_4090, StandinState
from tests.patience import PATIENCE_S
from tests.tensorflow_gpu.fixtures import CardsOfThisProcess
from tests.tensorflow_gpu.test_cards import CONTEXT_MIB

TOTAL_MIB = 768
"""Of each card: that the host maps 20 GiB takes half a second."""
CARDS = StandinState(
    gpus=tuple(
        replace(gpu, memory_total_mib=TOTAL_MIB, memory_reserved_mib=0, memory_used_mib=0)
        for gpu in (RTX_4090, RTX_3060, HOPPER)
    )
)
KEYS = tuple(gpu.uuid for gpu in CARDS.gpus)
BUSES = tuple(gpu.bus.removeprefix("0000").lower() for gpu in CARDS.gpus)
"""As CUDA writes them."""

POLICIES: dict[str, MemoryPolicy] = {
    "all": AllMemory(),
    "growth": GrowingMemory(),
    "limit": LimitedMemory(limit_mib=16),
    "growing limit": LimitedMemory(limit_mib=24, growth=True),
    "split": SplitMemory(split_mib=(12, 8)),
    "growing split": SplitMemory(split_mib=(8, 12), growth=True),
}
_FREE_MIB = TOTAL_MIB - CONTEXT_MIB
WHOLE_MIB = _FREE_MIB - kept_aside_mib(_FREE_MIB, None)
LIMITS = {
    "all": [WHOLE_MIB],
    "growth": [WHOLE_MIB],
    "limit": [16],
    "growing limit": [24],
    "split": [12, 8],
    "growing split": [8, 12],
}
"""What each logical device may take, in MiB."""
FIRST_MIB = 2
"""What an allocator that grows takes first."""


def grows(name: str) -> bool:
    return name.startswith("grow")


def profile_of(
    choice: Sequence[str], kind: StrategyKind = StrategyKind.MIRRORED, **devices: Any
) -> Profile:
    """With a policy for each of the first cards."""
    keys = KEYS[: len(choice)]
    return Profile(
        devices=DeviceSettings(visible=keys, **devices),
        memory={key: POLICIES[name] for key, name in zip(keys, choice, strict=True)},
        strategy=StrategySettings(kind=kind),
    )


def prepared(profile: Profile) -> Preparation:
    """What would happen on the cards as they are now."""
    machine = read_machine()
    return prepare(profile, machine.inventory, Known(machine.sample))


def started(profile: Profile) -> LaunchPlan:
    """The plan of what can be started."""
    made = prepared(profile)
    assert made.is_startable, made.problems
    assert made.plan is not None
    return made.plan


def configured(
    cards: CardsOfThisProcess,
    plan: LaunchPlan,
    folder: Path,
    place: int = 0,
    *,
    way: str = "plan",
    log: Path | None = None,
    **environment: str,
) -> dict[str, Any]:
    """What a process of a plan reports when it has configured its devices.

    Args:
        cards: Which it finds.
        plan: What it configures.
        folder: Gets its log.
        place: Of the process in the plan's gang.
        way: ``plan`` or ``server``.
        log: The file that is taken for its log; left out, its own.
        **environment: What it has instead of what the plan says.
    """
    asked = json.dumps({"plan": plan.model_dump(mode="json"), "place": place})
    variables = {**plan.environment, **plan.gang[place].environment, **environment}
    return _answered(cards, way, asked, folder, log, variables)


def called(cards: CardsOfThisProcess, calls: str, folder: Path) -> dict[str, Any]:
    """What comes of calls of a person."""
    # As a plan has it; without, CUDA has the fastest first.
    return _answered(cards, "calls", calls, folder, None, {"CUDA_DEVICE_ORDER": "PCI_BUS_ID"})


def _answered(
    cards: CardsOfThisProcess,
    way: str,
    asked: str,
    folder: Path,
    log: Path | None,
    environment: dict[str, str],
) -> dict[str, Any]:
    own = folder / "trainer.log"  # to which TensorFlow's C++ appends
    script = str(Path(__file__).with_name("configure_devices.py"))
    with own.open("ab") as errors:
        done = run_forked(
            [sys.executable, "-P", script, way, str(log or own)],
            input=asked,
            env={**os.environ, **environment},
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            timeout=PATIENCE_S,
            server=cards.server,
        )
    assert done.returncode == 0, own.read_text()[-4000:]
    reported: dict[str, Any] = json.loads(done.stdout)
    held = {uuid: mib - CONTEXT_MIB for uuid, mib in reported["held"].items()}
    return {**reported, "held": held}
