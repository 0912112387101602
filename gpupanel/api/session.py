"""The devices of this machine, and from a profile to a run."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gpupanel.api.run import Run
from gpupanel.domain.device import DeviceInventory
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.profile import Profile
from gpupanel.domain.profile_toml import profile_from_document
from gpupanel.domain.run_layout import RunLayout
from gpupanel.planning.prepare import Preparation
from gpupanel.runs.directory.profile_file import anchored, read_profile
from gpupanel.runs.history.summaries import list_runs
from gpupanel.runs.launcher import launch
from gpupanel.runs.locations import default_runs_dir
from gpupanel.runs.readiness import prepared_on, read_machine, read_machines_for
from gpupanel.runs.trust.trusted import trust as trust_code
from gpupanel.runs.trust.user_code import code_of_profile

ProfileLike = Profile | str | os.PathLike[str] | Mapping[str, Any]
"""A profile, the path of its TOML file, or its tables as nested dictionaries."""


def devices() -> DeviceInventory:
    """The GPUs and the CPU of this machine, as ``gpupanel devices`` lists them.

    Without an NVIDIA driver these are the CPU alone; ``problem`` says why.
    """
    return read_machine().inventory


def check(profile: ProfileLike) -> Preparation:
    """What would happen with a profile on this machine, and everything that is wrong with it.

    Nothing is started. ``is_startable`` says whether :func:`run` would start it, ``problems`` why
    not, each with its fixes; ``plan`` has devices, replicas and shares.

    Raises:
        ProblemError: It is no profile; one problem for each mistake in it. Or its cluster cannot
            be asked.
    """
    wanted = _profile(profile)
    return prepared_on(read_machines_for(wanted), wanted)


def run(
    profile: ProfileLike,
    *,
    wait: bool = True,
    runs_dir: str | os.PathLike[str] | None = None,
    trust: bool = False,
    outside_hours: bool = False,
) -> Run:
    """Start a run, as ``gpupanel run`` does, in processes of its own.

    Args:
        profile: What is to be done.
        wait: Return when it has ended. Ctrl+C ends the waiting only: the run continues. Otherwise
            it is returned at once, and ends without this process, too.
        runs_dir: Where runs are kept; as for the terminal when left out.
        trust: Trust the Python code that the profile names, as it is now, and remember that: it
            will be executed.
        outside_hours: Start it though its hours have not begun, which is refused otherwise.

    Raises:
        ProblemError: It may not start, and why; or its directory cannot be written.
    """
    wanted = _profile(profile)
    preparation = prepared_on(read_machines_for(wanted), wanted)
    if preparation.plan is None or not preparation.is_startable:
        raise ProblemError(*preparation.problems)
    if trust:
        trust_code(code_of_profile(wanted))
    folder = default_runs_dir() if runs_dir is None else Path(runs_dir)
    begun = Run(launch(wanted, preparation.plan, folder, outside_hours=outside_hours))
    if wait:
        begun.wait()
    return begun


def open_run(folder: str | os.PathLike[str]) -> Run:
    """A run by its directory, whether it goes on or ended long ago.

    Raises:
        ProblemError: That is no run's directory.
    """
    layout = RunLayout(Path(folder).absolute())
    if not (layout.profile.exists() or layout.events.exists()):
        raise ProblemError(
            Problem(
                code="run_not_found",
                message=f"{layout.root} is not a run: it has neither a profile nor events.",
                hint="`gpupanel runs` lists the runs with their directories.",
            )
        )
    return Run(layout)


def runs(runs_dir: str | os.PathLike[str] | None = None) -> tuple[Run, ...]:
    """All runs in a folder, newest first.

    Args:
        runs_dir: As for the terminal when left out.

    Raises:
        ProblemError: The folder cannot be read.
    """
    folder = default_runs_dir() if runs_dir is None else Path(runs_dir)
    return tuple(Run(RunLayout(each.path)) for each in list_runs(folder))


def _profile(given: ProfileLike) -> Profile:
    """The profile that is meant, its relative paths taken from where they are written."""
    match given:
        case Profile():
            return anchored(given, Path.cwd())
        case Mapping():
            return anchored(profile_from_document(dict(given)), Path.cwd())
        case _:
            return read_profile(Path(given))
