"""Lines appended to files, on disks that are full and in folders that somebody tidies up."""

import errno
import os
from pathlib import Path

import pytest

from gpupanel.files import line_log
from gpupanel.files.line_log import LineLog
from gpupanel.files.patient_log import PatientLog
from gpupanel.files.reserved_log import RESERVE_BYTES, ReservedLog
from tests.fakes.small_disks import fill, small_disk  # noqa: F401 - a fixture


def lines(path: Path) -> list[str]:
    return path.read_text().splitlines()


def test_that_a_line_is_not_glued_to_a_torn_one(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text("whole\nto")
    log = LineLog(path)
    log.append("next")
    log.close()

    assert lines(path) == ["whole", "to", "next"]


def test_that_a_line_is_not_glued_to_one_that_another_process_tears_meanwhile(
    small_disk: Path,  # noqa: F811
) -> None:
    path = small_disk / "log"
    theirs, ours = LineLog(path), LineLog(path)
    ours.append("before")
    filler = fill(small_disk)
    with pytest.raises(OSError, match=r"No space left|in part"):
        theirs.append("torn" * 5_000)
    assert not path.read_bytes().endswith(b"\n")
    filler.unlink()
    ours.append("the last word")
    for log in (theirs, ours):
        log.close()

    assert lines(path)[0] == "before"
    assert lines(path)[-1] == "the last word"


@pytest.mark.parametrize("replaced", [False, True])
def test_that_a_file_that_was_deleted_is_made_anew(tmp_path: Path, replaced: bool) -> None:
    path = tmp_path / "log"
    log = LineLog(path)
    log.append("before")
    path.unlink()
    if replaced:
        path.write_text("of somebody else\n")
    log.append("after")
    log.close()

    assert lines(path)[-1] == "after"
    assert log.times_made_anew == 1


def test_that_a_log_whose_folder_is_gone_says_so(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    log = LineLog(folder / "log")
    (folder / "log").unlink()
    folder.rmdir()
    with pytest.raises(FileNotFoundError):
        log.append("lost")


def test_that_lines_wait_for_space(small_disk: Path) -> None:  # noqa: F811
    path = small_disk / "log"
    log = PatientLog(path)
    log.append("before")
    filler = fill(small_disk)
    written = [f"line {number} {'x' * 1_000}" for number in range(20)]
    for line in written:
        log.append(line)
    assert log.waiting > 10
    os.utime(path, (0.0, 0.0))
    log.append("one more")
    assert path.stat().st_mtime > 0.0
    with pytest.raises(OSError, match="No space left"):
        log.flush()

    filler.unlink()
    log.append("after")
    log.close()
    assert log.waiting == 0
    # A line that was torn off by the full disk is there as far as it got, and whole after it.
    written.append("one more")
    told = [line for line in lines(path) if line in ("before", "after", *written)]
    assert told == ["before", *written, "after"]


def test_that_what_may_be_dropped_is_dropped_first(small_disk: Path) -> None:  # noqa: F811
    log = PatientLog(small_disk / "log", most_waiting=3)
    filler = fill(small_disk)
    for number in range(10):
        log.append(f"step {number} {'x' * 5_000}", may_be_dropped=True)
    log.append("the end", may_be_dropped=False)
    assert (log.waiting, log.dropped) == (3, 8)

    filler.unlink()
    log.flush()
    log.close()
    assert lines(small_disk / "log")[-1] == "the end"


def test_that_the_last_words_find_their_space(small_disk: Path) -> None:  # noqa: F811
    log = ReservedLog(small_disk / "log", small_disk / "reserve")
    assert (small_disk / "reserve").stat().st_size == RESERVE_BYTES
    fill(small_disk)
    log.append("last words " + "x" * 20_000)
    log.close()

    assert lines(small_disk / "log")[-1].startswith("last words")
    assert not (small_disk / "reserve").exists()


def test_that_lines_wait_for_a_disk_that_stumbles(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = PatientLog(tmp_path / "log")
    look = line_log.status

    def stumble(path: Path) -> os.stat_result | None:
        raise OSError(errno.ESTALE, "Stale file handle")

    os.utime(tmp_path / "log", (0.0, 0.0))
    monkeypatch.setattr(line_log, "status", stumble)
    log.append("one")
    log.append("two")
    assert log.waiting == 2
    assert (tmp_path / "log").stat().st_mtime > 0.0  # that it is tried can be seen
    monkeypatch.setattr(line_log, "status", look)
    log.append("three")
    log.close()
    assert (tmp_path / "log").read_text() == "one\ntwo\nthree\n"
