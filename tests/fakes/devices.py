"""Devices as a machine might have them, for tests that are not about finding them."""

from gpupanel.domain.device import CPU_KEY, DeviceInventory, DeviceKind, PhysicalDevice
from gpupanel.domain.telemetry import DeviceReading, TelemetrySample

CPU = PhysicalDevice(
    key=CPU_KEY, kind=DeviceKind.CPU, name="a CPU", memory_total_mib=24_576, core_count=8
)
RTX_4090 = PhysicalDevice(
    key="GPU-4090",
    kind=DeviceKind.GPU,
    name="RTX 4090",
    memory_total_mib=24_564,
    compute_capability=(8, 9),
    power_limit_w=450.0,
)
RTX_3060 = PhysicalDevice(
    key="GPU-3060",
    kind=DeviceKind.GPU,
    name="RTX 3060",
    memory_total_mib=12_288,
    compute_capability=(8, 6),
    power_limit_w=170.0,
)

CPU_ONLY = DeviceInventory(devices=(CPU,))
TWO_UNEQUAL = DeviceInventory(driver="580.65", devices=(RTX_4090, RTX_3060, CPU))


def sample_with(**used_mib: int) -> TelemetrySample:
    """A sample of the two unequal GPUs, with memory used as given by ``gpu_4090=...``."""
    readings = []
    for name, used in used_mib.items():
        gpu = TWO_UNEQUAL.device(name.upper().replace("_", "-"))
        assert gpu is not None
        assert gpu.memory_total_mib is not None
        free = gpu.memory_total_mib - used
        readings.append(DeviceReading(key=gpu.key, memory_used_mib=used, memory_free_mib=free))
    return TelemetrySample(time_s=0.0, readings=tuple(readings))
