"""Hours in which a run could never work, and runs that cannot be suspended when theirs end."""

from collections.abc import Iterator

from gpupanel.domain.hours import joint_hours
from gpupanel.domain.problem import Problem, Severity
from gpupanel.planning.context import PlanningContext


def hours_do_not_meet(context: PlanningContext) -> Iterator[Problem]:
    """Hours of the profile and of the machine without a minute in common."""
    own, machine = context.profile.hours, context.known.machine.hours
    if own is None or machine is None:
        return
    joint = joint_hours(own, machine)
    if joint is not None and joint.are_never:
        yield never_open(f"{own} and {machine}")


def hours_cannot_end(context: PlanningContext) -> Iterator[Problem]:
    """A run that works on when its hours end, since it cannot be suspended, or may not be."""
    profile = context.profile
    if profile.hours is None and context.known.machine.hours is None:
        return
    if profile.script is not None:
        name = profile.script.name or "The program"
        yield Problem(
            code="hours_of_program",
            severity=Severity.HINT,
            field="hours",
            message=f"When its hours end, {name} is asked to suspend. It does so where it calls "
            "Keras's fit, or looks at report.should_stop; else it works to its end.",
            hint="The guide's page Your own training program has what a program has to do.",
        )
    elif profile.task != "train":
        yield Problem(
            code="hours_not_for_inference",
            severity=Severity.HINT,
            field="hours",
            message="It starts within its hours only, but works to its end also when they end: "
            "only trainings can be suspended.",
            hint="Nothing needs to be done where that takes minutes.",
        )


def never_open(words: str) -> Problem:
    """The problem of hours that share no minute.

    Args:
        words: Of the profile and of the machine, as they were written.
    """
    return Problem(
        code="hours_do_not_meet",
        field="hours",
        message=f"The run could never work: its hours and those of this machine, {words}, have no "
        "minute in common.",
        hint="Change the hours of the profile, or those of this machine in the window's settings, "
        "page Machine.",
    )
