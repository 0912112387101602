"""What a person set for this machine, and the hours that follow from it and from a profile."""

import time
from dataclasses import dataclass
from typing import Final

from gpupanel.domain.hours import Hours, joint_hours, moment_text
from gpupanel.domain.machine import MachineSettings
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.profile import Profile
from gpupanel.domain.task import Task
from gpupanel.planning.rules.hours_rules import never_open
from gpupanel.runs.directory.settings_file import SettingsFile

SUSPENDED_TASKS: Final[tuple[Task, ...]] = ("train", "script")
"""What has something to continue from; all else works to its end when its hours end."""
MACHINE_FILE: Final = SettingsFile(
    name="machine.toml",
    kind=MachineSettings,
    of="this machine",
    code="machine_settings_unreadable",
    hint="Mend that in the file, or set it in the window's settings. Until then no run is started: "
    "its hours are not known.",
)


@dataclass(frozen=True, slots=True)
class WorkHours:
    """When a run may work, as the person set it for its profile and for this machine.

    Attributes:
        hours: ``None``: at any time.
        words: Both as they were written.
    """

    hours: Hours | None = None
    words: str = ""

    @classmethod
    def of(cls, *texts: str | None) -> "WorkHours":
        """The hours that all of these have."""
        given = dict.fromkeys(each for each in texts if each is not None)
        return cls(joint_hours(*given), " and ".join(given))

    def opens_s(self, now_s: float) -> float | None:
        """When it may begin, where it may not now; ``None``: it may, or never.

        Args:
            now_s: Seconds since the epoch (UTC).
        """
        if self.hours is None or self.hours.are_open(now_s):
            return None
        return self.hours.open_s(now_s)

    def closes_s(self, now_s: float) -> float | None:
        """When it is suspended; ``None``: never."""
        return None if self.hours is None else self.hours.close_s(now_s)


def work_hours(profile: Profile, machine: MachineSettings) -> WorkHours:
    """The hours in which a run of a profile may work on this machine."""
    return WorkHours.of(profile.hours, machine.hours)


def work_hours_now(profile: Profile) -> WorkHours:
    """The same by the machine's settings as they are now.

    Raises:
        ProblemError: They cannot be read.
    """
    return work_hours(profile, MACHINE_FILE.read())


class OutsideHoursError(ProblemError):
    """A run was not started, since its hours have not begun.

    Attributes:
        begin_s: When they do, seconds since the epoch (UTC).
        words: The hours, as they were written.
    """

    def __init__(self, problem: Problem, begin_s: float, words: str) -> None:
        super().__init__(problem)
        self.begin_s, self.words = begin_s, words


def check_hours(profile: Profile, *, resumes: bool = False) -> None:
    """Refuse to start a run outside of its hours.

    Args:
        profile: Its profile.
        resumes: It is to continue, not to begin.

    Raises:
        OutsideHoursError: They begin later.
        ProblemError: The machine's settings cannot be read, or there is no hour in which it may
            work.
    """
    work, now_s = work_hours_now(profile), time.time()
    if work.hours is None or work.hours.are_open(now_s):
        return
    begin_s = work.hours.open_s(now_s)
    if begin_s is None:
        raise ProblemError(never_open(work.words))
    order = "gpupanel resume RUN --queue" if resumes else "gpupanel queue add PROFILE"
    problem = Problem(
        code="outside_hours",
        field="hours",
        message=f"Not started: its hours are {work.words}, and begin at "
        f"{moment_text(begin_s, now_s)}.",
        hint=f"Have the queue start it then ({order}), or start it now (--now).",
    )
    raise OutsideHoursError(problem, begin_s, work.words)


def hours_sentence(work: WorkHours, task: Task, now_s: float, left_s: float | None = None) -> str:
    """What its hours mean for a run that starts now; empty: nothing, or it ends within them.

    Args:
        work: Its hours.
        task: What it does: only trainings are suspended, and programs where they can be.
        now_s: The present moment, seconds since the epoch (UTC).
        left_s: How long it takes by an estimate; ``None``: there is none.
    """
    begin_s = work.opens_s(now_s)
    begins = "" if begin_s is None else f"Its hours begin at {moment_text(begin_s, now_s)}. "
    if work.hours is None or task not in SUSPENDED_TASKS:
        return begins.strip()
    starts_s = now_s if begin_s is None else begin_s
    end_s = work.hours.close_s(starts_s)
    if end_s is None or (left_s is not None and starts_s + left_s < end_s):
        return begins.strip()
    again_s = work.hours.open_s(end_s)
    again = "" if again_s is None else f", and continues at {moment_text(again_s, now_s)}"
    suspended = "asked to suspend" if task == "script" else "suspended"
    end = moment_text(end_s, now_s)
    return (
        f"{begins}Its hours ({work.words}) end at {end}: if it has not ended by then, it is "
        f"{suspended}{again}."
    )
