"""TFRecord files that a stranger made, or that are damaged: each is refused in a sentence."""

import gzip
import io
import os
import shutil
import struct
import time
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import psutil
import pytest
from PIL import Image

from gpupanel.domain.data import TfrecordData
from gpupanel.domain.preview import PreviewRequest
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.files.cache_folder import cache_folder
from gpupanel.trainer import size_limits
from gpupanel.trainer.datasets import cache_file
from gpupanel.trainer.datasets.examples import DataSet
from gpupanel.trainer.datasets.records import record_file, unpacked
from gpupanel.trainer.datasets.records.crc32c import masked_crc
from gpupanel.trainer.datasets.source import Reading, source_of
from gpupanel.trainer.tools.preview.preview import preview
from tests.fakes.hostile_files import IN_PLACE_OF_A_FILE, Plant
from tests.unit.trainer.record_files import example, framed, image, message, write_records

RECORDS = [example(x=[float(n), 2.0], y=n % 2) for n in range(20)]
ROWS = np.arange(20, dtype=np.int32)


def read(path: Path, **chosen: object) -> DataSet:
    data = TfrecordData(path=str(path), **chosen)
    return source_of(data).read(data, Reading(print))


def refused(path: Path, **chosen: object) -> Problem:
    with pytest.raises(ProblemError) as raised:
        read(path, **chosen)
    (problem,) = raised.value.problems
    assert problem.hint
    return problem


def as_file(folder: Path, content: bytes, name: str = "a.tfrecord") -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


def head(length: int) -> bytes:
    said = struct.pack("<Q", length)
    return said + struct.pack("<I", masked_crc(said))


def packed(content: bytes) -> bytes:
    """The same bytes at any time."""
    return gzip.compress(content, mtime=0)


WHOLE = b"".join(map(framed, RECORDS))
ONE = len(framed(RECORDS[0]))


@pytest.mark.parametrize("kept", [1, 8, 11, 12, 20, ONE - 1, ONE + 5, 5 * ONE + 13, len(WHOLE) - 1])
@pytest.mark.parametrize("packed", [False, True])
def test_that_a_file_that_is_cut_short_is_refused(tmp_path: Path, kept: int, packed: bool) -> None:
    content = WHOLE[:kept]
    problem = refused(as_file(tmp_path, gzip.compress(content) if packed else content))
    assert problem.code == "data_file_damaged"
    assert f"record {kept // ONE + 1:,} at byte {kept // ONE * ONE:,}" in problem.message


@pytest.mark.parametrize("place", [0, 7, 8, 12, 30, ONE - 1, 3 * ONE + 2, 3 * ONE + 20])
def test_that_a_byte_that_was_turned_is_seen(tmp_path: Path, place: int) -> None:
    content = bytearray(WHOLE)
    content[place] ^= 0x10
    problem = refused(as_file(tmp_path, bytes(content)), features="x", labels="y")
    expected = ("data_file_damaged", "record_not_an_example", "record_feature_missing")
    assert problem.code in expected


def test_that_a_record_is_held_against_its_checksum_when_it_is_first_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held: list[int] = []
    masked_crcs = record_file.masked_crcs

    def counting(pieces: list[bytes]) -> list[int]:
        held.append(len(pieces))
        return masked_crcs(pieces)

    monkeypatch.setattr(record_file, "masked_crcs", counting)
    streamed = read(as_file(tmp_path, WHOLE), cache="none").training
    for rows in (ROWS[:5], ROWS[3:9], ROWS[:9], ROWS):
        assert streamed.read(rows)[:, 0].tolist() == rows.tolist()
    assert held == [5, 4, 0, 11]


def test_that_a_wrong_checksum_names_the_record(tmp_path: Path) -> None:
    content = bytearray(WHOLE)
    content[15 * ONE - 1] ^= 1
    path = as_file(tmp_path, bytes(content))
    assert "Record 15 of " in refused(path).message
    streamed = read(path, cache="none").training
    streamed.read(ROWS[:14])
    with pytest.raises(ProblemError, match=r"Record 15 of .*checksum"):
        streamed.read(ROWS[10:])


