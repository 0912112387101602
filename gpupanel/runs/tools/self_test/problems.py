"""Why devices could not be tested, in words that a person can act on."""

from typing import Final

from gpupanel.domain.last_lines import last_lines
from gpupanel.domain.problem import Problem
from gpupanel.domain.self_test import EndedSelfTest
from gpupanel.planning.context import PlanningContext
from gpupanel.planning.self_test import devices_without_room
from gpupanel.runs.questions.question import Reply

_NO_PLAN: Final = Problem(
    code="self_test_without_plan",
    field="devices.visible",
    message="Nothing can be tested, because the profile cannot be planned on this machine.",
    hint="Solve the problems that `gpupanel check` reports first.",
)


def no_plan(context: PlanningContext) -> Problem:
    """There are no cases: the profile has no plan, or the devices have no room."""
    without = devices_without_room(context)
    if context.plan is None or not without:
        return _NO_PLAN
    return Problem(
        code="self_test_without_room",
        field="devices.visible",
        message=f"Too little memory is free on {', '.join(dict.fromkeys(without))} to test it.",
        hint="End what uses it, or wait until a run has ended.",
    )


def not_started(reply: Reply[EndedSelfTest]) -> Problem:
    """The system starts no process."""
    return Problem(
        code="self_test_not_started",
        message="The process that tests the devices could not be started.",
        hint="Repair the installation of gpupanel; the detail has the system's answer.",
        detail="" if reply.problem is None else reply.problem.detail,
    )


def never_ready(log: str, limit_s: float) -> Problem:
    """TensorFlow had no devices within so many seconds."""
    return Problem(
        code="self_test_never_ready",
        field="devices.visible",
        message=f"TensorFlow did not get its devices within {limit_s:g} s.",
        hint="Test again when the machine is less busy; the doctor shows whether driver and "
        "TensorFlow fit together.",
        detail=last_lines(log),
    )


def died(reply: Reply[EndedSelfTest]) -> Problem:
    """The process ended between two cases, or with an answer that cannot be read."""
    why = "" if reply.problem is None else f"{reply.problem.message}\n{reply.problem.detail}"
    return Problem(
        code="self_test_died",
        message="The process that tests the devices ended without having tested them.",
        hint="Test again; the detail has its last words.",
        detail=(why or last_lines(reply.log)).strip(),
    )
