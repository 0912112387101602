"""Finds out during a training why it is slow, or learns badly, and reports it."""

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final

from gpupanel.domain.bench import Bench
from gpupanel.domain.device import DeviceInventory
from gpupanel.domain.events import (
    DataReady,
    EpochDone,
    Event,
    FindingReported,
    MemoryReported,
    ModelReady,
    RunRestarted,
    SharesChosen,
    StepsDone,
    TimeReported,
    TrainerStarted,
)
from gpupanel.domain.finding import Finding
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.profile import Profile
from gpupanel.domain.telemetry import DeviceProcess, TelemetrySample
from gpupanel.domain.time_spent import TimeSpent
from gpupanel.files.process_log import write_to_process_log
from gpupanel.planning.findings.context import (
    WINDOW_S,
    WORKING_PERCENT,
    DeviceClock,
    FindingContext,
    HostObservation,
    TimedReport,
)
from gpupanel.planning.findings.registry import (
    CLUSTER_FINDING_RULES,
    FINDING_RULES,
    FindingRule,
)
from gpupanel.runs.following.event_tail import Part
from gpupanel.runs.following.steps import StepBatch
from gpupanel.runs.history.measured_speeds import remembered
from gpupanel.runs.readiness import Machine, known_support
from gpupanel.runs.supervision.host_load import HostLoad

if TYPE_CHECKING:
    from gpupanel.domain.event_details import AllocatedMemory
    from gpupanel.domain.gpu_support import GpuSupport

INTERVAL_S: Final = 10.0
REPORT_AGAIN_S: Final = 60.0
"""A finding that was not found for so long is reported again when it comes back."""
_SAMPLES: Final = 60
"""Twice a second, for the window."""
_HOSTS: Final = 4
"""One more than there are intervals in the window."""
_MOST_EPOCHS: Final = 2_000
_MOST_KEPT: Final = 24
"""For the last event of a run: a line has a bounded length."""


