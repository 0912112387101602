"""Run directories, profile files and requests on good and bad ground."""

import errno
import fcntl
import os
from pathlib import Path

import pytest

from gpupanel.domain.data import ImagesData, NpzData
from gpupanel.domain.model import SavedModel
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.problem import ProblemError
from gpupanel.domain.profile import Profile
from gpupanel.domain.profile_toml import parse_profile
from gpupanel.domain.request import Request
from gpupanel.domain.run_layout import RunLayout
from gpupanel.planning.prepare import prepare
from gpupanel.runs import locations
from gpupanel.runs.directory import disk_problems
from gpupanel.runs.directory.disk_problems import disk_problem
from gpupanel.runs.directory.profile_file import read_profile, write_profile
from gpupanel.runs.directory.requests import ask, is_asked
from gpupanel.runs.launcher import create_run
from tests.fakes.devices import CPU_ONLY


@pytest.fixture
def plan() -> LaunchPlan:
    found = prepare(Profile(), CPU_ONLY).plan
    assert found is not None
    return found


def code_of(caught: pytest.ExceptionInfo[ProblemError]) -> str:
    (problem,) = caught.value.problems
    return problem.code


def test_that_a_run_starts_with_its_profile_and_plan_for_its_owner_only(
    runs_dir: Path, plan: LaunchPlan
) -> None:
    profile = Profile(name="Digits, on 2 replicas!")
    layout = create_run(profile, plan, runs_dir)
    assert layout.name.endswith("-digits-on-2-replicas")
    assert parse_profile(layout.profile.read_text()) == profile
    assert LaunchPlan.model_validate_json(layout.plan.read_text()) == plan
    assert layout.root.stat().st_mode & 0o077 == 0


def test_that_two_runs_of_one_second_get_directories_of_their_own(
    runs_dir: Path, plan: LaunchPlan
) -> None:
    roots = {create_run(Profile(name="?"), plan, runs_dir).root for _ in range(5)}
    assert len(roots) == 5


def test_that_a_folder_of_runs_that_is_a_file_is_reported(runs_dir: Path, plan: LaunchPlan) -> None:
    runs_dir.write_text("in the way")
    with pytest.raises(ProblemError) as caught:
        create_run(Profile(), plan, runs_dir)
    assert code_of(caught) == "place_taken"


