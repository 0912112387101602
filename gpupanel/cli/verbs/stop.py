"""``gpupanel stop``: have a run save and end."""

from typing import Annotated

import typer

from gpupanel.cli.named_run import ask_run, found_run
from gpupanel.cli.options import JsonOption, RunArgument, RunsDirOption
from gpupanel.domain.request import Request


def stop(
    run: RunArgument,
    runs_dir: RunsDirOption = None,
    *,
    now: Annotated[bool, typer.Option("--now", help="End at once, without saving.")] = False,
    json: JsonOption = False,
) -> None:
    """Ask a run to finish its step, save, and end."""
    layout = found_run(run, runs_dir, json=json)
    ask_run(layout, Request.END if now else Request.STOP, json=json)
