"""Why the system refuses a file, each reason by its own name."""

import errno
import os
from pathlib import Path

import pytest

from gpupanel.files import file_obstacles
from gpupanel.files.file_obstacles import NoLocksError, file_obstacle, number_of

REASONS = {
    errno.ENOSPC: ("no_space", "there is no space left"),
    errno.EDQUOT: ("quota_used_up", "this user's quota is used up"),
    errno.EFBIG: ("file_size_limited", "larger than the largest there"),
    errno.EROFS: ("read_only", "mounted read-only"),
    errno.EACCES: ("not_permitted", "may not be written or read by this user"),
    errno.EPERM: ("not_permitted", "may not be written or read by this user"),
    errno.EIO: ("disk_failing", "input/output error"),
    errno.ESTALE: ("disk_not_answering", "no longer answers"),
    errno.ENOTCONN: ("disk_not_answering", "no longer answers"),
    errno.EMFILE: ("too_many_files", "Too many open files"),
    errno.ENOENT: ("file_missing", "does not exist"),
    errno.ENOTDIR: ("place_taken", "something else stands where"),
    errno.EEXIST: ("place_taken", "something else stands where"),
    errno.EISDIR: ("place_taken", "a folder stands where"),
}


@pytest.mark.parametrize("number", REASONS)
def test_that_each_reason_has_its_own_name(number: int, tmp_path: Path) -> None:
    found = file_obstacle(OSError(number, os.strerror(number)), tmp_path / "runs")
    assert found is not None
    code, words = REASONS[number]
    assert found.code == code
    assert words in found.because
    assert str(tmp_path / "runs") in found.because
    assert found.hint.endswith(".")


def test_that_a_reason_nobody_knows_is_not_guessed(tmp_path: Path) -> None:
    assert file_obstacle(OSError(errno.EINVAL, "Invalid argument"), tmp_path) is None
    assert file_obstacle(ValueError("broken"), tmp_path) is None


def test_that_words_of_a_library_are_read_where_it_gives_no_number(tmp_path: Path) -> None:
    words = f"/runs/a/model.keras; {os.strerror(errno.EDQUOT)}\n\tFlushing"
    assert number_of(RuntimeError(words)) == errno.EDQUOT
    found = file_obstacle(RuntimeError(words), tmp_path, "the run")
    assert found is not None
    assert found.message == "This user's quota is used up on the disk that holds the run."


def test_that_a_disk_without_inodes_is_not_called_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    free = 50 * 2**30
    values = (4096, 4096, free // 4096, free // 4096, free // 4096, 1_000_000, 0, 0, 0, 255)
    monkeypatch.setattr(file_obstacles.os, "statvfs", lambda _path: os.statvfs_result(values))
    found = file_obstacle(OSError(errno.ENOSPC, "No space left on device"), tmp_path / "a" / "b")
    assert found is not None
    assert found.code == "no_inodes"
    assert "all of its 1,000,000 inodes are in use, though 50.0 GiB are free" in found.because


def test_that_a_limit_of_the_shell_is_not_blamed_on_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_obstacles, "file_size_limit", lambda: 2**20)
    found = file_obstacle(OSError(errno.EFBIG, "File too large"), tmp_path)
    assert found is not None
    assert "this process may write, 1,048,576 bytes (ulimit -f)" in found.because
    assert "ulimit -f unlimited" in found.advice


def test_that_a_folder_without_locks_is_not_called_broken(tmp_path: Path) -> None:
    found = file_obstacle(NoLocksError(errno.ENOSYS, tmp_path), tmp_path)
    assert found is not None
    assert found.code == "folder_without_locks"
    assert "has no locks" in found.because
    assert "another folder" in found.advice
