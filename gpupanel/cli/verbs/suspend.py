"""``gpupanel suspend``: have a run free its devices for a while."""

from gpupanel.cli.named_run import ask_run, found_run
from gpupanel.cli.options import JsonOption, RunArgument, RunsDirOption
from gpupanel.domain.request import Request


def suspend(run: RunArgument, runs_dir: RunsDirOption = None, *, json: JsonOption = False) -> None:
    """Ask a run to save a checkpoint and free its devices, to be resumed later."""
    ask_run(found_run(run, runs_dir, json=json), Request.SUSPEND, json=json)
