"""Tables that a stranger made: each is refused in a sentence, in little memory and time."""

import os
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import psutil
import pyarrow as pa
import pyarrow.parquet
import pytest

from gpupanel.domain.data import TableData
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.trainer.datasets.examples import DataSet
from gpupanel.trainer.datasets.source import Reading, source_of
from gpupanel.trainer.datasets.tables import table_file

MIB = 2**20
ROWS = "x,y\n" + "".join(f"{place}.5,{place % 3}.25\n" for place in range(50))


def read(path: Path, **chosen: object) -> DataSet:
    data = TableData(path=str(path), **chosen)
    return source_of(data).read(data, Reading(print))


def refused(path: Path, **chosen: object) -> Problem:
    with pytest.raises(ProblemError) as raised:
        read(path, **chosen)
    (problem,) = raised.value.problems
    return problem


def as_file(folder: Path, content: str | bytes, name: str = "t.csv") -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"", "data_empty"),
        (b"\n\n  \n", "data_empty"),
        (b"\xef\xbb\xbf", "data_empty"),
        (b"x,y\n", "data_empty"),
        (ROWS.encode() + b"1,\0,\0\n", "table_no_text"),
        (bytes(range(256)) * 40, "table_no_text"),
        (ROWS.encode() + b"1,2,3\n", "table_ragged"),
        (ROWS.encode() + b"1\n", "table_ragged"),
        (ROWS.encode() + b'1,"2\n3,4\n5,6\n', "table_quote_open"),
        (b"a,b\n" + b"x,1\n" * 9 + b"y,2\n" * 9, "data_one_class"),
        (
            ",".join(f"c{place}" for place in range(20_000)).encode() + b"\n",
            "table_too_many_columns",
        ),
    ],
    ids=str,
)
def test_that_what_is_no_table_is_refused_and_why(
    tmp_path: Path, content: bytes, code: str
) -> None:
    chosen = {"target": "a", "predicts": "classes"} if code == "data_one_class" else {}
    content = content if code != "data_one_class" else b"a,b\nx,1\nx,2\n"
    assert refused(as_file(tmp_path, content), **chosen).code == code


def test_that_the_line_of_a_ragged_row_is_named(tmp_path: Path) -> None:
    problem = refused(as_file(tmp_path, ROWS + "1,2,3\n"))
    assert problem.message.startswith("Line 52 of ")
    assert "has 3 cells, and there are 2 columns" in problem.message


def test_that_bytes_of_another_encoding_that_come_late_are_refused(tmp_path: Path) -> None:
    lines = b"".join(b"%d,%d\n" % (place, place % 7) for place in range(300_000))
    content = b"x,y\n" + lines + b"\xe4,1\n" + lines
    problem = refused(as_file(tmp_path, content), encoding="utf-8")
    assert (problem.code, problem.field) == ("table_encoding", "data.encoding")


@pytest.mark.parametrize("quote", [b"", b'"'], ids=["plain", "quoted"])
@pytest.mark.parametrize("before", [b"", ROWS.encode()], ids=["first line", "later line"])
def test_that_a_line_of_a_gibibyte_takes_little_memory(
    tmp_path: Path, quote: bytes, before: bytes
) -> None:
    path = as_file(tmp_path, before + b"1," + quote)
    with path.open("r+b") as file:
        file.seek(0, os.SEEK_END)
        file.write(b"x" * (8 * MIB))
        # The rest is a hole: it takes no disk, and is read as bytes of 0 that the look skips.
        file.truncate(2**30)
    process, start_s = psutil.Process(), time.monotonic()
    resident = process.memory_info().rss
    code = refused(path, encoding="utf-8").code
    assert code in ("table_line_too_long", "table_no_text")
    assert process.memory_info().rss - resident < 200 * MIB
    assert time.monotonic() - start_s < 20


