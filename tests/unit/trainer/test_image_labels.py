"""CSV files of labels that somebody made by mistake, or to do harm."""

import os
from pathlib import Path

import pytest

from gpupanel.domain.data import ImagesData, Target
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.trainer.datasets.sources.images import read_images
from tests.unit.trainer.image_folders import make_images


def problem_of(root: Path, content: bytes, predicts: Target | None = None) -> Problem:
    make_images(root, {"a.png": 1, "b.png": 2})
    (root / "labels.csv").write_bytes(content)
    data = ImagesData(path=str(root), labels_csv="labels.csv", predicts=predicts)
    with pytest.raises(ProblemError) as caught:
        read_images(data)
    (problem,) = caught.value.problems
    assert problem.hint
    assert problem.field == "data.labels_csv"
    # It can be written and shown.
    assert Problem.model_validate_json(problem.model_dump_json()) == problem
    return problem


@pytest.mark.parametrize(
    ("content", "code", "words"),
    [
        (b"", "data_csv_empty", "is empty"),
        (b"\n\n\r\n", "data_csv_empty", "is empty"),
        (b"a.png\nb.png\n", "data_csv_one_column", "one column only"),
        ("a.png,x\nb.png,y\n".encode("utf-16"), "data_csv_unreadable", "Line 1"),
        ("a.png,x\n".encode("utf-16-be"), "data_csv_unreadable", "not UTF-8 text"),
        (b"a.png,x\nb.png,\0\n", "data_csv_unreadable", "Line 2"),
        (b"a.png,x\nb.png\n", "data_csv_unreadable", "Line 2 of"),
        (b"a.png,x\nb.png,y,z\n", "data_csv_unreadable", "has 3 cells, and the first line 2"),
        (b'a.png,"x\nb.png,y\n', "data_csv_unreadable", "is not a CSV"),
        (b'a.png,"x"y\n', "data_csv_unreadable", "is not a CSV"),
        (b"a.png,x\rb.png,y\r", "data_csv_unreadable", "is not a CSV"),
        (b"f,k\na.png,\nb.png,x\n", "data_csv_unreadable", "Line 2"),
        (b"f,k\na.png,x\nb.png,x\n", "data_one_class", '"x"'),
        (b"f,k\na.png,x\na.png,y\n", "data_csv_unreadable", "says otherwise than line 2"),
        (b"f,k\n../a.png,x\nb.png,y\n", "data_csv_leaves_folder", '"../a.png"'),
        (b"f,k\n..,x\nb.png,y\n", "data_csv_leaves_folder", '".."'),
        (b"f,k\n/etc/passwd,x\nb.png,y\n", "data_csv_leaves_folder", '"/etc/passwd"'),
        (b"f,k\nx/../../a.png,x\n", "data_csv_leaves_folder", "not in the folder"),
        (b"f,k\n\x1b[2Jgone.png,x\n", "data_csv_no_pictures", r"\x1b[2Jgone.png"),
        (b"f,k\ng\xe9.png,x\n", "data_csv_no_pictures", r"g\xe9.png"),
        (b"f,k\na.png," + b"9" * 400 + b"\nb.png,1.5\n", "data_labels_not_finite", "inf"),
        (b"f,k,l\na.png,1,x\nb.png,0,1\n", "data_csv_unreadable", '"x" in column "l"'),
        (b"f,k,l\na.png,1,\nb.png,0,1\n", "data_csv_unreadable", 'nothing in column "l"'),
        (b"f,k,l\na.png,1,nan\nb.png,0,1\n", "data_csv_unreadable", '"nan"'),
    ],
)
def test_that_what_is_wrong_with_a_csv_is_said(
    tmp_path: Path, content: bytes, code: str, words: str
) -> None:
    problem = problem_of(tmp_path, content)
    assert problem.code == code
    assert words in problem.message


@pytest.mark.parametrize("cell", [b"x", b"1,5,5", b"1_000", b"0x10", b""])
def test_that_what_is_no_number_is_no_value(tmp_path: Path, cell: bytes) -> None:
    content = b"f;k\na.png;" + cell + b"\nb.png;1\n"
    problem = problem_of(tmp_path, content, Target.VALUES)
    assert problem.code == "data_csv_unreadable"
    assert "Line 2" in problem.message


