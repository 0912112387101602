"""A scan of what somebody made to do harm: it ends, in bounded memory, and says what there is."""

import json
import os
import shutil
import signal
import struct
import subprocess
import sys
import threading
import time
import tracemalloc
import zlib
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from gpupanel.domain.child_command import python_module_command
from gpupanel.domain.data import ImagesData, NpzData, TableData
from gpupanel.domain.scan import ScanProgress, ScanRequest
from gpupanel.runs.questions.data_scan import scan_data
from gpupanel.trainer.datasets.scanning import images
from gpupanel.trainer.tools.scan import scan
from tests.fakes.questions import asked_of
from tests.patience import PATIENCE_S
from tests.unit.trainer.test_scan_of_images import codes, image, make_many, scanned

_BYTES_A_FILE = 1_000


def test_that_memory_is_bounded_however_many_files_there_are(tmp_path: Path) -> None:
    """A million tiny files take less than a gigabyte; here stand a thousand for them."""
    count = 1_200
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    for number in range(count):
        (tmp_path / "ab"[number % 2] / f"{number:07}.png").touch()
    found = scanned(tmp_path)  # what is loaded with the first scan stays
    assert found.unreadable_count == count
    assert len(found.unreadable) == 1_000
    # Not in each of them Python enlarges its table of interned names, by megabytes in a process
    # that has many: parts of paths are interned.
    most = _BYTES_A_FILE * count + 4 * 2**20
    assert any(peak_of_scan(tmp_path) < most for _ in range(3))


def peak_of_scan(root: Path) -> int:
    """The most bytes of Python's that a scan has at once."""
    tracemalloc.start()
    try:
        scanned(root)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_that_names_of_any_bytes_are_shown_and_do_nothing(tmp_path: Path) -> None:
    make_many(tmp_path, {"caf\udce9": 1, "\x1b[2Jcat": 1, "\u202edog": 1})
    shutil.copy(tmp_path / "caf\udce9" / "0.png", tmp_path / "\u202edog" / "\n\x07.png")
    (tmp_path / "\x1b[2Jcat" / "b\udcffd.png").touch()
    found = scan_data(ScanRequest(data=ImagesData(path=str(tmp_path))))
    assert found.is_complete
    text = json.dumps(found.model_dump(mode="json"), ensure_ascii=False)
    assert not {"\x1b", "\u202e", "\udce9", "\x07"} & set(text)
    assert [each.name for each in found.unreadable] == [r"\x1b[2Jcat/b\xffd.png"]
    assert r"\u202edog/\n\x07.png" in found.problems[1].message


def test_that_loops_of_links_fifos_and_bombs_end_no_scan(tmp_path: Path) -> None:
    root = make_many(tmp_path / "root", {"cat": 2, "dog": 2})
    (root / "cat" / "loop").symlink_to(root)
    (root / "cat" / "round.png").symlink_to(root / "cat" / "round.png")
    (root / "dog" / "nowhere.png").symlink_to(tmp_path / "gone.png")
    os.mkfifo(root / "dog" / "fifo.jpg")
    (root / "dog" / "null.jpg").symlink_to("/dev/zero")
    (root / "dog" / "bomb.png").write_bytes(_png(40_000, 40_000))
    with (root / "dog" / "sparse.png").open("wb") as file:
        file.truncate(2**40)
    found = scan_data(ScanRequest(data=ImagesData(path=str(root))))
    assert found.is_complete
    assert found.sets[0].examples == 10
    whys = {Path(each.name).name: each.why for each in found.unreadable}
    assert set(whys) == {
        "round.png",
        "nowhere.png",
        "fifo.jpg",
        "null.jpg",
        "bomb.png",
        "sparse.png",
    }
    assert "FIFO" in whys["fifo.jpg"]
    assert "a character device" in whys["null.jpg"]
    assert "larger than" in whys["bomb.png"]


def _png(width: int, height: int) -> bytes:
    def chunk(kind: bytes, body: bytes) -> bytes:
        check = struct.pack(">I", zlib.crc32(kind + body))
        return struct.pack(">I", len(body)) + kind + body + check

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    parts = ((b"IHDR", header), (b"IDAT", zlib.compress(bytes(1000))), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunk(*part) for part in parts)


def test_that_a_folder_that_goes_away_meanwhile_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = make_many(tmp_path / "root", {"cat": 20, "dog": 20})
    monkeypatch.setattr(images, "_CHUNK", 10)

    def progress(doing: str, done: int, total: int) -> None:
        if done >= 20 and root.exists():
            root.rename(tmp_path / "elsewhere")

    found = scan(ScanRequest(data=ImagesData(path=str(root))), progress)
    assert codes(found)[0] == "scan_folder_gone"
    assert found.unreadable_count == 20
    unreadable = next(each for each in found.problems if each.code != "scan_folder_gone")
    assert unreadable.fix is None


