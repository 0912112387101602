"""Machines beyond this one: which cluster a profile trains on, and what is known of its nodes."""

import re
from collections.abc import Iterable
from enum import StrEnum
from typing import Annotated, Final

from pydantic import AfterValidator

from gpupanel.domain.device import DeviceInventory, DeviceLink, PhysicalDevice
from gpupanel.domain.problem import Problem
from gpupanel.domain.setting import setting
from gpupanel.domain.telemetry import DeviceReading, TelemetrySample
from gpupanel.domain.value import Value
from gpupanel.domain.visible_text import visible_line

AUTO: Final = "auto"
"""The address of the cluster that this machine is a node of."""

_ADDRESS: Final = re.compile(r"(?:[A-Za-z0-9._-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\]):(\d{1,5})")
_NETWORK: Final = re.compile(r"[A-Za-z0-9_.:/-]{0,64}")
_PORTS: Final = range(1, 2**16)


def _address(text: str) -> str:
    found = _ADDRESS.fullmatch(text)
    if text == AUTO or (found is not None and int(found[1]) in _PORTS):
        return text
    raise ValueError('it should be "auto", or a host and a port such as "10.0.0.1:6379"')


def _network(text: str) -> str:
    if _NETWORK.fullmatch(text):
        return text
    raise ValueError('it should be an interface such as "eth1", or a subnet such as "10.0.0.0/24"')


ClusterAddress = Annotated[str, AfterValidator(_address)]
"""``auto``, or ``host:port`` of the head."""


class ClusterSettings(Value):
    """The ``[cluster]`` table of a profile; without it the profile trains on this machine."""

    address: ClusterAddress = setting(
        "Address",
        "The Ray cluster whose nodes train: auto is the one that this machine is a node of, "
        "otherwise the host and port of its head.",
        default=AUTO,
        examples=["10.0.0.1:6379"],
    )
    network: Annotated[str, AfterValidator(_network)] = setting(
        "Network",
        "Where TensorFlow's processes on different nodes reach each other: the name of an "
        "interface that every node has, or a subnet. Their ports have no authentication, so it "
        "should be one that nobody else can reach.",
        default="",
        off="the address by which Ray knows each node",
        examples=["10.0.0.0/24"],
    )


class NodeState(StrEnum):
    """Whether a node of a cluster takes part."""

    OK = "ok"
    SILENT = "silent"
    """The cluster knows it, but what was asked there got no answer."""
    LOST = "lost"
    """It was a node of the cluster, and is gone without having been taken out."""


class NodeReport(Value):
    """What a node says of itself.

    Attributes:
        gpupanel: Version; of Python, TensorFlow and Ray likewise.
        tensorflow: ``None`` where it is not installed there.
        clock_s: Seconds since the epoch by the node's clock.
        sees_folder: Whether it finds a file of the asking machine's there and may write beside it;
            ``None``: nobody asked.
    """

    gpupanel: str
    python: str
    tensorflow: str | None = None
    ray: str = ""
    clock_s: float
    sees_folder: bool | None = None
    inventory: DeviceInventory
    sample: TelemetrySample


class ClusterNode(Value):
    """One machine of a cluster, or one of several raylets on a machine.

    Attributes:
        id: Ray's; a node that comes back has another one.
        name: Different for each node of the cluster: the one that it was started with, else its
            host name.
        address: By which the others reach it.
        reason: Why it is silent or lost, as far as the cluster knows.
        cpus: What Ray may give away there; likewise GPUs.
        cpus_free: What nobody has reserved in the cluster; ``None``: not known.
        clock_skew_s: How far its clock is ahead of that of the node that asked; ``None``: not
            known.
        report: ``None`` where it did not answer.
    """

    id: str
    name: str
    address: str
    state: NodeState = NodeState.OK
    reason: Annotated[str, AfterValidator(visible_line)] = ""
    cpus: float = 0.0
    gpus: float = 0.0
    cpus_free: float | None = None
    gpus_free: float | None = None
    clock_skew_s: float | None = None
    report: NodeReport | None = None


class ClusterReading(Value):
    """A cluster at one moment.

    Attributes:
        address: Of its head, ``host:port``.
        ray: The version of Ray here.
        here: The id of the node that was asked; the run's supervisor is there.
        nodes: Those that take part first, by name; then the others.
    """

    address: str
    ray: str = ""
    here: str = ""
    nodes: tuple[ClusterNode, ...] = ()

    @property
    def answering(self) -> tuple[ClusterNode, ...]:
        """The nodes that can train."""
        return tuple(node for node in self.nodes if node.report is not None)

    @property
    def reports(self) -> tuple[tuple[str, NodeReport], ...]:
        """What each of them says, by its name."""
        found = ((node.name, node.report) for node in self.nodes)
        return tuple((name, report) for name, report in found if report is not None)


class ClusterAnswer(Value):
    """What was found where a cluster was looked for: the cluster, or why there is none."""

    reading: ClusterReading | None = None
    problem: Problem | None = None


def devices_of(reading: ClusterReading) -> DeviceInventory:
    """The devices of all nodes that answer as one inventory, each with the node that it is in."""
    return joined_devices((name, report.inventory) for name, report in reading.reports)


def sample_of(reading: ClusterReading) -> TelemetrySample:
    """What the devices of all nodes report, by the keys that :func:`devices_of` gives them."""
    return joined_samples(
        (name, report.inventory, report.sample) for name, report in reading.reports
    )


def joined_devices(nodes: Iterable[tuple[str, DeviceInventory]]) -> DeviceInventory:
    """The devices of several nodes, by their names, as one inventory."""
    devices: list[PhysicalDevice] = []
    links: list[DeviceLink] = []
    drivers = set()
    for name, inventory in nodes:
        devices += [
            device.model_copy(update={"key": key_in(name, device), "node": name})
            for device in inventory.devices
        ]
        links += inventory.links
        drivers.add(inventory.driver)
    return DeviceInventory(
        # Of different drivers none is that of the cluster.
        driver=drivers.pop() if len(drivers) == 1 else None,
        devices=tuple(devices),
        links=tuple(links),
    )


def joined_samples(
    nodes: Iterable[tuple[str, DeviceInventory, TelemetrySample]],
) -> TelemetrySample:
    """What the devices of several nodes report, by the keys of :func:`joined_devices`."""
    readings: list[DeviceReading] = []
    time_s = 0.0
    for name, inventory, sample in nodes:
        readings += node_readings(name, inventory, sample)
        time_s = max(time_s, sample.time_s)
    return TelemetrySample(time_s=time_s, readings=tuple(readings))


def node_readings(
    node: str, inventory: DeviceInventory, sample: TelemetrySample
) -> tuple[DeviceReading, ...]:
    """The readings of one node, with the keys that its devices have among those of all nodes."""
    keys = {device.key: key_in(node, device) for device in inventory.devices}
    return tuple(
        reading.model_copy(update={"key": keys.get(reading.key, reading.key)})
        for reading in sample.readings
    )


def key_in(node: str, device: PhysicalDevice) -> str:
    """The key of a device among those of several nodes: every host calls its processor ``cpu``."""
    return device.key if device.is_gpu else f"{device.key}@{node}"
