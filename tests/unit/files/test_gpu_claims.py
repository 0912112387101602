"""What users say of GPUs in a folder that all of them may write, and nobody trusts another."""

import fcntl
import json
import os
import struct
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from gpupanel.domain.gpu_claim import GpuClaim
from gpupanel.files import gpu_claims
from gpupanel.files.gpu_claims import (
    FOLDER_VARIABLE,
    HeldClaim,
    UnfitFolderError,
    check_claims_folder,
    claims_folder,
    claims_of_others,
    remove_left_behind,
)
from tests.fakes.hostile_files import IN_PLACE_OF_A_FILE, Plant

GPU = "GPU-5f0c0000-0000-0000-0000-000000000001"
OTHER_GPU = "GPU-5f0c0000-0000-0000-0000-000000000002"
STRANGER = os.geteuid() + 1


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """As an administrator makes it."""
    made = tmp_path / "claims"
    made.mkdir()
    made.chmod(0o1777)
    return made


@contextmanager
def another_user() -> Iterator[None]:
    """Look at this user's files as somebody else would, who is not root and so cannot be made."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(os, "geteuid", lambda: STRANGER)
        yield


def seen_by_another(folder: Path) -> dict[str, tuple[GpuClaim, ...]]:
    with another_user():
        return dict(claims_of_others(folder))


def planted(folder: Path, content: bytes) -> int:
    """A file that somebody has written and holds; gives its descriptor."""
    descriptor = os.open(folder / "planted.claim", os.O_RDWR | os.O_CREAT, 0o644)
    os.pwrite(descriptor, content, 0)
    lock = struct.pack("@hhqqi0q", fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
    fcntl.fcntl(descriptor, fcntl.F_OFD_SETLK, lock)
    return descriptor


def test_that_another_user_sees_a_claim_until_it_is_let_go(folder: Path) -> None:
    claim = HeldClaim(GPU, 1_000.0, folder)
    (seen,) = seen_by_another(folder)[GPU]
    assert (seen.since_s, seen.until_s) == (1_000.0, None)
    claim.expect_end(2_000.5)
    assert seen_by_another(folder)[GPU][0].until_s == 2_000.5
    claim.expect_end(None)
    assert seen_by_another(folder)[GPU][0].until_s is None
    claim.release()
    assert seen_by_another(folder) == {}
    assert list(folder.iterdir()) == []


def test_that_a_user_does_not_see_their_own_claims(folder: Path) -> None:
    claim = HeldClaim(GPU, 1_000.0, folder)
    assert claims_of_others(folder) == {}
    claim.release()


def test_that_a_file_holds_the_gpu_and_the_times_and_nothing_else(folder: Path) -> None:
    claim = HeldClaim(GPU, 1_000.0, folder)
    claim.expect_end(2_000.0)
    (file,) = folder.iterdir()
    assert json.loads(file.read_bytes()) == {"gpu": GPU, "since_s": 1_000.0, "until_s": 2_000.0}
    assert file.stat().st_mode & 0o777 == 0o644
    claim.release()


def test_that_every_state_of_a_file_is_as_long_as_any_other(folder: Path) -> None:
    claim = HeldClaim("G" * 80, 1e9 + 1 / 3, folder)
    (file,) = folder.iterdir()
    before = file.stat().st_size
    claim.expect_end(2e9 + 1 / 3)
    assert file.stat().st_size == before == 256
    claim.release()


def test_that_a_claim_is_past_as_soon_as_nobody_holds_it(folder: Path) -> None:
    os.close(planted(folder, json.dumps({"gpu": GPU, "since_s": 1.0}).encode()))
    assert len(list(folder.iterdir())) == 1
    assert seen_by_another(folder) == {}


def test_that_looking_takes_no_lock_and_lets_none_go(folder: Path) -> None:
    claim = HeldClaim(GPU, 1_000.0, folder)
    for _ in range(3):
        assert GPU in seen_by_another(folder)
    remove_left_behind(folder)
    assert GPU in seen_by_another(folder)
    claim.release()


def test_that_a_lock_to_read_makes_no_file_of_another_who_is_gone_look_alive(folder: Path) -> None:
    """It is the only lock that somebody can take who may not write the file."""
    os.close(planted(folder, json.dumps({"gpu": GPU, "since_s": 1.0}).encode()))
    with (folder / "planted.claim").open("rb") as file:
        fcntl.lockf(file, fcntl.LOCK_SH)
        fcntl.flock(file, fcntl.LOCK_EX)
        assert seen_by_another(folder) == {}


def test_that_two_runs_of_a_user_on_a_gpu_are_one_claim_until_the_later_end(folder: Path) -> None:
    early, late = HeldClaim(GPU, 1_000.0, folder), HeldClaim(GPU, 1_500.0, folder)
    early.expect_end(2_000.0)
    (seen,) = seen_by_another(folder)[GPU]
    assert (seen.since_s, seen.until_s) == (1_000.0, None)
    late.expect_end(3_000.0)
    (seen,) = seen_by_another(folder)[GPU]
    assert (seen.since_s, seen.until_s) == (1_000.0, 3_000.0)
    early.release()
    late.release()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"nonsense",
        b"\xff\xfe\x00",
        b"[" * 250,
        b'{"gpu": "GPU-1", "since_s": 1, "user": "root"}',
        b'{"gpu": "GPU-1", "since_s": -1}',
        b'{"gpu": "GPU-1", "since_s": 31536000000000000000}',
        b'{"gpu": "GPU-1", "since_s": NaN}',
        b'{"gpu": "GPU-1", "since_s": 1, "until_s": 1e300}',
        b'{"gpu": "' + b"G" * 100 + b'", "since_s": 1}',
        b'{"gpu": "GPU-1", "since_s": 1}' + b" " * 10_000,
    ],
)
def test_that_what_makes_no_sense_is_passed_over(folder: Path, content: bytes) -> None:
    claim = HeldClaim(OTHER_GPU, 1_000.0, folder)
    descriptor = planted(folder, content)
    assert set(seen_by_another(folder)) == {OTHER_GPU}
    os.close(descriptor)
    claim.release()


@pytest.mark.parametrize("plant", IN_PLACE_OF_A_FILE.values(), ids=IN_PLACE_OF_A_FILE)
def test_that_what_is_no_file_is_neither_followed_nor_waited_for(
    folder: Path, tmp_path: Path, plant: Plant
) -> None:
    victim = tmp_path / "victim"
    victim.write_text(json.dumps({"gpu": GPU, "since_s": 1.0}))
    plant(folder / "planted.claim", victim)
    assert seen_by_another(folder) == {}
    remove_left_behind(folder)
    assert victim.exists()


def test_that_files_of_others_in_the_folder_are_no_claims(folder: Path) -> None:
    descriptor = planted(folder, json.dumps({"gpu": GPU, "since_s": 1.0}).encode())
    (folder / "planted.claim").rename(folder / "planted.txt")
    assert seen_by_another(folder) == {}
    os.close(descriptor)


def test_that_of_a_user_who_fills_the_folder_a_few_files_are_opened(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(200):
        (folder / f"{number}.claim").touch()
    opened = []

    def counted(name: str, _folder: int) -> None:
        opened.append(name)

    monkeypatch.setattr(gpu_claims, "_held_content", counted)
    assert seen_by_another(folder) == {}
    assert len(opened) == 64


def test_that_a_folder_in_which_everybody_removes_everything_is_not_used(folder: Path) -> None:
    claim = HeldClaim(GPU, 1_000.0, folder)
    for mode in (0o777, 0o775):
        folder.chmod(mode)
        assert seen_by_another(folder) == {}
        with pytest.raises(UnfitFolderError, match="not sticky"):
            HeldClaim(GPU, 1_000.0, folder)
        with pytest.raises(UnfitFolderError) as caught:
            check_claims_folder(folder)
        assert caught.value.command == f"sudo chmod +t {folder}"
    claim.release()


def test_that_a_folder_that_somebody_has_filled_is_said_to_be(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gpu_claims, "_MOST_FILES", 3)
    for number in range(3):
        (folder / f"{number}").touch()
    check_claims_folder(folder)
    (folder / "3").touch()
    with pytest.raises(UnfitFolderError, match="more than 3 files"):
        check_claims_folder(folder)


def test_that_without_a_folder_nobody_holds_anything(tmp_path: Path) -> None:
    assert claims_of_others(tmp_path / "nowhere") == {}
    with pytest.raises(FileNotFoundError):
        HeldClaim(GPU, 1_000.0, tmp_path / "nowhere")
    (tmp_path / "file").touch()
    assert claims_of_others(tmp_path / "file") == {}


def test_that_a_variable_names_another_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(FOLDER_VARIABLE, "/somewhere/claims")
    assert claims_folder() == Path("/somewhere/claims")
    monkeypatch.delenv(FOLDER_VARIABLE)
    assert claims_folder() == Path("/var/lib/gpupanel/claims")


def test_that_what_killed_processes_left_behind_is_removed_and_nothing_else(folder: Path) -> None:
    claim = HeldClaim(GPU, 1_000.0, folder)
    os.close(planted(folder, b"left behind"))
    (folder / "notes.txt").write_text("a person's own")
    (folder / "just-now.claim").touch()
    long_ago = time.time() - 3_600.0
    for file in folder.iterdir():
        if not file.name.startswith("just-now"):
            os.utime(file, (long_ago, long_ago))
    with another_user():
        remove_left_behind(folder)
    assert len(list(folder.iterdir())) == 4
    remove_left_behind(folder)
    assert GPU in seen_by_another(folder)
    left = {file.name for file in folder.iterdir()}
    assert {"notes.txt", "just-now.claim"} <= left
    assert "planted.claim" not in left
    claim.release()


def test_that_a_claim_whose_file_was_removed_knows_it(folder: Path) -> None:
    claim = HeldClaim(GPU, 1_000.0, folder)
    assert claim.is_there
    (file,) = folder.iterdir()
    file.unlink()
    assert not claim.is_there
    claim.release()
