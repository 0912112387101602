"""Which waiting entries start now, and what the others wait for."""

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.profile import Profile
from gpupanel.domain.strategy import StrategyKind
from gpupanel.planning.chosen_devices import chosen_devices
from gpupanel.planning.description import described
from gpupanel.planning.prepare import Preparation
from gpupanel.runs.queue.entry import QueueEntry
from gpupanel.runs.queue.queue_files import QueueFiles
from gpupanel.runs.queue.running_runs import held_devices
from gpupanel.runs.queue.waiting_line import WaitingLine
from gpupanel.runs.readiness import Machine
from gpupanel.runs.scheduling.cluster_readings import ClusterReadings

Prepare = Callable[[Machine, Profile], Preparation]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A waiting entry, and what would happen if it started now.

    Attributes:
        devices: Names of the physical devices that it needs, by their keys.
        plan: ``None``: it cannot start now.
        error: Why it cannot start, now or later.
        obstacle: Why it cannot start for a while, even if its devices were free; empty when
            nothing of its own keeps it.
        asks: The address of the cluster that has to be asked before it can start; empty: none.
        begin_s: When its hours begin, seconds since the epoch (UTC); ``None``: they have.
    """

    entry: QueueEntry
    devices: Mapping[str, str] = field(default_factory=dict)
    profile: Profile | None = None
    plan: LaunchPlan | None = None
    error: ProblemError | None = None
    obstacle: str = ""
    asks: str = ""
    begin_s: float | None = None

    def startable(self) -> tuple[Profile, LaunchPlan]:
        """What to start.

        Raises:
            ProblemError: It cannot start.
        """
        if self.error is not None:
            raise self.error
        if self.profile is None or self.plan is None:
            raise ProblemError(_not_now(self.entry, self.obstacle))
        return self.profile, self.plan


def candidate_of(
    entry: QueueEntry,
    profile: Profile,
    read_machine: Callable[[], Machine],
    prepare: Prepare,
    clusters: ClusterReadings,
    busy: Container[str] = (),
) -> Candidate:
    """What would happen with an entry on that machine, or on the nodes of its cluster.

    Args:
        entry: It.
        profile: Its profile.
        read_machine: Reads this machine; not asked where the entry is for another one.
        prepare: Says what would happen with a profile on a machine.
        clusters: What is known of clusters.
        busy: The keys of devices that runs hold, or entries before this one wait for: a profile
            that names no device and needs one takes another.
    """
    if profile.cluster is None:
        machine = read_machine()
        inventory = machine.inventory.model_copy(update={"cuda_variables": entry.cuda_variables})
        seen = replace(machine, inventory=inventory)
        return _on_free_device(entry, profile, seen, prepare, busy)
    address = profile.cluster.address
    asked = clusters.known(address)
    asks = "" if asked.is_fresh else address
    if asked.error is not None:
        if {problem.code for problem in asked.error.problems} & _NEVER_PASS:
            return Candidate(entry, profile=profile, error=asked.error)
        obstacle = f"Waits: {asked.error.problems[0].message}"
        return Candidate(entry, profile=profile, obstacle=obstacle, asks=asks)
    if asked.machine is None:
        return Candidate(entry, profile=profile, obstacle=_ASKING, asks=asks)
    candidate = _on_machine(entry, profile, asked.machine, prepare)
    if asked.is_fresh:
        return candidate
    # What nodes were like a while ago is no reason to refuse it, either.
    return replace(candidate, error=None, obstacle=_ASKING, asks=asks)


_ASKING: Final = "Waits for an answer of its cluster."
_NEVER_PASS: Final = frozenset(
    {"ray_not_installed", "cluster_address_wrong", "cluster_versions_differ"}
)
"""Problems with a cluster that somebody has to do something about."""


_HELD_BY_OTHERS: Final = frozenset({"gpu_held_exclusively", "gpu_claimed"})
"""Whoever starts a run by hand has read that; nobody reads it while the queue does."""


def _on_free_device(
    entry: QueueEntry,
    profile: Profile,
    machine: Machine,
    prepare: Prepare,
    busy: Container[str],
) -> Candidate:
    """The entry on the first free device that it can use, where its profile leaves that open.

    Where none is free it waits for the first one that it can use.
    """
    needs_one = profile.strategy.kind is StrategyKind.ONE_DEVICE
    devices = chosen_devices(profile, machine.inventory, machine.sample)
    if profile.devices.visible or not needs_one or len(devices) < 2:
        return _on_machine(entry, profile, machine, prepare)
    for device in sorted(devices, key=lambda each: each.key in busy):
        choice = profile.devices.model_copy(update={"visible": (device.key,)})
        alone = described(profile.model_copy(update={"devices": choice}), machine.inventory)
        candidate = _on_machine(entry, alone, machine, prepare)
        if candidate.error is None and not candidate.obstacle:
            return candidate
    return _on_machine(entry, profile, machine, prepare)


def _on_machine(
    entry: QueueEntry, profile: Profile, machine: Machine, prepare: Prepare
) -> Candidate:
    preparation = prepare(machine, profile)
    plan, problems = preparation.plan, preparation.problems
    devices = {} if plan is None else held_devices(plan)
    held = next((each for each in problems if each.code in _HELD_BY_OTHERS), None)
    if preparation.is_startable and held is not None:
        return Candidate(entry, devices, profile, plan, obstacle=f"Waits: {held.message}")
    if preparation.is_startable:
        return Candidate(entry, devices, profile, plan)
    obstacle = _passing_obstacle(problems, machine)
    if obstacle:
        return Candidate(entry, devices, profile, plan, obstacle=obstacle)
    return Candidate(entry, devices, profile, plan, ProblemError(*problems))


def reasons_to_wait(candidates: Sequence[Candidate], held: Mapping[str, str]) -> dict[str, str]:
    """Why each entry waits, by its id; an empty reason means that it starts now.

    A later entry passes earlier ones only where their devices do not meet: else one that needs
    two devices would wait for ever behind those that need one.

    Args:
        candidates: In the order in which they are to be started.
        held: Names of the runs that go on, by the keys of their devices.
    """
    reasons: dict[str, str] = {}
    taken = dict(held)
    awaited: dict[str, str] = {}
    for candidate in candidates:
        reason = _reason(candidate, taken, awaited)
        reasons[candidate.entry.id] = reason
        claimed = awaited if reason else taken
        for key in candidate.devices:
            claimed.setdefault(key, candidate.entry.name)
    return reasons


def _reason(candidate: Candidate, taken: Mapping[str, str], awaited: Mapping[str, str]) -> str:
    for key, device in candidate.devices.items():
        if key in taken:
            return f"Waits for {device}: “{taken[key]}” runs on it."
    for key, device in candidate.devices.items():
        if key in awaited:
            return f"Waits for {device}: “{awaited[key]}” is before it."
    return candidate.obstacle


def note_selection(
    files: QueueFiles, candidates: Sequence[Candidate], reasons: Mapping[str, str]
) -> None:
    """Note what each entry needs and waits for, where that has changed.

    Raises:
        ProblemError: The queue cannot be changed.
    """

    def noted(line: WaitingLine) -> WaitingLine:
        for candidate in candidates:
            entry = candidate.entry
            found = next((each for each in line.entries if each.id == entry.id), None)
            if found is None or found.revision != entry.revision or not found.is_waiting:
                continue  # changed meanwhile: its turn comes again
            devices = tuple(candidate.devices.values())
            update: dict[str, object] = {"waits": reasons[found.id], "begin_s": candidate.begin_s}
            if candidate.begin_s is None:
                update["devices"] = devices
            line = line.with_changed(found.model_copy(update=update))
        return line

    files.change(noted)


def _passing_obstacle(problems: Sequence[Problem], machine: Machine) -> str:
    """What may pass by itself among the errors, if it is all that there is."""
    errors = [problem for problem in problems if problem.is_error]
    codes = {problem.code for problem in errors}
    if codes <= {"device_lost", "device_not_answering"} and errors:
        return f"Waits: {errors[0].message}"
    if codes <= {"device_lost", "device_not_found"} and machine.inventory.problem:
        return f"Waits: {machine.inventory.problem}"
    return ""


def _not_now(entry: QueueEntry, obstacle: str) -> Problem:
    return Problem(
        code="queue_entry_not_startable",
        message=f"“{entry.name}” could not be started when its turn came. {obstacle}".strip(),
        hint="Edit the entry, or put it back into the queue when its devices are there again.",
    )
