"""Models as other people save them, made in a child of their own."""

import sys
import zipfile
from pathlib import Path

from gpupanel.domain.data import DataSettings
from gpupanel.domain.table_data import RECIPE_MEMBER
from gpupanel.trainer.datasets.source import Reading, read_data
from tests.forked.processes import run_forked
from tests.unit.trainer.trained_runs import CHILD_ENVIRONMENT


def make_saved_models(folder: Path) -> Path:
    """Write each of ``make_saved_models.py`` into the folder, and give it back."""
    done = run_forked(
        [sys.executable, str(Path(__file__).with_name("make_saved_models.py")), str(folder)],
        env=CHILD_ENVIRONMENT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return folder


def with_recipe(model: Path, data: DataSettings) -> Path:
    """The model as a training on that data would have saved it."""
    with zipfile.ZipFile(model, "a") as archive:
        archive.writestr(RECIPE_MEMBER, read_data(data, Reading(print)).recipe)
    return model
