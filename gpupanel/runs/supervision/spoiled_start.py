"""Whether something of elsewhere keeps TensorFlow from being imported where a start has failed."""

import signal
from typing import Final

from gpupanel.devices.doctor.spoiled_import import what_spoils_import
from gpupanel.domain.outcome import Outcome
from gpupanel.domain.plan import LaunchPlan
from gpupanel.runs.supervision.attempt import Attempt
from gpupanel.runs.supervision.exit_reading import Ending

_MAY_BE_SPOILED: Final = frozenset(
    {
        "tensorflow_not_importable",
        "trainer_crashed",
        "trainer_vanished",
        "trainer_killed",
        "out_of_memory",
    }
)
"""What an import ends in that something of elsewhere spoils; a process that cannot even report has
vanished."""

_CRASHES: Final = (signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGILL, signal.SIGFPE)
"""Any other signal came from somebody."""


def explained_import(ending: Ending, attempt: Attempt, plan: LaunchPlan) -> Ending | None:
    """The ending with what spoils the import, as the doctor finds it; it takes some imports.

    Args:
        ending: As its processes report it.
        attempt: That ended so.
        plan: Of the run: nothing can be tried here for processes of other machines.

    Returns:
        ``None`` where that is not the reason.
    """
    problem = ending.problem
    if problem is None or problem.code not in _MAY_BE_SPOILED or plan.is_on_nodes:
        return None
    was_ended = (attempt.exit_code or 0) < 0 and -(attempt.exit_code or 0) not in _CRASHES
    if attempt.has_imported or attempt.stop_asked or was_ended:
        return None
    said = problem.detail or "\n".join((*attempt.last_log_lines(), problem.message))
    spoiled = what_spoils_import(said)
    if spoiled is None:
        return None
    # Started again it would fail again.
    return ending.model_copy(
        update={"outcome": Outcome.FAILED, "problem": spoiled, "can_restart": False}
    )
