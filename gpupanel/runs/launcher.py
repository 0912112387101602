"""Starting a run: its directory is made, then a supervisor that outlives whoever started it."""

import re
import subprocess
import sys
import threading
from datetime import datetime
from pathlib import Path

from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.problem import ProblemError
from gpupanel.domain.profile import Profile
from gpupanel.domain.profile_toml import dump_profile
from gpupanel.domain.run_layout import RunLayout
from gpupanel.runs.disk_problems import disk_problem, space_problem
from gpupanel.runs.profile_file import anchored

_LONGEST_SLUG = 40


def launch(profile: Profile, plan: LaunchPlan, runs_dir: Path) -> RunLayout:
    """Make the run's directory and start its supervisor, detached, in a session of its own.

    Takes some milliseconds of disk and process work; it does not wait for the run.

    Raises:
        ProblemError: The directory cannot be made, or there is no space left for a run.
    """
    layout = create_run(profile, plan, runs_dir)
    with layout.trainer_log.open("ab") as log:
        supervisor = subprocess.Popen(
            [sys.executable, "-m", "gpupanel.runs.supervisor", str(layout.root)],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd=layout.root,
            start_new_session=True,
        )
    # It outlives this process; should it end before, somebody has to take its exit status.
    threading.Thread(
        target=supervisor.wait, name=f"supervisor of {layout.name}", daemon=True
    ).start()
    return layout


def create_run(profile: Profile, plan: LaunchPlan, runs_dir: Path) -> RunLayout:
    """Make the run's directory with its profile and plan, readable by its owner only.

    A relative data path is taken from the working directory: the trainer has another.

    Raises:
        ProblemError: The directory cannot be made, or there is no space left for a run.
    """
    try:
        runs_dir.mkdir(parents=True, exist_ok=True)
        problem = space_problem(runs_dir)
        if problem is not None:
            raise ProblemError(problem)
        layout = RunLayout(_new_directory(runs_dir.absolute(), profile.name))
        layout.profile.write_text(dump_profile(anchored(profile, Path.cwd())), encoding="utf-8")
        layout.plan.write_text(plan.model_dump_json(indent=2), encoding="utf-8")
        layout.requests.mkdir()
        layout.trainer_log.touch()
    except OSError as error:
        raise ProblemError(disk_problem(error, runs_dir)) from error
    return layout


def _new_directory(runs_dir: Path, profile_name: str) -> Path:
    moment = datetime.now().astimezone().strftime("%Y-%m-%dT%H-%M-%S")
    slug = re.sub(r"[^a-z0-9]+", "-", profile_name.lower()).strip("-")[:_LONGEST_SLUG].strip("-")
    name = f"{moment}-{slug or 'run'}"
    attempt = 1
    while True:
        directory = runs_dir / (name if attempt == 1 else f"{name}-{attempt}")
        try:
            directory.mkdir(mode=0o700)
        except FileExistsError:
            attempt += 1
        else:
            return directory
