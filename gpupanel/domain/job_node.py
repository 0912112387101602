"""A node of a cluster that belongs to the job of a batch system, as it describes itself."""

from typing import Annotated

from pydantic import Field

from gpupanel.domain.device import DeviceInventory
from gpupanel.domain.value import Value

NodeName = Annotated[str, Field(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.-]{0,254}$")]
"""As the batch system calls the node; nothing that a command could take for an option."""
NodeAddress = Annotated[str, Field(pattern=r"^[0-9]{1,3}(\.[0-9]{1,3}){3}$")]
"""IPv4, by which the other nodes of the job reach it."""


class JobNode(Value):
    """One node of a job.

    Attributes:
        visible_devices: ``CUDA_VISIBLE_DEVICES`` as it is meant there; ``None``: every GPU is.
        inventory: Its devices.
    """

    name: NodeName
    address: NodeAddress
    visible_devices: str | None
    inventory: DeviceInventory
