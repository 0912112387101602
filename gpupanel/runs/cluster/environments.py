"""What the processes of a gang know of each other."""

import json
import random
import socket
from collections.abc import Mapping, Sequence
from contextlib import ExitStack

from gpupanel.domain.plan import LaunchPlan, PlannedProcess
from gpupanel.domain.process_environment import (
    LISTEN_VARIABLE,
    NODE_VARIABLE,
    PLANNED_VARIABLES,
    PROCESS_VARIABLE,
)
from gpupanel.runs.cluster.messages import ReadyPlace

_LOOPBACK = "127.0.0.1"
_PORTS = range(12_000, 32_000)
"""Below those that the system gives to outgoing connections (32768 on Linux): nothing takes one
by chance in the seconds between the choice and TensorFlow's server."""

_NCCL = {"NCCL_SOCKET_IFNAME": "lo"}
"""NCCL listens while it sets itself up, also for the GPUs of one process, and by itself never on
loopback where there is another interface (NCCL User Guide, "Environment Variables")."""


def free_ports(count: int, host: str = _LOOPBACK) -> tuple[int, ...]:
    """Different free ports of an address.

    Raises:
        OSError: None could be found.
    """
    with ExitStack() as taken:
        ports = []
        for port in random.sample(_PORTS, k=200 + count):
            probe = taken.enter_context(socket.socket())
            try:
                probe.bind((host, port))
            except OSError:
                continue
            ports.append(port)
            if len(ports) == count:
                return tuple(ports)
    raise OSError(f"no free port was found at {host}")


def process_environments(plan: LaunchPlan) -> tuple[dict[str, str], ...]:
    """The variables that say to each process of the gang who it is and where the others are.

    Raises:
        OSError: No free ports were found.
    """
    gang = plan.gang
    if len(gang) == 1:
        return ({PROCESS_VARIABLE: "0", **_NCCL, **allowed(gang[0].environment)},)
    addresses = [_address(process) for process in gang]
    ports = free_ports(len(gang))
    endpoints = [f"{address}:{port}" for address, port in zip(addresses, ports, strict=True)]
    return tuple(
        {
            PROCESS_VARIABLE: str(place),
            **_network(process),
            "no_grpc_proxy": ",".join(dict.fromkeys(addresses)),
            **allowed(process.environment),
            **_tf_config(plan, endpoints, process),
        }
        for place, process in enumerate(gang)
    )


def environments_on_nodes(
    plan: LaunchPlan, places: Sequence[ReadyPlace]
) -> tuple[dict[str, str], ...]:
    """The same for processes on the nodes of a cluster.

    Args:
        plan: Its gang.
        places: Where each process of the gang can listen.
    """
    gang = plan.gang
    endpoints = [f"{place.address}:{place.port}" for place in places]
    hosts = ",".join(dict.fromkeys(place.address for place in places))
    return tuple(
        {
            PROCESS_VARIABLE: str(number),
            NODE_VARIABLE: process.node or "",
            LISTEN_VARIABLE: place.address,
            "NCCL_SOCKET_IFNAME": place.interface,
            "no_grpc_proxy": hosts,
            **allowed(plan.environment),
            **allowed(process.environment),
            **_tf_config(plan, endpoints, process),
        }
        for number, (process, place) in enumerate(zip(gang, places, strict=True))
    )


def _tf_config(
    plan: LaunchPlan, endpoints: Sequence[str], process: PlannedProcess
) -> dict[str, str]:
    """Nothing where processes do not communicate; TensorFlow takes one alone for no cluster."""
    if not plan.communicates or len(plan.gang) == 1:
        return {}
    task = {"type": process.task_type, "index": process.index}
    return {"TF_CONFIG": json.dumps({"cluster": _cluster(plan.gang, endpoints), "task": task})}


def allowed(environment: Mapping[str, str]) -> dict[str, str]:
    """What a plan may set of these variables: others could make a process load code."""
    return {name: text for name, text in environment.items() if name in PLANNED_VARIABLES}


def _address(process: PlannedProcess) -> str:
    """The address to listen at: loopback, except for a task on a node."""
    return process.address if process.node and process.address else _LOOPBACK


def _network(process: PlannedProcess) -> dict[str, str]:
    """Between nodes NCCL finds the interface by itself, or the person's shell names it."""
    return {LISTEN_VARIABLE: _address(process)} if process.node else _NCCL


def _cluster(gang: Sequence[PlannedProcess], endpoints: Sequence[str]) -> dict[str, list[str]]:
    cluster: dict[str, list[str]] = {}
    for process, endpoint in zip(gang, endpoints, strict=True):
        cluster.setdefault(process.task_type, []).append(endpoint)
    return cluster
