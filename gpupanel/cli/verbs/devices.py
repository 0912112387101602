"""The verb that lists the devices of this machine, or of a cluster."""

import time
from typing import Annotated, Final

import typer

from gpupanel.cli.device_document import device_document, unresponsive_document
from gpupanel.cli.device_table import device_details, device_table, process_table
from gpupanel.cli.options import ClusterAddressArgument, JsonOption, cluster_asked
from gpupanel.cli.output import EXIT_FAILED, answers, print_json, progress, refuse
from gpupanel.devices.device_text import unresponsive_sentence
from gpupanel.devices.sampler import PATIENT_S, DeviceSampler
from gpupanel.domain.device import DeviceInventory
from gpupanel.domain.problem import ProblemError

_BUSY_S: Final = 0.2
"""How long to observe the processor to say how busy it is: the kernel counts in ticks of 10 ms."""


def devices(
    address: ClusterAddressArgument = None,
    *,
    cluster: Annotated[
        bool,
        typer.Option("--cluster", help="List the devices of every node of a Ray cluster."),
    ] = False,
    json: JsonOption = False,
) -> None:
    """List the devices of this machine, or of a cluster, with their live readings."""
    asked = cluster_asked(address, cluster=cluster)
    if asked is not None:
        _devices_of_cluster(asked, json=json)
        return
    with DeviceSampler(wait_s=PATIENT_S) as sampler:
        inventory = sampler.inventory()
        time.sleep(_BUSY_S)
        sample = sampler.sample()
    if json:
        documents = [device_document(device, inventory, sample) for device in inventory.devices]
        print_json(
            {
                "driver": inventory.driver,
                "devices": documents,
                "unresponsive": [unresponsive_document(gpu) for gpu in inventory.unresponsive],
            }
        )
        return
    inventory = inventory.numbered()
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
    for gpu in inventory.unresponsive:
        answers.print(unresponsive_sentence(gpu), style="yellow", markup=False)
    answers.print(_driver_sentence(inventory), style="dim")


def _devices_of_cluster(address: str, *, json: bool) -> None:
    # Of what a cluster needs, this machine's own devices need nothing.
    from gpupanel.cli.cluster_table import cluster_document, print_cluster
    from gpupanel.runs.cluster.reading import read_cluster

    try:
        with progress.status("Asking the nodes of the cluster…"):
            reading = read_cluster(address)
    except ProblemError as error:
        refuse(error, json=json, status=EXIT_FAILED)
    if json:
        print_json(cluster_document(reading))
    else:
        print_cluster(reading)


def _driver_sentence(inventory: DeviceInventory) -> str:
    if inventory.problem:
        return inventory.problem
    if inventory.driver is None:
        return "No NVIDIA driver answers here: training runs on the CPU."
    return f"NVIDIA driver {inventory.driver}"
