"""The folders of runs and of what gpupanel remembers about them."""

import os
from pathlib import Path

from gpupanel.domain.problem import ProblemError
from gpupanel.files.user_folders import HomeUnknownError, Kind, user_folder
from gpupanel.runs.directory.disk_problems import disk_problem
from gpupanel.runs.named_paths import expanded_path

RUNS_DIR_VARIABLE = "GPUPANEL_RUNS_DIR"
"""Environment variable that names another folder of runs."""
STATE_DIR_VARIABLE = "GPUPANEL_STATE_DIR"
"""Environment variable that names another folder for what is remembered, such as the queue."""


def default_runs_dir() -> Path:
    """The folder of runs: ``$GPUPANEL_RUNS_DIR``, else one in the user's data directory.

    Raises:
        ProblemError: Nobody knows where the user's home folder is.
    """
    named = os.environ.get(RUNS_DIR_VARIABLE)
    if named:
        return expanded_path(named).absolute()
    return _user_folder("data") / "runs"


def queue_dir() -> Path:
    """The folder of the user's queue: in ``$GPUPANEL_STATE_DIR``, else in the state directory.

    Raises:
        ProblemError: Nobody knows where the user's home folder is.
    """
    return _state_dir() / "queue"


def measured_memory_file() -> Path:
    """What was measured of the memory that trainings take; likewise.

    Raises:
        ProblemError: Nobody knows where the user's home folder is.
    """
    return _state_dir() / "measured-memory.json"


def self_test_file() -> Path:
    """What tests of this machine have come to; likewise.

    Raises:
        ProblemError: Nobody knows where the user's home folder is.
    """
    return _state_dir() / "self-test.json"


def bench_dir() -> Path:
    """The folder of comparisons of devices: one that goes on, and what was measured; likewise.

    Raises:
        ProblemError: Nobody knows where the user's home folder is.
    """
    return _state_dir() / "bench"


def notes_dir() -> Path:
    """The folder of notes that are on their way, and of which ones arrived; likewise.

    Raises:
        ProblemError: Nobody knows where the user's home folder is.
    """
    return _state_dir() / "notes"


def _state_dir() -> Path:
    named = os.environ.get(STATE_DIR_VARIABLE)
    if named:
        return expanded_path(named).absolute()
    return _user_folder("state")


def _user_folder(kind: Kind) -> Path:
    try:
        return user_folder(kind)
    except HomeUnknownError as error:
        raise ProblemError(disk_problem(error, Path("~"))) from error