@pytest.mark.parametrize("kind", ["fifo", "folder", "link to nothing", "nothing"])
def test_that_what_is_no_file_is_refused_at_once(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "t.csv"
    match kind:
        case "fifo":
            os.mkfifo(path)
        case "folder":
            path.mkdir()
        case "link to nothing":
            path.symlink_to(tmp_path / "gone.csv")
    assert refused(path).code in ("data_file_missing", "data_file_unreadable")


def test_that_numbers_without_bounds_are_no_numbers_but_missing(tmp_path: Path) -> None:
    long = "9" * 400
    content = f"x,y\n1,0.5\n{long},1.5\n-inf,2.5\nnan,3.5\n1e39,4\n3,1e999\n"
    found = read(as_file(tmp_path, content))
    assert found.training.read(np.arange(5, dtype=np.int32)).ravel().tolist() == [1, 2, 2, 2, 2]
    assert [(each.name, each.missing) for each in found.columns] == [("x", 4), ("y", 1)]


def test_that_names_that_act_on_a_terminal_are_shown_as_escapes(tmp_path: Path) -> None:
    path = as_file(tmp_path, "\x1b[2Jx,y\u202e\nfive,0.5\nsix,1.5\n")
    data = TableData(path=str(path))
    labels = [
        choice.label for choice in source_of(data).find(data, Reading(print)).offers["target"]
    ]
    assert labels == ["\\x1b[2Jx: category", "y\\u202e: number"]
    assert "\\x1b" in refused(path, target="\x1bgone").message


def damage_truncated(content: bytes) -> bytes:
    return content[: len(content) // 2]


def damage_flipped(content: bytes) -> bytes:
    places = np.random.default_rng(3).integers(4, len(content) - 8, 200)
    found = np.frombuffer(content, np.uint8).copy()
    found[places] ^= 0x5A
    return found.tobytes()


def damage_footer(content: bytes) -> bytes:
    return content[:-8] + b"\xff\xff\xff\x7f" + content[-4:]


@pytest.mark.parametrize("damage", [damage_truncated, damage_flipped, damage_footer])
def test_that_damaged_parquet_is_refused(tmp_path: Path, damage: Callable[[bytes], bytes]) -> None:
    random = np.random.default_rng(1)
    table = pa.table({"x": random.random(5000), "y": random.random(5000)})
    pyarrow.parquet.write_table(table, tmp_path / "t.parquet")
    content = damage((tmp_path / "t.parquet").read_bytes())
    assert refused(as_file(tmp_path, content, "t.parquet")).code == "data_file_damaged"
    assert refused(as_file(tmp_path, ROWS, "t.parquet")).code == "data_file_damaged"


def test_that_a_bomb_of_parquet_takes_little_memory(tmp_path: Path) -> None:
    # Two kilobytes that hold 800 GB: two texts of 8 MiB, fifty thousand times each.
    texts = pa.array(["a" * 8 * MIB, "b" * 8 * MIB])
    codes = pa.array(np.arange(100_000) % 2, pa.int32())
    table = pa.table({"s": pa.DictionaryArray.from_arrays(codes, texts), "y": np.ones(100_000)})
    pyarrow.parquet.write_table(table, tmp_path / "t.parquet", compression="zstd")
    process = psutil.Process()
    del texts, codes, table
    resident = process.memory_info().rss
    assert refused(tmp_path / "t.parquet").code in ("table_no_features", "data_file_damaged")
    assert process.memory_info().rss - resident < 200 * MIB


def test_that_a_full_disk_ends_the_import_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GPUPANEL_CACHE_DIR", str(tmp_path / "cache"))

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(table_file, "import_rows", full)
    problem = refused(as_file(tmp_path, ROWS))
    assert (problem.code, "No space left" in problem.message) == ("table_cache", True)
    assert not list((tmp_path / "cache" / "tables").glob("*.rows"))


def test_that_a_file_that_is_written_to_meanwhile_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = as_file(tmp_path, ROWS)
    real = table_file.import_rows

    def meddled(*given: object) -> object:
        found = real(*given)
        with path.open("a") as file:
            file.write("9,9\n")
        return found

    monkeypatch.setattr(table_file, "import_rows", meddled)
    assert refused(path).code == "table_changed"


def test_that_rows_stay_readable_when_the_cache_is_removed_and_not_when_they_are_cut(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GPUPANEL_CACHE_DIR", str(tmp_path / "cache"))
    found = read(as_file(tmp_path, ROWS), cache="none")
    (rows,) = (tmp_path / "cache" / "tables").glob("*.rows")
    kept = os.open(rows, os.O_RDWR)
    rows.unlink()
    assert found.training.read(np.array([3], np.int32)).tolist() == [[3.5]]
    os.ftruncate(kept, 8)
    os.close(kept)
    with pytest.raises(ProblemError) as raised:
        found.training.read(np.array([3], np.int32))
    assert raised.value.problems[0].code == "table_cache"
