"""The devices of this machine and the processes on them, for people."""

from collections.abc import Iterable, Iterator

from rich.console import Console
from rich.table import Table

from gpupanel.cli.literal_console import styled
from gpupanel.cli.output import NONE_GIVEN, shown
from gpupanel.devices.device_text import link_between, pcie_link, throttling
from gpupanel.domain.device import DeviceInventory, PhysicalDevice
from gpupanel.domain.gpu_claim import claim_words
from gpupanel.domain.telemetry import DeviceProcess, DeviceReading, DeviceState, TelemetrySample
from gpupanel.planning.other_processes import OtherProcesses

_OLD_S = 2.0
_STATES = {
    DeviceState.LOST: "lost",
    DeviceState.NO_ANSWER: "does not answer",
    DeviceState.ASLEEP: "asleep",
    DeviceState.RESTING: "idle",
}


def device_table(inventory: DeviceInventory, sample: TelemetrySample) -> Table:
    """A line for each device: what it does now."""
    table = _table("device", "memory", "busy", "temperature", "power", left=("device",))
    for device in inventory.devices:
        reading = sample.reading(device.key) or DeviceReading(key=device.key)
        used = shown(reading.memory_used_mib)
        total = shown(device.memory_total_mib or reading.memory_total_mib)
        table.add_row(
            _name(device, reading),
            f"{used} / {total} MiB",
            shown(reading.gpu_utilization_percent, "%"),
            shown(reading.temperature_c, "°C"),
            _power(device, reading),
        )
    return table


def device_details(
    device: PhysicalDevice, inventory: DeviceInventory, sample: TelemetrySample
) -> Table | None:
    """What else a GPU reports, a line each; ``None`` for the CPU."""
    if not device.is_gpu:
        return None
    reading = sample.reading(device.key) or DeviceReading(key=device.key)
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim")
    table.add_column(overflow="fold")
    in_use = ("in use by", (claim_words(reading.claims, sample.time_s),))
    lines = (in_use, *_facts(device), *_readings(device, reading), *_links(device, inventory))
    for name, parts in lines:
        words = ", ".join(part for part in parts if part)
        if words:
            table.add_row(f"  {name}", words)
    return table


def process_table(inventory: DeviceInventory, sample: TelemetrySample) -> Table:
    """A line for each process on a GPU."""
    left = ("device", "user", "command")
    table = _table("device", "pid", "user", "memory", "command", left=left)
    table.columns[-1].overflow = "fold"
    for device in inventory.devices:
        reading = sample.reading(device.key)
        if device.is_partitioned or reading is None:
            continue  # Its instances report which of them a process is on.
        for process in reading.processes:
            table.add_row(
                device.name,
                str(process.pid),
                process.user or NONE_GIVEN,
                shown(process.memory_used_mib, "MiB"),
                _command_of(process),
            )
    return table


def _table(*names: str, left: tuple[str, ...]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    for name in names:
        table.add_column(name, justify="left" if name in left else "right")
    return table


def _name(device: PhysicalDevice, reading: DeviceReading) -> str:
    remarks = []
    if reading.state is not DeviceState.OK:
        remarks.append(_STATES[reading.state])
    if device.is_partitioned:
        remarks.append("in MIG mode")
    if reading.age_s > _OLD_S:
        remarks.append(f"{reading.age_s:,.0f} s old")
    indent = "  " if device.is_mig_instance else ""
    remark = f" ({', '.join(remarks)})" if remarks else ""
    return f"{indent}{device.name}{remark}"


def _power(device: PhysicalDevice, reading: DeviceReading) -> str:
    limit = device.power_limit_w if reading.power_limit_w is None else reading.power_limit_w
    if limit is None:
        return shown(reading.power_w, "W")
    return f"{shown(reading.power_w)} / {shown(limit, 'W')}"


def _facts(device: PhysicalDevice) -> Iterator[tuple[str, Iterable[str]]]:
    yield "key", (device.key,)
    version = device.compute_capability
    capability = "" if version is None else f"compute capability {version[0]}.{version[1]}"
    yield "architecture", (device.architecture or "", capability)
    yield "PCI bus", (device.pci_bus_id or "",)


def _readings(
    device: PhysicalDevice, reading: DeviceReading
) -> Iterator[tuple[str, Iterable[str]]]:
    reasons = reading.throttle_reasons
    yield (
        "clocks",
        (
            _words("", reading.clock_mhz, "MHz"),
            _words("memory", reading.memory_clock_mhz, "MHz"),
            "" if reasons is None else f"throttling: {throttling(reasons)}",
        ),
    )
    yield (
        "memory",
        (
            _words("busy", reading.memory_utilization_percent, "%"),
            _words("reserved by the driver", reading.memory_reserved_mib, "MiB"),
            _words("corrected errors", reading.ecc_corrected),
            _words("uncorrected errors", reading.ecc_uncorrected),
            _words("retired pages or rows", reading.retired_pages),
        ),
    )
    yield (
        "temperature",
        (
            _words("slowdown temperature", device.temperature_slowdown_c, "°C"),
            _words("shutdown temperature", device.temperature_shutdown_c, "°C"),
            _words("fan", reading.fan_percent, "%"),
        ),
    )
    limit_w = device.power_limit_w if reading.power_limit_w is None else reading.power_limit_w
    yield (
        "power limit",
        (
            shown(limit_w, "W") if limit_w is not None else "",
            _words("by default", device.power_limit_default_w, "W"),
            _words("at least", device.power_limit_least_w, "W"),
            _words("at most", device.power_limit_most_w, "W"),
        ),
    )
    now = pcie_link(reading.pcie_generation, reading.pcie_width)
    most = pcie_link(device.pcie_generation_max, device.pcie_width_max)
    yield "PCI Express", (now or "", f"at most {most}" if most else "")


def _links(
    device: PhysicalDevice, inventory: DeviceInventory
) -> Iterator[tuple[str, Iterable[str]]]:
    """The other GPUs, those together that are connected alike."""
    others: dict[str, list[str]] = {}
    for link in inventory.links:
        if device.key in link.keys:
            key = next(key for key in link.keys if key != device.key)
            other = inventory.device(key)
            name = key if other is None else f"{other.name} at {other.pci_bus_id or key}"
            others.setdefault(link_between(link), []).append(name)
    yield from others.items()


def _words(name: str, value: float | None, unit: str = "") -> str:
    """The reading after its name; nothing where there is none."""
    return "" if value is None else f"{name} {shown(value, unit)}".strip()


def print_gpu_processes(others: tuple[OtherProcesses, ...], console: Console) -> None:
    """Print each GPU that somebody uses, and who holds what of it."""
    for held in others:
        amount = shown(held.memory_mib, "MiB")
        text = f"  {held.device_name}: {amount} held by other processes"
        console.print(styled(("in use", "bold"), text))
        for process in held.processes:
            console.print(f"    {_process_text(process)}", highlight=False)


def _process_text(process: DeviceProcess) -> str:
    who = f" of {process.user}" if process.user else ""
    return f"{process.pid}{who}  {shown(process.memory_used_mib, 'MiB')}  {_command_of(process)}"


def _command_of(process: DeviceProcess) -> str:
    command = process.command or process.name or NONE_GIVEN
    return f"{command} (was killed and does not end)" if process.was_killed else command
