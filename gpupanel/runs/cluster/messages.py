"""What the driver is asked to do: its first line on stdin."""

from typing import Literal

from gpupanel.domain.cluster import ClusterAddress
from gpupanel.domain.value import Value


class DevicesWanted(Value):
    """Answer once what is in the cluster, as a :class:`~gpupanel.domain.cluster.ClusterAnswer`."""

    kind: Literal["devices"] = "devices"
    address: ClusterAddress
