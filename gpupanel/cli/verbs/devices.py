"""The verb that lists the devices of this machine."""

import time
from typing import Any, Final

from gpupanel.cli.device_table import device_details, device_table, process_table
from gpupanel.cli.options import JsonOption
from gpupanel.cli.output import answers, print_json
from gpupanel.devices.device_text import lost_before_sentence
from gpupanel.devices.sampler import PATIENT_S, DeviceSampler
from gpupanel.domain.device import DeviceInventory, PhysicalDevice
from gpupanel.domain.telemetry import DeviceReading, TelemetrySample

_BUSY_S: Final = 0.2
"""How long to observe the processor to say how busy it is: the kernel counts in ticks of 10 ms."""


def devices(*, json: JsonOption = False) -> None:
    """List the devices of this machine with their live readings."""
    with DeviceSampler(wait_s=PATIENT_S) as sampler:
        inventory = sampler.inventory()
        time.sleep(_BUSY_S)
        sample = sampler.sample()
    if json:
        documents = [_document(device, inventory, sample) for device in inventory.devices]
        print_json({"driver": inventory.driver, "devices": documents})
        return
    answers.print(device_table(inventory, sample))
    for device in inventory.devices:
        details = device_details(device, inventory, sample)
        if details is not None:
            answers.print()
            answers.print(device.name, style="bold", highlight=False)
            answers.print(details)
    processes = process_table(inventory, sample)
    if processes.row_count:
        answers.print()
        answers.print(processes)
    for gpu in inventory.lost_before:
        answers.print(lost_before_sentence(gpu), style="yellow", markup=False)
    answers.print(_driver_sentence(inventory), style="dim")


def _document(
    device: PhysicalDevice, inventory: DeviceInventory, sample: TelemetrySample
) -> dict[str, Any]:
    """What is known of a device: what does not change about it, and what it reports.

    Where both have the same, its memory and its power limit, the newer holds if it is known.
    """
    reading = sample.reading(device.key) or DeviceReading(key=device.key)
    facts, found = device.model_dump(mode="json"), reading.model_dump(mode="json")
    newer = {name: value for name, value in found.items() if value is not None or name not in facts}
    links = [
        {
            "key": next(key for key in link.keys if key != device.key),
            "kind": link.kind.value,
            "nvlink_count": link.nvlink_count,
        }
        for link in inventory.links
        if device.key in link.keys
    ]
    return {**facts, **newer, "links": links}


def _driver_sentence(inventory: DeviceInventory) -> str:
    if inventory.problem:
        return inventory.problem
    if inventory.driver is None:
        return "No NVIDIA driver answers here: training runs on the CPU."
    return f"NVIDIA driver {inventory.driver}"
