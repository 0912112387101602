"""``gpupanel suspend``: have a run free its devices for a while."""

from gpupanel.cli.options import JsonOption, RunArgument, RunsDirOption
from gpupanel.cli.requests import ask_run
from gpupanel.cli.run_lookup import found_run
from gpupanel.domain.request import Request


def suspend(run: RunArgument, runs_dir: RunsDirOption = None, *, json: JsonOption = False) -> None:
    """Ask a run to save a checkpoint and free its devices, to be resumed later."""
    ask_run(found_run(run, runs_dir, json=json), Request.SUSPEND, json=json)
