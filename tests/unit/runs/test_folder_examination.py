"""What keeps runs out of a folder is said before one is started there, in the same sentence."""

import errno
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, Self

import pytest
from typer.testing import CliRunner

from gpupanel.cli.app import app
from gpupanel.cli.verbs import check as check_verb
from gpupanel.domain.problem import ProblemError, Severity
from gpupanel.domain.profile import Profile
from gpupanel.files import locks
from gpupanel.files.gpu_claims import FOLDER_VARIABLE
from gpupanel.planning.prepare import Preparation
from gpupanel.runs.directory import disk_problems
from gpupanel.runs.folder_examination import (
    examined_folders,
    folder_problem,
    folder_problem_in_time,
)
from gpupanel.runs.launcher import reserve_run

Fault = Callable[[pytest.MonkeyPatch, Path], Path]


class Free(NamedTuple):
    f_files: int
    f_favail: int
    f_bavail: int
    f_frsize: int


def refusing(number: int) -> Callable[..., None]:
    def refuse(*_arguments: object, **_named: object) -> None:
        raise OSError(number, os.strerror(number))

    return refuse


class _Full:
    """A file that can be made, and takes nothing."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None: ...

    write = staticmethod(refusing(errno.EDQUOT))


def without_locks(monkeypatch: pytest.MonkeyPatch, folder: Path) -> Path:
    monkeypatch.setattr(locks.fcntl, "flock", refusing(errno.ENOLCK))
    return folder


def read_only(monkeypatch: pytest.MonkeyPatch, folder: Path) -> Path:
    monkeypatch.setattr(tempfile, "TemporaryFile", refusing(errno.EROFS))
    return folder


def without_quota(monkeypatch: pytest.MonkeyPatch, folder: Path) -> Path:
    monkeypatch.setattr(tempfile, "TemporaryFile", lambda **_named: _Full())
    return folder


def without_inodes(monkeypatch: pytest.MonkeyPatch, folder: Path) -> Path:
    monkeypatch.setattr(disk_problems.os, "statvfs", lambda _place: Free(1000, 3, 2**30, 4096))
    return folder


def full(monkeypatch: pytest.MonkeyPatch, folder: Path) -> Path:
    monkeypatch.setattr(disk_problems.os, "statvfs", lambda _place: Free(0, 0, 3, 2**20))
    return folder


def file_in_the_way(_monkeypatch: pytest.MonkeyPatch, folder: Path) -> Path:
    (folder / "runs").touch()
    return folder / "runs"


def file_on_the_way(_monkeypatch: pytest.MonkeyPatch, folder: Path) -> Path:
    (folder / "taken").touch()
    return folder / "taken" / "runs"


def unspeakable(_monkeypatch: pytest.MonkeyPatch, folder: Path) -> Path:
    return folder / os.fsdecode(b"\xff")


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        (without_locks, "folder_without_locks"),
        (read_only, "read_only"),
        (without_quota, "quota_used_up"),
        (without_inodes, "no_inodes"),
        (full, "no_space"),
        (file_in_the_way, "place_taken"),
        (file_on_the_way, "place_taken"),
        (unspeakable, "path_unusable"),
    ],
)
def test_that_what_a_start_would_be_refused_for_is_known_before_in_the_same_words(
    fault: Fault, code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as faulty:
        folder = fault(faulty, tmp_path)
        before = folder_problem(folder)
        with pytest.raises(ProblemError) as caught:
            reserve_run("mnist", folder)
    assert before is not None
    assert before.code == code
    assert before.message == caught.value.problems[0].message
    assert before.hint == caught.value.problems[0].hint


def test_that_a_folder_that_is_not_there_yet_is_not_made_and_nothing_is_left_in_it(
    tmp_path: Path,
) -> None:
    assert folder_problem(tmp_path / "not" / "yet") is None
    assert list(tmp_path.iterdir()) == []


def test_that_check_is_not_ready_where_the_folder_of_runs_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(check_verb, "prepared", lambda *_args, **_named: (Profile(), Preparation()))
    monkeypatch.setattr(check_verb, "code_problems", lambda _read: ())
    taken = tmp_path / "taken"
    taken.touch()
    asked = ["check", "any.toml", "--runs-dir"]
    assert CliRunner().invoke(app, [*asked, str(tmp_path / "fine")]).exit_code == 0
    done = CliRunner().invoke(app, [*asked, str(taken)])
    assert done.exit_code == 1
    assert "stands where" in " ".join(done.output.split())
    assert "place_taken" in done.output


def test_that_a_disk_that_does_not_answer_is_waited_for_no_longer_than_that(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from threading import Event

    never = Event()
    monkeypatch.setattr(locks.fcntl, "flock", lambda *_asked: never.wait(10.0))
    problem = folder_problem_in_time(tmp_path, 0.02)
    never.set()
    assert problem is not None
    assert problem.code == "disk_not_answering"


def test_that_the_folder_of_claims_is_examined_where_an_administrator_made_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    claims = tmp_path / "claims of all"
    monkeypatch.setenv(FOLDER_VARIABLE, str(claims))
    assert examined_folders({}) == ()
    claims.mkdir()
    claims.chmod(0o1777)
    (examined,) = examined_folders({})
    assert (examined.path, examined.problem) == (str(claims), None)
    claims.chmod(0o777)
    (examined,) = examined_folders({})
    assert examined.problem is not None
    assert examined.problem.code == "claims_folder_unfit"
    assert examined.problem.command == f"sudo chmod +t '{claims}'"
    claims.chmod(0o1777)
    monkeypatch.setattr(os, "access", lambda *_: False)
    (examined,) = examined_folders({})
    assert examined.problem is not None
    assert "is not for this user" in examined.problem.message
    # Who may not take part can train all the same.
    assert examined.problem.severity is Severity.HINT
    claims.rmdir()
    claims.touch()
    monkeypatch.undo()
    monkeypatch.setenv(FOLDER_VARIABLE, str(claims))
    (examined,) = examined_folders({})
    assert examined.problem is not None
    assert examined.problem.severity is Severity.HINT
