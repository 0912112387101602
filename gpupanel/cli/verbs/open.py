"""Opening the window; nothing of Qt is loaded before it is known that it can open."""

import os
from pathlib import Path
from typing import Annotated

import typer

from gpupanel.cli.named_run import run_called
from gpupanel.cli.output import print_problems, progress
from gpupanel.cli.verb_group import VERBS
from gpupanel.devices.elsewhere import packages_before_ours
from gpupanel.domain.inherited_variables import of_window
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.runs.locations import default_runs_dir, queue_dir
from gpupanel.ui.preflight import missing_display, missing_libraries, unknown_platform
from gpupanel.ui.quick_imports import quick_imports


def open_window(
    target: Annotated[
        Path | None, typer.Argument(metavar="PROFILE|PROGRAM|RUN", show_default=False)
    ] = None,
    or_train: Annotated[
        Path | None,
        typer.Option(
            metavar="PROFILE", help="Where no window can open, train this in the terminal."
        ),
    ] = None,
    host: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="Work on another machine's GPUs and runs, by ssh.",
            show_default=False,
        ),
    ] = "",
    there: Annotated[
        str,
        typer.Option(
            metavar="COMMAND",
            help="gpupanel's command there, where its shell does not find it.",
            show_default=False,
        ),
    ] = "",
) -> None:
    """Open the window, on a profile, a program or a run when one is named."""
    if host:
        _check_host(host, target)
    target = None if target is None else _meant(target)
    wanted = of_window(os.environ)
    for name in os.environ.keys() - wanted:
        del os.environ[name]
    os.environ.update(wanted)
    problem = unknown_platform() or missing_display() or missing_libraries()
    if problem is None:
        _check_places()
        with quick_imports():
            if packages_before_ours():
                # What does not work is a sentence here; the window would find out while it draws.
                import gpupanel.ui.plots.plot_canvas  # noqa: F401
            from gpupanel.ui.app import open_window as show
        raise typer.Exit(show(target, host, there))
    print_problems([problem])
    profile = target if target is not None and target.suffix == ".toml" else or_train
    # What is meant for another machine is not trained on this one.
    if or_train is None or profile is None or host:
        raise typer.Exit(1)
    from gpupanel.cli.verbs.run import train

    progress.print(f"Training {profile} in the terminal instead.")
    train(profile)


def _check_host(host: str, target: Path | None) -> None:
    from gpupanel.hosts.here.ssh import host_problem

    problem = host_problem(host)
    if problem is None and target is not None and str(target) in VERBS:
        problem = Problem(
            code="verb_on_a_host",
            message=f"--host opens a window; {target} is a verb, which works on its own machine.",
            hint=f"Run it there: ssh {host} gpupanel {target}",
        )
    if problem is not None:
        print_problems([problem])
        raise typer.Exit(2)


def _meant(target: Path) -> Path:
    """The profile or the run's folder; a run may be named as `gpupanel runs` lists it."""
    if os.path.lexists(target):
        return target
    try:
        run = run_called(str(target), default_runs_dir())
    except ProblemError:
        return target  # nobody knows where runs are kept, which is said before the window opens
    return target if run is None else run.root


def _check_places() -> None:
    """Leave with a problem where nobody knows in which folders runs and queue are kept."""
    try:
        default_runs_dir()
        queue_dir()
    except ProblemError as error:
        print_problems(error.problems)
        raise typer.Exit(1) from error
