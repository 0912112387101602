"""What became of an ended run's GPU memory, as text."""

from collections.abc import Mapping

from gpupanel.domain.event_details import ReturnedMemory
from gpupanel.domain.events import MemoryReturned
from gpupanel.domain.number_text import memory_size
from gpupanel.domain.telemetry import DeviceProcess

_MOST_HOLDERS = 3
_UNSEEN = "its process is not known"


def freed_text(returned: MemoryReturned, names: Mapping[str, str]) -> str:
    """One line: "21.3 GiB freed in 1.2 s.", or how much did not come back and who holds it.

    Args:
        returned: What the supervisor saw.
        names: Of the devices, by their keys; one that is not among them is named by its key.
    """
    held = [device for device in returned.devices if device.still_held_mib]
    freed = [device for device in returned.devices if device.freed_mib]
    parts = []
    if freed:
        took = "" if held else f" in {returned.seconds:.1f} s"
        parts.append(f"{_freed(freed, names, of_all=len(returned.devices) == len(freed))}{took}")
    parts += [
        f"{memory_size(device.still_held_mib)} of {_name(device, names)} was not freed within "
        f"{returned.seconds:.1f} s: {_holders(device.holders)}"
        for device in held
    ]
    return "; ".join(parts) + "."


def _freed(freed: list[ReturnedMemory], names: Mapping[str, str], *, of_all: bool) -> str:
    total = memory_size(sum(device.freed_mib for device in freed))
    if len(freed) == 1:
        return f"{total} freed" if of_all else f"{total} of {_name(freed[0], names)} freed"
    parts = (f"{_name(device, names)} {memory_size(device.freed_mib)}" for device in freed)
    return f"{total} freed ({', '.join(parts)})"


def _name(device: ReturnedMemory, names: Mapping[str, str]) -> str:
    return names.get(device.device_key, device.device_key)


def _holders(holders: tuple[DeviceProcess, ...]) -> str:
    if not holders:
        return _UNSEEN
    named = [_holder(process) for process in holders[:_MOST_HOLDERS]]
    more = len(holders) - len(named)
    return ", ".join([*named, f"{more} more"] if more else named)


def _holder(process: DeviceProcess) -> str:
    about = [f"process {process.pid}", *([process.user] if process.user else [])]
    name = process.name or "an unknown program"
    memory = process.memory_used_mib
    return f"{name} ({', '.join(about)}) holds {'some' if memory is None else memory_size(memory)}"
