"""Locks that many processes look at while others take them."""

import errno
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from gpupanel.domain.run_layout import RunLayout
from gpupanel.files import locks
from gpupanel.files.file_obstacles import NoLocksError
from gpupanel.files.locks import check_folder, is_lock_held, lock_in_folder
from gpupanel.runs.directory.run_lock import hold_run_lock

LOOKERS = 4
# Looks without a pause until its standard input is closed, and tells what it saw.
LOOKER = """
import select, sys
from pathlib import Path
from gpupanel.files.locks import is_lock_held

path, seen, looks = Path(sys.argv[1]), 0, 0
print(flush=True)
while not select.select([sys.stdin], [], [], 0.0)[0]:
    for _ in range(100):
        seen, looks = seen + is_lock_held(path), looks + 1
print(seen, looks)
"""


@contextmanager
def lookers(path: Path, seen: list[int]) -> Iterator[None]:
    """Processes that look at the lock; ``seen`` gets how often each of them saw it held."""
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", LOOKER, str(path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(LOOKERS)
    ]
    try:
        for process in processes:
            assert process.stdout is not None
            process.stdout.readline()
        yield
    finally:
        for process in processes:
            words = process.communicate(timeout=20.0)[0].split()
            assert int(words[1]) > 100
            seen.append(int(words[0]))


def test_that_many_who_ask_at_once_never_take_each_other_for_the_holder(tmp_path: Path) -> None:
    path, seen = tmp_path / "run.lock", list[int]()
    path.touch()
    with lookers(path, seen):
        found = [is_lock_held(path) for _ in range(10_000)]
    assert not any(found)
    assert seen == [0] * LOOKERS


def test_that_many_who_ask_at_once_keep_no_supervisor_from_its_lock(tmp_path: Path) -> None:
    layout, seen = RunLayout(tmp_path), list[int]()
    layout.lock.touch()
    with lookers(layout.lock, seen):
        for _ in range(20):
            lock = hold_run_lock(layout)
            assert all(is_lock_held(layout.lock) for _ in range(100))
            lock.release()


def test_that_asking_makes_no_lock(tmp_path: Path) -> None:
    assert not is_lock_held(tmp_path / "none" / "run.lock")
    assert not is_lock_held(tmp_path / "run.lock")
    assert list(tmp_path.iterdir()) == []


def test_that_a_lock_in_a_folder_that_is_gone_does_not_make_it_anew(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        lock_in_folder(tmp_path / "gone" / "resume.lock")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("number", [errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP])
def test_that_a_file_system_without_locks_is_refused_and_holds_none(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "run.lock"
    path.touch()

    def refuse(_descriptor: int, _operation: int) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(locks.fcntl, "flock", refuse)
    for ask in (lambda: lock_in_folder(path), lambda: check_folder(tmp_path)):
        with pytest.raises(NoLocksError) as caught:
            ask()
        assert caught.value.errno == number
    assert not is_lock_held(path)
    assert list(tmp_path.iterdir()) == [path]


def test_that_a_folder_that_goes_right_before_its_lock_is_taken_does_not_come_back(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    lock = lock_in_folder(folder / "resume.lock")
    folder.rename(tmp_path / ".deleted-run")
    with pytest.raises(FileNotFoundError), lock:
        pass
    assert not folder.exists()
    assert not lock.is_locked