class FindingWatch:
    """Asks the rules of ``planning/findings`` every ten seconds of a training.

    A rule that raises is named in the supervisor's log, once: no training ends, or is left
    unwatched, because of an error in a rule.

    Args:
        profile: What is trained.
        plan: What was launched.
        is_own: Whether a process on a GPU is one of the run's.
        rules: What is asked; ``None``: all, of a run on a cluster those that ask nothing about
            this machine.
        clock: Seconds that only grow.
        load: Observes the host; not asked for a run on a cluster, whose processes are elsewhere.
        recall: Gives what comparing devices has shown of a training on a machine; asked once.

    Attributes:
        found: What was reported, the last of each code and device.
    """

    def __init__(
        self,
        profile: Profile,
        plan: LaunchPlan,
        is_own: Callable[[DeviceProcess], bool],
        *,
        rules: tuple[FindingRule, ...] | None = None,
        clock: Callable[[], float] = time.monotonic,
        load: HostLoad | None = None,
        recall: Callable[[Profile, DeviceInventory], Bench | None] = remembered,
    ) -> None:
        self.found: tuple[Finding, ...] = ()
        self._profile = profile
        self._plan = plan.without_idle_replicas()
        self._is_own = is_own
        on_nodes = plan.is_on_nodes
        if rules is None:
            rules = CLUSTER_FINDING_RULES if on_nodes else FINDING_RULES
        self._rules = rules
        self._clock = clock
        self._load = None if on_nodes else load or HostLoad()
        self._recall = recall
        self._support: GpuSupport | None = None
        self._bench: Bench | None = None
        self._has_recalled = on_nodes  # what was compared were devices of this machine
        self._samples: deque[TelemetrySample] = deque(maxlen=_SAMPLES)
        self._inventory: DeviceInventory | None = None
        self._samples_lock = threading.Lock()
        self._fastest: dict[str, int] = {}
        self._last_s: dict[tuple[str, str | None], float] = {}
        self._failed: set[str] = set()
        self._due_s = clock() + INTERVAL_S
        self._epochs: deque[EpochDone] = deque(maxlen=_MOST_EPOCHS)
        self._reset()

    def _reset(self) -> None:
        self._reports: deque[TimedReport] = deque()
        self._total = TimeSpent()
        self._hosts: deque[HostObservation] = deque(maxlen=_HOSTS)
        self._pids: dict[int, int] = {}
        self._data: DataReady | None = None
        self._parameters: int | None = None
        self._allocated: dict[int, tuple[AllocatedMemory, ...]] = {}
        self._shares = self._plan.shares
        self._epoch = 1
        self._first_epoch: int | None = None
        self._has_new_reports = False
        with self._samples_lock:
            self._samples.clear()

    def take_sample(self, sample: TelemetrySample, inventory: DeviceInventory | None) -> None:
        """Take in a sample, and the devices by now; called in the thread that takes them."""
        with self._samples_lock:
            self._samples.append(sample)
            self._inventory = inventory

    def notice(self, event: Part) -> None:
        """Take in what trainer or supervisor reported."""
        match event:
            case TimeReported():
                self._take_time(event)
            case StepBatch():
                self._epoch = event.last.epoch
                self._first_epoch = self._first_epoch or event.first.epoch
            case StepsDone():
                self._epoch = event.epoch
                self._first_epoch = self._first_epoch or event.epoch
            case TrainerStarted():
                self._pids[event.process] = event.pid
            case DataReady():
                self._data = event
            case ModelReady():
                self._parameters = event.trainable_parameters
            case EpochDone():
                # After a restart epochs are done again.
                while self._epochs and self._epochs[-1].epoch >= event.epoch:
                    self._epochs.pop()
                self._epochs.append(event)
            case MemoryReported():
                self._allocated[event.process] = event.devices
            case SharesChosen():
                # Of the working replicas, as time is reported for them.
                self._shares = event.shares
            case RunRestarted():
                self._reset()
            case _:
                pass

    def look(self, report: Callable[[Event], None], *, is_over: bool = False) -> None:
        """Ask the rules, if it is time to.

        Args:
            report: Writes an event of the supervisor's.
            is_over: The training has ended: its last epochs are looked at, however short it was.
        """
        now_s = self._clock()
        if now_s < self._due_s and not is_over:
            return
        self._due_s = now_s + INTERVAL_S
        if not self._has_new_reports:
            return  # it has not begun to train, or stands still: watchdogs say so
        self._has_new_reports = False
        try:
            if self._load is not None and not is_over:
                self._hosts.append(self._load.observe(self._pids.values()))
            context = self._context()
        except Exception as error:  # noqa: BLE001 - whatever it is, the run is looked after
            self._note_failure("what the rules ask", error)
            return
        for finding in self._findings(context):
            self._report(finding, now_s, report)
        self._last_s = {
            identity: last_s
            for identity, last_s in self._last_s.items()
            if now_s - last_s < REPORT_AGAIN_S
        }

    def _report(self, finding: Finding, now_s: float, report: Callable[[Event], None]) -> None:
        last_s = self._last_s.get(finding.identity)
        self._last_s[finding.identity] = now_s
        if last_s is not None and now_s - last_s < REPORT_AGAIN_S:
            return
        others = [each for each in self.found if each.identity != finding.identity]
        self.found = (*others, finding)[-_MOST_KEPT:]
        values = {name: getattr(finding, name) for name in Finding.model_fields}
        report(FindingReported(time_s=time.time(), **values))

    def _findings(self, context: FindingContext) -> Iterator[Finding]:
        for rule in self._rules:
            try:
                yield from tuple(rule(context))
            except Exception as error:  # noqa: BLE001 - whatever it is, the run is looked after
                self._note_failure(rule.__name__, error)

    def _note_failure(self, what: str, error: Exception) -> None:
        if what not in self._failed:
            self._failed.add(what)
            write_to_process_log(f"supervisor: findings, {what}: {error!r}")

    def _take_time(self, event: TimeReported) -> None:
        self._has_new_reports = True
        self._first_epoch = self._first_epoch or self._epoch
        self._reports.append(
            TimedReport(time_s=event.time_s, step=event.step, epoch=self._epoch, spent=event.spent)
        )
        self._total = self._total.plus(event.spent)
        seconds = sum(report.spent.seconds for report in self._reports)
        while len(self._reports) > 1 and seconds - self._reports[0].spent.seconds >= WINDOW_S:
            seconds -= self._reports.popleft().spent.seconds

    def _context(self) -> FindingContext:
        with self._samples_lock:
            samples, inventory = tuple(self._samples), self._inventory
        self._note_clocks(samples)
        if inventory is not None and not self._has_recalled:
            self._has_recalled = True
            self._bench = self._recall(self._profile, inventory)
            self._support = known_support(Machine(inventory))
        return FindingContext(
            profile=self._profile,
            plan=self._plan,
            reports=tuple(self._reports),
            samples=samples,
            hosts=tuple(self._hosts),
            inventory=inventory,
            data=self._data,
            parameters=self._parameters,
            shares=self._shares,
            first_epoch=self._first_epoch,
            clocks=tuple(
                DeviceClock(key=key, clock_mhz=clock) for key, clock in self._fastest.items()
            ),
            own_pids=frozenset(
                process.pid
                for sample in samples
                for reading in sample.readings
                for process in reading.processes
                if self._is_own(process)
            ),
            allocated=tuple(each for devices in self._allocated.values() for each in devices),
            bench=self._bench,
            support=self._support,
            epochs=tuple(self._epochs),
            total=self._total,
        )

    def _note_clocks(self, samples: tuple[TelemetrySample, ...]) -> None:
        for sample in samples:
            for reading in sample.readings:
                working = (reading.gpu_utilization_percent or 0.0) >= WORKING_PERCENT
                if working and reading.clock_mhz is not None:
                    before = self._fastest.get(reading.key, 0)
                    self._fastest[reading.key] = max(before, reading.clock_mhz)