@pytest.mark.parametrize("length", [2**63, 2**64 - 1, 2**31, 2**30 + 1, 2**20])
@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("before", [b"", WHOLE], ids=["first", "later"])
def test_that_a_length_that_lies_is_not_believed(
    tmp_path: Path, length: int, packed: bool, before: bytes
) -> None:
    content = before + head(length) + b"few"
    path = as_file(tmp_path, gzip.compress(content) if packed else content)
    assert refused(path).code == "data_file_damaged"


def test_that_a_record_larger_than_memory_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = as_file(tmp_path, WHOLE + framed(example(x=bytes(2**24), y=1)))
    monkeypatch.setattr(size_limits, "memory_bytes", lambda: 2**24)
    assert refused(path).code == "file_too_large"


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"", "data_empty"),
        (packed(b""), "data_empty"),
        (packed(WHOLE)[:-40], "data_file_damaged"),
        (packed(WHOLE)[:30] + bytes(30), "data_file_damaged"),
        (packed(WHOLE) + b"something else", "data_file_damaged"),
        (packed(packed(WHOLE)), "data_file_damaged"),
        (b"\x1f\x8b", "data_file_damaged"),
        (zlib.compress(WHOLE), "data_file_damaged"),
        (b"a,b\n1,2\n" * 30, "data_file_damaged"),
        (framed(b"a line of text, and no example"), "record_not_an_example"),
        (WHOLE + framed(b"a line of text, and no example"), "record_not_an_example"),
        (framed(b"") * 3, "record_features_ambiguous"),
        (framed(message(1, message(3, b"") * 100_001)), "record_not_an_example"),
    ],
    ids=lambda given: given if isinstance(given, str) else given[:8].hex(),
)
def test_that_what_is_no_file_of_examples_is_refused(
    tmp_path: Path, content: bytes, code: str
) -> None:
    assert refused(as_file(tmp_path, content)).code == code


def test_that_gzip_in_several_pieces_is_one_file(tmp_path: Path) -> None:
    middle = 7 * ONE + 3
    pieces = gzip.compress(WHOLE[:middle]) + gzip.compress(b"") + gzip.compress(WHOLE[middle:])
    for filled_up in (b"", bytes(700_000)):
        found = read(as_file(tmp_path, pieces + filled_up)).training
        assert found.read(ROWS)[:, 0].tolist() == ROWS.tolist()


@pytest.mark.parametrize(
    ("odd", "code", "words"),
    [
        (example(x=[1.0, 2.0, 3.0], y=1), "record_features_differ", "3 numbers"),
        (example(x=[1, 2], y=1), "record_features_differ", "int64"),
        (example(x=b"ab", y=1), "record_features_differ", "bytes"),
        (example(x=[1.0, 2.0], y=[1, 0]), "record_features_differ", "2 numbers"),
        (example(x=[1.0, 2.0], y=1.0), "record_features_differ", "float"),
        (example(y=1), "record_feature_missing", '"x"'),
        (example(x=[1.0, 2.0], z=1), "record_feature_missing", '"y"'),
        (b"", "record_feature_missing", "none"),
    ],
)
@pytest.mark.parametrize("cache", ["memory", "none"])
def test_that_a_record_unlike_the_others_is_named(
    tmp_path: Path, odd: bytes, code: str, words: str, cache: str
) -> None:
    # After those that a preview reads.
    path = write_records(tmp_path / "a.tfrecord", [*RECORDS, odd, *RECORDS])
    problem = refused(path, cache=cache)
    assert problem.code == code
    assert words in problem.message
    assert "ecord 21 of" in problem.message


