"""Everything that a report is made of, read from the folder of a run."""

from collections.abc import Callable
from dataclasses import dataclass

from gpupanel.domain.confusion import LabelMetrics
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.problem import Problem
from gpupanel.domain.profile import Profile
from gpupanel.domain.run_layout import RunLayout
from gpupanel.files.guarded_files import status
from gpupanel.files.plan_file import plan_if_readable
from gpupanel.runs.directory.profile_file import run_profile_if_readable
from gpupanel.runs.following.calibration import Calibration, read_calibration
from gpupanel.runs.following.confusion_matrix import ConfusionMatrix, read_labels, read_matrix
from gpupanel.runs.following.unread_problems import unread_file_problem
from gpupanel.runs.following.value_pairs import ValueFigures, read_values
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
        matrix: The confusion matrix of an evaluation of classes.
        labels: The metrics of an evaluation of several labels at once.
        calibration: Of an evaluation of classes.
        values: True and predicted values of an evaluation of these.
        fingerprints: Of what the run was made of.
        model_bytes: Of the trained model; ``None``: there is none.
        problems: What of the run cannot be shown.
    """

    summary: RunSummary
    events: RunEvents
    profile: Profile | None = None
    plan: LaunchPlan | None = None
    matrix: ConfusionMatrix | None = None
    labels: LabelMetrics | None = None
    calibration: Calibration | None = None
    values: ValueFigures | None = None
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
    matrix = labels = values = calibration = None
    if events.evaluation is not None:
        matrix = read_matrix(layout, events.evaluation)
        if isinstance(matrix, ConfusionMatrix):
            # Else its file is reported already.
            calibration = read_calibration(layout, events.evaluation)
        labels = read_labels(layout, events.evaluation)
        values = read_values(layout, events.evaluation)
    problems += [
        each for each in (matrix, labels, values, calibration) if isinstance(each, Problem)
    ]
    return ReportMaterial(
        summary=summary,
        events=events,
        profile=profile,
        plan=plan,
        matrix=matrix if isinstance(matrix, ConfusionMatrix) else None,
        labels=labels if isinstance(labels, LabelMetrics) else None,
        calibration=calibration if isinstance(calibration, Calibration) else None,
        values=values if isinstance(values, ValueFigures) else None,
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
