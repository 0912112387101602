"""Runs that come back from the bin."""

from pathlib import Path

import pytest

from gpupanel.domain.problem import ProblemError
from gpupanel.runs.history.restoring import BinnedRun, restore_run


def binned(folder: Path) -> BinnedRun:
    in_bin = folder / "Trash" / "files" / "run.2"
    in_bin.mkdir(parents=True)
    (in_bin / "profile.toml").write_text("kept")
    (folder / "Trash" / "info").mkdir()
    (folder / "Trash" / "info" / "run.2.trashinfo").touch()
    (folder / "runs").mkdir()
    return BinnedRun(folder / "runs" / "run", in_bin)


def refused(run: BinnedRun) -> str:
    with pytest.raises(ProblemError) as caught:
        restore_run(run)
    return caught.value.problems[0].code


def test_that_a_run_is_where_it_was_and_the_bin_forgets_it(tmp_path: Path) -> None:
    run = binned(tmp_path)
    restore_run(run)
    assert (run.place / "profile.toml").read_text() == "kept"
    assert [*(tmp_path / "Trash" / "files").iterdir()] == []
    assert [*(tmp_path / "Trash" / "info").iterdir()] == []


def test_that_a_folder_that_has_its_name_by_now_is_not_replaced(tmp_path: Path) -> None:
    run = binned(tmp_path)
    run.place.mkdir()
    assert refused(run) == "run_place_taken"
    assert run.in_bin.is_dir()


def test_that_a_link_in_its_place_is_not_followed(tmp_path: Path) -> None:
    run = binned(tmp_path)
    run.place.symlink_to(tmp_path / "nowhere")
    assert refused(run) == "run_place_taken"


def test_that_a_link_in_the_bin_is_no_run(tmp_path: Path) -> None:
    run = binned(tmp_path)
    linked = BinnedRun(run.place, run.in_bin.with_name("link"))
    linked.in_bin.symlink_to(run.in_bin)
    assert refused(linked) == "run_not_in_bin"


def test_that_a_folder_of_runs_that_is_gone_is_reported(tmp_path: Path) -> None:
    run = binned(tmp_path)
    run.place.parent.rmdir()
    assert refused(run)
    assert run.in_bin.is_dir()
