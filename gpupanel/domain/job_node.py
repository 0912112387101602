"""A node of a cluster that belongs to the job of a batch system, as it describes itself."""

from ipaddress import IPv4Address
from typing import Annotated, Final

from pydantic import AfterValidator, Field

from gpupanel.domain.device import DeviceInventory
from gpupanel.domain.telemetry import TelemetrySample
from gpupanel.domain.value import Value

NODE_NAME: Final = r"^[A-Za-z0-9_][A-Za-z0-9_.-]{0,254}$"
"""A node's name in a batch system; never something that a command takes for an option."""
NodeName = Annotated[str, Field(pattern=NODE_NAME)]


def _one_address(text: str) -> str:
    address = IPv4Address(text)
    # "Every address" would open the ports to every network that the node is in.
    if address.is_unspecified or address.is_multicast:
        raise ValueError("it is not the address of one node")
    return str(address)


NodeAddress = Annotated[str, AfterValidator(_one_address)]
"""IPv4, by which the other nodes of the job reach it."""


class JobNode(Value):
    """One node of a job.

    Attributes:
        visible_devices: ``CUDA_VISIBLE_DEVICES`` as it is meant there; ``None``: every GPU is.
        inventory: Its devices.
        sample: What they report.
    """

    name: NodeName
    address: NodeAddress
    visible_devices: str | None
    inventory: DeviceInventory
    sample: TelemetrySample


class NodeReadings(Value):
    """What the devices of a node report at one moment.

    Attributes:
        inventory: They themselves; ``None``: the same as the last time.
    """

    inventory: DeviceInventory | None = None
    sample: TelemetrySample
