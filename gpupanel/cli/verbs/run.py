"""``gpupanel run``: launch a run and follow it to its end."""

from pathlib import Path

from gpupanel.cli.device_table import print_gpu_processes
from gpupanel.cli.options import (
    DetachOption,
    JsonOption,
    ProfileArgument,
    RunsDirOption,
    TrustOption,
)
from gpupanel.cli.output import EXIT_BAD_PROFILE, EXIT_FAILED, print_problems, progress, refuse
from gpupanel.cli.preparation import startable
from gpupanel.cli.run_end import follow_unless
from gpupanel.domain.problem import ProblemError
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
    print_problems(preparation.problems)
    print_gpu_processes(preparation.other_processes, progress)
    try:
        layout = launch(read, plan, runs_dir or default_runs_dir())
    except ProblemError as error:
        refuse(error, json=json, status=EXIT_FAILED)
    follow_unless(detach, layout, read.epochs_to_train, json=json)
