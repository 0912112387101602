"""How the work is divided over devices."""

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field

from gpupanel.domain.value import MOST_PLACES, Count, PlaceCount, Value


class StrategyKind(StrEnum):
    """TensorFlow's ways of dividing the work, as profiles name them."""

    ONE_DEVICE = "one_device"
    MIRRORED = "mirrored"
    CENTRAL_STORAGE = "central_storage"
    MULTI_WORKER = "multi_worker"
    PARAMETER_SERVER = "parameter_server"
    MODEL_PARALLEL = "model_parallel"


GANG_KINDS = (StrategyKind.MULTI_WORKER, StrategyKind.PARAMETER_SERVER)
"""The strategies whose runs are several processes."""

SHARING_KINDS = (
    StrategyKind.MIRRORED,
    StrategyKind.CENTRAL_STORAGE,
    StrategyKind.MULTI_WORKER,
)
"""The strategies that divide each global batch over several replicas."""


class AllReduce(StrEnum):
    """How gradients are summed over replicas."""

    AUTO = "auto"
    NCCL = "nccl"
    HIERARCHICAL_COPY = "hierarchical_copy"
    REDUCTION_TO_ONE_DEVICE = "reduction_to_one_device"


Shares = Annotated[tuple[Count, ...], Field(max_length=MOST_PLACES)]
"""One a replica."""
Place = Annotated[int, Field(ge=0, lt=MOST_PLACES)]
"""The index of a logical device."""


class StrategySettings(Value):
    """The ``[strategy]`` table of a profile.

    Attributes:
        kind: The tf.distribute strategy, or layers placed by hand.
        shares: How many examples of each global batch each replica takes: ``"equal"``,
            ``"balanced"`` (measured), or one number per replica that sum to the global batch.
        all_reduce: The cross-device operations of a mirrored strategy.
        workers: Processes of a multi-worker or parameter-server run.
        parameter_servers: Parameter-server processes.
        placement: Layer name to device index, or ``"auto"``.
    """

    kind: StrategyKind = StrategyKind.ONE_DEVICE
    shares: Literal["equal", "balanced"] | Shares = "equal"
    all_reduce: AllReduce = AllReduce.AUTO
    workers: PlaceCount | None = None
    parameter_servers: PlaceCount | None = None
    placement: Literal["auto"] | dict[str, Place] | None = None
