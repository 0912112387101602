"""Everything that a report is made of, read from the folder of a run."""

from collections.abc import Callable
from dataclasses import dataclass, field

from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.problem import Problem
from gpupanel.domain.profile import Profile
from gpupanel.domain.run_layout import RunLayout
from gpupanel.files.guarded_files import status
from gpupanel.files.plan_file import plan_if_readable
from gpupanel.runs.directory.profile_file import run_profile_if_readable
from gpupanel.runs.following.evaluation_figures import EvaluationFigures, read_figures
from gpupanel.runs.following.unread_problems import unread_file_problem
from gpupanel.runs.history.run_summary import RunSummary
from gpupanel.runs.history.summaries import summarize_run
from gpupanel.runs.report.fingerprints import RunFingerprint, fingerprints
from gpupanel.runs.report.run_events import RunEvents, read_events


@dataclass(frozen=True, slots=True)
class ReportMaterial:
    """What is known of a run.

    Attributes:
        summary: As a list of runs has it.
        events: What the run reported.
        profile: ``None``: it cannot be read.
        plan: ``None``: it cannot be read.
        evaluated: What an evaluation found; empty where there was none.
        fingerprints: Of what the run was made of.
        model_bytes: Of the trained model; ``None``: there is none.
        problems: What of the run cannot be shown.
    """

    summary: RunSummary
    events: RunEvents
    profile: Profile | None = None
    plan: LaunchPlan | None = None
    evaluated: EvaluationFigures = field(default_factory=EvaluationFigures)
    fingerprints: tuple[RunFingerprint, ...] = ()
    model_bytes: int | None = None
    problems: tuple[Problem, ...] = ()


def read_material(
    layout: RunLayout, is_cancelled: Callable[[], bool] = lambda: False
) -> ReportMaterial:
    """Read a run's folder; what in it cannot be read is left out, and a problem says so.

    Args:
        layout: The run, which may go on.
        is_cancelled: Asked now and then.

    Raises:
        ReportCancelledError: So it was asked.
    """
    summary = summarize_run(layout)
    problems = [] if summary.flaw is None else [summary.flaw]
    try:
        events = read_events(layout, is_cancelled)
    except OSError:
        events = RunEvents()  # which the summary reports
    profile, plan = run_profile_if_readable(layout), plan_if_readable(layout)
    if summary.flaw is None:
        parts = (("profile", profile), ("plan", plan))
        problems += [unread_file_problem(part) for part, found in parts if found is None]
    evaluated = EvaluationFigures()
    if events.evaluation is not None:
        evaluated = read_figures(layout, events.evaluation)
    problems += evaluated.problems
    return ReportMaterial(
        summary=summary,
        events=events,
        profile=profile,
        plan=plan,
        evaluated=evaluated,
        fingerprints=fingerprints(layout),
        model_bytes=_model_bytes(layout),
        problems=tuple(problems),
    )


def _model_bytes(layout: RunLayout) -> int | None:
    try:
        found = status(layout.model)
    except OSError:
        return None
    return None if found is None else found.st_size
