"""What was decided from a profile and the devices of this machine: ``plan.json``.

The planner makes it, the launcher writes it, the trainer carries it out to the letter.
"""

from collections.abc import Mapping
from enum import StrEnum
from itertools import chain, compress
from typing import Annotated, Final, Self

from pydantic import Field, model_validator

from gpupanel.domain.cluster import ClusterSettings
from gpupanel.domain.device import DeviceKind
from gpupanel.domain.device_names import numbered
from gpupanel.domain.document_bounds import OF_A_RECORD, check_json
from gpupanel.domain.job_node import NodeAddress
from gpupanel.domain.strategy import SHARING_KINDS, AllReduce, StrategyKind
from gpupanel.domain.training import HalfPrecision
from gpupanel.domain.value import MOST_PLACES, Count, Mib, PerPlace, PositiveInt, Value

_MOST_PROCESSES: Final = 2 * MOST_PLACES + 1
"""A worker for each place, a parameter server for each of them, and a coordinator."""


class PlannedDevice(Value):
    """How one physical device is configured before TensorFlow initialises it.

    Attributes:
        key: NVML UUID or ``cpu``.
        index: Position among the visible physical devices of its kind, as TensorFlow numbers
            them (``tf.config.list_physical_devices``).
        memory_growth: Call ``set_memory_growth(device, True)``.
        logical_limits_mib: One logical device for each entry, with that memory limit (``None``:
            no limit, the only one that a logical CPU may have); empty: leave the device whole.
        pci_bus_id: As NVML writes it, by which the trainer sees that TensorFlow means the same.
        memory_total_mib: The GPU's memory, or its host's: what readings are parts of, also where
            the device is not known any more.
        available_mib: What TensorFlow could have of the GPU when this was planned, under its memory
            policy; ``None``: not known, or not a GPU.
    """

    key: str
    kind: DeviceKind
    name: str
    index: int
    memory_growth: bool = False
    logical_limits_mib: Annotated[tuple[Mib | None, ...], PerPlace] = ()
    pci_bus_id: str | None = None
    memory_total_mib: int | None = None
    available_mib: int | None = None


class PlannedReplica(Value):
    """One copy of the model and its part of each global batch.

    Attributes:
        device_key: The physical device that it runs on.
        logical_device: TensorFlow's name of the logical device within its process
            (``/device:GPU:0``).
        share: Examples of each full global batch.
        process: Which process of the plan's gang it runs in.
        data_on_host: Whether its examples are left in the host's memory, where its GPU has not
            enough; ``None``: the trainer finds that out.
        optimizer_quota: How much of the optimizer's state it keeps, in proportion to the quotas of
            the other replicas; ``None``, as they all have then: all of it.
    """

    index: int
    device_key: str
    logical_device: str
    share: int
    process: int = 0
    data_on_host: bool | None = None
    optimizer_quota: Count | None = None


def replica_name(index: int, device: str) -> str:
    """A replica in words, the same everywhere.

    Args:
        index: Counted from 0, as TensorFlow counts replicas and NVML counts GPUs.
        device: What the device that it runs on is called where it is named.
    """
    return f"Replica {index} \N{MIDDLE DOT} {device}"


class ProcessRole(StrEnum):
    """What a process of a run is there for."""

    TRAINER = "trainer"
    """The only process of its run."""
    WORKER = "worker"
    COORDINATOR = "coordinator"
    """Hands steps to the workers of a parameter-server run."""
    PARAMETER_SERVER = "parameter_server"


_TASK_TYPES = {
    ProcessRole.WORKER: "worker",
    ProcessRole.COORDINATOR: "chief",
    ProcessRole.PARAMETER_SERVER: "ps",
}


class PlannedProcess(Value):
    """One process of a run.

    Attributes:
        index: Among the processes of its role.
        environment: Variables that it gets besides those of the whole plan.
        devices: The physical devices that it sees, numbered as TensorFlow does there.
        node: The node of a cluster that it is started on; ``None``: this machine.
        program: The program of the person's own that it runs, for people; empty: none.
        address: By which processes on other nodes reach it; ``None``: that is known when it starts,
            or all are on this machine.
    """

    role: ProcessRole = ProcessRole.TRAINER
    index: int = 0
    environment: Annotated[dict[str, str], PerPlace] = Field(default_factory=dict)
    devices: Annotated[tuple[PlannedDevice, ...], PerPlace] = ()
    node: str | None = None
    address: NodeAddress | None = None
    program: str = ""

    @property
    def name(self) -> str:
        """What people read: "worker 1", "worker 1 on beta"."""
        if self.program:
            return self.program
        role = self.role.replace("_", " ")
        alone = self.role in (ProcessRole.TRAINER, ProcessRole.COORDINATOR)
        name = f"the {role}" if alone else f"{role} {self.index}"
        return f"{name} on {self.node}" if self.node else name

    @property
    def task_type(self) -> str:
        """What ``TF_CONFIG`` calls its role; a run's only process has none there."""
        return _TASK_TYPES[self.role]

    @property
    def logical_gpus(self) -> tuple[str, ...]:
        """The key of the GPU that each logical one is on: they are numbered over all GPUs."""
        return tuple(
            device.key
            for device in sorted(self.devices, key=lambda device: device.index)
            if device.kind is DeviceKind.GPU
            for _ in device.logical_limits_mib or (None,)
        )


