"""Verbs that start runs, list and follow them: run, runs, watch."""

from pathlib import Path

from gpupanel.cli.finding import EXIT_BAD_PROFILE, EXIT_FAILED, found_run, refuse
from gpupanel.cli.following import follow, follow_unless
from gpupanel.cli.neighbours import tell_others
from gpupanel.cli.options import (
    DetachOption,
    JsonOption,
    ProfileArgument,
    RunArgument,
    RunsDirOption,
    TrustOption,
)
from gpupanel.cli.preparing import startable
from gpupanel.cli.run_table import runs_table
from gpupanel.cli.telling import answers, progress, tell_json, tell_problems
from gpupanel.domain.problem import Problem, ProblemError, Severity
from gpupanel.domain.run_layout import RunLayout
from gpupanel.runs.directory.profile_file import read_run_profile
from gpupanel.runs.history.summaries import list_runs
from gpupanel.runs.launcher import launch
from gpupanel.runs.locations import default_runs_dir
from gpupanel.runs.trust.trusted import trust as trust_code
from gpupanel.runs.trust.user_code import code_of_profile


def run(
    profile: ProfileArgument,
    runs_dir: RunsDirOption = None,
    *,
    trust: TrustOption = False,
    detach: DetachOption = False,
    json: JsonOption = False,
) -> None:
    """Train, evaluate or predict as a profile says; Ctrl+C stops, and saves a training."""
    train(profile, runs_dir, trust=trust, detach=detach, json=json)


def train(
    profile: Path,
    runs_dir: Path | None = None,
    *,
    trust: bool = False,
    detach: bool = False,
    json: bool = False,
) -> None:
    """Launch a run, follow it to its end and leave with the exit status of how it ended."""
    try:
        read, plan, preparation = startable(profile)
        if trust:
            trust_code(code_of_profile(read))
    except ProblemError as error:
        refuse(error, json=json, status=EXIT_BAD_PROFILE)
    tell_problems(preparation.problems)
    tell_others(preparation.others, progress)
    try:
        layout = launch(read, plan, runs_dir or default_runs_dir())
    except ProblemError as error:
        refuse(error, json=json, status=EXIT_FAILED)
    follow_unless(detach, layout, read.epochs_to_train, json=json)


def runs(runs_dir: RunsDirOption = None, *, json: JsonOption = False) -> None:
    """List past and present runs, newest first."""
    try:
        found = list_runs(runs_dir or default_runs_dir())
    except ProblemError as error:
        refuse(error, json=json, status=EXIT_FAILED)
    if json:
        tell_json({"runs": [summary.model_dump(mode="json") for summary in found]})
        return
    if not found:
        answers.print("No runs yet: start one with `gpupanel run PROFILE`.")
        return
    answers.print(runs_table(found))
    tell_problems(run.problem for run in found if run.is_running and run.problem is not None)


def watch(run: RunArgument, runs_dir: RunsDirOption = None, *, json: JsonOption = False) -> None:
    """Follow a run to its end; Ctrl+C stops watching, not the run."""
    layout = found_run(run, runs_dir, json=json)
    try:
        epochs = read_run_profile(layout).epochs_to_train
    except ProblemError as error:
        epochs = 0
        tell_problems([_epochs_not_known(layout, error)])
    follow(layout, epochs, json=json, ctrl_c_stops=False)


def _epochs_not_known(layout: RunLayout, error: ProblemError) -> Problem:
    return Problem(
        code="profile_unread",
        severity=Severity.HINT,
        message=f"The profile of {layout.name} cannot be read, so nobody knows how many epochs it "
        "has: it was written by a newer gpupanel, or is damaged.",
        hint="All else of the run is shown.",
        detail="\n".join(problem.message for problem in error.problems),
    )
