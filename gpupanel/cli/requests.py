"""Asking something of a run that goes on."""

from gpupanel.cli.output import print_json, progress
from gpupanel.cli.refusal import EXIT_FAILED, refuse
from gpupanel.domain.problem import ProblemError
from gpupanel.domain.request import Request
from gpupanel.domain.run_layout import RunLayout
from gpupanel.runs.directory.requests import ask
from gpupanel.runs.history.summaries import summarize_run

_ASKED = {
    Request.STOP: "stop: it finishes its step and saves",
    Request.END: "end now, without saving: what it did after its last checkpoint is lost",
    Request.SUSPEND: "suspend: it saves a checkpoint and frees its devices",
    Request.CHECKPOINT: "save a checkpoint and continue",
}


def ask_run(layout: RunLayout, request: Request, *, json: bool) -> None:
    """Write the request where the run finds it, and print whether it still goes on."""
    summary = summarize_run(layout)
    if summary.is_running:
        try:
            ask(layout, request)
        except ProblemError as error:
            refuse(error, json=json, status=EXIT_FAILED)
    if json:
        print_json({"run": str(layout.root), "asked": summary.is_running})
    elif summary.is_running:
        progress.print(f"Asked {layout.name} to {_ASKED[request]}.")
    else:
        progress.print(f"{layout.name} has ended already ({summary.outcome}).")
