"""What was decided from a profile and the devices of this machine: ``plan.json``.

The planner makes it, the launcher writes it, the trainer carries it out to the letter.
"""

from typing import Self

from pydantic import model_validator

from gpupanel.domain.device import DeviceKind
from gpupanel.domain.strategy import AllReduce, StrategyKind
from gpupanel.domain.value import Mib, PositiveInt, Value


class PlannedDevice(Value):
    """How one physical device is configured before TensorFlow initialises it.

    Attributes:
        key: NVML UUID or ``cpu``.
        index: Position among the visible physical devices of its kind, as TensorFlow numbers
            them (``tf.config.list_physical_devices``).
        memory_growth: Call ``set_memory_growth(device, True)``.
        logical_limits_mib: One logical device for each entry, with that memory limit (``None``:
            no limit, the only one that a logical CPU may have); empty: leave the device whole.
    """

    key: str
    kind: DeviceKind
    name: str
    index: int
    memory_growth: bool = False
    logical_limits_mib: tuple[Mib | None, ...] = ()


class PlannedReplica(Value):
    """One copy of the model and its part of each global batch.

    Attributes:
        device_key: The physical device that it runs on.
        logical_device: TensorFlow's name of the logical device (``/device:GPU:0``).
        share: Examples of each full global batch.
    """

    index: int
    device_key: str
    logical_device: str
    share: int


class LaunchPlan(Value):
    """Environment, device configuration, shares and global batch of one run.

    Attributes:
        environment: Variables that the trainer's process gets besides its parent's.
        devices: The visible physical devices.
        replicas: In order; their shares sum to ``global_batch_size``.
    """

    environment: dict[str, str]
    devices: tuple[PlannedDevice, ...]
    strategy: StrategyKind
    all_reduce: AllReduce = AllReduce.AUTO
    replicas: tuple[PlannedReplica, ...]
    global_batch_size: PositiveInt
    accumulation_steps: PositiveInt = 1

    @model_validator(mode="after")
    def _shares_sum_to_the_global_batch(self) -> Self:
        if sum(self.shares) != self.global_batch_size:
            raise ValueError("the shares do not sum to the global batch size")
        return self

    @property
    def shares(self) -> tuple[int, ...]:
        """Examples of each full global batch, per replica."""
        return tuple(replica.share for replica in self.replicas)
