"""Power limits that fit what a supply gives, in proportion to those in force."""

import pytest

from gpupanel.domain.device import DeviceKind, PhysicalDevice
from gpupanel.domain.power import LimitedGpu, fitting_limits, limit_command, limited_gpus
from gpupanel.domain.telemetry import DeviceReading, TelemetrySample

BIG = LimitedGpu("GPU-a", "RTX 4090", 450.0, 150.0)
SMALL = LimitedGpu("GPU-b", "RTX 3060", 170.0, 100.0)


@pytest.mark.parametrize(
    ("gpus", "budget_w", "limits"),
    [
        ((BIG, SMALL), 620.0, (450, 170)),
        ((BIG, SMALL), 500.0, (362, 137)),
        ((BIG, SMALL), 300.0, (200, 100)),
        ((BIG, SMALL), 250.0, (150, 100)),
        ((BIG, SMALL), 249.0, None),
        ((LimitedGpu("GPU-c", "unknown", 100.0),), 60.5, (60,)),
    ],
)
def test_that_limits_fit_in_proportion_and_none_is_below_what_its_gpu_takes(gpus, budget_w, limits):
    assert fitting_limits(gpus, budget_w) == limits
    assert limits is None or sum(limits) <= budget_w


def test_that_a_limit_is_taken_as_it_is_now_of_whole_gpus_that_report_one():
    gpu = PhysicalDevice(
        key="GPU-a",
        kind=DeviceKind.GPU,
        name="RTX 4090",
        power_limit_w=450.0,
        power_limit_least_w=150.0,
    )
    part = gpu.model_copy(update={"key": "MIG-1", "parent_key": "GPU-a"})
    mute = PhysicalDevice(key="GPU-b", kind=DeviceKind.GPU, name="laptop")
    cpu = PhysicalDevice(key="cpu", kind=DeviceKind.CPU, name="CPU", power_limit_w=1.0)
    devices = (gpu, part, mute, cpu)
    now = TelemetrySample(time_s=0.0, readings=(DeviceReading(key="GPU-a", power_limit_w=300.0),))

    assert limited_gpus(devices, now) == (LimitedGpu("GPU-a", "RTX 4090", 300.0, 150.0),)
    assert limited_gpus(devices, None) == (LimitedGpu("GPU-a", "RTX 4090", 450.0, 150.0),)


def test_that_the_command_is_one_that_can_be_pasted():
    assert limit_command("GPU-a", 250.0) == "sudo nvidia-smi -i GPU-a -pl 250"
