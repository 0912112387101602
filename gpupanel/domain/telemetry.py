"""What devices report at one moment."""

from enum import StrEnum
from typing import Annotated, Final

from pydantic import Field

from gpupanel.domain.gpu_claim import MOST_CLAIMS, GpuClaim
from gpupanel.domain.gpu_failure import GpuFailure
from gpupanel.domain.value import MOST_PLACES, Value

_MOST_CORES: Final = 8_192
"""The most cores that Linux can be built for (``NR_CPUS``)."""
_MOST_PROCESSES: Final = 32_768
"""Linux's default of ``pid_max``."""
MOST_READINGS: Final = 16 * MOST_PLACES
"""A machine has up to 16 GPUs, and a cluster not more machines than a run takes places."""


class DeviceState(StrEnum):
    """Whether a physical device answers."""

    OK = "ok"
    LOST = "lost"
    """It was there and stopped answering: fallen off the bus, or its driver went away."""
    NO_ANSWER = "no_answer"
    """It was there, and the driver was asked for it and has not come back since."""
    ASLEEP = "asleep"
    """The kernel has suspended it, as nobody uses it; it is not asked, which would wake it."""
    RESTING = "resting"
    """It was idle and may fall asleep: it is not asked for a while, which would keep it awake."""


class ComputeMode(StrEnum):
    """Which processes may compute on a GPU, as its administrator has set it."""

    DEFAULT = "default"
    EXCLUSIVE_PROCESS = "exclusive_process"
    """One process at a time."""
    PROHIBITED = "prohibited"
    """None."""


class ThrottleReason(StrEnum):
    """Why a GPU's clocks are not as high as they could be (NVML's clocks event reasons)."""

    IDLE = "idle"
    APPLICATION_CLOCKS = "application_clocks"
    """Somebody set the clocks."""
    DISPLAY_CLOCKS = "display_clocks"
    SYNC_BOOST = "sync_boost"
    """Held to the clocks of the GPUs that it is grouped with."""
    POWER_CAP = "power_cap"
    """The power limit in force is reached."""
    THERMAL = "thermal"
    """Software slows it down to keep its temperature."""
    HARDWARE_THERMAL = "hardware_thermal"
    """The hardware slows it down: far too hot."""
    HARDWARE_POWER_BRAKE = "hardware_power_brake"
    """The power supply asks for less."""
    HARDWARE_SLOWDOWN = "hardware_slowdown"


class DeviceProcess(Value):
    """A process that holds memory of a GPU.

    Attributes:
        name: Of its program, as the host names it.
        command: Its command line, the arguments separated by spaces.
        utilization_percent: Percent of the last sample period in which its kernels ran; ``None``
            where the GPU or the driver does not report it.
        started_s: When it began, in seconds since the epoch: with the pid its identity, since a
            pid may be given out again.
        is_mine: Whether it belongs to the user who asks.
        was_killed: Whether it was killed seconds ago and has not ended: it waits in the kernel,
            most likely in the driver of the GPU.
        only_draws: Whether it uses the GPU for graphics alone, as an X server does.
    """

    pid: int
    name: str | None = None
    user: str | None = None
    command: str | None = None
    memory_used_mib: int | None = None
    utilization_percent: float | None = None
    started_s: float | None = None
    is_mine: bool = False
    was_killed: bool = False
    only_draws: bool = False


class DeviceReading(Value):
    """What a device reported at one moment. What it cannot report is ``None``.

    Attributes:
        key: The key of the physical device that it belongs to.
        failure: Why it does not answer, where it does not.
        age_s: How old the readings are; above 0 where a driver answers slowly and the last ones
            are repeated.
        memory_used_mib: What processes hold; what the driver keeps for itself is not counted.
        memory_free_mib: What can still be taken. Less than total minus used where the driver
            keeps some for itself.
        memory_reserved_mib: What the driver keeps for itself.
        gpu_utilization_percent: Percent of the last sample period with a kernel running (NVML's
            definition: not how full the GPU is). For the CPU, percent of all cores busy.
        memory_utilization_percent: Percent of the last sample period in which the GPU's memory
            was read or written.
        core_utilization_percent: Of each logical processor; empty for a GPU.
        temperature_c: Of the GPU's core, or of the processor package.
        power_limit_w: The power limit in force.
        energy_j: What the whole board took since the driver was loaded; GPUs from Volta on.
        fan_percent: Intended speed of the fan, of several the fastest.
        clock_mhz: Of the streaming multiprocessors.
        memory_clock_mhz: Of the memory.
        throttle_reasons: ``None`` when not known; empty when nothing holds the clocks back.
        pcie_generation: Of the link as it is now; GPUs lower it when idle.
        pcie_width: Lanes of the link as it is now.
        ecc_corrected: Memory errors mended since the driver was loaded.
        ecc_uncorrected: Memory errors not mended since the driver was loaded.
        retired_pages: Memory pages or rows taken out of use for good.
        compute_mode: Which processes may compute on the GPU.
        claims: The runs of other users that hold the GPU, by their own word.
    """

    key: str
    state: DeviceState = DeviceState.OK
    failure: GpuFailure | None = None
    age_s: float = 0.0
    memory_used_mib: int | None = None
    memory_free_mib: int | None = None
    memory_total_mib: int | None = None
    memory_reserved_mib: int | None = None
    gpu_utilization_percent: float | None = None
    memory_utilization_percent: float | None = None
    core_utilization_percent: Annotated[tuple[float, ...], Field(max_length=_MOST_CORES)] = ()
    temperature_c: float | None = None
    power_w: float | None = None
    power_limit_w: float | None = None
    energy_j: float | None = None
    fan_percent: float | None = None
    clock_mhz: int | None = None
    memory_clock_mhz: int | None = None
    throttle_reasons: tuple[ThrottleReason, ...] | None = None
    pcie_generation: int | None = None
    pcie_width: int | None = None
    ecc_corrected: int | None = None
    ecc_uncorrected: int | None = None
    retired_pages: int | None = None
    compute_mode: ComputeMode | None = None
    processes: Annotated[tuple[DeviceProcess, ...], Field(max_length=_MOST_PROCESSES)] = ()
    claims: Annotated[tuple[GpuClaim, ...], Field(max_length=MOST_CLAIMS)] = ()


class DiskReading(Value):
    """How full the file system of a folder is."""

    path: str
    total_mib: int
    free_mib: int


class TelemetrySample(Value):
    """Readings of all devices taken together: one line of ``telemetry.jsonl``.

    Attributes:
        time_s: Seconds since the epoch (UTC), as :func:`time.time` gives them.
        disk: Of the folder that runs are kept in, where it was asked for.
    """

    time_s: float
    readings: Annotated[tuple[DeviceReading, ...], Field(max_length=MOST_READINGS)]
    disk: DiskReading | None = None

    def reading(self, key: str) -> DeviceReading | None:
        """The reading of one device, or ``None`` when this sample has none of it."""
        return next((reading for reading in self.readings if reading.key == key), None)
