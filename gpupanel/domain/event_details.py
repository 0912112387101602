"""The values inside events."""

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from gpupanel.domain.telemetry import DeviceProcess
from gpupanel.domain.value import GREATEST_COUNT, PerPlace, Value

MOST_NAME_CHARACTERS = 16 * 1024
"""The most characters of all class names together in an event."""


class LogicalDeviceAnswer(Value):
    """A logical device as TensorFlow lists it after its initialisation.

    Attributes:
        name: TensorFlow's, within its process (``/device:GPU:0``).
        device_key: The physical device that the plan means by it.
        memory_limit_mib: The limit that was set; ``None`` where none was.
        memory_taken_mib: What TensorFlow may take of the device: what it says, but of a limit no
            more than there was when the run was planned; ``None`` where that is not known, as for
            the CPU.
        pci_bus_id: Where TensorFlow says that the device is; ``None`` where it does not say.
        is_as_planned: Whether that is where the planned device is; ``None`` when not known.
    """

    name: str
    device_key: str
    memory_limit_mib: int | None = None
    memory_taken_mib: int | None = None
    pci_bus_id: str | None = None
    is_as_planned: bool | None = None


class PlacedLayer(Value):
    """One layer with the device that holds its weights and does its work.

    Attributes:
        place: Its index among the plan's places.
    """

    name: str
    place: int
    device_key: str
    logical_device: str
    parameters: int


class ReplicaSpeed(Value):
    """What one replica was measured to do.

    Attributes:
        examples_per_second: At its share.
        largest_share: The most examples that fit its memory at once; ``None``: the whole global
            batch fits.
    """

    replica: int
    examples_per_second: float
    largest_share: int | None = None


class ReturnedMemory(Value):
    """What became of the memory that a run held of one GPU.

    Attributes:
        freed_mib: What the run's processes held and gave back.
        still_held_mib: What did not come back in time.
        holders: Who holds memory of the GPU then; processes of the run among them have not ended.
    """

    device_key: str
    freed_mib: int
    still_held_mib: int = 0
    holders: Annotated[tuple[DeviceProcess, ...], PerPlace] = ()


class AllocatedMemory(Value):
    """What TensorFlow's allocator gave of one GPU to one process of a run.

    Attributes:
        in_use_mib: Now.
        peak_mib: The most at once since the process began.
    """

    device_key: str
    in_use_mib: Annotated[int, Field(ge=0, le=GREATEST_COUNT)]
    peak_mib: Annotated[int, Field(ge=0, le=GREATEST_COUNT)]


class ShortageCause(StrEnum):
    """How a process of a run came to want more memory than there was."""

    REFUSED = "refused"
    """TensorFlow, or Python, could not give what an operation asked for."""
    GROUP_LIMIT = "group_limit"
    """The kernel killed the process: its control group had reached its memory limit."""
    MACHINE = "machine"
    """The kernel killed a process just then, because the machine had no memory left."""
    LIKELY = "likely"
    """It was killed while memory was nearly full; the kernel did not say by whom."""
    ADDRESS_SPACE = "address_space"
    """It crashed with nearly all the address space that its limit (``ulimit -v``) lets it take."""

    @property
    def is_kill(self) -> bool:
        """Whether the process was killed for it or crashed, and could not report any more."""
        return self is not ShortageCause.REFUSED


def names_for_event(names: tuple[str, ...]) -> tuple[str, ...]:
    """Class names as far as an event carries them: all, or none where they are too long.

    A reader of events takes lines of a limited length only.
    """
    characters = sum(len(name) + len('"",') for name in names)
    return names if characters <= MOST_NAME_CHARACTERS else ()
