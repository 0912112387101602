"""Texts that a stranger made, or that are damaged: each is refused in a sentence."""

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from gpupanel.domain.data import TextData
from gpupanel.domain.preview import PreviewRequest
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.files.cache_folder import cache_folder
from gpupanel.trainer.datasets.examples import DataSet
from gpupanel.trainer.datasets.source import Reading, source_of
from gpupanel.trainer.datasets.texts import text_sets, token_file
from gpupanel.trainer.datasets.texts.token_file import open_tokens
from gpupanel.trainer.tools.preview.preview import preview
from tests.fakes.hostile_files import IN_PLACE_OF_A_FILE, Plant
from tests.unit.trainer.text_folders import BAD, GOOD, make_texts, reviews, write_table

MIB = 2**20


def read(path: Path, **chosen: object) -> DataSet:
    data = TextData(path=str(path), **chosen)
    return source_of(data).read(data, Reading(print))


def refused(path: Path, **chosen: object) -> Problem:
    with pytest.raises(ProblemError) as raised:
        read(path, **chosen)
    (problem,) = raised.value.problems
    assert problem.hint
    return problem


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return make_texts(tmp_path / "texts", {"bad": BAD, "good": GOOD})


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"caf\xe9", "text_encoding"),
        (b"\xff\xfea\x00", "text_encoding"),
        (b"\xed\xa0\x80", "text_encoding"),
        (b"\xf0\x9f", "text_encoding"),
        (b"a\0b", "text_binary"),
        (bytes(2 * MIB), "text_binary"),
    ],
)
def test_that_bytes_that_are_no_text_are_refused(folder: Path, content: bytes, code: str) -> None:
    (folder / "good" / "odd.txt").write_bytes(content)
    problem = refused(folder)
    assert problem.code == code
    assert "odd.txt" in problem.message


def test_that_folders_of_classes_are_no_values(folder: Path) -> None:
    assert refused(folder, predicts="values").code == "data_predicts_misfit"


def test_that_another_encoding_can_be_chosen(folder: Path) -> None:
    (folder / "good" / "odd.txt").write_bytes("größer".encode("cp1252"))
    found = read(folder, encoding="cp1252")
    assert "größer" in found.words


@pytest.mark.parametrize("plant", IN_PLACE_OF_A_FILE.values(), ids=IN_PLACE_OF_A_FILE)
def test_that_nothing_else_is_taken_for_a_text(tmp_path: Path, folder: Path, plant: Plant) -> None:
    victim = tmp_path / "victim"
    victim.write_text("secret")
    plant(folder / "good" / "0009.txt", victim)
    started_s = time.monotonic()
    if plant.__name__ in ("fifo", "unix_socket"):
        problem = refused(folder)
        assert problem.code == "data_file_unreadable"
        assert "0009.txt" in problem.message
    else:  # links are left out, and so is what is in a folder of that name
        found = read(folder)
        assert len(found.training) == 8
        assert "secret" not in found.words
        notes = [note.code for note in found.notes]
        assert notes == ([] if plant.__name__ == "folder" else ["text_links_left_out"])
    assert time.monotonic() - started_s < 2


def test_that_links_to_folders_are_not_followed(tmp_path: Path, folder: Path) -> None:
    make_texts(tmp_path / "other", {"deep": ["secret"]})
    (folder / "linked").symlink_to(tmp_path / "other")
    (folder / "good" / "linked").symlink_to(tmp_path / "other")
    (folder / "good" / "loop").symlink_to(folder)
    found = read(folder)
    assert (found.class_names, len(found.training)) == (("bad", "good"), 8)
    assert "3 links" in found.notes[0].message


