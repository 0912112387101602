"""A run gets a folder of its own name, or of one that it is given, and never somebody else's."""

import stat
from pathlib import Path

import pytest

from gpupanel.domain.device import CPU_KEY
from gpupanel.domain.problem import ProblemError
from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.planning.prepare import prepare
from gpupanel.runs.history.summaries import list_runs
from gpupanel.runs.launcher import create_run, reserve_run
from gpupanel.runs.run_folders import has_begun, named_run
from tests.fakes.devices import CPU_ONLY
from tests.fakes.hostile_files import (
    Plant,
    dangling_link,
    endless,
    fifo,
    link,
    put_in_place,
    unix_socket,
)

PROFILE = Profile(name="a b", devices=DeviceSettings(visible=(CPU_KEY,)))
PLAN = prepare(PROFILE, CPU_ONLY).plan
assert PLAN is not None


def code_of(refused: pytest.ExceptionInfo[ProblemError]) -> str:
    (problem,) = refused.value.problems
    return problem.code


def test_that_a_run_has_the_name_that_it_is_given_and_is_its_owners(runs_dir: Path) -> None:
    layout = create_run(PROFILE, PLAN, runs_dir, "job-12")
    assert layout == named_run(runs_dir, "job-12")
    assert [run.path for run in list_runs(runs_dir)] == [layout.root]
    assert stat.S_IMODE(layout.root.stat().st_mode) == 0o700
    assert has_begun(layout)


def test_that_no_name_leads_out_of_the_folder_of_runs(runs_dir: Path, tmp_path: Path) -> None:
    for name in ("../job", "..", "/tmp/job", ".job", "a\nb", ""):
        with pytest.raises(ProblemError) as refused:
            create_run(PROFILE, PLAN, runs_dir, name)
        assert code_of(refused) == "run_name_unusable"
    assert not (tmp_path / "job").exists()


def test_that_a_run_whose_making_was_ended_in_the_middle_is_made_anew(runs_dir: Path) -> None:
    layout = create_run(PROFILE, PLAN, runs_dir, "job-12")
    layout.profile.unlink()
    assert not has_begun(layout)
    assert create_run(PROFILE, PLAN, runs_dir, "job-12") == layout
    assert has_begun(layout)


@pytest.mark.parametrize("name", ["notes.txt", "profile.toml", "checkpoints"])
def test_that_a_folder_of_something_else_stays_as_it_is(runs_dir: Path, name: str) -> None:
    kept = runs_dir / "job-12" / name
    kept.mkdir(parents=True)
    assert not has_begun(named_run(runs_dir, "job-12"))
    with pytest.raises(ProblemError) as refused:
        create_run(PROFILE, PLAN, runs_dir, "job-12")
    assert code_of(refused) == "run_name_taken"
    assert [each.name for each in kept.parent.iterdir()] == [name]


@pytest.mark.parametrize("plant", [link, dangling_link, fifo, unix_socket, endless])
def test_that_what_is_no_folder_is_neither_followed_nor_replaced(
    runs_dir: Path, tmp_path: Path, plant: Plant
) -> None:
    kept = tmp_path / "kept"
    kept.write_text("kept")
    runs_dir.mkdir()
    put_in_place(plant, runs_dir / "job-12", kept)
    with pytest.raises(ProblemError) as refused:
        reserve_run(PROFILE.name, runs_dir, "job-12")
    assert code_of(refused) == "run_name_taken"
    assert kept.read_text() == "kept"


def test_that_a_link_to_a_folder_is_not_followed(runs_dir: Path, tmp_path: Path) -> None:
    runs_dir.mkdir()
    (tmp_path / "elsewhere").mkdir()
    (runs_dir / "job-12").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ProblemError) as refused:
        create_run(PROFILE, PLAN, runs_dir, "job-12")
    assert code_of(refused) == "run_name_taken"
    assert list((tmp_path / "elsewhere").iterdir()) == []
