"""Memory policies for GPUs that this machine has not, and what TensorFlow makes of them."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gpupanel.domain.device import DeviceInventory, DeviceKind, PhysicalDevice
from gpupanel.domain.memory import (
    AllMemory,
    GrowingMemory,
    LimitedMemory,
    MemoryPolicy,
    SplitMemory,
)
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.domain.strategy import StrategyKind, StrategySettings
from gpupanel.planning.prepare import Preparation, prepare
from tests.fakes.devices import CPU
from tests.forked.processes import run_forked

Case = dict[str, Any]
Cases = dict[object, Case]
Answers = dict[object, dict[str, Any]]
"""What TensorFlow made of each case, by the case's name."""

BUSES = ("0000:01:00.0", "0000:41:00.0", "0000:c1:00.0")
"""As CUDA writes them."""
GPUS = tuple(
    PhysicalDevice(
        key=f"GPU-{index}",
        kind=DeviceKind.GPU,
        name=f"NVIDIA H{index}",
        memory_total_mib=24_576,
        pci_bus_id=f"0000{bus.upper()}",
    )
    for index, bus in enumerate(BUSES)
)
POLICIES: dict[str, MemoryPolicy] = {
    "all": AllMemory(),
    "growth": GrowingMemory(),
    "limit": LimitedMemory(limit_mib=4096),
    "growing limit": LimitedMemory(limit_mib=6144, growth=True),
    "split": SplitMemory(split_mib=(2048, 1024)),
    "growing split": SplitMemory(split_mib=(1024, 2048), growth=True),
}
WANTED: dict[str, dict[str, Any]] = {
    "all": {"growth": False, "limits": []},
    "growth": {"growth": True, "limits": []},
    "limit": {"growth": False, "limits": [4096]},
    "growing limit": {"growth": True, "limits": [6144]},
    "split": {"growth": False, "limits": [2048, 1024]},
    "growing split": {"growth": True, "limits": [1024, 2048]},
}
"""What each policy promises of its GPU."""


def prepared(
    choice: Sequence[str],
    kind: StrategyKind = StrategyKind.MIRRORED,
    gpus: tuple[PhysicalDevice, ...] = GPUS,
) -> Preparation:
    """What would happen with a memory policy for each GPU."""
    gpus = gpus[: len(choice)]
    profile = Profile(
        devices=DeviceSettings(visible=tuple(gpu.key for gpu in gpus)),
        memory={gpu.key: POLICIES[name] for gpu, name in zip(gpus, choice, strict=True)},
        strategy=StrategySettings(kind=kind),
    )
    return prepare(profile, DeviceInventory(driver="580.65", devices=(*gpus, CPU)))


def started(
    choice: Sequence[str],
    kind: StrategyKind = StrategyKind.MIRRORED,
    gpus: tuple[PhysicalDevice, ...] = GPUS,
) -> LaunchPlan:
    """The plan of what can be started."""
    plan = prepared(choice, kind, gpus).plan
    assert plan is not None
    return plan


def case(plan: LaunchPlan, place: int = 0, **changed: object) -> Case:
    """One process of a plan, for the child: TensorFlow finds its GPUs, and no others."""
    keys = [device.key for device in plan.gang[place].devices]
    buses = dict(zip((gpu.key for gpu in GPUS), BUSES, strict=True))
    return {
        "plan": plan.model_dump(mode="json"),
        "place": place,
        "gpus": len(keys),
        "buses": [buses.get(key, BUSES[0]) for key in keys],
        "serves": plan.strategy is StrategyKind.PARAMETER_SERVER,
        **changed,
    }


def ask(cases: Cases, folder: Path) -> Answers:
    """TensorFlow's answers, all of one process, whose log is a file as the supervisor keeps it."""
    log = folder / "trainer.log"
    with log.open("ab") as kept:
        done = run_forked(
            [sys.executable, str(Path(__file__).with_name("pretended_gpus.py")), str(log)],
            input=json.dumps(list(cases.values())).encode(),
            env={**os.environ, "CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "3"},
            stdout=subprocess.PIPE,
            stderr=kept,
            check=False,
        )
    assert done.returncode == 0, log.read_text(encoding="utf-8")[-4000:]
    return dict(zip(cases, json.loads(done.stdout), strict=True))
