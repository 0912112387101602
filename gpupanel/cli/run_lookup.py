"""The run that a person names."""

import os
from collections.abc import Iterator
from pathlib import Path

from gpupanel.cli.refusal import EXIT_FAILED, refuse
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.run_layout import RunLayout
from gpupanel.runs.locations import default_runs_dir


def found_run(name: str, runs_dir: Path | None, *, json: bool) -> RunLayout:
    """The run of that name, or in that directory; leaves with a problem when there is none."""
    try:
        folder = runs_dir or default_runs_dir()
    except ProblemError as error:
        refuse(error, json=json, status=EXIT_FAILED)
    for root in (folder / name, Path(name).absolute(), *_listed_as(name, folder)):
        layout = RunLayout(root)
        # Whatever stands there: what a run is not, whoever opens its files reports.
        if any(map(os.path.lexists, (layout.profile, layout.events))):
            return layout
    return refuse(ProblemError(_run_not_found(name)), json=json, status=EXIT_FAILED)


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
