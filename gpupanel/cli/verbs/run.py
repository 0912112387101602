"""``gpupanel run``: launch a run and follow it to its end."""

from pathlib import Path
from typing import Annotated

import typer

from gpupanel.cli.continued_run import continue_run
from gpupanel.cli.device_table import print_gpu_processes
from gpupanel.cli.options import (
    AllocatedOption,
    DetachOption,
    JsonOption,
    NowOption,
    RunNameOption,
    RunsDirOption,
    TrustOption,
)
from gpupanel.cli.output import EXIT_BAD_PROFILE, EXIT_FAILED, print_problems, progress, refuse
from gpupanel.cli.own_program import is_program, profile_of_program
from gpupanel.cli.preparation import startable, startable_as_allocated
from gpupanel.cli.run_end import follow_unless
from gpupanel.cli.run_hours import say_hours
from gpupanel.domain.problem import ProblemError
from gpupanel.domain.profile import Profile
from gpupanel.runs.directory.profile_file import read_profile
from gpupanel.runs.launcher import launch
from gpupanel.runs.locations import default_runs_dir
from gpupanel.runs.run_folders import has_begun, named_run
from gpupanel.runs.trust.trusted import trust as trust_code
from gpupanel.runs.trust.user_code import code_of_profile

ToRunArgument = Annotated[
    Path,
    typer.Argument(
        metavar="PROFILE|PROGRAM",
        help="A profile, a .toml file; or a program of your own, such as train.py.",
        show_default=False,
    ),
]
ArgumentsArgument = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="ARGS",
        help="Of the program: gpupanel run train.py -- --epochs 5.",
        show_default=False,
    ),
]
PythonOption = Annotated[
    Path | None,
    typer.Option(
        "--python",
        metavar="PYTHON",
        help="The Python that runs the program; otherwise what `python` means in this terminal.",
        show_default=False,
    ),
]


def run(
    profile: ToRunArgument,
    arguments: ArgumentsArgument = None,
    runs_dir: RunsDirOption = None,
    run_name: RunNameOption = None,
    *,
    python: PythonOption = None,
    allocated: AllocatedOption = False,
    trust: TrustOption = False,
    now: NowOption = False,
    detach: DetachOption = False,
    json: JsonOption = False,
) -> None:
    """Train, evaluate or predict as a profile says, or run a program; Ctrl+C stops it."""
    to_run: Path | Profile = profile
    if is_program(profile):
        try:
            to_run = profile_of_program(profile, arguments or [], python)
        except ProblemError as error:
            refuse(error, json=json, status=EXIT_BAD_PROFILE)
        trust = True  # who names a program to run means to run it
    elif arguments or python is not None:
        raise typer.BadParameter(f"{profile} is a profile, which has these in [script]")
    train(
        to_run,
        runs_dir,
        run_name,
        allocated=allocated,
        trust=trust,
        now=now,
        detach=detach,
        json=json,
    )


def train(
    profile: Path | Profile,
    runs_dir: Path | None = None,
    run_name: str | None = None,
    *,
    allocated: bool = False,
    trust: bool = False,
    now: bool = False,
    detach: bool = False,
    json: bool = False,
) -> None:
    """Launch a run, follow it to its end and leave with the exit status of how it ended.

    Args:
        profile: What to run, or the file that says it.
        runs_dir: The folder of runs; ``None``: the usual one.
        run_name: See :data:`~gpupanel.cli.options.RunNameOption`.
        allocated: See :data:`~gpupanel.cli.options.AllocatedOption`.
        trust: Whether its code is trusted as it is now.
        now: Whether it starts though its hours have not begun.
        detach: Whether to return at once.
        json: Whether to print JSON.
    """
    try:
        folder = runs_dir or default_runs_dir()
        layout = None if run_name is None else named_run(folder, run_name)
    except ProblemError as error:
        refuse(error, json=json, status=EXIT_FAILED)
    if layout is not None and has_begun(layout):
        continue_run(layout, allocated=allocated, trust=trust, now=now, detach=detach, json=json)
        return
    try:
        known = read_profile(profile) if isinstance(profile, Path) else profile
        read, plan, preparation = startable_as_allocated(known) if allocated else startable(known)
        if trust:
            trust_code(code_of_profile(read))
    except ProblemError as error:
        refuse(error, json=json, status=EXIT_BAD_PROFILE)
    print_problems(preparation.problems)
    print_gpu_processes(preparation.other_processes, progress)
    try:
        layout = launch(read, plan, folder, run_name, outside_hours=now)
    except ProblemError as error:
        refuse(error, json=json, status=EXIT_FAILED)
    say_hours(read)
    follow_unless(detach, layout, read.epochs_to_train, json=json)
