"""Verbs that steer a run: stop, suspend, resume."""

from typing import Annotated

import typer

from gpupanel.cli.finding import EXIT_FAILED, found_run, refuse
from gpupanel.cli.following import follow_unless
from gpupanel.cli.options import DetachOption, JsonOption, RunArgument, RunsDirOption, TrustOption
from gpupanel.cli.telling import progress, tell_json
from gpupanel.domain.problem import ProblemError
from gpupanel.domain.request import Request
from gpupanel.domain.run_layout import RunLayout
from gpupanel.runs.directory.profile_file import read_profile
from gpupanel.runs.directory.requests import ask
from gpupanel.runs.history.summaries import summarize_run
from gpupanel.runs.launcher import resume as resume_run
from gpupanel.runs.trust.trusted import trust as trust_code
from gpupanel.runs.trust.user_code import code_of_run

_ASKED = {
    Request.STOP: "stop: it finishes its step and saves",
    Request.END: "end now",
    Request.SUSPEND: "suspend: it saves a checkpoint and frees its devices",
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


def resume(
    run: RunArgument,
    runs_dir: RunsDirOption = None,
    *,
    trust: TrustOption = False,
    detach: DetachOption = False,
    json: JsonOption = False,
) -> None:
    """Go on with a run that was suspended, stopped or died, from its last checkpoint."""
    layout = found_run(run, runs_dir, json=json)
    try:
        profile = read_profile(layout.profile)
        if trust:
            trust_code(code_of_run(layout, profile))
        resume_run(layout)
    except ProblemError as error:
        refuse(error, json=json, status=EXIT_FAILED)
    follow_unless(detach, layout, profile.epochs_to_train, json=json)


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
