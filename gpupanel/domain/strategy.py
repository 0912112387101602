"""How the work is divided over devices."""

from collections.abc import Mapping
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from gpupanel.domain.choice import ChoiceEnum
from gpupanel.domain.setting import setting
from gpupanel.domain.value import MOST_PLACES, Count, PlaceCount, Value


class StrategyKind(ChoiceEnum):
    """TensorFlow's ways of dividing the work, as profiles name them.

    People choose by what each does; TensorFlow's name stands beside it.
    """

    ONE_DEVICE = (
        "one_device",
        "One device",
        "One GPU, or the CPU, takes every example.",
    )
    MIRRORED = (
        "mirrored",
        "A copy on each device \N{MIDDLE DOT} mirrored",
        (
            "For several GPUs in one machine: each holds a copy of the model and takes a "
            "share of each batch."
        ),
    )
    CENTRAL_STORAGE = (
        "central_storage",
        "Weights on the host \N{MIDDLE DOT} central storage",
        (
            "For devices without room to keep weights: they stay once, in the host's memory, "
            "and every device computes with them."
        ),
    )
    MULTI_WORKER = (
        "multi_worker",
        "A copy in each process \N{MIDDLE DOT} multi-worker",
        (
            "For a process of its own per GPU, each with its own memory settings: the same "
            "mathematics as mirrored."
        ),
    )
    PARAMETER_SERVER = (
        "parameter_server",
        "Asynchronous workers \N{MIDDLE DOT} parameter server",
        (
            "For devices that must never wait for each other: each worker takes whole batches "
            "at its own pace, and servers keep the weights."
        ),
    )
    MODEL_PARALLEL = (
        "model_parallel",
        "Divided by layers \N{MIDDLE DOT} model parallel",
        (
            "For a model that is too big for one GPU: its layers are placed on several, and "
            "each batch passes all of them."
        ),
    )


GANG_KINDS = (StrategyKind.MULTI_WORKER, StrategyKind.PARAMETER_SERVER)
"""The strategies whose runs are several processes."""

PROGRAM_KINDS = (StrategyKind.ONE_DEVICE, StrategyKind.MIRRORED)
"""Of a program of the person's own: as it is, or a copy of its model on each device in ``fit``."""

SHARING_KINDS = (
    StrategyKind.MIRRORED,
    StrategyKind.CENTRAL_STORAGE,
    StrategyKind.MULTI_WORKER,
)
"""The strategies that divide each global batch over several replicas."""


class AllReduce(ChoiceEnum):
    """How gradients are summed over replicas."""

    AUTO = (
        "auto",
        "Automatic",
        "NCCL between whole GPUs of one process where it is installed; a ring between workers.",
    )
    NCCL = "nccl", "NCCL", "NVIDIA's own library; the fastest between whole GPUs."
    HIERARCHICAL_COPY = (
        "hierarchical_copy",
        "Hierarchical copy",
        "Copies between GPUs in a tree; also works where a GPU was split.",
    )
    REDUCTION_TO_ONE_DEVICE = (
        "reduction_to_one_device",
        "Reduction to one device",
        "One device sums and sends the result back; simple, and works everywhere.",
    )


class OptimizerState(ChoiceEnum):
    """Where the optimizer's state is kept, unless quotas say it."""

    REPLICATED = (
        "replicated",
        "On every device",
        "Each has all of it, beside its copy of the model.",
    )
    SHARDED = (
        "sharded",
        "Divided by free memory",
        "Each device has a part, the larger the more memory it has: there is one copy of it.",
    )


Shares = Annotated[tuple[Count, ...], Field(max_length=MOST_PLACES)]
"""One a replica."""
Quotas = Annotated[tuple[Count, ...], Field(min_length=1, max_length=MOST_PLACES)]
"""One a replica, in proportion to each other."""
Place = Annotated[int, Field(ge=0, lt=MOST_PLACES)]
"""The index of a logical device."""


