"""Who uses the chosen devices already, in words."""

from gpupanel.domain.telemetry import DeviceProcess
from gpupanel.planning.other_processes import OtherProcesses
from gpupanel.ui import formatting
from gpupanel.ui.device_labels import DeviceLabels

_MOST_NAMED = 4


def other_process_lines(
    others: tuple[OtherProcesses, ...], device_labels: DeviceLabels
) -> tuple[str, ...]:
    """A line for each device: "RTX 4090: Xorg (root) 300 MiB, python3 (ana) 1.0 GiB"."""
    return tuple(
        f"{device_labels.label(held.device_key, held.device_name)}: {_named(held.processes)}"
        for held in others
    )


def process_label(process: DeviceProcess) -> str:
    """Its name and whose it is: "python3 · ana"."""
    name = process.name or f"Process {process.pid}"
    return f"{name} · {process.user}" if process.user else name


def _named(processes: tuple[DeviceProcess, ...]) -> str:
    named = [
        f"{process.name or f'process {process.pid}'}"
        f"{f' ({process.user})' if process.user else ''} {formatting.mib(process.memory_used_mib)}"
        for process in processes[:_MOST_NAMED]
    ]
    more = len(processes) - len(named)
    return ", ".join([*named, f"{more} more"] if more else named)
