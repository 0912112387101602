"""What busy devices report, for tests that are not about asking them."""

import math

from gpupanel.domain.device import CPU_KEY, DeviceInventory, DeviceKind, PhysicalDevice
from gpupanel.domain.telemetry import DeviceProcess, DeviceReading, DeviceState, TelemetrySample

OUR_PID = 4242
THEIR_PID = 99

EIGHT_DEVICES = DeviceInventory(
    driver="550.90.07",
    devices=(
        *(
            PhysicalDevice(
                key=f"GPU-{index}",
                kind=DeviceKind.GPU,
                name="NVIDIA H100 80GB HBM3",
                memory_total_mib=81_559,
                power_limit_w=700.0,
            )
            for index in range(7)
        ),
        PhysicalDevice(
            key=CPU_KEY,
            kind=DeviceKind.CPU,
            name="AMD EPYC 9554 64-Core Processor",
            memory_total_mib=1_048_576,
            core_count=128,
        ),
    ),
)


def busy_reading(device: PhysicalDevice, moment_s: float, index: int = 0) -> DeviceReading:
    """A device in use by a run of ours and by somebody else's program."""
    wave = math.sin(moment_s / 7.0 + index) * 0.5 + 0.5
    total = device.memory_total_mib or 0
    processes = (
        DeviceProcess(pid=OUR_PID, name="python", memory_used_mib=total // 4),
        DeviceProcess(pid=THEIR_PID, name="blender", memory_used_mib=total // 8),
    )
    return DeviceReading(
        key=device.key,
        memory_used_mib=total // 4 + total // 8,
        memory_total_mib=total,
        gpu_utilization_percent=40.0 + 55.0 * wave,
        temperature_c=45.0 + 26.0 * wave,
        power_w=(device.power_limit_w or 0.0) * (0.4 + 0.5 * wave) if device.is_gpu else None,
        processes=processes if device.is_gpu else (),
    )


def busy_sample(inventory: DeviceInventory, time_s: float) -> TelemetrySample:
    """Readings of all devices of a machine."""
    return TelemetrySample(
        time_s=time_s,
        readings=tuple(
            busy_reading(device, time_s, index) for index, device in enumerate(inventory.devices)
        ),
    )


def with_lost(sample: TelemetrySample, key: str) -> TelemetrySample:
    """The same sample with one device fallen off the bus."""
    return sample.model_copy(
        update={
            "readings": tuple(
                DeviceReading(key=key, state=DeviceState.LOST) if reading.key == key else reading
                for reading in sample.readings
            )
        }
    )