class StrategySettings(Value):
    """The ``[strategy]`` table of a profile.

    ``shares`` are ``"equal"``, ``"balanced"`` (measured), or one number per replica that sum to the
    global batch; ``placement`` maps a layer's name to a device index, or is ``"auto"``.
    """

    kind: StrategyKind = setting(
        "Strategy",
        "How several devices work together. A replica is one copy of the model; a worker is a "
        "process of its own.",
        default=StrategyKind.ONE_DEVICE,
    )
    shares: Literal["equal", "balanced"] | Shares = setting(
        "Shares",
        "How each global batch is divided among the replicas. Shares need not be equal: a faster "
        "device can take more, and the result is the same, since gradients are summed over the "
        "whole batch.",
        default="equal",
        applies={"kind": (*SHARING_KINDS, StrategyKind.MODEL_PARALLEL)},
    )
    all_reduce: AllReduce = setting(
        "All-reduce",
        "How the gradients of all replicas are summed, which they do once in every step.",
        default=AllReduce.AUTO,
        advanced=True,
        applies={"kind": (StrategyKind.MIRRORED, StrategyKind.MULTI_WORKER)},
    )
    peer_to_peer: bool = setting(
        "Peer-to-peer",
        "NCCL hands gradients from GPU to GPU directly, over NVLink or PCI Express. Off, they "
        "go through the host's memory (NCCL_P2P_DISABLE=1): slower, but needed where the "
        "self-test shows that sums over GPUs are wrong or hang.",
        default=True,
        advanced=True,
        applies={"kind": (StrategyKind.MIRRORED, StrategyKind.MULTI_WORKER)},
    )
    optimizer_state: OptimizerState | Quotas = setting(
        "Optimizer state",
        "What the optimizer keeps beside the weights, twice their size with Adam: all of it on "
        "every device, or divided among them (ZeRO-1), by their free memory or by quotas such as "
        "3, 1. Each updates its part of the weights and hands it to the others: the same result.",
        default=OptimizerState.REPLICATED,
        advanced=True,
        prefix="by quotas ",
        examples=[[3, 1]],
        applies={"kind": (StrategyKind.MIRRORED, StrategyKind.MULTI_WORKER)},
    )
    workers: PlaceCount | None = setting(
        "Workers",
        "How many worker processes share the chosen devices: on this machine, reachable from it "
        "only, or on the nodes of a cluster or of a job. By default one for each GPU, or two on "
        "the CPU; of a cluster one for each node's CPU.",
        default=None,
        unit="worker",
        off="one per GPU, or 2 on the CPU",
        applies={"kind": GANG_KINDS},
    )
    parameter_servers: PlaceCount | None = setting(
        "Parameter servers",
        "How many processes hold the weights. Several split them among themselves, so that no "
        "single one has to answer every worker.",
        default=None,
        unit="server",
        off="1 server",
        applies={"kind": (StrategyKind.PARAMETER_SERVER,)},
    )
    devices_per_replica: PlaceCount | None = setting(
        "Devices per replica",
        "Over how many devices the layers of one copy of the model are divided. With four devices "
        "and 2 for each there are two replicas, which share each batch: data and layers are "
        "divided at once. The devices of a replica follow each other in the list.",
        default=None,
        unit="device",
        off="all: one replica",
        applies={"kind": (StrategyKind.MODEL_PARALLEL,)},
    )
    placement: Literal["auto"] | dict[str, Place] | None = setting(
        "Placement",
        "Which logical device of a replica, counted from 0, holds the weights of each layer and "
        "does its work, by the layer's name, or auto. A layer without weights, "
        "such as an activation, works where the layer before it does.",
        default=None,
        applies={"kind": (StrategyKind.MODEL_PARALLEL,)},
    )
    pipeline: bool = setting(
        "Pipeline",
        "The devices work at the same time, each on another micro-batch: the first of them holds "
        "as many at once as there are devices, the last one a single one. The result is the same. "
        "It needs accumulation steps: 4 for each device, or more.",
        default=False,
        applies={"kind": (StrategyKind.MODEL_PARALLEL,)},
    )

    @model_validator(mode="before")
    @classmethod
    def _mirrored_over_several(cls, said: object) -> object:
        """Copies of the model on several devices each: their layers are divided."""
        if isinstance(said, Mapping) and said.get("kind") == StrategyKind.MIRRORED:
            devices = said.get("devices_per_replica")
            if isinstance(devices, int) and devices > 1:
                return {**said, "kind": StrategyKind.MODEL_PARALLEL.value}
        return said

    @property
    def divides_batches(self) -> bool:
        """Whether each global batch is divided over replicas, where there are several."""
        of_several = (
            self.kind is StrategyKind.MODEL_PARALLEL and self.devices_per_replica is not None
        )
        return of_several or self.kind in SHARING_KINDS

    def for_any_replicas(self) -> Self:
        """The same, but for lists that have a number for each replica of today."""
        fitting: dict[str, object] = {}
        if isinstance(self.shares, tuple):
            fitting["shares"] = "equal"
        if isinstance(self.optimizer_state, tuple):
            fitting["optimizer_state"] = OptimizerState.SHARDED
        return self.model_copy(update=fitting)
