"""A log that another process writes without end keeps its beginning and its end."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from gpupanel.files import bounded_log as module
from gpupanel.files.bounded_log import BoundedLog, bound_unnamed

KIB = 2**10
HEAD, TAIL = 64 * KIB, 64 * KIB


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "trainer.log"


def lines(first: int, count: int) -> str:
    return "".join(f"line {number:08d}\n" for number in range(first, first + count))


def append(path: Path, text: str) -> None:
    with path.open("a") as file:
        file.write(text)


def on_disk(path: Path) -> int:
    return path.stat().st_blocks * 512


def test_that_a_log_within_its_bound_stays_as_it_is(path: Path) -> None:
    log = BoundedLog(path, HEAD, TAIL)
    log.bound()  # there is none yet
    append(path, lines(0, 10_000))  # 140 kB
    log.bound()
    log.close()
    assert path.read_text() == lines(0, 10_000)


@pytest.mark.parametrize("can_give_back", [True, False])
def test_that_a_log_without_end_keeps_its_beginning_and_its_end(
    path: Path, *, can_give_back: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not can_give_back:  # as on NTFS or an old NFS
        monkeypatch.setattr(module, "_give_back", lambda *_: False)
    append(path, "of an attempt before\n")
    log = BoundedLog(path, HEAD, TAIL)
    most = 0
    for piece in range(30):
        append(path, lines(piece * 5_000, 5_000))  # 70 kB
        log.bound()
        most = max(most, on_disk(path))
    append(path, "the last word\n")
    log.close()

    text = path.read_text()
    assert most < 2**20  # of 2 MiB; some file systems take more than is written
    assert len(text) < HEAD + 3 * TAIL + KIB
    assert text.startswith("of an attempt before\nline 00000000\nline 00000001\n")
    assert "\0" not in text
    assert "bytes of this log are left out here]\n" in text
    assert text.endswith("line 00149999\nthe last word\n")
    kept = [line for line in text.splitlines() if line.startswith("line ") and len(line) == 13]
    assert kept == sorted(kept)


def test_that_no_line_is_lost_that_is_written_at_that_moment(path: Path) -> None:
    """A process writes as fast as it can, through the descriptor that it has from its start."""
    log = BoundedLog(path, HEAD, TAIL)
    code = "import sys\nfor n in range(150_000): sys.stdout.write(f'line {n:08d}\\n')"
    with path.open("ab") as file:
        writer = subprocess.Popen([sys.executable, "-c", code], stdout=file)
    while writer.poll() is None:
        log.bound()
    log.close()

    text = path.read_text()
    end = text[text.rindex("left out here]\n") :].splitlines()[2:]
    assert end[-1] == "line 00149999"
    assert [int(line[5:]) for line in end] == list(range(150_000 - len(end), 150_000))
    assert len(end) * 14 >= TAIL - 14


def test_that_a_log_that_is_a_link_is_left_alone(path: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.write_text(lines(0, 50_000))
    log = BoundedLog(path, HEAD, TAIL)
    path.symlink_to(other)
    log.bound()
    log.close()
    assert other.read_text() == lines(0, 50_000)


def test_that_a_log_without_a_name_keeps_its_end() -> None:
    with tempfile.TemporaryFile() as file:
        for piece in range(30):
            file.write(lines(piece * 5_000, 5_000).encode())
            file.flush()
            bound_unnamed(file.fileno(), TAIL)
        end = os.pread(file.fileno(), 2**22, 0)[-TAIL:]
        assert os.fstat(file.fileno()).st_blocks * 512 < 2**20  # of 2 MiB
    assert end.decode() == lines(0, 150_000)[-TAIL:]
