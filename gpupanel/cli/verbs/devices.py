"""The verb that lists the devices of this machine, or of a cluster."""

import time
from typing import Annotated, Any, Final

import typer

from gpupanel.cli.cluster_table import print_cluster
from gpupanel.cli.device_table import device_details, device_table, process_table
from gpupanel.cli.options import JsonOption
from gpupanel.cli.output import EXIT_FAILED, answers, print_json, progress, refuse
from gpupanel.devices.device_text import lost_before_sentence
from gpupanel.devices.sampler import PATIENT_S, DeviceSampler
from gpupanel.domain.cluster import AUTO, ClusterNode, ClusterReading
from gpupanel.domain.device import DeviceInventory, PhysicalDevice
from gpupanel.domain.problem import ProblemError
from gpupanel.domain.telemetry import DeviceReading, TelemetrySample
from gpupanel.runs.cluster.reading import read_cluster

_BUSY_S: Final = 0.2
"""How long to observe the processor to say how busy it is: the kernel counts in ticks of 10 ms."""


def devices(
    address: Annotated[
        str | None,
        typer.Argument(
            metavar="ADDRESS",
            help="With --cluster: host:port of its head; otherwise the cluster that this machine "
            "is a node of.",
            show_default=False,
        ),
    ] = None,
    *,
    cluster: Annotated[
        bool,
        typer.Option("--cluster", help="List the devices of every node of a Ray cluster."),
    ] = False,
    json: JsonOption = False,
) -> None:
    """List the devices of this machine, or of a cluster, with their live readings."""
    if cluster:
        _devices_of_cluster(address or AUTO, json=json)
        return
    if address is not None:
        raise typer.BadParameter("an address needs --cluster", param_hint="ADDRESS")
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


def _devices_of_cluster(address: str, *, json: bool) -> None:
    try:
        with progress.status("Asking the nodes of the cluster…"):
            reading = read_cluster(address)
    except ProblemError as error:
        refuse(error, json=json, status=EXIT_FAILED)
    if json:
        print_json(_cluster_document(reading))
    else:
        print_cluster(reading)


def _cluster_document(reading: ClusterReading) -> dict[str, Any]:
    return {
        "address": reading.address,
        "ray": reading.ray,
        "here": reading.here,
        "nodes": [_node_document(node) for node in reading.nodes],
    }


def _node_document(node: ClusterNode) -> dict[str, Any]:
    """What is known of a node, and its devices as this verb gives those of a machine."""
    document = node.model_dump(mode="json", exclude={"report"})
    report = node.report
    said = ("gpupanel", "python", "tensorflow", "ray", "clock_s")
    document |= {name: None if report is None else getattr(report, name) for name in said}
    if report is None:
        return {**document, "driver": None, "devices": []}
    inventory, sample = report.inventory, report.sample
    devices = [_document(device, inventory, sample) for device in inventory.devices]
    return {**document, "driver": inventory.driver, "devices": devices}


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
