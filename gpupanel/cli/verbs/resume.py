"""``gpupanel resume``: go on with a run from its last checkpoint."""

from pathlib import Path
from typing import Annotated

import typer

from gpupanel.cli.device_table import print_gpu_processes
from gpupanel.cli.named_run import found_run
from gpupanel.cli.options import (
    DetachOption,
    JsonOption,
    NowOption,
    RunArgument,
    RunsDirOption,
    TrustOption,
)
from gpupanel.cli.output import EXIT_BAD_PROFILE, EXIT_FAILED, print_problems, progress, refuse
from gpupanel.cli.preparation import startable
from gpupanel.cli.run_end import follow_unless
from gpupanel.cli.run_hours import say_hours
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.problem import ProblemError
from gpupanel.domain.profile import Profile
from gpupanel.runs.directory.profile_file import read_run_profile
from gpupanel.runs.launcher import resume as resume_run
from gpupanel.runs.trust.trusted import trust as trust_code
from gpupanel.runs.trust.user_code import code_of_run


def resume(
    run: RunArgument,
    runs_dir: RunsDirOption = None,
    *,
    with_profile: Annotated[
        Path | None,
        typer.Option(
            "--with",
            metavar="PROFILE",
            help="Continue as this profile says: on other devices, with other shares, for more "
            "epochs, with the same data in another place. Data, model and seed have to be "
            "the run's.",
            show_default=False,
        ),
    ] = None,
    accept_changed_data: Annotated[
        bool,
        typer.Option(
            "--accept-changed-data",
            help="Continue although the data is not what the run has learned from so far; "
            "otherwise that is refused.",
        ),
    ] = False,
    trust: TrustOption = False,
    now: NowOption = False,
    detach: DetachOption = False,
    json: JsonOption = False,
) -> None:
    """Continue a run that was suspended, stopped or died, from its last checkpoint."""
    layout = found_run(run, runs_dir, json=json)
    changed = None if with_profile is None else _changed(with_profile, json=json)
    try:
        if trust:
            trust_code(code_of_run(layout, read_run_profile(layout)))
        resume_run(layout, changed, accepts_changed_data=accept_changed_data, outside_hours=now)
        profile = read_run_profile(layout)
    except ProblemError as error:
        refuse(error, json=json, status=EXIT_FAILED)
    say_hours(profile)
    follow_unless(detach, layout, profile.epochs_to_train, json=json)


def _changed(path: Path, *, json: bool) -> tuple[Profile, LaunchPlan]:
    try:
        profile, plan, preparation = startable(path)
    except ProblemError as error:
        refuse(error, json=json, status=EXIT_BAD_PROFILE)
    print_problems(preparation.problems)
    print_gpu_processes(preparation.other_processes, progress)
    return profile, plan
