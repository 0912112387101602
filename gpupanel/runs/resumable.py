"""Whether a run can go on, and with what."""

from collections.abc import Sequence

from gpupanel.domain.outcome import Outcome
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.profile import Profile
from gpupanel.domain.run_layout import RunLayout
from gpupanel.domain.training import TrainingSettings
from gpupanel.files.guarded_files import holds_anything, open_to_read, status
from gpupanel.files.plan_file import NewerPlanError, read_plan
from gpupanel.planning.resuming import resume_differences
from gpupanel.runs.directory.profile_file import read_run_profile
from gpupanel.runs.directory.run_folder import has_checkpoint
from gpupanel.runs.history.run_summary import RunSummary
from gpupanel.runs.history.summaries import summarize_run

_PROGRESS = tuple(
    f'"kind":"{kind}"'.encode() for kind in ("steps_done", "examples_done", "figures_reported")
)
_LONGEST_WORD = max(map(len, _PROGRESS))
_PIECE_BYTES = 2**20


def resume_problem(layout: RunLayout, wanted: Profile | None = None) -> Problem | None:
    """Why a run cannot be resumed now; ``None`` when it can.

    Args:
        layout: The run.
        wanted: With what it is to go on, its paths absolute; ``None``: as it was started.

    Raises:
        ProblemError: The run's profile cannot be read.
    """
    summary = summarize_run(layout)
    if summary.is_running:
        return summary.problem or goes_on(layout)
    started = read_run_profile(layout)
    differences = None
    if wanted is not None:
        # Its trainer holds the data against that, wherever it is by then.
        knows_data = status(layout.data_fingerprint) is not None
        differences = resume_differences(started, wanted, may_move_data=knows_data)
    if differences is not None:
        return differences
    has_more = wanted is not None and _trains_on(started.training, wanted.training)
    if summary.outcome is Outcome.COMPLETED and not has_more:
        return _nothing_to_resume(layout, "it has come to its end")
    if started.script is not None:
        if not holds_anything(layout.script_files, layout.root) and _has_progressed(layout):
            return _nothing_to_resume(layout, "it has kept nothing in report.checkpoint_folder")
    elif not has_checkpoint(layout) and _has_progressed(layout):
        return _nothing_to_resume(layout, "it has saved no checkpoint")
    return _plan_problem(layout) if wanted is None else None


def _trains_on(started: TrainingSettings, wanted: TrainingSettings) -> bool:
    """Whether a training that has come to its end has more to do with other settings."""
    before_s, limit_s = started.time_limit_s, wanted.time_limit_s
    has_time = before_s is not None and (limit_s is None or limit_s > before_s)
    return has_time or wanted.epochs > started.epochs


def run_to_resume(runs: Sequence[RunSummary]) -> RunSummary | None:
    """The training that waits for somebody to resume it; ``None``: none does.

    The newest one, unless it has come to its end or saved no checkpoint; then the newest of those
    that were suspended, which somebody meant to resume.

    Args:
        runs: All that there are, the newest first.
    """
    trainings = [run for run in runs if run.task == "train" and not run.is_running]
    suspended = [run for run in trainings if run.outcome is Outcome.SUSPENDED]
    return next(filter(_waits, (*trainings[:1], *suspended[:1])), None)


def _waits(run: RunSummary) -> bool:
    layout = RunLayout(run.path)
    try:
        return has_checkpoint(layout) and resume_problem(layout) is None
    except ProblemError:
        return False  # its profile cannot be read, which the list of runs says


def goes_on(layout: RunLayout) -> Problem:
    """Why a run that somebody else has just started again is not started once more."""
    return Problem(
        code="run_goes_on",
        message=f"{layout.name} is running: there is nothing to resume.",
        hint="Stop it first, or watch it.",
    )


def _plan_problem(layout: RunLayout) -> Problem | None:
    """A plan that says more than this version knows; the supervisor reports a damaged one."""
    try:
        read_plan(layout)
    except NewerPlanError as error:
        return _newer_plan(layout, error)
    except (OSError, ValueError):
        return None
    return None


def _newer_plan(layout: RunLayout, error: ValueError) -> Problem:
    return Problem(
        code="run_newer",
        message=f"{layout.name} cannot be resumed: its plan was written by a newer gpupanel.",
        hint="Update gpupanel, or start its profile again; that makes a new run.",
        detail=str(error),
    )


def _has_progressed(layout: RunLayout) -> bool:
    """Whether starting from the beginning would do something again that was done already.

    A run that died before its first step, or whose supervisor never came, has lost nothing: it
    simply begins.
    """
    try:
        with open_to_read(layout.events) as file:
            before = b""
            # In pieces: what stands there need have no line ends.
            while piece := file.read(_PIECE_BYTES):
                if any(word in before + piece for word in _PROGRESS):
                    return True
                before = piece[-_LONGEST_WORD:]
            return False
    except FileNotFoundError:
        return False


def _nothing_to_resume(layout: RunLayout, why: str) -> Problem:
    return Problem(
        code="nothing_to_resume",
        message=f"{layout.name} cannot be resumed: {why}.",
        hint="Start its profile again; that makes a new run.",
    )
