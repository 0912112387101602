"""Verbs that answer a question and change nothing: devices, export."""

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from gpupanel.cli.options import JsonOption, ProfileArgument
from gpupanel.cli.preparing import startable
from gpupanel.cli.telling import answers, shown, tell_json, tell_problems
from gpupanel.devices.sampler import PATIENT_S, DeviceSampler
from gpupanel.domain.device import DeviceInventory, PhysicalDevice
from gpupanel.domain.problem import ProblemError
from gpupanel.domain.telemetry import DeviceReading
from gpupanel.planning.script.stand_alone import stand_alone_script
from gpupanel.runs.disk_problems import disk_problem
from gpupanel.runs.profile_file import write_whole


def devices(*, json: JsonOption = False) -> None:
    """List the devices of this machine with their live readings."""
    with DeviceSampler(wait_s=PATIENT_S) as sampler:
        inventory, sample = sampler.inventory(), sampler.sample()
    rows = [(device, sample.reading(device.key)) for device in inventory.devices]
    if json:
        documents = [_device_document(device, reading) for device, reading in rows]
        tell_json({"driver": inventory.driver, "devices": documents})
        return
    answers.print(_device_table(rows))
    answers.print(_driver_sentence(inventory), style="dim")


def export(
    profile: ProfileArgument,
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="FILE.py", help="The script to write.")
    ],
    *,
    json: JsonOption = False,
) -> None:
    """Write a stand-alone TensorFlow script of the same run."""
    try:
        read, plan, preparation = startable(profile)
        _write_script(output, stand_alone_script(read, plan))
    except ProblemError as error:
        tell_problems(error.problems)
        if json:
            documents = [problem.model_dump(mode="json") for problem in error.problems]
            tell_json({"script": None, "problems": documents})
        raise typer.Exit(1) from error
    tell_problems(preparation.problems)
    if json:
        tell_json({"script": str(output.absolute())})
    else:
        answers.print(f"Wrote {output}.", highlight=False)


def _write_script(output: Path, script: str) -> None:
    try:
        write_whole(output, script)
    except OSError as error:
        raise ProblemError(disk_problem(error, output)) from error


def _device_document(device: PhysicalDevice, reading: DeviceReading | None) -> dict[str, Any]:
    found = reading or DeviceReading(key=device.key)
    document = {
        "key": device.key,
        "kind": device.kind.value,
        "name": device.name,
        "state": found.state.value,
        "memory_total_mib": device.memory_total_mib,
        "memory_used_mib": found.memory_used_mib,
        "gpu_utilization_percent": found.gpu_utilization_percent,
        "temperature_c": found.temperature_c,
        "power_w": found.power_w,
        "processes": [process.model_dump(mode="json") for process in found.processes],
    }
    facts = device.model_dump(mode="json")
    return document | {key: value for key, value in facts.items() if key not in document}


def _device_table(rows: list[tuple[PhysicalDevice, DeviceReading | None]]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    for name in ("device", "memory", "busy", "temperature", "power", "key"):
        table.add_column(name, justify="left" if name in ("device", "key") else "right")
    for device, reading in rows:
        found = reading or DeviceReading(key=device.key)
        total = shown(device.memory_total_mib)
        table.add_row(
            f"{device.name}{'' if found.state == 'ok' else f' ({found.state})'}",
            f"{shown(found.memory_used_mib)} / {total} MiB",
            shown(found.gpu_utilization_percent, "%"),
            shown(found.temperature_c, "°C"),
            shown(found.power_w, "W"),
            device.key,
        )
    return table


def _driver_sentence(inventory: DeviceInventory) -> str:
    if inventory.problem:
        return inventory.problem
    if inventory.driver is None:
        return "No NVIDIA driver answers here: training runs on the CPU."
    return f"NVIDIA driver {inventory.driver}"
