"""What a run was started with is its record: nobody writes over it."""

import subprocess
import sys
from pathlib import Path

import pytest

from gpupanel.domain.problem import ProblemError
from gpupanel.domain.profile import Profile
from gpupanel.runs.directory.profile_file import read_profile, write_profile
from gpupanel.runs.directory.run_folder import check_outside_of_runs, run_of_file
from tests.fakes.run_directory import WrittenRun


@pytest.fixture
def run(runs_dir: Path) -> Path:
    """The folder of a run that has ended and was resumed with something changed."""
    with WrittenRun(runs_dir) as written:
        written.begin()
        written.end()
    (written.layout.root / "profile-1.toml").write_bytes(written.layout.profile.read_bytes())
    return written.layout.root


@pytest.mark.parametrize(
    "name", ["profile.toml", "profile-1.toml", "another.toml", "checkpoints/step-1/mine.toml"]
)
def test_that_a_file_in_the_folder_of_a_run_is_not_written(run: Path, name: str) -> None:
    path = run / name
    before = path.read_bytes() if path.exists() else None
    with pytest.raises(ProblemError, match="in the folder of the run") as caught:
        write_profile(path, Profile(name="changed"))
    assert caught.value.problems[0].code == "inside_a_run"
    assert caught.value.problems[0].hint
    assert (path.read_bytes() if path.exists() else None) == before
    found = run_of_file(path)
    assert found is not None
    assert found.root == run


def test_that_a_run_is_known_by_what_is_in_its_folder_wherever_it_is(
    run: Path, tmp_path: Path
) -> None:
    moved = run.rename(tmp_path / "copied from another machine")
    for content in ("plan.json", "events.jsonl"):
        assert run_of_file(moved / "profile.toml") is not None
        (moved / content).unlink()
    assert run_of_file(moved / "profile.toml") is None
    write_profile(moved / "profile.toml", Profile(name="a profile again"))


def test_that_links_do_not_lead_around_it(run: Path, tmp_path: Path) -> None:
    (tmp_path / "folder").symlink_to(run)
    (tmp_path / "file.toml").symlink_to(run / "profile.toml")
    for path in (tmp_path / "folder" / "profile.toml", tmp_path / "file.toml"):
        with pytest.raises(ProblemError):
            write_profile(path, Profile(name="changed"))
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    assert run_of_file(tmp_path / "loop" / "x.toml") is None


def test_that_a_folder_beside_runs_is_none_of_them(run: Path, tmp_path: Path) -> None:
    check_outside_of_runs(run.parent / "mine.toml")
    # A file of that name far above may be anything.
    (tmp_path / "plan.json").write_text("{}")
    check_outside_of_runs(tmp_path / "projects" / "mine.toml")
    write_profile(run.parent / "mine.toml", Profile(name="mine"))
    assert read_profile(run.parent / "mine.toml").name == "mine"


@pytest.mark.parametrize(
    "arguments",
    [("check", "mine.toml", "--fixed"), ("export", "mine.toml", "-o")],
    ids=lambda arguments: arguments[0],
)
def test_that_no_verb_writes_over_what_a_run_was_started_with(
    run: Path, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    write_profile(tmp_path / "mine.toml", Profile(name="mine"))
    before = (run / "profile.toml").read_bytes()
    answer = subprocess.run(
        [sys.executable, "-P", "-m", "gpupanel", *arguments, str(run / "profile.toml")],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert answer.returncode == 1, answer.stderr
    told = " ".join((answer.stdout + answer.stderr).split())
    assert "whose record stays as it is" in told
    assert "Traceback" not in told
    assert (run / "profile.toml").read_bytes() == before
