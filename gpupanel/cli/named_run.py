"""The run that a person names, and what is asked of it while it goes on."""

import os
from collections.abc import Iterator
from pathlib import Path

from gpupanel.cli.output import EXIT_FAILED, print_json, progress, refuse
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.request import Request
from gpupanel.domain.run_layout import RunLayout
from gpupanel.runs.directory.disk_problems import disk_problem
from gpupanel.runs.directory.requests import ask
from gpupanel.runs.history.summaries import summarize_run
from gpupanel.runs.locations import default_runs_dir


def found_run(name: str, runs_dir: Path | None, *, json: bool) -> RunLayout:
    """The run of that name, or in that directory; leaves with a problem when there is none."""
    try:
        layout = run_called(name, runs_dir or default_runs_dir())
    except ProblemError as error:
        refuse(error, json=json, status=EXIT_FAILED)
    if layout is None:
        refuse(ProblemError(_run_not_found(name)), json=json, status=EXIT_FAILED)
    return layout


def run_called(name: str, folder: Path) -> RunLayout | None:
    """The run of that name in a folder of runs, or in the directory of that name, if there is.

    Raises:
        ProblemError: Whether there is one may not be seen by this user.
    """
    places = (folder / name, Path(name).absolute())
    for root in (*places, *_listed_as(name, folder)):
        layout = RunLayout(root)
        # Whatever stands there: what a run is not, whoever opens its files reports.
        if any(map(os.path.lexists, (layout.profile, layout.events))):
            return layout
    for root in places:
        try:
            os.lstat(RunLayout(root).profile)
        except PermissionError as error:
            raise ProblemError(disk_problem(error, root)) from error
        except OSError:
            continue
    return None


def _listed_as(name: str, runs_dir: Path) -> Iterator[Path]:
    """The run that a list shows by that name, where its folder's name cannot be typed."""
    try:
        yield from (root for root in runs_dir.iterdir() if RunLayout(root).name == name)
    except OSError:
        return


def _run_not_found(name: str) -> Problem:
    return Problem(
        code="run_not_found",
        message=f"There is no run {name}.",
        hint="`gpupanel runs` lists them; --runs-dir names another folder.",
    )


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
