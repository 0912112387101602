"""A script reads folders of images in every layout as a run does; TensorFlow is not needed."""

from pathlib import Path

import numpy as np
import pytest
from PIL import UnidentifiedImageError

from gpupanel.domain.data import ImagesData
from gpupanel.domain.preview import DataPreview
from gpupanel.domain.previewed_profile import with_detected
from gpupanel.domain.profile import Profile
from gpupanel.planning.script.data_section import data_section, script_of
from gpupanel.trainer.datasets.examples import Examples
from gpupanel.trainer.datasets.source import Reading
from gpupanel.trainer.datasets.sources.images import SOURCE, read_images
from gpupanel.trainer.datasets.split import split
from tests.unit.trainer.image_folders import make_classes, make_images
from tests.unit.trainer.test_image_layouts import csv_data

CSV_TEXTS = {
    "classes by name": 'file,kind\nb.png,tea\na.png," cup"\ndeep/c.png,tea\n',
    "classes by number, no header, no endings": "b;10\r\n\r\na;9\r\ndeep\\c;10\r\n",
    "one-hot": "f,sun,sea\nb.png,1,0\na.png,0,1\ndeep/c.png,1,0\n",
    "labels": "f,sun,sea\nb.png,1,1\na.png,0,1\ndeep/c.png,0,0\n",
    "values": "f\tg\nb.png\t1.5\na.png\t2\n./deep/c.png\t-3e1\n",
    "several values, one line twice": "f,x,y\nb.png,1,0.5\na.png,0,1\nb.png,1,0.5\n",
}


def carried_out(data: ImagesData, text: str) -> dict[str, object]:
    found: dict[str, object] = {"np": np, "SEED": 3}
    exec(f"import os\n{text}\n{script_of(data).class_names(data)}", found)
    return found


def chosen(data: ImagesData, *, needs_labels: bool = True) -> ImagesData:
    """With all that a preview finds, as a script is written of it."""
    found = dict(SOURCE.find(data, Reading(print, needs_labels=needs_labels)).found)
    if data.labels_csv:
        found["predicts"] = read_images(data).target
    filled = with_detected(Profile(data=data), DataPreview(found=found)).data
    assert isinstance(filled, ImagesData)
    return filled


def assert_same(script: dict[str, object], part: str, examples: Examples) -> None:
    x, y = np.asarray(script[f"x{part}"]), np.asarray(script[f"y{part}"])
    assert np.array_equal(x, examples.read(np.arange(len(examples), dtype=np.int32)))
    assert np.array_equal(y, examples.labels)
    assert (x.dtype, y.dtype) == (np.uint8, examples.labels.dtype)


@pytest.mark.parametrize("name", CSV_TEXTS)
def test_that_a_script_reads_a_csv_as_the_run_does(tmp_path: Path, name: str) -> None:
    data = csv_data(tmp_path / "it's \"{x} $y", CSV_TEXTS[name], image_size=(4, 5))
    read = read_images(data)
    filled = chosen(data.model_copy(update={"labels_csv": f"{data.path}/labels.csv"}))
    script = carried_out(filled, data_section(filled))
    assert_same(script, "", read.training)
    assert tuple(script["class_names"] or ()) == read.class_names


@pytest.mark.parametrize("header", ["f,patient,k", "f,patient,k,l", ""])
@pytest.mark.parametrize("cells", [("tea", "cup"), ("1.5", "2"), ("0", "1")])
def test_that_a_script_holds_out_the_groups_that_a_run_does(
    tmp_path: Path, header: str, cells: tuple[str, str]
) -> None:
    make_images(tmp_path / "p", {f"{number}.png": 9 * number for number in range(20)})
    more = ",1" if header.endswith("l") else ""
    cells = ("0", "1") if more else cells
    lines = [f"{number}.png,{number % 7},{cells[number % 2]}{more}" for number in range(20)]
    (tmp_path / "p" / "labels.csv").write_text("\n".join([header, *lines] if header else lines))
    data = ImagesData(
        path=str(tmp_path / "p"),
        labels_csv="labels.csv",
        group="patient" if header else "1",
        image_size=(4, 5),
        validation_fraction=0.4,
    )
    read, filled = split(read_images(data), data, 3), chosen(data)
    script = carried_out(filled, data_section(filled))
    assert read.validation is not None
    for part, examples in (("", read.training), ("_val", read.validation)):
        assert_same(script, part, examples)


def test_that_a_script_reads_sets_with_a_csv_each(tmp_path: Path) -> None:
    csv_data(tmp_path / "train", "f,k\nb.png,tea\na.png,cup\n")
    csv_data(tmp_path / "valid", "f,k\ndeep/c.png,cup\n")
    csv_data(tmp_path / "test", "deep/c.png,tea\n")
    data = ImagesData(path=str(tmp_path), labels_csv=str(tmp_path / "train/labels.csv"))
    read, filled = read_images(data), chosen(data)
    script = carried_out(filled, data_section(filled))
    assert read.validation is not None
    assert read.test is not None
    for part, examples in (("", read.training), ("_val", read.validation), ("_test", read.test)):
        assert_same(script, part, examples)


