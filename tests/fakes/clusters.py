"""Clusters as their nodes might report them, for tests that are not about asking them."""

import math
from collections.abc import Sequence

from gpupanel.domain.cluster import ClusterNode, ClusterReading, NodeReport, NodeState
from gpupanel.domain.device import (
    CPU_KEY,
    DeviceInventory,
    DeviceKind,
    DeviceLink,
    LinkKind,
    PhysicalDevice,
)
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.telemetry import DeviceProcess, DeviceReading, TelemetrySample

ADDRESS = "10.0.0.1:6379"


def gpu_key(node: str, place: int) -> str:
    return f"GPU-{node}-{place}"


def cluster_node(
    name: str,
    gpus: int = 1,
    *,
    state: NodeState = NodeState.OK,
    reason: str = "",
    time_s: float = 0.0,
    processes: int = 0,
    node_id: str = "",
    is_being_asked: bool = False,
) -> ClusterNode:
    """A node with GPUs that are busy in a way of their own at each moment."""
    node = ClusterNode(
        id=node_id or f"id-{name}",
        name=name,
        address="10.0.0.9",
        state=state,
        reason=reason,
        cpus=16.0,
        cpus_free=16.0,
        gpus=float(gpus),
        gpus_free=float(gpus),
    )
    if state is not NodeState.OK or is_being_asked:
        return node
    report = NodeReport(
        gpupanel="1",
        python="3.12",
        tensorflow="2.21",
        ray="2.50",
        clock_s=time_s,
        inventory=_inventory(name, gpus),
        sample=_sample(name, gpus, time_s, processes),
    )
    return node.model_copy(update={"report": report})


def cluster_of(*nodes: ClusterNode, address: str = ADDRESS) -> ClusterReading:
    here = nodes[0].id if nodes else ""
    return ClusterReading(address=address, ray="2.50", here=here, nodes=nodes)


def many_nodes(nodes: int, gpus: int, time_s: float = 0.0, processes: int = 1) -> ClusterReading:
    """So many equal nodes with so many GPUs each, of which each has processes."""
    names = [f"node{number:02d}.rack{number // 16}.example" for number in range(nodes)]
    return cluster_of(
        *(cluster_node(name, gpus, time_s=time_s, processes=processes) for name in names)
    )


class RecordedCluster:
    """A source that answers what a test hands it, one after the other."""

    def __init__(self, answers: Sequence[ClusterReading | Problem] = ()) -> None:
        self.answers = list(answers)
        self.asked: list[str] = []
        self.closed = 0

    def __call__(self, address: str) -> "RecordedCluster":
        self.asked.append(address)
        return self

    def reading(self) -> ClusterReading | None:
        if not self.answers:
            return None
        answer = self.answers.pop(0)
        if isinstance(answer, Problem):
            raise ProblemError(answer)
        return answer

    def close(self) -> None:
        self.closed += 1


def _inventory(node: str, gpus: int) -> DeviceInventory:
    devices = [
        PhysicalDevice(
            key=gpu_key(node, place),
            kind=DeviceKind.GPU,
            name="NVIDIA H100 80GB HBM3",
            memory_total_mib=81_559,
            compute_capability=(9, 0),
            pci_bus_id=f"00000000:{place:02X}:00.0",
            power_limit_w=700.0,
        )
        for place in range(gpus)
    ]
    cpu = PhysicalDevice(
        key=CPU_KEY, kind=DeviceKind.CPU, name="AMD EPYC", memory_total_mib=515_000, core_count=16
    )
    links = tuple(
        DeviceLink(keys=(one.key, two.key), kind=LinkKind.NVLINK, nvlink_count=18)
        for at, one in enumerate(devices)
        for two in devices[at + 1 :]
    )
    driver = "580.65" if gpus else None
    return DeviceInventory(driver=driver, devices=(*devices, cpu), links=links)


def _sample(node: str, gpus: int, time_s: float, processes: int) -> TelemetrySample:
    phase = sum(node.encode())
    readings = [
        DeviceReading(
            key=gpu_key(node, place),
            memory_used_mib=40_000 + int(8_000 * math.sin(time_s / 9 + place + phase)),
            memory_free_mib=30_000,
            memory_total_mib=81_559,
            gpu_utilization_percent=round(75 + 25 * math.sin(time_s / 3 + place + phase)),
            temperature_c=60.0,
            power_w=500.0,
            power_limit_w=700.0,
            clock_mhz=1_980,
            throttle_reasons=(),
            processes=tuple(
                DeviceProcess(
                    pid=4_000 + place * 10 + number,
                    name="python",
                    user="ada",
                    command="python -m gpupanel.trainer /runs/a",
                    memory_used_mib=30_000,
                )
                for number in range(processes)
            ),
        )
        for place in range(gpus)
    ]
    cpu = DeviceReading(
        key=CPU_KEY,
        memory_used_mib=64_000,
        memory_total_mib=515_000,
        gpu_utilization_percent=20.0,
        core_utilization_percent=(20.0,) * 16,
    )
    return TelemetrySample(time_s=time_s, readings=(*readings, cpu))
