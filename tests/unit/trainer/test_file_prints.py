"""What shows that files are still what they were, of many files in little memory."""

import json
import os
from pathlib import Path

import numpy as np
import pytest

from gpupanel.trainer.datasets import file_prints
from gpupanel.trainer.datasets.file_prints import DataFiles, FilePrint, FilePrints
from gpupanel.trainer.datasets.fingerprint import Fingerprint, compare

FAR_FUTURE_S = 99_999_999_999
"""The year 5138: more nanoseconds from 1970 than 64 bits hold."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for number in range(7):
        (tmp_path / f"{number}.png").write_text(str(number))
    return tmp_path


def files_in(folder: Path) -> DataFiles:
    return DataFiles(folder, sorted(folder.iterdir()))


def read_again(prints: FilePrints) -> FilePrints:
    return Fingerprint.from_json(b"".join(Fingerprint(1, (), prints).to_json())).files


def test_that_prints_say_what_the_system_says(folder: Path) -> None:
    prints = files_in(folder).prints
    there = (folder / "3.png").stat()
    expected = FilePrint("3.png", 1, there.st_mtime_ns, there.st_ctime_ns, there.st_ino, digest="")
    assert prints[3] == [*prints][3] == expected
    assert prints[-1].path == "6.png"
    with pytest.raises(IndexError):
        prints[7]


def test_that_each_file_is_there_once(folder: Path) -> None:
    one, other = folder / "1.png", folder / "2.png"
    found = DataFiles(folder, [one, other, one], {"test": (folder, [other])})
    assert [each.path for each in found.prints] == ["1.png", "2.png", "test://2.png"]
    assert found.prints[2].path == "test://2.png"
    assert found.digests_of([0, 2]) == [found.digest_of(0), found.digest_of(1)]


@pytest.mark.parametrize("at_once", [1, 3, 7, 8])
def test_that_prints_are_kept_in_pieces_as_in_one(
    folder: Path, at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = files_in(folder)
    digests = np.array(files.digests_of(range(7)), files.prints.digests.dtype)
    digests[2] = b""
    prints = files.prints.with_digests(digests)
    monkeypatch.setattr(file_prints, "_AT_ONCE", at_once)
    document = json.loads(b"".join(Fingerprint(5, (), prints).to_json()))
    assert document["files"] == [list(each) for each in prints]
    assert read_again(prints) == prints != files.prints


def test_that_no_files_are_kept_as_none() -> None:
    none = Fingerprint(5)
    assert none.is_complete
    assert Fingerprint.from_json(b"".join(none.to_json())) == none


@pytest.mark.parametrize("time_s", [FAR_FUTURE_S, -FAR_FUTURE_S, -1])
def test_that_times_of_any_year_are_held(folder: Path, time_s: int) -> None:
    try:
        os.utime(folder / "1.png", (time_s, time_s))
    except OSError:
        pytest.skip("this file system has no such times")
    files = files_in(folder)
    assert files.digest_of(1)
    assert read_again(files.prints) == files.prints
    now = Fingerprint(files.looked_ns, (), files.prints)
    differences, _ = compare(now, now, files)
    assert not differences.changed


@pytest.mark.parametrize(
    "row",
    [
        ["a", 1, 1, 1, 2**64],
        ["a", 1, 1, 1, -1],
        ["a", 1, 2**63, 1, 1],
        ["a", 1, 1, 1, 1, "f" * 65],
        ["a", 1, 1, 1, 1, "\u00e9" * 64],
        ["a", 1.5, 1, 1, 1],
        ["a"],
        "a",
        None,
    ],
)
def test_that_what_is_no_print_is_damaged(row: object) -> None:
    content = json.dumps({"schema_version": 1, "looked_ns": 1, "files": [row]}).encode()
    with pytest.raises(ValueError, match=r"."):
        Fingerprint.from_json(content)


def test_that_files_in_another_order_are_found(folder: Path) -> None:
    files = files_in(folder)
    before = DataFiles(folder, [folder / "5.png", folder / "1.png", folder / "3.png"])
    assert files.prints.places_in(before.prints).tolist() == [-1, 1, -1, 2, -1, 0, -1]
    was = Fingerprint(before.looked_ns, (), before.prints)
    now = Fingerprint(files.looked_ns, (), files.prints)
    differences, _ = compare(was, now, files)
    assert differences.added == ("0.png", "2.png", "4.png", "6.png")
    assert compare(now, was, before)[0].missing == differences.added
