"""What a person can do with the run that is shown, beside steering the one that goes on."""

from dataclasses import dataclass

from gpupanel.domain.outcome import Outcome
from gpupanel.runs.following.status import RunStatus
from gpupanel.ui import formatting
from gpupanel.ui.run_state import RunState

_GO_ON = (Outcome.STOPPED, Outcome.SUSPENDED, Outcome.FAILED, Outcome.LOST)


@dataclass(frozen=True, slots=True)
class RunActions:
    """Which actions are offered for the shown run, and which can be done now.

    Attributes:
        resume_tip: What resuming does, or why it cannot be done now.
    """

    offers_resume: bool = False
    can_resume: bool = False
    resume_tip: str = "Goes on from the last checkpoint."
    offers_evaluate: bool = False


def run_actions(run: RunState, shown: RunStatus | None) -> RunActions:
    """The actions that follow from the run that goes on, and the status of the one shown.

    Args:
        run: Of the run of this window: while one goes on no other may start.
        shown: ``None`` while nothing is shown.
    """
    if shown is None or not shown.has_ended:
        return RunActions()
    evaluate = shown.model is not None and shown.outcome in (Outcome.COMPLETED, Outcome.STOPPED)
    if shown.checkpoint is None or shown.outcome not in _GO_ON:
        return RunActions(offers_evaluate=evaluate)
    return RunActions(
        offers_resume=True,
        can_resume=not run.is_busy,
        resume_tip="Another run goes on: it has to end first."
        if run.is_busy
        else "Goes on in the same folder from the checkpoint of step "
        f"{formatting.count(shown.checkpoint.step)}.",
        offers_evaluate=evaluate,
    )


def restart_words(status: RunStatus) -> str:
    """How a run that had ended, or lost one of its processes, came to go on; empty if it did not.

    "Restarted from step 120: worker 1 was killed by signal 9." or "Resumed from step 120."
    """
    restart = status.restarted
    if restart is None:
        return ""
    asked = restart.attempt == 0
    why = "" if restart.problem is None else f": {_as_clause(restart.problem.message)}"
    counted = f" (attempt {restart.attempt})" if restart.attempt > 1 else ""
    if status.resumed is not None:
        done = "Resumed" if asked else "Restarted"
        return f"{done} from step {formatting.count(status.resumed.step)}{counted}{why or '.'}"
    if status.step and status.first_step_time_s is not None:
        return f"Started again from the beginning{counted}{why or '.'}"
    doing = "Resuming…" if asked else f"Restarting{counted}"
    return f"{doing}{why}"


def _as_clause(sentence: str) -> str:
    """A sentence as it goes on after a colon; a name in capitals keeps them."""
    first, rest = sentence[:1], sentence[1:]
    return sentence if rest[:1].isupper() else f"{first.lower()}{rest}"
