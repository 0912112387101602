"""What passes between a supervisor, the driver of its cluster, and the agents on the nodes.

Each is one line of JSON. The first line that a driver reads says what it is there for.
"""

from typing import Annotated, Literal

from pydantic import Field, TypeAdapter

from gpupanel.domain.cluster import ClusterAddress, ClusterReading, ClusterSettings
from gpupanel.domain.device import DeviceInventory
from gpupanel.domain.problem import Problem
from gpupanel.domain.request import Request
from gpupanel.domain.telemetry import TelemetrySample
from gpupanel.domain.value import Value


class ListDevices(Value):
    """Report once what is in the cluster, as a :class:`~gpupanel.domain.cluster.ClusterAnswer`.

    Attributes:
        file: A file of this machine that every node should see by its path; empty: none.
    """

    kind: Literal["devices"] = "devices"
    address: ClusterAddress
    file: str = ""


class WatchDevices(Value):
    """Report what is in the cluster at an interval, each time as a :class:`ClusterSeen`.

    Attributes:
        file: A file of this machine that every node should see by its path; empty: none.
        interval_s: From one report to the next.
    """

    kind: Literal["watch"] = "watch"
    address: ClusterAddress
    file: str = ""
    interval_s: float = 2.0


class PlacementRequest(Value):
    """Which node and GPUs one process of a gang is to run on.

    Attributes:
        node: The name of the node.
        gpus: Keys of the GPUs that it uses there.
    """

    node: str
    gpus: tuple[str, ...] = ()


class ReserveGang(Value):
    """Reserve the resources of a gang, and prepare its start.

    Attributes:
        root: The run's directory, by the same path on every node.
        places: Of its processes, in their order.
    """

    kind: Literal["gang"] = "gang"
    cluster: ClusterSettings
    root: str
    places: tuple[PlacementRequest, ...]


class StartGang(Value):
    """Start the processes of the gang.

    Attributes:
        environments: The variables of each, in their order.
    """

    kind: Literal["start"] = "start"
    environments: tuple[dict[str, str], ...]


class SignalGang(Value):
    """Send a signal to the process group of every process."""

    kind: Literal["signal"] = "signal"
    number: int


class ForwardRequest(Value):
    """Forward a request about the run to the leading process.

    The request is a file in the run's folder; on a network's file system another machine may see
    that late.
    """

    kind: Literal["request"] = "request"
    request: Request


class EndGang(Value):
    """Kill all processes of the run on the nodes, and end."""

    kind: Literal["end"] = "end"


DriverCommand = Annotated[
    ListDevices | WatchDevices | ReserveGang | StartGang | SignalGang | ForwardRequest | EndGang,
    Field(discriminator="kind"),
]
DRIVER_COMMAND: TypeAdapter[DriverCommand] = TypeAdapter(DriverCommand)


class Waiting(Value):
    """The gang still waits for resources."""

    kind: Literal["waiting"] = "waiting"
    reason: str


class ReadyPlace(Value):
    """Where a process can listen for the others.

    Attributes:
        interface: The name of the network interface that has the address.
    """

    address: str
    interface: str
    port: int


class Ready(Value):
    """All is reserved, and every node sees the run's directory."""

    kind: Literal["ready"] = "ready"
    places: tuple[ReadyPlace, ...]


class Refused(Value):
    """The gang cannot be started."""

    kind: Literal["refused"] = "refused"
    problem: Problem


class Started(Value):
    """All processes were started."""

    kind: Literal["started"] = "started"
    pids: tuple[int, ...]


class ProcessSeen(Value):
    """One process of a gang as its node sees it.

    Attributes:
        exit_code: ``None`` while it is there; negative: the signal that killed it.
        beat: When its heartbeat was last seen; ``None``: never.
        processor_s: Seconds of processor that it has used; ``None``: not known now.
        lines: What it has reported since the last time: events.
        read_bytes: How far the file of its events was read by then.
    """

    place: int
    pid: int = 0
    exit_code: int | None = None
    beat: float | None = None
    processor_s: float | None = None
    is_stopped: bool = False
    is_held: bool = False
    lines: tuple[str, ...] = ()
    read_bytes: int = 0


class NodeSeen(Value):
    """What an agent has seen: its processes and, where it is time again, its devices.

    Attributes:
        is_alone: The raylet that started the agent has ended: the node is none any more.
        inventory: ``None`` beside a sample: the devices that were said before.
    """

    kind: Literal["seen"] = "seen"
    node: str = ""
    is_alone: bool = False
    processes: tuple[ProcessSeen, ...] = ()
    inventory: DeviceInventory | None = None
    sample: TelemetrySample | None = None


class HeadSilent(Value):
    """The head of the cluster accepts no connection; what runs on its nodes goes on for now."""

    kind: Literal["head_silent"] = "head_silent"
    address: str


class ClusterSeen(Value):
    """What is in the cluster now."""

    kind: Literal["cluster"] = "cluster"
    reading: ClusterReading


class NodeLost(Value):
    """A node does not answer any more, and nothing is known of its processes."""

    kind: Literal["lost"] = "lost"
    node: str
    reason: str


DriverMessage = Annotated[
    Waiting | Ready | Refused | Started | NodeSeen | NodeLost | HeadSilent | ClusterSeen,
    Field(discriminator="kind"),
]
DRIVER_MESSAGE: TypeAdapter[DriverMessage] = TypeAdapter(DriverMessage)


class AgentReady(Value):
    """What an agent answers when it makes ready.

    Attributes:
        problem: Why no process can be started there.
        gpupanel: The version of this program there.
    """

    gpupanel: str
    address: str = ""
    interface: str = ""
    ports: tuple[int, ...] = ()
    problem: Problem | None = None


class ProcessStart(Value):
    """A process that an agent is to start."""

    place: int
    environment: dict[str, str]


class AgentCommand(Value):
    """What an agent is to make ready or to start.

    Attributes:
        root: The run's directory.
        network: Where processes are to listen, as the profile says.
        address: By which the cluster knows the node.
        count: Of the processes, for their ports.
        gpus: Keys of the GPUs that they use, which have to be reserved.
        starts: The processes.
    """

    root: str
    network: str = ""
    address: str = ""
    count: int = 0
    gpus: tuple[str, ...] = ()
    starts: tuple[ProcessStart, ...] = ()