@pytest.mark.parametrize(
    ("make", "code"),
    [
        (lambda root: None, "data_file_missing"),
        (lambda root: root.mkdir(), "data_empty"),
        (lambda root: make_texts(root, {"a": []}), "data_empty"),
        (lambda root: make_texts(root, {"a": ["x", "y"]}), "data_one_class"),
        (lambda root: make_texts(root, {".": ["x", "y"]}), "data_labels_missing"),
        (lambda root: root.write_text("text"), "data_file_unreadable"),
    ],
)
def test_that_folders_that_are_none_of_classes_are_refused(
    tmp_path: Path, make: object, code: str
) -> None:
    make(tmp_path / "root")  # type: ignore[operator]
    assert refused(tmp_path / "root").code == code


@pytest.mark.parametrize(
    ("content", "chosen", "code"),
    [
        ("", {}, "data_empty"),
        ("text,y\n", {}, "data_empty"),
        ("a,b\nsome words here,x\nsome words,z\n", {}, "text_column_ambiguous"),
        ("text\none\ntwo\n", {"text": "text"}, "text_without_target"),
        ("text,y\none,1\ntwo,0\n", {"text": "none"}, "table_column_missing"),
        ("text,y\none,1\ntwo,0\n", {"target": "none"}, "table_column_missing"),
        ("text,y\none,1\ntwo,0\n", {"text": "text", "target": "text"}, "text_without_target"),
        ("text,y\none,\ntwo,\n", {}, "data_empty"),
        ("text,y\none,1\ntwo,1\n", {}, "data_one_class"),
        ("text,y\none,1,2\n" * 3, {}, "table_ragged"),
        ('y,text\n1,one\n0,"two\n1,three\n1,four\n', {"target": "y"}, "table_quote_open"),
        ("text,y\n" + "one,1\n" * 2000 + "two,x\n" + "one,0\n" * 2000, {}, "table_cell_misfit"),
    ],
)
def test_that_tables_that_do_not_fit_are_refused(
    tmp_path: Path, content: str, chosen: dict[str, object], code: str
) -> None:
    (tmp_path / "t.csv").write_text(content)
    assert refused(tmp_path / "t.csv", **chosen).code == code


def test_that_a_damaged_parquet_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    texts = [text for text, _ in reviews(500)]
    pa.parquet.write_table(pa.table({"text": texts, "y": np.arange(500) % 2}), path)
    whole = path.read_bytes()
    for content in (whole[:200], whole[:-9], b"PAR1" + bytes(500) + b"PAR1", b""):
        path.write_bytes(content)
        assert refused(path).code in ("data_file_damaged", "data_empty")


_READ_HUGE = """
import resource, sys
from gpupanel.domain.data import TextData
from gpupanel.trainer.datasets.source import Reading, read_data
import gpupanel.trainer.datasets.sources.text

def anonymous_mib():
    with open("/proc/self/status") as status:
        line = next(line for line in status if line.startswith("RssAnon"))
    return int(line.split()[1]) / 1024

before, most = anonymous_mib(), []
reading = Reading(print, on_progress=lambda *_: most.append(anonymous_mib()))
try:
    found = read_data(TextData(path=sys.argv[1], cache="none"), reading)
    said = str(len(found.training))
except Exception as error:
    said = error.problems[0].code
print(said, max([*most, anonymous_mib()]) - before)
"""


