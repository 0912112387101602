"""Users without a name and a home folder, as in a container that was started for a number."""

import os
from pathlib import Path

import platformdirs
import pytest
from typer.testing import CliRunner

from gpupanel.cli.app import app
from gpupanel.domain.problem import ProblemError
from gpupanel.files.cache_folder import cache_root
from gpupanel.files.user_folders import HomeUnknownError, user_folder
from gpupanel.runs.error_problems import problems_of
from gpupanel.runs.folder_examination import examined_folders
from gpupanel.runs.locations import default_runs_dir, queue_dir

FOLDERS = ("RUNS", "STATE", "CACHE", "CONFIG")
KINDS = ("cache", "config", "data", "state")


def refuse(*_: object, **__: object) -> Path:
    """As platformdirs 4.10 does."""
    raise RuntimeError("could not determine the home directory for '~/.local/share'")


@pytest.fixture(params=[refuse, lambda *_, **__: Path("~/.local/share/gpupanel")])
def _homeless(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """As the newest platformdirs reports it, and as an older one leaves it."""
    for kind in KINDS:
        monkeypatch.setattr(platformdirs, f"user_{kind}_path", request.param)
    for name in FOLDERS:
        monkeypatch.delenv(f"GPUPANEL_{name}_DIR", raising=False)


@pytest.mark.usefixtures("_homeless")
def test_that_it_is_said_in_a_sentence_with_a_way_on_wherever_a_folder_is_asked_for() -> None:
    for kind in KINDS:
        with pytest.raises(HomeUnknownError):
            user_folder(kind)
    for where in (default_runs_dir, queue_dir):
        with pytest.raises(ProblemError) as caught:
            where()
        (problem,) = caught.value.problems
        assert problem.code == "home_unknown"
        assert f"no user of the number {os.getuid()}" in problem.message
        assert "export HOME=" in problem.hint
        assert problem.detail == ""
    with pytest.raises(HomeUnknownError) as missing:
        cache_root()
    assert [each.code for each in problems_of(missing.value)] == ["home_unknown"]
    assert {each.problem.code for each in examined_folders() if each.problem} == {"home_unknown"}


@pytest.mark.usefixtures("_homeless")
@pytest.mark.parametrize("verb", ["runs", "queue"])
def test_that_verbs_end_with_that_sentence(verb: str) -> None:
    done = CliRunner().invoke(app, [verb])
    assert done.exit_code == 1
    assert "home folder of this user" in " ".join(done.output.split())


@pytest.mark.usefixtures("_homeless")
def test_that_named_folders_need_no_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in FOLDERS:
        monkeypatch.setenv(f"GPUPANEL_{name}_DIR", str(tmp_path / name))
    assert default_runs_dir() == tmp_path / "RUNS"
    assert cache_root() == tmp_path / "CACHE"
    assert all(each.problem is None for each in examined_folders())
