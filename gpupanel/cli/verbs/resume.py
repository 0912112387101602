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
from gpupanel.cli.output import (
    EXIT_BAD_PROFILE,
    EXIT_FAILED,
    answers,
    print_json,
    print_problems,
    progress,
    refuse,
)
from gpupanel.cli.preparation import startable
from gpupanel.cli.run_end import follow_unless
from gpupanel.cli.run_hours import say_hours
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.problem import ProblemError
from gpupanel.domain.profile import Profile
from gpupanel.domain.run_layout import RunLayout
from gpupanel.runs.directory.profile_file import read_run_profile
from gpupanel.runs.launcher import resume as resume_run
from gpupanel.runs.locations import queue_dir
from gpupanel.runs.queue.orders import continue_run
from gpupanel.runs.queue.queue_files import QueueFiles
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
    queue: Annotated[
        bool,
        typer.Option(
            "--queue",
            help="Let the queue continue it, when its hours have begun and its devices are free.",
        ),
    ] = False,
    detach: DetachOption = False,
    json: JsonOption = False,
) -> None:
    """Continue a run that was suspended, stopped or died, from its last checkpoint."""
    layout = found_run(run, runs_dir, json=json)
    if queue and (accept_changed_data or now):
        raise typer.BadParameter("--queue stands alone: the queue asks nothing", param_hint="RUN")
    changed = None if with_profile is None else _changed(with_profile, json=json)
    try:
        if trust:
            trust_code(code_of_run(layout, read_run_profile(layout)))
        if queue:
            _queue(layout, changed and changed[0], json=json)
            return
        resume_run(layout, changed, accepts_changed_data=accept_changed_data, outside_hours=now)
        profile = read_run_profile(layout)
    except ProblemError as error:
        refuse(error, json=json, status=EXIT_FAILED)
    say_hours(profile)
    follow_unless(detach, layout, profile.epochs_to_train, json=json)


def _queue(layout: RunLayout, profile: Profile | None, *, json: bool) -> None:
    entry = continue_run(QueueFiles(queue_dir()), layout, profile)
    if json:
        print_json({"entry": entry.model_dump(mode="json")})
    else:
        answers.print(f"{entry.id}  {entry.name} waits.", highlight=False)


def _changed(path: Path, *, json: bool) -> tuple[Profile, LaunchPlan]:
    try:
        profile, plan, preparation = startable(path)
    except ProblemError as error:
        refuse(error, json=json, status=EXIT_BAD_PROFILE)
    print_problems(preparation.problems)
    print_gpu_processes(preparation.other_processes, progress)
    return profile, plan
