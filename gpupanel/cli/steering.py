"""Verbs that steer a run: stop, suspend, checkpoint, resume."""

from pathlib import Path
from typing import Annotated

import typer

from gpupanel.cli.finding import EXIT_BAD_PROFILE, EXIT_FAILED, found_run, refuse
from gpupanel.cli.following import follow_unless
from gpupanel.cli.neighbours import tell_others
from gpupanel.cli.options import DetachOption, JsonOption, RunArgument, RunsDirOption, TrustOption
from gpupanel.cli.preparing import startable
from gpupanel.cli.telling import progress, tell_json, tell_problems
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.problem import ProblemError
from gpupanel.domain.profile import Profile
from gpupanel.domain.request import Request
from gpupanel.domain.run_layout import RunLayout
from gpupanel.runs.directory.profile_file import read_run_profile
from gpupanel.runs.directory.requests import ask
from gpupanel.runs.history.summaries import summarize_run
from gpupanel.runs.launcher import resume as resume_run
from gpupanel.runs.trust.trusted import trust as trust_code
from gpupanel.runs.trust.user_code import code_of_run

_ASKED = {
    Request.STOP: "stop: it finishes its step and saves",
    Request.END: "end now, without saving: what it did after its last checkpoint is lost",
    Request.SUSPEND: "suspend: it saves a checkpoint and frees its devices",
    Request.CHECKPOINT: "save a checkpoint and go on",
}


def stop(
    run: RunArgument,
    runs_dir: RunsDirOption = None,
    *,
    now: Annotated[bool, typer.Option("--now", help="End at once, without saving.")] = False,
    json: JsonOption = False,
) -> None:
    """Ask a run to finish its step, save, and end."""
    layout = found_run(run, runs_dir, json=json)
    _ask(layout, Request.END if now else Request.STOP, json=json)


def suspend(run: RunArgument, runs_dir: RunsDirOption = None, *, json: JsonOption = False) -> None:
    """Ask a run to save a checkpoint and free its devices, to be resumed later."""
    _ask(found_run(run, runs_dir, json=json), Request.SUSPEND, json=json)


def checkpoint(
    run: RunArgument, runs_dir: RunsDirOption = None, *, json: JsonOption = False
) -> None:
    """Ask a run to save a checkpoint after its next step and go on."""
    _ask(found_run(run, runs_dir, json=json), Request.CHECKPOINT, json=json)


def resume(
    run: RunArgument,
    runs_dir: RunsDirOption = None,
    *,
    with_profile: Annotated[
        Path | None,
        typer.Option(
            "--with",
            metavar="PROFILE",
            help="Go on as this profile says: on other devices, with other shares, for more "
            "epochs, with the same data in another place. Data, model and seed have to be the "
            "run's.",
            show_default=False,
        ),
    ] = None,
    accept_changed_data: Annotated[
        bool,
        typer.Option(
            "--accept-changed-data",
            help="Go on though the data is not what the run has learned from so far; otherwise "
            "that is refused.",
        ),
    ] = False,
    trust: TrustOption = False,
    detach: DetachOption = False,
    json: JsonOption = False,
) -> None:
    """Go on with a run that was suspended, stopped or died, from its last checkpoint."""
    layout = found_run(run, runs_dir, json=json)
    changed = None if with_profile is None else _changed(with_profile, json=json)
    try:
        if trust:
            trust_code(code_of_run(layout, read_run_profile(layout)))
        resume_run(layout, changed, accepts_changed_data=accept_changed_data)
        epochs = read_run_profile(layout).epochs_to_train
    except ProblemError as error:
        refuse(error, json=json, status=EXIT_FAILED)
    follow_unless(detach, layout, epochs, json=json)


def _changed(path: Path, *, json: bool) -> tuple[Profile, LaunchPlan]:
    try:
        profile, plan, preparation = startable(path)
    except ProblemError as error:
        refuse(error, json=json, status=EXIT_BAD_PROFILE)
    tell_problems(preparation.problems)
    tell_others(preparation.others, progress)
    return profile, plan


def _ask(layout: RunLayout, request: Request, *, json: bool) -> None:
    summary = summarize_run(layout)
    if summary.is_running:
        try:
            ask(layout, request)
        except ProblemError as error:
            refuse(error, json=json, status=EXIT_FAILED)
    if json:
        tell_json({"run": str(layout.root), "asked": summary.is_running})
    elif summary.is_running:
        progress.print(f"Asked {layout.name} to {_ASKED[request]}.")
    else:
        progress.print(f"{layout.name} has ended already ({summary.outcome}).")