def test_that_a_relative_data_path_is_taken_from_where_the_run_is_started(
    runs_dir: Path, tmp_path: Path, plan: LaunchPlan, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    layout = create_run(Profile(data=NpzData(path="x.npz")), plan, runs_dir)
    data = parse_profile(layout.profile.read_text()).data
    assert isinstance(data, NpzData)
    assert data.path == str(tmp_path / "x.npz")


def test_that_too_little_space_is_reported_before_anything_is_made(
    runs_dir: Path, plan: LaunchPlan, monkeypatch: pytest.MonkeyPatch
) -> None:
    _let_be_free(monkeypatch, blocks=5 * 2**20 // 4096, files=10_000)
    with pytest.raises(ProblemError, match="Only 5 MiB are free") as caught:
        create_run(Profile(), plan, runs_dir)
    assert code_of(caught) == "no_space"
    assert list(runs_dir.iterdir()) == []


def test_that_too_few_files_are_reported_before_anything_is_made(
    runs_dir: Path, plan: LaunchPlan, monkeypatch: pytest.MonkeyPatch
) -> None:
    _let_be_free(monkeypatch, blocks=2**20, files=12)
    with pytest.raises(ProblemError, match="only 12 more files") as caught:
        create_run(Profile(), plan, runs_dir)
    assert code_of(caught) == "no_inodes"
    assert list(runs_dir.iterdir()) == []


def test_that_a_shell_that_allows_only_small_files_is_named_before_anything_is_made(
    runs_dir: Path, plan: LaunchPlan, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(disk_problems, "file_size_limit", lambda: 512_000)
    with pytest.raises(ProblemError, match=r"more than 512,000 bytes \(ulimit -f\)") as caught:
        create_run(Profile(), plan, runs_dir)
    assert code_of(caught) == "file_size_limited"
    assert list(runs_dir.iterdir()) == []


def _let_be_free(monkeypatch: pytest.MonkeyPatch, *, blocks: int, files: int) -> None:
    values = (4096, 4096, 2**22, blocks, blocks, 10**6, files, files, 0, 255)
    monkeypatch.setattr(os, "statvfs", lambda _path: os.statvfs_result(values))


def test_that_a_folder_of_runs_without_locks_is_refused_before_anything_is_made(
    runs_dir: Path, plan: LaunchPlan, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_descriptor: int, _operation: int) -> None:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))

    monkeypatch.setattr(fcntl, "flock", refuse)
    with pytest.raises(ProblemError, match=r"has no locks \(flock\)") as caught:
        create_run(Profile(), plan, runs_dir)
    assert code_of(caught) == "folder_without_locks"
    assert list(runs_dir.iterdir()) == []


@pytest.mark.parametrize(
    ("number", "code"),
    [
        (errno.ENOSPC, "no_space"),
        (errno.EDQUOT, "quota_used_up"),
        (errno.EROFS, "read_only"),
        (errno.EACCES, "not_permitted"),
        (errno.ENOENT, "file_missing"),
        (errno.EIO, "disk_failing"),
        (errno.EINVAL, "disk_error"),
    ],
)
def test_that_each_error_of_the_disk_has_its_problem(number: int, code: str) -> None:
    problem = disk_problem(OSError(number, os.strerror(number)), Path("runs"))
    assert problem.code == code
    assert "runs" in problem.message
    assert problem.hint


def test_that_a_profile_survives_the_way_to_a_file_and_back(tmp_path: Path) -> None:
    path, profile = tmp_path / "digits.toml", Profile(name="digits")
    write_profile(path, profile)
    assert read_profile(path) == profile
    assert [entry.name for entry in tmp_path.iterdir()] == ["digits.toml"]


def test_that_data_beside_a_profile_is_named_relative_and_found_again(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    profile = Profile(data=NpzData(path=str(tmp_path / "data" / "x.npz")))
    write_profile(path, profile)
    assert 'path = "data/x.npz"' in path.read_text()
    assert read_profile(path) == profile
    moved = tmp_path / "moved"
    moved.mkdir()
    path.rename(moved / "mine.toml")
    data = read_profile(moved / "mine.toml").data
    assert isinstance(data, NpzData)
    assert data.path == str(moved / "data" / "x.npz")


def test_that_every_folder_beside_a_profile_is_named_relative(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    sets = {"path": str(tmp_path / "all"), "test_path": str(tmp_path / "test")}
    profile = Profile(data=ImagesData(validation_path="/elsewhere", **sets))
    write_profile(path, profile)
    text = path.read_text()
    assert 'path = "all"' in text
    assert 'test_path = "test"' in text
    assert 'validation_path = "/elsewhere"' in text
    assert read_profile(path) == profile


@pytest.mark.parametrize("inside", ["~data.npz", "~/x.npz"])
def test_that_a_name_that_begins_like_a_home_is_found_again(tmp_path: Path, inside: str) -> None:
    path = tmp_path / "mine.toml"
    profile = Profile(data=NpzData(path=str(tmp_path / inside)))
    write_profile(path, profile)
    assert read_profile(path) == profile


@pytest.mark.parametrize(
    ("chosen", "written"),
    [
        ("here/pictures/labels.csv", "labels.csv"),
        ("here/pictures/deep/labels.csv", "deep/labels.csv"),
        ("here/labels.csv", "../labels.csv"),
        ("labels.csv", None),
    ],
)
def test_that_a_csv_of_labels_is_named_from_the_folder_of_images(
    tmp_path: Path, chosen: str, written: str | None
) -> None:
    file = tmp_path / "here" / "profile.toml"
    file.parent.mkdir()
    images, labels = tmp_path / "here" / "pictures", tmp_path / chosen
    profile = Profile(data=ImagesData(path=str(images), labels_csv=str(labels)))

    write_profile(file, profile)

    assert f'labels_csv = "{written or labels}"' in file.read_text()
    assert read_profile(file) == profile
    elsewhere = profile.model_copy(
        update={"data": ImagesData(path="/other/pictures", labels_csv="/other/pictures/l.csv")}
    )
    write_profile(file, elsewhere)
    assert 'labels_csv = "l.csv"' in file.read_text()
    assert read_profile(file) == elsewhere


def test_that_a_model_beside_a_profile_is_named_relative_and_found_again(
    runs_dir: Path, tmp_path: Path, plan: LaunchPlan, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "mine.toml"
    profile = Profile(task="evaluate", model=SavedModel(path=str(tmp_path / "digits.keras")))
    write_profile(path, profile)
    assert 'path = "digits.keras"' in path.read_text()
    assert read_profile(path) == profile
    monkeypatch.chdir(tmp_path)
    (tmp_path / "digits.keras").write_bytes(b"a model")
    layout = create_run(Profile(model=SavedModel(path="digits.keras")), plan, runs_dir)
    assert parse_profile(layout.profile.read_text()).model == profile.model


def test_that_data_elsewhere_keeps_its_whole_path(tmp_path: Path) -> None:
    folder = tmp_path / "profiles"
    folder.mkdir()
    profile = Profile(data=NpzData(path="/elsewhere/x.npz"))
    write_profile(folder / "mine.toml", profile)
    assert read_profile(folder / "mine.toml") == profile


def test_that_a_path_not_chosen_yet_stays_so(tmp_path: Path) -> None:
    profile = Profile(data=NpzData(path=""), model=SavedModel())
    write_profile(tmp_path / "mine.toml", profile)
    assert read_profile(tmp_path / "mine.toml") == profile


@pytest.mark.parametrize(
    ("content", "code"),
    [(b"\xff\xfe\x00", "profile_not_toml"), (b"#" * (2**20 + 1), "profile_not_toml")],
)
def test_that_a_file_that_is_no_profile_is_reported(
    tmp_path: Path, content: bytes, code: str
) -> None:
    path = tmp_path / "bad.toml"
    path.write_bytes(content)
    with pytest.raises(ProblemError) as caught:
        read_profile(path)
    assert code_of(caught) == code


def test_that_a_profile_that_is_not_there_is_reported(tmp_path: Path) -> None:
    with pytest.raises(ProblemError) as caught:
        read_profile(tmp_path / "gone.toml")
    assert code_of(caught) == "file_missing"


def test_that_a_failed_save_leaves_the_old_profile_and_no_crumbs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "mine.toml"
    write_profile(path, Profile(name="old"))

    def full(_descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ProblemError) as caught:
        write_profile(path, Profile(name="new"))
    assert code_of(caught) == "no_space"
    assert read_profile(path).name == "old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["mine.toml"]


def test_that_a_saved_profile_can_be_read_by_whom_the_person_lets(tmp_path: Path) -> None:
    plain, path = tmp_path / "plain", tmp_path / "mine.toml"
    plain.touch()
    write_profile(path, Profile())
    assert path.stat().st_mode == plain.stat().st_mode
    path.chmod(0o640)
    write_profile(path, Profile(name="again"))
    assert path.stat().st_mode & 0o777 == 0o640


def test_that_a_request_is_a_file_with_its_name(runs_dir: Path, plan: LaunchPlan) -> None:
    layout = create_run(Profile(), plan, runs_dir)
    assert not is_asked(layout, Request.STOP)
    ask(layout, Request.STOP)
    ask(layout, Request.STOP)
    assert is_asked(layout, Request.STOP)
    assert [entry.name for entry in layout.requests.iterdir()] == ["stop"]


def test_that_a_request_to_a_run_that_is_gone_is_reported(tmp_path: Path) -> None:
    with pytest.raises(ProblemError) as caught:
        ask(RunLayout(tmp_path / "gone"), Request.STOP)
    assert code_of(caught) == "file_missing"


def test_that_the_folder_of_runs_can_be_named_in_the_environment(
    runs_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert locations.default_runs_dir() == runs_dir
    monkeypatch.delenv(locations.RUNS_DIR_VARIABLE)
    assert locations.default_runs_dir().name == "runs"
