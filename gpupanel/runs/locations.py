"""Where runs are kept."""

import os
from pathlib import Path

import platformdirs

RUNS_DIR_VARIABLE = "GPUPANEL_RUNS_DIR"
"""Environment variable that names another folder of runs."""


def default_runs_dir() -> Path:
    """The folder of runs: ``$GPUPANEL_RUNS_DIR``, else one in the user's data directory."""
    named = os.environ.get(RUNS_DIR_VARIABLE)
    if named:
        return Path(named).expanduser().absolute()
    return platformdirs.user_data_path("gpupanel", appauthor=False) / "runs"
