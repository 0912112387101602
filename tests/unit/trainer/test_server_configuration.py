"""A server of a worker configures its devices as its process would have."""

import json
import os
import sys

import pytest

from gpupanel.domain.device import DeviceKind
from gpupanel.domain.plan import PlannedDevice
from tests.forked.processes import run_forked

pytestmark = pytest.mark.tensorflow

CHILD = """
import json, sys
from pydantic import TypeAdapter
from gpupanel.domain.plan import PlannedDevice
from gpupanel.trainer.strategies.parameter_server import server_configuration

reported = []
for devices in TypeAdapter(list[tuple[PlannedDevice, ...]]).validate_json(sys.stdin.read()):
    made = server_configuration(devices)
    options = made.gpu_options
    limits = [list(one.memory_limit_mb) for one in options.experimental.virtual_devices]
    reported.append(
        [dict(made.device_count), options.visible_device_list, options.allow_growth, limits]
    )
print(json.dumps(reported))
"""


def gpu(**settings: object) -> PlannedDevice:
    return PlannedDevice(key="GPU-1", kind=DeviceKind.GPU, name="a GPU", index=0, **settings)


CPU = PlannedDevice(key="cpu", kind=DeviceKind.CPU, name="the CPU", index=0)
PLANNED = {
    "a parameter server": ((), [{"GPU": 0}, "", False, []]),
    "a worker on the CPU": ((CPU,), [{"GPU": 0}, "", False, []]),
    "all of a GPU": ((gpu(),), [{}, "0", False, []]),
    "growth": ((gpu(memory_growth=True),), [{}, "0", True, []]),
    "a limit": ((gpu(logical_limits_mib=(4096,)),), [{}, "0", False, [[4096.0]]]),
    "a split GPU": ((gpu(logical_limits_mib=(2048, 1024)),), [{}, "0", False, [[2048.0]]]),
}


def test_that_growth_and_limits_are_those_of_the_plan() -> None:
    devices = [[device.model_dump(mode="json") for device in one] for one, _ in PLANNED.values()]
    done = run_forked(
        [sys.executable, "-c", CHILD],
        input=json.dumps(devices),
        env={**os.environ, "CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "3"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    reported = json.loads(done.stdout)

    assert dict(zip(PLANNED, reported, strict=True)) == {
        name: expected for name, (_, expected) in PLANNED.items()
    }
