"""``gpupanel run``: launch a run and follow it to its end."""

from pathlib import Path

from gpupanel.cli.continued_run import continue_run
from gpupanel.cli.device_table import print_gpu_processes
from gpupanel.cli.options import (
    AllocatedOption,
    DetachOption,
    JsonOption,
    ProfileArgument,
    RunNameOption,
    RunsDirOption,
    TrustOption,
)
from gpupanel.cli.output import EXIT_BAD_PROFILE, EXIT_FAILED, print_problems, progress, refuse
from gpupanel.cli.preparation import startable, startable_as_allocated
from gpupanel.cli.run_end import follow_unless
from gpupanel.domain.problem import ProblemError
from gpupanel.runs.directory.profile_file import read_profile
from gpupanel.runs.launcher import launch
from gpupanel.runs.locations import default_runs_dir
from gpupanel.runs.run_folders import has_begun, named_run
from gpupanel.runs.trust.trusted import trust as trust_code
from gpupanel.runs.trust.user_code import code_of_profile


def run(
    profile: ProfileArgument,
    runs_dir: RunsDirOption = None,
    run_name: RunNameOption = None,
    *,
    allocated: AllocatedOption = False,
    trust: TrustOption = False,
    detach: DetachOption = False,
    json: JsonOption = False,
) -> None:
    """Train, evaluate or predict as a profile says; Ctrl+C stops, and saves a training."""
    train(
        profile,
        runs_dir,
        run_name,
        allocated=allocated,
        trust=trust,
        detach=detach,
        json=json,
    )


def train(
    profile: Path,
    runs_dir: Path | None = None,
    run_name: str | None = None,
    *,
    allocated: bool = False,
    trust: bool = False,
    detach: bool = False,
    json: bool = False,
) -> None:
    """Launch a run, follow it to its end and leave with the exit status of how it ended."""
    try:
        folder = runs_dir or default_runs_dir()
        layout = None if run_name is None else named_run(folder, run_name)
    except ProblemError as error:
        refuse(error, json=json, status=EXIT_FAILED)
    if layout is not None and has_begun(layout):
        continue_run(layout, allocated=allocated, trust=trust, detach=detach, json=json)
        return
    try:
        read, plan, preparation = (
            startable_as_allocated(read_profile(profile)) if allocated else startable(profile)
        )
        if trust:
            trust_code(code_of_profile(read))
    except ProblemError as error:
        refuse(error, json=json, status=EXIT_BAD_PROFILE)
    print_problems(preparation.problems)
    print_gpu_processes(preparation.other_processes, progress)
    try:
        layout = launch(read, plan, folder, run_name)
    except ProblemError as error:
        refuse(error, json=json, status=EXIT_FAILED)
    follow_unless(detach, layout, read.epochs_to_train, json=json)