def test_that_a_script_reads_sets_that_were_found(tmp_path: Path) -> None:
    for name in ("train", "test"):
        make_classes(tmp_path / name, {"cat": 2, "dog": 1})
    data = ImagesData(path=str(tmp_path), validation_fraction=0.4)
    read, filled = read_images(data), chosen(data)
    script = carried_out(filled, data_section(filled))
    assert read.test is not None
    assert_same(script, "_test", read.test)
    assert len(np.asarray(script["x_val"])) == 1


@pytest.mark.parametrize("cache", ["memory", "none"])
def test_that_a_script_skips_what_the_run_skips(tmp_path: Path, cache: str) -> None:
    make_classes(tmp_path, {"cat": 5, "dog": 6})
    for name in ("cat/1.png", "dog/2.png"):
        (tmp_path / name).write_text("no image")
    settings = {"path": str(tmp_path), "cache": cache, "validation_fraction": 0.4}
    data = ImagesData(unreadable_share=0.2, **settings)
    read = split(read_images(data), data, 3)
    script = carried_out(data, data_section(data))
    assert read.validation is not None
    for part, examples in (("", read.training), ("_val", read.validation)):
        x = script[f"x{part}"]
        assert hasattr(x, "__getitem__")
        assert np.array_equal(x[:], examples.read(np.arange(len(examples), dtype=np.int32)))
    strict = data_section(data.model_copy(update={"unreadable_share": 0.1}))
    with pytest.raises(UnidentifiedImageError):
        read_both_parts(data, strict)


def read_both_parts(data: ImagesData, text: str) -> None:
    script = carried_out(data, text)
    for part in ("x", "x_val"):
        script[part][:]  # type: ignore[index]


@pytest.mark.parametrize("labels_csv", ["", "labels.csv"])
def test_that_a_script_predicts_on_images_alone(tmp_path: Path, labels_csv: str) -> None:
    make_images(tmp_path, {"b.png": 7, "a.jpg": 60, "in/c.bmp": 9} if labels_csv else {"a.png": 1})
    data = ImagesData(path=str(tmp_path), labels_csv=labels_csv)
    found = SOURCE.read_all(data, Reading(print), needs_labels=False)
    script = carried_out(data, script_of(data).read(data, needs_labels=False))
    assert (script["y"], script["class_names"], found.labels) == (None, [], None)
    assert len(np.asarray(script["x"], object)) == len(found)


def test_that_a_script_evaluates_a_set_of_some_of_the_classes(tmp_path: Path) -> None:
    make_classes(tmp_path / "train", {"ant": 1, "caf\xe9": 2, "dog": 1})
    make_classes(tmp_path / "test", {"cafe\u0301": 1, "dog": 2})
    data = ImagesData(path=str(tmp_path), image_size=(4, 5))
    read, filled = read_images(data, must_differ=False), chosen(data)
    script = carried_out(filled, data_section(filled))
    assert read.test is not None
    assert read.test.labels.tolist() == [1, 2, 2]
    assert_same(script, "_test", read.test)


@pytest.mark.parametrize("other", ["test/1.png", "test/eel/1.png"])
def test_that_a_script_predicts_on_sets_without_classes_of_training(
    tmp_path: Path, other: str
) -> None:
    make_classes(tmp_path / "train", {"cat": 2, "dog": 1})
    make_images(tmp_path, {other: 5})
    data = ImagesData(path=str(tmp_path))
    filled = chosen(data, needs_labels=False)
    assert filled.test_path == str(tmp_path / "test")
    script = carried_out(filled, script_of(filled).read(filled, needs_labels=False))
    assert script["y_test"] is None
    x, x_test = (np.asarray(script[part], object) for part in ("x", "x_test"))
    assert (len(x), len(x_test)) == (3, 1)
    assert len(SOURCE.read_all(data, Reading(print), needs_labels=False)) == 4


def test_that_a_script_predicts_on_images_that_a_csv_does_not_name(tmp_path: Path) -> None:
    make_images(tmp_path, {"1.png": 1, "2.png": 2})
    (tmp_path / "labels.csv").write_text("file,kind\nother.png,cat\n")
    data = ImagesData(path=str(tmp_path), labels_csv="labels.csv")
    script = carried_out(data, script_of(data).read(data, needs_labels=False))
    assert (script["y"], len(np.asarray(script["x"], object))) == (None, 2)


@pytest.mark.parametrize("left_out", ["eel's", "caf\\xe9", "masks"])
def test_that_a_script_leaves_out_the_classes_that_a_run_does(
    tmp_path: Path, left_out: str
) -> None:
    make_classes(tmp_path, {"cat": 2, "eel's": 1, "caf\udce9": 1, "dog": 2})
    make_images(tmp_path, {"cat/masks/0.png": 9, "dog/in/masks/0.png": 9})
    data = ImagesData(path=str(tmp_path), leave_out=(left_out,), image_size=(4, 5))
    read = read_images(data)
    script = carried_out(data, data_section(data))
    assert_same(script, "", read.training)
    assert tuple(script["class_names"]) == read.class_names
    assert left_out not in read.class_names
