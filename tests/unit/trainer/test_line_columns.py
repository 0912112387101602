"""What a CSV of labels says of images beside their labels, as an evaluation divides them."""

from pathlib import Path

import numpy as np
import pytest

from gpupanel.domain.data import ImagesData
from gpupanel.trainer.datasets.examples import AllExamples
from gpupanel.trainer.datasets.source import Reading
from gpupanel.trainer.datasets.sources.images import SOURCE
from gpupanel.trainer.inference.slices import example_slices
from tests.unit.trainer.image_folders import make_classes, make_images


def found(root: Path, text: str, **settings: object) -> AllExamples:
    make_images(root, {f"{number}.png": number for number in range(1, 6)})
    (root / "labels.csv").write_text(text)
    data = ImagesData(
        path=str(root),
        labels_csv="labels.csv",
        label_columns=("kind",),
        image_size=(4, 4),
        **settings,
    )
    return SOURCE.read_all(data, Reading(print), needs_labels=True)


CSV = """file,kind,camera,age,site
3.png,cat,A,7,x
1.png,dog,B,,x
2.png,cat,NaN,12.5,x
4.png,dog,A,NA,y
"""


def test_that_each_image_has_the_cells_of_its_line(tmp_path: Path) -> None:
    whole = found(tmp_path, CSV)
    assert whole.columns is not None
    kind, camera, age, _ = whole.columns.columns
    assert (kind.name, kind.categories) == ("kind", ("cat", "dog"))
    assert (camera.name, camera.categories) == ("camera", ("A", "B"))
    assert (age.name, age.categories) == ("age", None)
    order = (
        [whole.file_names.index(f"{number}.png") for number in (1, 2, 3, 4)]
        if whole.file_names
        else [1, 2, 0, 3]
    )
    cells = whole.columns.read(np.int32(order))
    np.testing.assert_array_equal(cells[:, 1], [1, np.nan, 0, 0])
    np.testing.assert_array_equal(cells[:, 2], [np.nan, 12.5, 7, np.nan])
    slices = example_slices(whole.columns, np.arange(4, dtype=np.int32), np.float32([1, 0, 1, 1]))
    assert slices is not None
    assert slices.names == ("kind", "camera", "age", "site")
    assert slices.values[2:5] == ("A", "B", "empty")


def test_that_a_column_in_which_two_lines_of_an_image_differ_is_left_out(tmp_path: Path) -> None:
    whole = found(tmp_path, f"{CSV}3.png,cat,A,8,x\n")
    assert whole.columns is not None
    assert [each.name for each in whole.columns.columns] == ["kind", "camera", "site"]
    assert whole.columns.read(np.int32([0, 1, 2, 3])).shape == (4, 3)


def test_that_decimals_are_written_as_the_settings_say(tmp_path: Path) -> None:
    text = CSV.replace(",", ";").replace("12.5", "12,5")
    whole = found(tmp_path, text, decimal=",")
    assert whole.columns is not None
    age = whole.columns.columns[2]
    assert age.categories is None
    assert 12.5 in whole.columns.read(np.int32([0, 1, 2, 3]))[:, 2]


def test_that_a_set_of_its_own_is_divided_by_the_columns_that_both_have(tmp_path: Path) -> None:
    other = tmp_path / "other"
    make_images(other, {"7.png": 7, "8.png": 8})
    (other / "labels.csv").write_text("file,kind,camera\n7.png,cat,C\n8.png,dog,A\n")
    root = tmp_path / "images"
    whole = found(root, CSV, validation_path=str(other))
    assert len(whole) == 6
    assert whole.columns is not None
    kind, camera = whole.columns.columns
    assert camera.categories == ("A", "B", "C")
    cells = whole.columns.read(np.int32([4, 5, 0]))
    assert cells[:, 1].tolist() == [2, 0, 0]
    assert kind.categories == ("cat", "dog")


def test_that_folders_of_classes_have_no_columns_nor_has_what_is_trained_on(tmp_path: Path) -> None:
    make_classes(tmp_path / "folders", {"cat": 2, "dog": 2})
    data = ImagesData(path=str(tmp_path / "folders"), image_size=(4, 4))
    assert SOURCE.read_all(data, Reading(print), needs_labels=True).columns is None
    found(tmp_path / "csv", CSV)
    data = ImagesData(
        path=str(tmp_path / "csv"),
        labels_csv="labels.csv",
        label_columns=("kind",),
        image_size=(4, 4),
    )
    assert SOURCE.read(data, Reading(print)).cells is None


@pytest.mark.parametrize("cache", ["none", "memory"])
def test_that_an_image_that_cannot_be_read_moves_no_cell(tmp_path: Path, cache: str) -> None:
    make_images(tmp_path, {f"{number}.png": number for number in range(1, 6)})
    found(tmp_path, CSV)
    (tmp_path / "1.png").write_bytes(b"no image")
    data = ImagesData(
        path=str(tmp_path),
        labels_csv="labels.csv",
        label_columns=("kind",),
        image_size=(4, 4),
        cache=cache,
        unreadable_share=0.5,
    )
    whole = SOURCE.read_all(data, Reading(print), needs_labels=True)
    assert whole.columns is not None
    assert len(whole) == 4
    np.testing.assert_array_equal(whole.columns.read(np.int32([3]))[:, 3], [1])
