"""The nodes of a cluster and the devices in them, for people and for scripts."""

from typing import Any

from gpupanel.cli.device_document import device_document
from gpupanel.cli.device_table import device_table, process_table
from gpupanel.cli.literal_console import styled
from gpupanel.cli.output import NONE_GIVEN, answers
from gpupanel.domain.cluster import ClusterNode, ClusterReading, NodeState


def print_cluster(reading: ClusterReading) -> None:
    """Print every node with its devices and who works on them; lost nodes last."""
    count = len(reading.answering)
    answers.print(f"Ray {reading.ray} at {reading.address}, {_counted(count, 'node')}.")
    for node in reading.nodes:
        answers.print()
        _print_node(node, is_here=node.id == reading.here)


def cluster_document(reading: ClusterReading) -> dict[str, Any]:
    """The cluster as scripts read it."""
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
    devices = [device_document(device, inventory, sample) for device in inventory.devices]
    return {**document, "driver": inventory.driver, "devices": devices}


def _print_node(node: ClusterNode, *, is_here: bool) -> None:
    remark = " (here)" if is_here else ""
    style = "bold" if node.state is NodeState.OK else "yellow bold"
    where = f"{remark}  {node.address}  {_state(node)}"
    answers.print(styled((node.name, style), (where, "dim")), highlight=False)
    if node.report is None:
        return
    inventory, sample = node.report.inventory.numbered(), node.report.sample
    answers.print(device_table(inventory, sample))
    processes = process_table(inventory, sample)
    if processes.row_count:
        answers.print(processes)


def _state(node: ClusterNode) -> str:
    if node.state is not NodeState.OK:
        words = "does not answer" if node.state is NodeState.SILENT else "lost"
        return f"{words}: {node.reason}" if node.reason else words
    return ", ".join(
        (_free("CPU", node.cpus_free, node.cpus), _free("GPU", node.gpus_free, node.gpus))
    )


def _free(what: str, free: float | None, total: float) -> str:
    left = NONE_GIVEN if free is None else f"{free:g}"
    return f"{left} of {_counted(total, what)} free in Ray"


def _counted(count: float, what: str) -> str:
    return f"{count:g} {what}{'' if count == 1 else 's'}"
