"""Who else uses the chosen GPUs."""

from gpupanel.domain.device import PhysicalDevice
from gpupanel.domain.telemetry import ComputeMode, DeviceProcess, TelemetrySample
from gpupanel.domain.value import Value


class OtherProcesses(Value):
    """The processes on one chosen GPU.

    Attributes:
        memory_mib: What they hold together: as the GPU says, which counts also what it may not
            report process by process.
        processes: Who holds most first.
    """

    device_key: str
    device_name: str
    memory_mib: int | None
    processes: tuple[DeviceProcess, ...]


def other_processes(
    devices: tuple[PhysicalDevice, ...], sample: TelemetrySample | None
) -> tuple[OtherProcesses, ...]:
    """An entry for each chosen GPU that somebody uses, in the devices' order."""
    held = []
    readings = {} if sample is None else {each.key: each for each in sample.readings}
    for device in devices:
        reading = readings.get(device.key) if device.is_gpu else None
        if reading is None or not reading.processes:
            continue
        held.append(
            OtherProcesses(
                device_key=device.key,
                device_name=device.name,
                memory_mib=reading.memory_used_mib,
                processes=tuple(
                    sorted(reading.processes, key=lambda process: -(process.memory_used_mib or 0))
                ),
            )
        )
    return tuple(held)


def exclusive_holders(sample: TelemetrySample | None, key: str) -> tuple[DeviceProcess, ...]:
    """The processes that compute on a GPU, where its mode lets one at a time; else nobody."""
    reading = None if sample is None else sample.reading(key)
    if reading is None or reading.compute_mode is not ComputeMode.EXCLUSIVE_PROCESS:
        return ()
    return tuple(process for process in reading.processes if not process.only_draws)