def test_that_raw_bytes_and_shapes_must_be_the_same_in_every_record(tmp_path: Path) -> None:
    alike = [example(x=bytes(6), shape=[2, 3], y=n % 2) for n in range(12)]
    for odd in (example(x=bytes(5), shape=[2, 3], y=1), example(x=bytes(6), shape=[3, 2], y=1)):
        path = write_records(tmp_path / "a.tfrecord", [*alike, odd])
        assert refused(path, features="x").code == "record_features_differ"
    several = example(x=[bytes(6), bytes(6)], shape=[2, 3], y=1)
    path = write_records(tmp_path / "a.tfrecord", [*alike, several])
    assert refused(path, features="x").code == "record_not_an_example"


@pytest.mark.parametrize("plant", IN_PLACE_OF_A_FILE.values(), ids=IN_PLACE_OF_A_FILE)
@pytest.mark.parametrize("way", ["file", "folder", "pattern"])
def test_that_nothing_else_is_taken_for_a_file(tmp_path: Path, plant: Plant, way: str) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    victim = write_records(
        tmp_path / "beside" / "victim", [example(x=[0.0, 1.0], y=y) for y in (5, 6, 5)]
    )
    write_records(folder / "b.tfrecord", RECORDS)
    plant(folder / "a.tfrecord", victim)
    path = {"file": folder / "a.tfrecord", "folder": folder, "pattern": folder / "*.tfrecord"}[way]
    started_s = time.monotonic()
    name = plant.__name__
    if way == "folder" and name in ("link", "dangling_link", "endless", "folder"):
        found = read(path)  # links and what is in folders of that name are left out
        assert len(found.training) == 20
        links = [note.code for note in found.notes]
        assert links == ([] if name == "folder" else ["record_links_left_out"])
    elif name == "link":  # one that was named is followed
        assert read(path).training.labels[:3].tolist() == [5, 6, 5]
    elif (way, name) == ("pattern", "folder"):
        assert len(read(path).training) == 20
    else:
        codes = ("data_file_missing", "data_file_unreadable", "data_empty")
        assert refused(path).code in codes
    assert time.monotonic() - started_s < 2


@pytest.mark.parametrize("packed", [False, True])
def test_that_a_file_that_changes_or_goes_is_noticed(tmp_path: Path, packed: bool) -> None:
    path = write_records(tmp_path / "a.tfrecord", RECORDS, packed=packed)
    streamed = read(path, cache="none").training
    assert streamed.read(ROWS[:3])[:, 0].tolist() == [0, 1, 2]
    write_records(path, [example(x=[9.0, 9.0], y=1)] * 20, packed=packed)
    if packed:  # what was unpacked is still what it was
        assert streamed.read(ROWS[:3])[:, 0].tolist() == [0, 1, 2]
        for file in cache_folder("records").glob("*.kept"):
            file.unlink()
        code = "records_not_kept"
    else:
        with pytest.raises(ProblemError, match="was changed while it was read"):
            streamed.read(ROWS[:3])
        path.unlink()
        code = "data_file_missing"
    with pytest.raises(ProblemError) as raised:
        streamed.read(ROWS[:3])
    assert raised.value.problems[0].code == code


def test_that_a_file_that_is_written_while_it_is_counted_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_records(tmp_path / "a.tfrecord", RECORDS)
    take = record_file.Window.take

    def growing(window: record_file.Window, at: int, count: int) -> bytes:
        with path.open("ab") as file:
            file.write(b"more")
        return take(window, at, count)

    monkeypatch.setattr(record_file.Window, "take", growing)
    assert refused(path).code == "records_changed"


