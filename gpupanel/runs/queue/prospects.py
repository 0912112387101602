"""What would happen if a waiting entry started now."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.profile import Profile
from gpupanel.planning.prepare import Preparation
from gpupanel.runs.queue.entry import QueueEntry
from gpupanel.runs.queue.queue_files import QueueFiles
from gpupanel.runs.queue.turns import Candidate
from gpupanel.runs.queue.waiting_line import WaitingLine
from gpupanel.runs.readiness import Machine

Prepare = Callable[[Machine, Profile], Preparation]


@dataclass(frozen=True, slots=True)
class Prospect:
    """One entry, and what would happen with it.

    Attributes:
        error: Why it cannot start, now or later.
        obstacle: Why it cannot start for a while; empty: nothing of its own keeps it.
    """

    entry: QueueEntry
    profile: Profile | None = None
    preparation: Preparation | None = None
    error: ProblemError | None = None
    obstacle: str = ""

    @property
    def candidate(self) -> Candidate:
        """What it needs."""
        plan = None if self.preparation is None else self.preparation.plan
        devices = {} if plan is None else {device.key: device.name for device in plan.devices}
        return Candidate(
            entry_id=self.entry.id, name=self.entry.name, devices=devices, obstacle=self.obstacle
        )

    def startable(self) -> tuple[Profile, LaunchPlan]:
        """What to start.

        Raises:
            ProblemError: It cannot start.
        """
        if self.error is not None:
            raise self.error
        preparation = self.preparation
        if self.profile is None or preparation is None or preparation.plan is None:
            raise ProblemError(_not_now(self.entry, self.obstacle))
        return self.profile, preparation.plan


def prospect_of(
    entry: QueueEntry, files: QueueFiles, machine: Machine, prepare: Prepare
) -> Prospect:
    """What would happen with an entry on that machine."""
    try:
        profile = files.profile(entry.id)
    except ProblemError as error:
        return Prospect(entry, error=error)
    preparation = prepare(machine, profile)
    if preparation.is_startable:
        return Prospect(entry, profile, preparation)
    obstacle = _passing_obstacle(preparation.problems, machine)
    if obstacle:
        return Prospect(entry, profile, preparation, obstacle=obstacle)
    return Prospect(entry, profile, preparation, error=ProblemError(*preparation.problems))


def note_prospects(
    files: QueueFiles, prospects: Sequence[Prospect], reasons: Mapping[str, str]
) -> None:
    """Note what each entry needs and waits for, where that has changed.

    Raises:
        ProblemError: The queue cannot be changed.
    """

    def noted(line: WaitingLine) -> WaitingLine:
        for prospect in prospects:
            found = next((each for each in line.entries if each.id == prospect.entry.id), None)
            if found is None or found.revision != prospect.entry.revision or not found.is_waiting:
                continue  # changed meanwhile: it is looked at again
            devices = tuple(prospect.candidate.devices.values())
            told = {"devices": devices, "waits": reasons[found.id]}
            line = line.with_changed(found.model_copy(update=told))
        return line

    files.change(noted)


def _passing_obstacle(problems: Sequence[Problem], machine: Machine) -> str:
    """What may pass by itself among the errors, if it is all that there is."""
    errors = [problem for problem in problems if problem.is_error]
    codes = {problem.code for problem in errors}
    if codes <= {"device_lost"} and errors:
        return f"Waits: {errors[0].message}"
    if codes <= {"device_lost", "device_not_found"} and machine.inventory.problem:
        return f"Waits: {machine.inventory.problem}"
    return ""


def _not_now(entry: QueueEntry, obstacle: str) -> Problem:
    return Problem(
        code="queue_entry_not_startable",
        message=f"“{entry.name}” could not be started when its turn had come. {obstacle}".strip(),
        hint="Edit the entry, or put it back into the queue when its devices are there again.",
    )
