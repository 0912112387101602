"""What a person can do with the run that is shown, beside steering the one that goes on."""

from collections.abc import Mapping
from dataclasses import dataclass

from gpupanel.domain.best_epoch import Keep
from gpupanel.domain.change_text import changes_text
from gpupanel.domain.events import RunRestarted
from gpupanel.domain.outcome import Outcome
from gpupanel.runs.following.status import RunStatus
from gpupanel.ui import formatting
from gpupanel.ui.resume_on_selected import ResumeOnSelected
from gpupanel.ui.run_state import RunState

_ON_SELECTED = "Continues on the devices selected in the Session tab."
_PROGRAM_GOES_ON = (
    "Starts the program again, in the same folder: it continues from what it has kept in "
    "report.checkpoint_folder."
)
_ANOTHER_GOES_ON = "Another run is in progress and has to end first."
_DATA_CHANGED = "data_changed"
_MAY_BEGIN = (Outcome.STOPPED, Outcome.LOST)
_GO_ON = (Outcome.STOPPED, Outcome.SUSPENDED, Outcome.FAILED, Outcome.LOST)


@dataclass(frozen=True, slots=True)
class RunActions:
    """Which actions are offered for the shown run, and which can be done now.

    Attributes:
        resume_tip: What resuming does, or why it cannot be done now.
        can_resume_on_selected: Also with the devices that are chosen in the session.
        on_selected_tip: What changes then, or why it cannot be done.
        other_weights: Which weights its model does not have, that stand beside it: "last" or
            "best"; empty: it has all that there are.
        offers_longer: It has come to its end, and can be trained for more epochs.
        has_model: It has saved a model, which can be exported.
        offers_tensorboard: It trained, so that there may be curves.
        offers_changed_data: It was refused because its data is other than before; a person may
            let it go on all the same.
    """

    offers_resume: bool = False
    can_resume: bool = False
    resume_tip: str = "Continues from the last checkpoint."
    can_resume_on_selected: bool = False
    on_selected_tip: str = _ON_SELECTED
    offers_changed_data: bool = False
    offers_evaluate: bool = False
    other_weights: str = ""
    offers_longer: bool = False
    can_train_longer: bool = False
    has_model: bool = False
    offers_tensorboard: bool = False


def may_train_longer(shown: RunStatus | None) -> bool:
    """Whether the run that is shown has come to its end, and can go on with more epochs."""
    is_done = shown is not None and shown.outcome is Outcome.COMPLETED and not shown.evaluates
    return is_done and shown is not None and shown.checkpoint is not None


def offers_resume(shown: RunStatus | None) -> bool:
    """Whether the run that is shown has something to go on with: a checkpoint, or all to do."""
    if shown is None or not shown.has_ended:
        return False
    if shown.checkpoint is not None or shown.program:
        # Whether a program keeps something to go on from is found in its folder when it is asked.
        return shown.outcome in _GO_ON
    return shown.outcome in _MAY_BEGIN and not shown.step and not shown.examples


def run_actions(
    run: RunState, shown: RunStatus | None, resume_on_selected: ResumeOnSelected | None = None
) -> RunActions:
    """The actions that follow from the run that goes on, and the status of the one shown.

    Args:
        run: Of the run of this window: while one goes on no other may start.
        shown: ``None`` while nothing is shown.
        resume_on_selected: What going on with the session's devices would mean; where it was asked.
    """
    has_model = shown is not None and shown.model is not None
    if shown is None or not shown.has_ended:
        return RunActions(has_model=has_model)
    has_curves = shown.trains and shown.step > 0
    evaluate = shown.model is not None and shown.outcome in (Outcome.COMPLETED, Outcome.STOPPED)
    saved = shown.model_saved
    other = ""
    if evaluate and saved is not None and saved.other_path:
        other = Keep.LAST.value if saved.is_best else Keep.BEST.value
    if not offers_resume(shown):
        longer = may_train_longer(shown)
        return RunActions(
            offers_evaluate=evaluate,
            other_weights=other,
            offers_longer=longer,
            can_train_longer=longer and not run.is_busy,
            has_model=has_model,
            offers_tensorboard=has_curves,
        )
    if run.is_busy:
        return RunActions(
            offers_resume=True,
            resume_tip=_ANOTHER_GOES_ON,
            on_selected_tip=_ANOTHER_GOES_ON,
            has_model=has_model,
            offers_evaluate=evaluate,
            other_weights=other,
            offers_tensorboard=has_curves,
        )
    return RunActions(
        offers_resume=True,
        can_resume=True,
        resume_tip=_resume_tip(shown),
        can_resume_on_selected=resume_on_selected is not None
        and resume_on_selected.order is not None,
        on_selected_tip=_ON_SELECTED if resume_on_selected is None else resume_on_selected.tip,
        offers_changed_data=shown.ending_problem is not None
        and shown.ending_problem.code == _DATA_CHANGED,
        has_model=has_model,
        offers_evaluate=evaluate,
        other_weights=other,
        offers_tensorboard=has_curves,
    )


def _resume_tip(shown: RunStatus) -> str:
    if shown.program:
        return _PROGRAM_GOES_ON
    if shown.checkpoint is None:
        return "No step was made yet: starts from the beginning, in the same folder."
    step = formatting.count(shown.checkpoint.step)
    return f"Continues in the same folder from the checkpoint of step {step}."


def restart_text(status: RunStatus, names: Mapping[str, str] | None = None) -> str:
    """How a run that had ended, or lost one of its processes, came to go on; empty if it did not.

    "Restarted from step 120: worker 1 was killed by signal 9." or "Resumed from step 120."
    What was changed for it follows, where something was.

    Args:
        status: Of the run.
        names: Of its devices, by key.
    """
    restart = status.restarted
    if restart is None:
        return ""
    words = _restarted_words(status, restart)
    changes = changes_text(restart.changes, names)
    return f"{words} Changed: {changes}." if changes else words


def _restarted_words(status: RunStatus, restart: RunRestarted) -> str:
    asked = restart.attempt == 0
    why = "" if restart.problem is None else f": {_as_clause(restart.problem.message)}"
    counted = f" (attempt {restart.attempt})" if restart.attempt > 1 else ""
    if status.resumed is not None:
        done = "Resumed" if asked else "Restarted"
        return f"{done} from step {formatting.count(status.resumed.step)}{counted}{why or '.'}"
    if status.step and status.first_step_time_s is not None:
        # What a program of the person's own begins with, it alone knows.
        place = "" if status.program else " from the beginning"
        return f"Started again{place}{counted}{why or '.'}"
    doing = "Resuming…" if asked else f"Restarting{counted}"
    return f"{doing}{why}"


def _as_clause(sentence: str) -> str:
    """A sentence as it goes on after a colon; a name in capitals keeps them."""
    first, rest = sentence[:1], sentence[1:]
    return sentence if rest[:1].isupper() else f"{first.lower()}{rest}"
