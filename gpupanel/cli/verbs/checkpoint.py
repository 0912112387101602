"""``gpupanel checkpoint``: have a run save and continue."""

from gpupanel.cli.named_run import ask_run, found_run
from gpupanel.cli.options import JsonOption, RunArgument, RunsDirOption
from gpupanel.domain.request import Request


def checkpoint(
    run: RunArgument, runs_dir: RunsDirOption = None, *, json: JsonOption = False
) -> None:
    """Ask a run to save a checkpoint after its next step and continue."""
    ask_run(found_run(run, runs_dir, json=json), Request.CHECKPOINT, json=json)
