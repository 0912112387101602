"""Chooses the address at which a run's processes on a node listen for other nodes."""

import socket
from collections.abc import Mapping, Sequence
from ipaddress import IPv4Network, ip_address, ip_network

import psutil

from gpupanel.domain.problem import Problem, ProblemError

Interfaces = Mapping[str, Sequence[str]]
"""The IPv4 addresses of each network interface."""


def interfaces_here() -> dict[str, list[str]]:
    """The network interfaces of this machine with their addresses."""
    return {
        name: [each.address for each in addresses if each.family == socket.AF_INET]
        for name, addresses in psutil.net_if_addrs().items()
    }


def address_in(network: str, known_by: str, interfaces: Interfaces) -> tuple[str, str]:
    """The address to listen on, and the interface that has it.

    Args:
        network: What the profile says: an interface, a subnet, or nothing.
        known_by: The address by which the cluster knows this node.
        interfaces: Of this machine.

    Raises:
        ProblemError: This machine has no such address.
    """
    for name, addresses in interfaces.items():
        for address in addresses:
            if _is_meant(address, name, network, known_by):
                return address, name
    found = ", ".join(f"{name} {' '.join(each)}" for name, each in interfaces.items() if each)
    raise ProblemError(
        Problem(
            code="cluster_network_missing",
            field="cluster.network",
            message=f"The node at {known_by} has no address in {network or known_by}, where the "
            "run's processes are to reach each other.",
            hint="Name an interface or a subnet that every node has.",
            detail=found,
        )
    )


def _is_meant(address: str, interface: str, network: str, known_by: str) -> bool:
    if not network:
        return address == known_by
    if network == interface:
        return True
    try:
        subnet = ip_network(network, strict=False)
    except ValueError:
        return False
    return isinstance(subnet, IPv4Network) and ip_address(address) in subnet