def test_that_a_changed_file_is_unpacked_anew_and_an_unchanged_one_is_not(tmp_path: Path) -> None:
    path = write_records(tmp_path / "a.tfrecord", RECORDS, packed=True)
    os.utime(path, (1, 1))
    done: list[str] = []

    def labels() -> list[int]:
        data = TfrecordData(path=str(path))
        reading = Reading(print, on_progress=lambda doing, *_: done.append(doing))
        return source_of(data).read(data, reading).training.labels.tolist()

    monkeypatch = pytest.MonkeyPatch()
    with monkeypatch.context() as patch:
        patch.setattr(cache_file, "_RECENT_NS", 0)  # as if it had been there for long
        assert labels() == [n % 2 for n in range(20)]
        done.clear()
        assert labels() == [n % 2 for n in range(20)]
        assert "unpacking the records" not in done
        for file in cache_folder("records").glob("*.kept"):
            file.write_bytes(file.read_bytes()[:-1])
        assert labels() == [n % 2 for n in range(20)]
        assert "unpacking the records" in done
        write_records(path, RECORDS[:1] * 3 + RECORDS[1:2], packed=True)
        assert labels() == [0, 0, 0, 1]


def test_that_a_bomb_of_zeros_ends_at_its_first_bytes(tmp_path: Path) -> None:
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    content = b"".join(packer.compress(bytes(2**20)) for _ in range(200)) + packer.flush()
    path = as_file(tmp_path, content)
    assert len(content) < 220_000
    before, started_s = psutil.Process().memory_info().rss, time.monotonic()
    assert refused(path).code == "data_file_damaged"
    assert psutil.Process().memory_info().rss - before < 2**25
    assert time.monotonic() - started_s < 1


def test_that_a_bomb_of_good_records_leaves_room_on_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = framed(example(x=bytes(2**20), y=1))
    path = as_file(tmp_path, gzip.compress(one * 40))
    free = shutil.disk_usage(tmp_path).free
    room = [2**29 + 20 * 2**20]

    def usage(_: object) -> object:
        room[0] -= 2**20
        return shutil._ntuple_diskusage(free, 0, room[0])

    monkeypatch.setattr(unpacked.shutil, "disk_usage", usage)
    problem = refused(path, predicts="values")
    assert problem.code == "records_no_space"
    assert not list(cache_folder("records").glob(".*"))
    monkeypatch.undo()
    monkeypatch.setattr("gpupanel.trainer.datasets.records.reader._LARGEST_PREVIEW_BYTES", 2**22)
    shown = preview(PreviewRequest(data=TfrecordData(path=str(path), predicts="values")))
    assert [each.code for each in shown.problems] == ["records_not_counted"]


def test_that_gzip_files_without_content_end(tmp_path: Path) -> None:
    path = as_file(tmp_path, gzip.compress(b"") * 50_000)
    started_s = time.monotonic()
    assert refused(path).code == "data_empty"
    assert time.monotonic() - started_s < 5


def large_image() -> bytes:
    """The first bytes of one of 40,000 x 40,000: only what it says of itself is read."""
    file = io.BytesIO()
    Image.new("1", (1, 1)).save(file, "PNG")
    content = bytearray(file.getvalue())
    content[16:24] = struct.pack(">II", 40_000, 40_000)
    content[29:33] = struct.pack(">I", zlib.crc32(content[12:29]))
    return bytes(content)


@pytest.mark.parametrize(
    ("broken", "words"),
    [
        (lambda: image(5)[:48], "truncated"),
        (lambda: b"no picture", "truncated or is not an image"),
        (large_image, "more than 89,478,485 pixels"),
    ],
)
def test_that_a_bad_image_is_named(tmp_path: Path, broken: Callable[[], bytes], words: str) -> None:
    records = [example(image=image(n), label=n % 2) for n in range(12)]
    path = write_records(tmp_path / "a.tfrecord", [*records, example(image=broken(), label=1)])
    problem = refused(path)
    assert problem.code == "record_picture_unreadable"
    assert "record 13 of" in problem.message
    assert words in problem.message


def test_that_a_cache_that_cannot_be_written_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_records(tmp_path / "a.tfrecord", RECORDS, packed=True)
    (tmp_path / "file").touch()
    monkeypatch.setenv("GPUPANEL_CACHE_DIR", str(tmp_path / "file"))
    assert refused(path).code == "records_not_kept"