def grown(path: Path) -> tuple[str, float]:
    """What came of reading texts, and how much memory it took, in MiB."""
    done = subprocess.run(
        [sys.executable, "-c", _READ_HUGE, str(path)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    said, mib = done.stdout.split()
    return said, float(mib)


def test_that_a_line_of_a_gib_takes_little_memory(tmp_path: Path, folder: Path) -> None:
    with (folder / "good" / "huge.txt").open("wb") as file:
        file.write(b"word " * (MIB // 4))
        file.truncate(2**30)
    said, mib = grown(folder)
    assert said == "9"  # what follows the first MiB is not looked at
    assert mib < 64
    table = tmp_path / "t.csv"
    with table.open("wb") as file:
        file.write(b"text,y\n")
        for _ in range(64):
            file.write(b"word " * (MIB // 5))
        file.truncate(2**30)
    assert grown(table)[0] in ("table_line_too_long", "table_no_text")
    assert grown(table)[1] < 64


@pytest.mark.slow
def test_that_many_texts_are_read_in_constant_memory(tmp_path: Path) -> None:
    line = " ".join(f"word{number}" for number in range(400))
    with (tmp_path / "t.csv").open("w") as file:
        file.write("text,y\n")
        for number in range(40_000):
            file.write(f"{line},{number % 2}\n")
    assert (tmp_path / "t.csv").stat().st_size > 100 * MIB
    said, mib = grown(tmp_path / "t.csv")
    assert said == "40000"
    assert mib < 96  # as numbers of words alone they are 61


def test_that_too_many_and_too_long_words_are_unknown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(token_file, "MOST_VOCABULARY", 5)
    texts = [f"w{number} w{number + 1} w0 {'x' * 101}" for number in range(20)]
    found = read(make_texts(tmp_path, {"a": texts[:10], "b": texts[10:]}), length=5)
    assert found.words == ("", "[UNK]", "w0", "w4", "w3", "w2", "w1")
    rows = found.training.read(np.arange(20, dtype=np.int32))
    assert rows[19].tolist() == [1, 1, 2, 1, 0]


def test_that_texts_that_change_while_they_are_read_are_refused(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read_text = text_sets.read_text

    def changing(path: str, encoding: str, field: str) -> bytes:
        (folder / "bad" / "0000.txt").write_text("other")
        return read_text(path, encoding, field)

    with monkeypatch.context() as patch:
        patch.setattr(text_sets, "read_text", changing)
        assert refused(folder).code == "texts_changed"
    table = write_table(folder.parent / "t.csv", reviews(20))
    read_rows = text_sets.read_rows

    def growing(*given: object) -> object:
        with table.open("a") as file:
            file.write('"more",1\n')
        return read_rows(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(text_sets, "read_rows", growing)
    assert refused(table).code == "texts_changed"


def test_that_a_text_that_goes_while_they_are_listed_is_named(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    list_texts = text_sets.list_texts

    def going(root: Path, *others: Any) -> object:
        found = list_texts(root, *others)
        (folder / "bad" / "0000.txt").unlink(missing_ok=True)
        return found

    monkeypatch.setattr(text_sets, "list_texts", going)
    problem = refused(folder)
    assert problem.code == "data_file_missing"
    assert "0000.txt" in problem.message


def test_that_counted_words_that_are_damaged_or_gone_are_reported(folder: Path) -> None:
    streamed = read(folder, cache="none", length=2).training
    streamed.read(np.array([0], np.int32))
    (kept,) = [
        path for path in cache_folder("texts").glob("*.kept") if len(open_tokens(path)) == 8
    ][-1:]
    kept.write_bytes(b"few")
    for place in cache_folder("texts").glob("*.kept"):
        place.write_bytes(b"")
    with pytest.raises(ProblemError) as raised:
        streamed.read(np.array([0], np.int32))
    assert raised.value.problems[0].code == "texts_not_kept"
    with pytest.raises(OSError, match="not a file of words"):
        open_tokens(kept)
    assert len(read(folder).training) == 8


def test_that_a_cache_that_cannot_be_written_is_reported(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder.parent / "file").touch()
    monkeypatch.setenv("GPUPANEL_CACHE_DIR", str(folder.parent / "file"))
    assert refused(folder).code == "texts_not_kept"


def test_that_a_preview_leaves_what_takes_long_to_a_run(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text_sets, "_LONGEST_PREVIEW_S", 0.0)
    shown = preview(PreviewRequest(data=TextData(path=str(folder))))
    assert [problem.code for problem in shown.problems] == ["texts_not_counted"]
    assert not shown.is_refused


def test_that_names_that_are_not_utf8_are_classes_all_the_same(tmp_path: Path) -> None:
    for name in (b"caf\xe9", b"\xff"):
        place = tmp_path / os.fsdecode(name)
        place.mkdir()
        (place / os.fsdecode(b"\xfe.txt")).write_bytes(b"words")
    found = read(tmp_path)
    assert found.class_names == ("caf\\xe9", "\\xff")
