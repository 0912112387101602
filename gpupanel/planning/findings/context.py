"""All that is known of a training while it goes on: what the rules of findings ask."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import reduce
from typing import Final

from gpupanel.domain.bench import Bench
from gpupanel.domain.device import CPU_KEY, DeviceInventory, PhysicalDevice
from gpupanel.domain.event_details import AllocatedMemory
from gpupanel.domain.events import DataReady, EpochDone
from gpupanel.domain.gpu_support import GpuSupport
from gpupanel.domain.plan import LaunchPlan, PlannedDevice, PlannedReplica
from gpupanel.domain.problem import Fix, Problem, Severity
from gpupanel.domain.profile import Profile
from gpupanel.domain.telemetry import DeviceReading, DeviceState, TelemetrySample
from gpupanel.domain.time_spent import TimeSpent
from gpupanel.domain.value import Value
from gpupanel.planning.context import Known
from gpupanel.planning.fixes import apply_fix
from gpupanel.planning.prepare import prepare

WINDOW_S: Final = 30.0
"""So much of a training is looked back on: reports of a second vary by bursts of reading and by
garbage collections, and after half a minute a person has begun to wonder."""
SETTLED_S: Final = 10.0
"""Of training, or of samples: before, the first examples are read for the first time, and clocks
and caches are cold. As long as the mean that the trainer reports with its steps."""
_NO_TIME: Final = TimeSpent()
_OLD_S: Final = 2.0
"""A reading that is repeated for longer says nothing about now."""
WORKING_PERCENT: Final = 20.0
"""Least utilization: below it a GPU lowers its clocks and its link by itself."""


class TimedReport(Value):
    """Where the time went that ended at ``time_s``, in seconds since the epoch (UTC)."""

    time_s: float
    step: int
    epoch: int
    spent: TimeSpent

    @property
    def begun_s(self) -> float:
        """When that time began."""
        return self.time_s - self.spent.seconds


class BusyProcess(Value):
    """A process that is not the run's.

    Attributes:
        fraction: Of all logical processors, 0 to 1.
    """

    pid: int
    name: str
    fraction: float


class QuotaCounters(Value):
    """What the kernel counts of the control group whose quota binds the run.

    Attributes:
        processors: That the quota allows.
        periods: In which the group wanted to run, since it was made.
        throttled_periods: Of these, in which it was held back.
        throttled_s: For how long, summed over processors.
    """

    processors: float
    periods: int
    throttled_periods: int
    throttled_s: float


class HostObservation(Value):
    """What the host does beside the run; what is not known is ``None``.

    Attributes:
        time_s: Seconds since the epoch (UTC).
        others_fraction: Of all processors' time since the observation before, what others than
            the run took, 0 to 1.
        free_fraction: The part of that time that nobody took, 0 to 1.
        busiest: Who took most of it; ``None``: not known, or not asked.
        swap_used_mib: Memory of the machine that is on the disk.
        quota: ``None``: no quota, or none that can be read.
    """

    time_s: float
    others_fraction: float | None = None
    free_fraction: float | None = None
    busiest: BusyProcess | None = None
    swap_used_mib: int | None = None
    quota: QuotaCounters | None = None


class DeviceClock(Value):
    """The fastest clock that a GPU had in this run while it worked, in MHz."""

    key: str
    clock_mhz: int


@dataclass(frozen=True, slots=True)
class FindingContext:
    """A window of a training, and the facts that it is understood by.

    Attributes:
        profile: What is trained.
        plan: What was launched.
        reports: The last ones, oldest first; about :data:`WINDOW_S` of training.
        samples: The last ones, oldest first.
        hosts: The last ones, oldest first.
        inventory: ``None``: not read yet.
        data: What was read; ``None``: not known.
        parameters: Of the model that are trained; ``None``: not known.
        shares: Of each replica, as they are now.
        first_epoch: In which this start of the run began.
        clocks: Of the run's GPUs.
        own_pids: Processes of the run, as the samples have them.
        allocated: What each process has of each GPU, as TensorFlow's allocator counts it.
        bench: What comparing devices has shown of the same training here; ``None``: nothing.
        support: What TensorFlow answered about the GPUs; ``None``: nothing that is remembered.
        epochs: Those that this start of the run has done, each once, oldest first.
        total: How the time was spent since the run was started, or started again.
        spent: How the time of the window was spent; most rules ask.
    """

    profile: Profile
    plan: LaunchPlan
    reports: tuple[TimedReport, ...] = ()
    samples: tuple[TelemetrySample, ...] = ()
    hosts: tuple[HostObservation, ...] = ()
    inventory: DeviceInventory | None = None
    data: DataReady | None = None
    parameters: int | None = None
    shares: tuple[int, ...] = ()
    first_epoch: int | None = None
    clocks: tuple[DeviceClock, ...] = ()
    own_pids: frozenset[int] = frozenset()
    allocated: tuple[AllocatedMemory, ...] = ()
    bench: Bench | None = None
    support: GpuSupport | None = None
    epochs: tuple[EpochDone, ...] = ()
    total: TimeSpent = _NO_TIME
    spent: TimeSpent = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "spent", spent_in(self.reports))

    @property
    def has_settled(self) -> bool:
        """Whether there is enough of a training to say something about."""
        return trained_s(self.spent) >= SETTLED_S

    @property
    def is_on_cpu(self) -> bool:
        """Whether the host's processor is what computes."""
        return any(replica.device_key == CPU_KEY for replica in self.plan.replicas)

    @property
    def gpus(self) -> Iterator[PlannedDevice]:
        """The GPUs that the run uses."""
        used = {replica.device_key for replica in self.plan.replicas}
        used |= {place.device_key for place in self.plan.places}
        return (each for each in self.plan.devices if each.key in used and each.key != CPU_KEY)

    def device(self, key: str) -> PhysicalDevice | None:
        """What does not change about a device."""
        return None if self.inventory is None else self.inventory.device(key)

    def name(self, key: str) -> str:
        """A device for people; of several with one name, with its number."""
        name = next((each.name for each in self.plan.devices if each.key == key), key)
        same = [each.key for each in self.plan.devices if each.name == name]
        return f"{name} (GPU {same.index(key)})" if len(same) > 1 and key in same else name

    def node(self, replica: PlannedReplica) -> str | None:
        """The node that a replica is on; ``None``: this machine."""
        return self.plan.gang[replica.process].node

    def readings(self, key: str) -> tuple[tuple[float, DeviceReading], ...]:
        """What a device reported, each with its time; not what is old or of one that is lost."""
        found = ((sample.time_s, sample.reading(key)) for sample in self.samples)
        return tuple(
            (time_s, reading)
            for time_s, reading in found
            if reading is not None and reading.state is DeviceState.OK and reading.age_s <= _OLD_S
        )

    def working(self, key: str) -> tuple[tuple[float, DeviceReading], ...]:
        """Readings while a GPU worked; empty if they cover less than :data:`SETTLED_S`."""
        found = tuple(
            (time_s, reading)
            for time_s, reading in self.readings(key)
            if (reading.gpu_utilization_percent or 0.0) >= WORKING_PERCENT
        )
        return found if found and found[-1][0] - found[0][0] >= SETTLED_S else ()

    def fix(self, fix: Fix) -> Fix | None:
        """The fix, where the run can start with it on this machine; else ``None``."""
        if self.inventory is None:
            return None
        wanted = apply_fix(self.profile, fix)
        preparation = prepare(wanted, self.inventory, Known(support=self.support))
        return fix if preparation.is_startable else None