def test_that_a_file_that_changes_meanwhile_is_named_and_not_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_many(tmp_path, {"cat": 3, "dog": 3})
    real = images.digest_of_file

    def slow(file: object, size_bytes: int) -> object:
        digest = real(file, size_bytes)
        if Path(f"/proc/self/fd/{file.fileno()}").readlink().match("dog/1.png"):
            image(tmp_path / "dog" / "1.png", 99)
        return digest

    monkeypatch.setattr(images, "digest_of_file", slow)
    found = scanned(tmp_path)
    (changed,) = [each for each in found.problems if each.code == "scan_files_changed"]
    assert "dog/1.png" in changed.message
    assert found.unreadable_count == 0


def test_that_a_vanished_folder_and_a_damaged_file_are_problems_of_the_report(
    tmp_path: Path,
) -> None:
    assert codes(scanned(tmp_path / "none")) == ["data_file_missing"]
    (tmp_path / "torn.npz").write_bytes(b"PK\x03\x04")
    found = scan(ScanRequest(data=NpzData(path=str(tmp_path / "torn.npz"))))
    assert codes(found) == ["data_file_damaged"]
    assert not found.is_complete


def _children_below(folder: Path) -> list[psutil.Process]:
    found = []
    for each in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):
            if "gpupanel.trainer.tools.scan" in each.cmdline():
                found.append(each)
    return found


def test_that_a_cancelled_scan_ends_at_once_and_leaves_nothing(
    tmp_path: Path, cache_dir: Path
) -> None:
    root = make_many(tmp_path / "root", {"cat": 30, "dog": 30})
    for number in range(4000):
        os.link(root / "cat" / "0.png", root / "cat" / f"link{number}.png")
    before = set((cache_dir / "scans").glob("*")) if (cache_dir / "scans").exists() else set()
    cancelled = threading.Event()
    found = scan_data(
        ScanRequest(data=ImagesData(path=str(root))),
        cancelled=cancelled,
        on_progress=lambda news: cancelled.set() if getattr(news, "done", 0) else None,
    )
    assert not found.is_complete
    assert [each.examples for each in found.sets] == [4060]  # the first look
    assert _children_below(tmp_path) == []
    after = set((cache_dir / "scans").glob("*")) if (cache_dir / "scans").exists() else set()
    assert after == before


def test_that_a_scan_ends_with_the_process_that_asked_for_it(tmp_path: Path) -> None:
    root = make_many(tmp_path / "root", {"cat": 30, "dog": 30})
    for number in range(20_000):
        os.link(root / "cat" / "0.png", root / "cat" / f"link{number}.png")
    request = ScanRequest(data=ImagesData(path=str(root))).model_dump_json()
    command, answer = python_module_command("gpupanel.trainer.tools.scan"), tmp_path / "answer"
    code = (
        "import subprocess, sys, time\n"
        # Not a pipe: that would end the child by itself when nobody reads it any more.
        f"child = subprocess.Popen({command!r}, stdin=subprocess.PIPE, "
        f"stdout=open({str(answer)!r}, 'wb'))\n"
        "child.stdin.write(sys.argv[1].encode()); child.stdin.close()\n"
        "print(child.pid, flush=True); time.sleep(600)\n"
    )
    asking = subprocess.Popen(
        [sys.executable, "-c", code, request],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )
    assert asking.stdout is not None
    child = psutil.Process(int(asking.stdout.readline()))
    end_s = time.monotonic() + PATIENCE_S
    while b"progress" not in answer.read_bytes():
        assert time.monotonic() < end_s
        time.sleep(0.01)
    asking.send_signal(signal.SIGKILL)
    asking.wait(PATIENCE_S)
    asking.stdout.close()
    with suppress(psutil.NoSuchProcess):
        while child.status() != psutil.STATUS_ZOMBIE:
            assert time.monotonic() < end_s
            time.sleep(0.02)
    assert b'"scan"' not in answer.read_bytes()  # it did not come to its end


_SLOW_IMPORT = """
import time
from gpupanel.trainer.datasets.tables import table_file

real = table_file.import_rows

def slow(batches, *rest):
    def slowly():
        for batch in batches:
            yield batch
            time.sleep(30)
    return real(slowly(), *rest)

table_file.import_rows = slow
from gpupanel.trainer.tools.scan import main
main()
"""


def test_that_a_scan_that_is_cancelled_while_a_table_is_imported_leaves_no_rows(
    tmp_path: Path, cache_dir: Path
) -> None:
    (tmp_path / "t.csv").write_text("a,target\n" + "1.5,yes\n" * 100_000)
    tables = cache_dir / "tables"
    before = set(tables.glob("*")) if tables.exists() else set()
    cancelled = threading.Event()
    found = asked_of(scan_data, _SLOW_IMPORT)(
        ScanRequest(data=TableData(path=str(tmp_path / "t.csv"))),
        cancelled=cancelled,
        on_progress=lambda news: cancelled.set() if isinstance(news, ScanProgress) else None,
    )
    assert not found.is_complete
    assert [each.name for each in found.columns] == ["a", "target"]  # of the first look
    assert set(tables.glob(".*")) == set()
    assert {each for each in tables.glob("*") if each.suffix != ".lock"} <= before
