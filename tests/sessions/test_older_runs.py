"""A run of an older gpupanel is listed, shown, exported, evaluated and continued by this one.

``older/format-1`` was written in November 2026, before augmentation, test sets, gradient norms and
times spent were known. It stays as it is: what a person has on disk does not change either.
"""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from gpupanel import api
from tests.forked.terminal import gpupanel

OLDER = Path(__file__).parent / "older"
LONGER = OLDER / "longer.toml"


@pytest.fixture
def older_run(runs_dir: Path) -> Path:
    return Path(shutil.copytree(OLDER / "format-1", runs_dir / "older"))


def test_that_an_older_run_is_listed_with_what_it_reached(older_run: Path) -> None:
    done = gpupanel("runs", "--json")
    (listed,) = json.loads(done.stdout)["runs"]
    assert listed["outcome"] == "completed"
    assert listed["metrics"]["val_accuracy"] == pytest.approx(0.9164345)
    assert listed["name"] == older_run.name


def test_that_its_curves_are_read(older_run: Path) -> None:
    curves = api.open_run(older_run).metrics()
    assert len(curves["val_loss"].values) == 3
    assert np.all(np.diff(curves["val_loss"].values) < 0)


@pytest.mark.parametrize("name", ["script.py", "report.html", "notebook.ipynb"])
def test_that_it_is_exported(older_run: Path, tmp_path: Path, name: str) -> None:
    done = gpupanel("export", older_run, "-o", tmp_path / name)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / name).stat().st_size > 1_000


def test_that_its_profile_can_start(older_run: Path) -> None:
    done = gpupanel("check", older_run / "profile.toml")
    assert done.returncode == 0
    assert "Ready to run." in done.stdout + done.stderr


def test_that_it_is_continued_to_what_this_version_reaches_from_the_start(older_run: Path) -> None:
    continued = gpupanel("resume", older_run, "--with", LONGER, "--json")
    begun_here = gpupanel("run", LONGER, "--json")
    metrics = [json.loads(done.stdout)["metrics"] for done in (continued, begun_here)]
    # Bit for bit on the processor that the older run was trained on; another one rounds otherwise.
    for name in ("loss", "val_loss"):
        assert metrics[0][name] == pytest.approx(metrics[1][name], rel=1e-4)