def spent_in(reports: tuple[TimedReport, ...]) -> TimeSpent:
    """How the time of these reports was spent."""
    return reduce(TimeSpent.plus, (report.spent for report in reports), TimeSpent())


def trained_s(spent: TimeSpent) -> float:
    """Seconds of training proper: without validation and checkpoints."""
    return max(0.0, spent.seconds - spent.validating_s - spent.saving_s)


def since(reports: tuple[TimedReport, ...], holds: Callable[[TimedReport], bool]) -> float:
    """When what holds now began to hold, as far back as the reports go; a lapse of one is none.

    Args:
        reports: One at least.
        holds: Whether it holds in a report.
    """
    begun_s, lapses = reports[-1].begun_s, 0
    for report in reversed(reports):
        lapses = 0 if holds(report) else lapses + 1
        if lapses > 1:
            break
        if not lapses:
            begun_s = report.begun_s
    return begun_s


def hint(
    code: str,
    message: str,
    what_to_do: str,
    fixes: tuple[Fix | None, ...] = (),
    field: str = "",
) -> Problem:
    """A finding's problem.

    Args:
        code: Its stable name.
        message: What is slow, with the figures.
        what_to_do: In a sentence.
        fixes: The best first; those that are ``None`` cannot be done here.
        field: The profile's key that it is about.
    """
    possible = [fix for fix in fixes if fix is not None]
    return Problem(
        code=code,
        severity=Severity.HINT,
        field=field,
        message=message,
        hint=what_to_do,
        fix=possible[0] if possible else None,
        alternatives=tuple(possible[1:]),
    )
