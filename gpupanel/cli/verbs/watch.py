"""``gpupanel watch``: follow a run that goes on."""

from gpupanel.cli.named_run import found_run
from gpupanel.cli.options import (
    JsonOption,
    RunArgument,
    RunsDirOption,
)
from gpupanel.cli.output import print_problems
from gpupanel.cli.run_end import follow
from gpupanel.domain.problem import Problem, ProblemError, Severity
from gpupanel.domain.run_layout import RunLayout
from gpupanel.runs.directory.profile_file import read_run_profile


def watch(run: RunArgument, runs_dir: RunsDirOption = None, *, json: JsonOption = False) -> None:
    """Follow a run to its end; Ctrl+C stops watching, not the run."""
    layout = found_run(run, runs_dir, json=json)
    try:
        epochs = read_run_profile(layout).epochs_to_train
    except ProblemError as error:
        epochs = 0
        print_problems([_epochs_not_known(layout, error)])
    follow(layout, epochs, json=json, ctrl_c_stops=False)


def _epochs_not_known(layout: RunLayout, error: ProblemError) -> Problem:
    return Problem(
        code="profile_unread",
        severity=Severity.HINT,
        message=f"The profile of {layout.name} cannot be read, so its number of epochs is "
        "not known: it was written by a newer gpupanel, or is damaged.",
        hint="Everything else of the run is shown.",
        detail="\n".join(problem.message for problem in error.problems),
    )