def test_that_a_line_without_an_end_is_not_read(tmp_path: Path) -> None:
    make_images(tmp_path, {"a.png": 1})
    with (tmp_path / "labels.csv").open("wb") as file:
        file.write(b"a.png,x")
        file.truncate(2**30)  # a hole: 1 GiB without a newline
    data = ImagesData(path=str(tmp_path), labels_csv="labels.csv")
    with pytest.raises(ProblemError) as caught:
        read_images(data)
    assert "has more than 1,048,576 bytes" in str(caught.value)


def test_that_so_many_lines_are_read_and_no_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gpupanel.trainer.datasets.images.csv_rows._MOST_LINES", 3)
    problem = problem_of(tmp_path, b"f,k\na.png,x\nb.png,y\nb.png,y\n")
    assert "Line 4" in problem.message


def test_that_more_classes_than_can_be_distinguished_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gpupanel.trainer.datasets.images.labels.MOST_CLASSES", 1)
    assert problem_of(tmp_path, b"a.png,x\nb.png,y\n").code == "data_too_many_classes"


def test_that_a_fifo_is_not_waited_for(tmp_path: Path) -> None:
    make_images(tmp_path, {"a.png": 1})
    os.mkfifo(tmp_path / "labels.csv")
    data = ImagesData(path=str(tmp_path), labels_csv="labels.csv")
    with pytest.raises(ProblemError) as caught:
        read_images(data)
    assert caught.value.problems[0].code == "data_csv_unreadable"
    assert "FIFO" in caught.value.problems[0].message


def test_that_names_and_classes_may_be_no_utf_8(tmp_path: Path) -> None:
    odd = os.fsdecode(b"caf\xe9.png")
    make_images(tmp_path, {odd: 1, "b.png": 2})
    (tmp_path / "labels.csv").write_bytes(b"caf\xe9.png,th\xe9\nb.png,tea\n")
    read = read_images(ImagesData(path=str(tmp_path), labels_csv="labels.csv"))
    assert read.class_names == ("tea", r"th\xe9")
    assert read.training.labels.tolist() == [1, 0]


def test_that_a_name_without_an_ending_is_found_where_it_is_clear(tmp_path: Path) -> None:
    make_images(tmp_path, {"a.png": 1, "b.png": 2, "b.bmp": 3})
    (tmp_path / "labels.csv").write_text("f,k\na,x\nb.bmp,y\n")
    read = read_images(ImagesData(path=str(tmp_path), labels_csv="labels.csv"))
    assert read.training.labels.tolist() == [0, 1]
    problem = problem_of(tmp_path, b"f,k\nb,x\n")
    assert problem.code == "data_csv_no_pictures"


def test_that_whole_paths_into_the_folder_are_understood(tmp_path: Path) -> None:
    make_images(tmp_path, {"a.png": 1, "b.png": 2})
    (tmp_path / "labels.csv").write_text(f"{tmp_path}/a.png,x\n{tmp_path}//b.png,y\n")
    read = read_images(ImagesData(path=str(tmp_path), labels_csv="labels.csv"))
    assert read.training.labels.tolist() == [0, 1]


def test_that_long_numbers_are_classes_and_two_forms_of_a_name_are_one(tmp_path: Path) -> None:
    make_images(tmp_path, {"a.png": 1, "b.png": 2, "c.png": 3})
    ids = ["12345678901234567890", "12345678901234567891", "9"]
    lines = [f"{name}.png,{each}\n" for name, each in zip("abc", ids, strict=True)]
    (tmp_path / "labels.csv").write_text("".join(lines))
    found = read_images(ImagesData(path=str(tmp_path), labels_csv="labels.csv"))
    assert (found.target, found.class_names) == (Target.CLASSES, (ids[2], ids[0], ids[1]))
    text = "a.png,caf\u00e9\nb.png,cafe\u0301\nc.png,bar\n"
    (tmp_path / "labels.csv").write_text(text, encoding="utf-8")
    found = read_images(ImagesData(path=str(tmp_path), labels_csv="labels.csv"))
    assert found.class_names == ("bar", "caf\u00e9")
    assert found.training.labels.tolist() == [1, 1, 0]
