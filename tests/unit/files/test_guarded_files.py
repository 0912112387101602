"""Files of a folder that a stranger filled: nothing else is opened in their place."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from gpupanel.files.guarded_files import (
    UnsafeFileError,
    check_folder,
    make_folder,
    open_to_append,
    open_to_read,
    open_to_write,
    read_file,
    remove,
    status,
    touch,
)
from gpupanel.files.line_log import LineLog
from gpupanel.files.locks import is_lock_held, lock_in_folder
from gpupanel.files.regular_files import NotRegularFileError, open_regular
from gpupanel.files.reserved_log import ReservedLog
from gpupanel.files.whole_files import whole_file
from tests.fakes import hostile_files
from tests.fakes.hostile_files import (
    IN_PLACE_OF_A_FILE,
    IN_PLACE_OF_A_FOLDER,
    Plant,
    as_it_stands,
)

pytestmark = pytest.mark.timeout(20)

CONTENT = "ssh-ed25519 of the person's\n"


@pytest.fixture
def victim(tmp_path: Path) -> Path:
    """A file of the person's outside of the run."""
    home = tmp_path / "home"
    home.mkdir()
    path = home / "authorized_keys"
    path.write_text(CONTENT)
    return path


@pytest.fixture
def run(tmp_path: Path) -> Path:
    folder = tmp_path / "run"
    folder.mkdir()
    return folder


def assert_untouched(victim: Path) -> None:
    assert victim.read_text() == CONTENT
    assert [path.name for path in victim.parent.iterdir()] == [victim.name]


def _append(path: Path) -> None:
    os.close(open_to_append(path))


def _write(path: Path) -> None:
    open_to_write(path).close()


WRITERS: dict[str, Callable[[Path], object]] = {
    "append": _append,
    "write": _write,
    "touch": touch,
    "line log": LineLog,
    "lock": lock_in_folder,
}


@pytest.mark.parametrize("how", WRITERS)
@pytest.mark.parametrize("plant", [*IN_PLACE_OF_A_FILE.values(), hostile_files.hard_link])
def test_that_what_is_no_file_of_the_run_is_not_written(
    run: Path, victim: Path, plant: Plant, how: str
) -> None:
    path = run / "trainer.log"
    plant(path, victim)
    with pytest.raises(UnsafeFileError) as caught:
        WRITERS[how](path)
    assert caught.value.path == path
    assert_untouched(victim)


@pytest.mark.parametrize("plant", IN_PLACE_OF_A_FILE.values())
def test_that_what_is_no_file_of_the_run_is_not_read(run: Path, victim: Path, plant: Plant) -> None:
    path = run / "run.lock"
    plant(path, victim)
    for read in (open_to_read, read_file):
        with pytest.raises(UnsafeFileError):
            read(path)
    assert not is_lock_held(path)


@pytest.mark.parametrize("plant", IN_PLACE_OF_A_FOLDER.values())
def test_that_nothing_is_done_in_a_folder_that_is_a_link(
    run: Path, victim: Path, plant: Plant
) -> None:
    inner = run / "requests"
    plant(inner, victim)
    for do in (
        lambda: make_folder(inner),
        lambda: check_folder(inner),
        lambda: touch(inner / "stop", run),
        lambda: remove(inner / victim.name, run),
        lambda: status(inner / victim.name, run),
        lambda: open_to_read(inner / victim.name, run),
        lambda: make_folder(inner / "deeper", run),
    ):
        with pytest.raises(UnsafeFileError):
            do()
    assert_untouched(victim)


def test_that_a_file_of_another_user_is_not_opened(run: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give a file to another user")
    path = run / "plan.json"
    path.write_text("{}")
    os.chown(path, 12_345, -1)
    with pytest.raises(UnsafeFileError, match="another user"):
        open_to_read(path)
    # All of it is somebody's: root, or who looks at a colleague's run.
    os.chown(run, 12_345, -1)
    assert read_file(path) == b"{}"


def test_that_a_run_kept_on_another_disk_is_reached_by_a_link(run: Path, tmp_path: Path) -> None:
    (tmp_path / "by link").symlink_to(run)
    touch(tmp_path / "by link" / "trainer.log")
    make_folder(tmp_path / "by link" / "requests")
    assert sorted(path.name for path in run.iterdir()) == ["requests", "trainer.log"]


def test_that_a_log_replaced_by_a_link_is_not_followed(run: Path, victim: Path) -> None:
    path = run / "events.jsonl"
    log = LineLog(path)
    log.append("before")
    path.unlink()
    path.symlink_to(victim)
    with pytest.raises(UnsafeFileError):
        log.append("ssh-ed25519 of a stranger")
    log.close()
    assert_untouched(victim)


def test_that_a_reserve_that_is_a_link_is_only_unlinked(run: Path, victim: Path) -> None:
    (run / "reserve").symlink_to(victim)
    ReservedLog(run / "events.jsonl", run / "reserve").close()
    assert_untouched(victim)
    assert not (run / "reserve").is_symlink()


def test_that_what_is_written_beside_follows_no_link(run: Path, victim: Path) -> None:
    (run / f".label.toml.{os.getpid()}").symlink_to(victim)
    with whole_file(run / "label.toml", private=True) as file:
        file.write(b"name = 'mine'\n")
    assert_untouched(victim)
    assert (run / "label.toml").read_text() == "name = 'mine'\n"


def test_that_a_file_of_ours_takes_the_place_of_a_link_and_not_of_its_target(
    run: Path, victim: Path
) -> None:
    (run / "label.toml").symlink_to(victim)
    with whole_file(run / "label.toml", private=True) as file:
        file.write(b"")
    assert_untouched(victim)
    assert not (run / "label.toml").is_symlink()


@pytest.mark.parametrize("plant", IN_PLACE_OF_A_FILE.values())
def test_that_an_output_replaces_no_link_no_device_and_no_fifo(
    run: Path, victim: Path, plant: Plant
) -> None:
    path = run / "script.py"
    plant(path, victim)
    before = as_it_stands(path)
    with pytest.raises(NotRegularFileError), whole_file(path) as file:
        file.write(b"print()\n")
    assert as_it_stands(path) == before
    assert [each.name for each in run.iterdir()] == [path.name]
    assert_untouched(victim)


def test_that_what_is_to_be_read_may_be_a_link_and_nothing_else(run: Path, victim: Path) -> None:
    (run / "data.npz").symlink_to(victim)
    with open_regular(run / "data.npz") as file:
        assert file.read().decode() == CONTENT
    for name in ("fifo", "unix_socket", "endless", "folder"):
        IN_PLACE_OF_A_FILE[name](run / name, victim)
        with pytest.raises(NotRegularFileError):
            open_regular(run / name)


def test_that_an_endless_file_is_not_read_whole(run: Path) -> None:
    path = run / "plan.json"
    with path.open("wb") as file:
        file.truncate(2**40)
    with pytest.raises(OSError, match="larger than"):
        read_file(path)