class LogicalPlace(Value):
    """A logical device that layers can be placed on."""

    device_key: str
    logical_device: str


class LaunchPlan(Value):
    """Environment, device configuration, shares and global batch of one run.

    Attributes:
        environment: Variables that every process gets besides its parent's.
        devices: The visible physical devices of all processes.
        replicas: In order; their shares sum to ``global_batch_size``. Those of a
            ``parameter_server`` run are its workers: each takes whole batches by turns.
        places: Where layers can be placed, equally many for each replica, one replica after the
            other; ``model_parallel`` only.
        balanced: The shares are where measuring begins, and are adjusted while training.
        processes: The gang, when there is more than one process. The first one writes events and
            saves.
        cluster: The cluster whose nodes the processes run on; ``None``: this machine.
        compiles_for: The keys of GPUs that TensorFlow has no machine code for, as far as that was
            known: the driver compiles its kernels when they are first used.
        half_precision: In which 16-bit floats mixed precision computes: never
            :attr:`~gpupanel.domain.training.HalfPrecision.AUTO`.
        program: The program of the person's own that the run's only process runs; empty: none.
        communicates: Whether several processes reach each other through TensorFlow. Those of an
            evaluation or a prediction do not: each hands its outputs to the first one.
    """

    environment: Annotated[dict[str, str], PerPlace]
    devices: Annotated[tuple[PlannedDevice, ...], PerPlace]
    strategy: StrategyKind
    all_reduce: AllReduce = AllReduce.AUTO
    replicas: Annotated[tuple[PlannedReplica, ...], PerPlace]
    places: Annotated[tuple[LogicalPlace, ...], PerPlace] = ()
    global_batch_size: PositiveInt
    accumulation_steps: PositiveInt = 1
    balanced: bool = False
    processes: Annotated[tuple[PlannedProcess, ...], Field(max_length=_MOST_PROCESSES)] = ()
    cluster: ClusterSettings | None = None
    half_precision: HalfPrecision = HalfPrecision.BFLOAT16
    communicates: bool = True
    program: str = ""
    compiles_for: Annotated[tuple[str, ...], PerPlace] = ()

    @model_validator(mode="after")
    def _quotas_divide_something(self) -> Self:
        quotas = [each.optimizer_quota for each in self.replicas]
        if any(quota is not None for quota in quotas) and (None in quotas or not any(quotas)):
            raise ValueError("the quotas of the optimizer's state divide it among no replica")
        return self

    @model_validator(mode="after")
    def _shares_sum_to_the_global_batch(self) -> Self:
        if self.strategy is StrategyKind.PARAMETER_SERVER:
            if set(self.shares) != {self.global_batch_size}:
                raise ValueError("each worker of a parameter-server run takes whole batches")
        elif sum(self.shares) != self.global_batch_size:
            raise ValueError("the shares do not sum to the global batch size")
        return self

    @model_validator(mode="after")
    def _replicas_have_as_many_places(self) -> Self:
        if self.places and (not self.replicas or len(self.places) % len(self.replicas)):
            raise ValueError("the places of layers cannot be divided among the replicas")
        return self

    @property
    def divides_batches(self) -> bool:
        """Whether several replicas take a part of each batch each."""
        divides = self.strategy in (*SHARING_KINDS, StrategyKind.MODEL_PARALLEL)
        return divides and len(self.replicas) > 1

    @property
    def stage_count(self) -> int:
        """On how many devices each replica has its layers."""
        return len(self.places) // len(self.replicas) if self.places else 1

    def places_of(self, number: int) -> tuple[LogicalPlace, ...]:
        """Where the layers of a replica can be placed, by its number in the plan."""
        return self.places[number * self.stage_count : (number + 1) * self.stage_count]

    def replicas_on(self, key: str) -> list[int]:
        """The numbers of the replicas that a physical device works for."""
        numbers = range(len(self.replicas))
        return [number for number in numbers if key in self.devices_of_replica(number)]

    def devices_of_replica(self, number: int) -> tuple[str, ...]:
        """The key of each physical device that works for a replica, each once."""
        places = self.places_of(number) or (self.replicas[number],)
        return tuple(dict.fromkeys(place.device_key for place in places))

    def devices_of_stage(self, stage: int) -> tuple[str, ...]:
        """The key of each physical device that has the layers of that stage, each once."""
        places = self.places[stage :: self.stage_count]
        return tuple(dict.fromkeys(place.device_key for place in places))

    @property
    def gang(self) -> tuple[PlannedProcess, ...]:
        """Every process of the run, also when it is one."""
        return self.processes or (PlannedProcess(devices=self.devices, program=self.program),)

    @property
    def measured_at_a_time(self) -> int:
        """Examples of all replicas that are validated or tested at a time: as few as learn then.

        What only measures has no gradients to accumulate, so smaller batches come to the same sums.
        """
        return max(len(self.replicas), self.global_batch_size // self.accumulation_steps)

    def is_like(self, other: "LaunchPlan | None") -> bool:
        """Whether both say the same, whatever was free when each was made."""
        return other is not None and _whatever_is_free(self) == _whatever_is_free(other)

    def with_available(self, available_mib: Mapping[str, int]) -> "LaunchPlan":
        """The plan with what TensorFlow can have of each GPU, by its key."""

        def known(devices: tuple[PlannedDevice, ...]) -> tuple[PlannedDevice, ...]:
            return tuple(
                device.model_copy(update={"available_mib": available_mib.get(device.key)})
                for device in devices
            )

        processes = tuple(
            process.model_copy(update={"devices": known(process.devices)})
            for process in self.processes
        )
        return self.model_copy(update={"devices": known(self.devices), "processes": processes})

    def device_name(self, key: str) -> str:
        """What a device is called that equal ones cannot be taken for; its key: not of the plan."""
        names = numbered([device.name for device in self.devices])
        return dict(zip((device.key for device in self.devices), names, strict=True)).get(key, key)

    @property
    def is_on_nodes(self) -> bool:
        """Whether its processes are started on nodes of a cluster."""
        return any(process.node is not None for process in self.processes)

    @property
    def shares(self) -> tuple[int, ...]:
        """Examples of each full global batch, per replica."""
        return tuple(replica.share for replica in self.replicas)

    @property
    def optimizer_quotas(self) -> tuple[int, ...] | None:
        """What each replica keeps of the optimizer's state, in proportion; ``None``: all of it."""
        quotas = (each.optimizer_quota for each in self.replicas)
        return tuple(quota for quota in quotas if quota is not None) or None

    @property
    def optimizer_parts(self) -> tuple[float, ...]:
        """What part of the optimizer's state each replica keeps, from 0 to 1."""
        quotas = self.optimizer_quotas
        if quotas is None:
            return (1.0,) * len(self.replicas)
        whole = sum(quotas)
        return tuple(quota / whole for quota in quotas)

    @property
    def is_one_cpu_device(self) -> bool:
        """Whether one process trains one copy of the model on the CPU, so that bits can repeat."""
        return (
            self.strategy is not StrategyKind.MODEL_PARALLEL
            and not self.processes
            and len(self.without_idle_replicas().replicas) == 1
            and all(device.kind is DeviceKind.CPU for device in self.devices)
        )

    def without_idle_replicas(self) -> "LaunchPlan":
        """The plan without the replicas whose share is 0, as it is carried out in one process.

        They would hold a copy of the weights and sum up zeros in every step, and convolutions have
        no answer to no example; leaving them out is the same mathematics. Processes stay: each
        must take part in every sum.
        """
        if self.processes:
            return self
        works = [replica.share > 0 for replica in self.replicas]
        working = tuple(compress(self.replicas, works))
        places = (self.places_of(number) for number in compress(range(len(works)), works))
        return self.model_copy(update={"replicas": working, "places": tuple(chain(*places))})


def _whatever_is_free(plan: LaunchPlan) -> LaunchPlan:
    """The plan without what was decided by the memory that was free when it was made."""
    is_divided = plan.optimizer_quotas is not None
    replicas = tuple(
        each.model_copy(update={"optimizer_quota": int(is_divided) or None})
        for each in plan.replicas
    )
    return plan.with_available({}).model_copy(update={"replicas": replicas})


def parse_plan(content: bytes) -> LaunchPlan:
    """The plan in the content of ``plan.json``.

    Raises:
        ValueError: It is no plan that this version knows.
    """
    check_json(content, OF_A_RECORD)
    return LaunchPlan.model_validate_json(content)
