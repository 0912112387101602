"""A file that is chosen for a folder, or a file of another form: what to do about it is said."""

import struct
from pathlib import Path

import pytest

from gpupanel.domain.data import ImagesData
from gpupanel.domain.preview import PreviewRequest
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.trainer.datasets.images.sets import list_sets
from gpupanel.trainer.datasets.texts.folder import list_texts, read_text
from gpupanel.trainer.tools.preview.preview import preview
from tests.unit.trainer.image_folders import make_classes


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("cats.zip", "Unpack it, and choose the folder that comes of it."),
        ("cats.tar.gz", "Unpack it, and choose the folder that comes of it."),
        ("cat.png", "Choose the folder that holds it."),
    ],
)
def test_that_a_file_is_no_folder_of_images(tmp_path: Path, name: str, hint: str) -> None:
    (tmp_path / name).write_bytes(b"PK")
    with pytest.raises(ProblemError) as caught:
        list_sets(ImagesData(path=str(tmp_path / name)))
    (problem,) = caught.value.problems
    assert (problem.code, problem.hint) == ("data_file_unreadable", hint)


def test_that_a_file_of_texts_is_a_table_or_a_folder(tmp_path: Path) -> None:
    (tmp_path / "SMSSpam").write_text("ham\thello\n")
    with pytest.raises(ProblemError) as caught:
        list_texts(tmp_path / "SMSSpam", "data.path")
    (problem,) = caught.value.problems
    assert problem.code == "data_file_unreadable"
    assert ".csv, .tsv, .parquet" in problem.hint


def test_that_text_of_16_bits_is_called_so(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("sch\xf6n", encoding="utf-16")
    with pytest.raises(ProblemError) as caught:
        read_text(str(tmp_path / "a.txt"), "utf-8", "data.path")
    assert '"utf-16"' in caught.value.problems[0].hint
    assert read_text(str(tmp_path / "a.txt"), "utf-16", "data.path").decode() == "sch\xf6n"


def test_that_a_tiff_of_another_form_is_no_damaged_file(tmp_path: Path) -> None:
    make_classes(tmp_path, {"a": 1, "b": 1})
    # One pixel of a float of 64 bits: width, height, bits, grey, place, rows, bytes, floats.
    tags = [(256, 1), (257, 1), (258, 64), (262, 1), (273, 8), (278, 1), (279, 8), (339, 3)]
    entries = b"".join(struct.pack("<HHII", tag, 3, 1, value) for tag, value in tags)
    head = struct.pack("<2sHI8sH", b"II", 42, 16, bytes(8), len(tags))
    (tmp_path / "a" / "1.tif").write_bytes(head + entries + bytes(4))
    data = ImagesData(path=str(tmp_path), unreadable_share=0, image_size=(4, 4))
    problem: Problem = preview(PreviewRequest(data=data)).problems[0]
    assert "is a TIFF that is truncated, or in a form that is not read" in problem.message
