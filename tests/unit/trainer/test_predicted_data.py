"""Predicting wants no labels: whatever stands in their place, every example is read, and shown."""

from pathlib import Path

import numpy as np
import pytest

from gpupanel.domain.data import DataSettings, ImagesData, NpzData, TfrecordData
from gpupanel.domain.preview import DataPreview, PreviewRequest
from gpupanel.domain.profile import Profile
from gpupanel.planning.rules.data_rules import matters_to_task
from gpupanel.trainer.datasets.source import Reading, source_of
from gpupanel.trainer.tools.preview.preview import preview
from tests.unit.trainer.image_folders import make_images
from tests.unit.trainer.record_files import example, image, write_records


def shown(data: DataSettings) -> DataPreview:
    """What a preview of a prediction says, without what does not matter to it."""
    found = preview(PreviewRequest(data=data, task="predict"))
    profile = Profile(data=data, task="predict")
    matter = tuple(each for each in found.problems if matters_to_task(profile, each))
    return found.model_copy(update={"problems": matter})


def read_count(data: DataSettings) -> int:
    return len(source_of(data).read_all(data, Reading(print), needs_labels=False))


_SETS = {f"{which}/{what}/1.png": 1 for which in ("train", "val") for what in ("a", "b")}


@pytest.mark.parametrize(
    ("names", "count"),
    [
        ({"a/1.png": 1, "b/2.png": 2, "3.png": 3}, 3),  # beside the classes
        ({**_SETS, "test/1.png": 1, "test/2.png": 2}, 6),  # a set without classes
        ({**_SETS, "test/c/1.png": 1}, 5),  # of classes that the others do not have
        ({"cam1/a/1.png": 1, "cam1/b/1.png": 2, "cam2/a/1.png": 3, "cam2/b/1.png": 4}, 4),
        ({"a/images/1.png": 1, "a/masks/1.png": 2}, 2),
    ],
)
def test_that_all_images_of_a_folder_are_predicted_on(
    tmp_path: Path, names: dict[str, int], count: int
) -> None:
    data = ImagesData(path=str(make_images(tmp_path, names)), image_size=(4, 4))
    found = shown(data)
    there = (found.example_count, found.validation_example_count, found.test_example_count)
    assert (sum(there), read_count(data)) == (count, count)
    assert not found.problems


@pytest.mark.parametrize(
    "lines",
    [
        "file,label\nother.png,cat\n",
        "file,label\n1.png,\n",
        "file,label,kind\n1.png,a\n",
        'file,label\n1.png,"a\n',
        "",
    ],
)
def test_that_a_csv_of_labels_keeps_nobody_from_predicting(tmp_path: Path, lines: str) -> None:
    make_images(tmp_path, {"1.png": 1, "2.png": 2})
    (tmp_path / "labels.csv").write_text(lines)
    data = ImagesData(path=str(tmp_path), labels_csv="labels.csv", image_size=(4, 4))
    found = shown(data)
    assert (found.example_count, read_count(data), found.problems) == (2, 2, ())


@pytest.mark.parametrize(
    "labels",
    [
        np.array(["cat", "dog", "eel"]),
        np.array([-1, 1, 1]),
        np.array([20230101, 1, 2]),
        np.array([0.5, np.nan, 1.0]),
        np.arange(2),
        np.array([None, 1, 2], object),
        np.zeros((3, 4, 4)),
    ],
)
def test_that_labels_of_arrays_that_cannot_be_used_are_not_read(
    tmp_path: Path, labels: np.ndarray
) -> None:
    np.savez(tmp_path / "a.npz", x=np.zeros((3, 4, 4), np.uint8), y=labels)
    data = NpzData(path=str(tmp_path / "a.npz"))
    found = shown(data)
    assert (found.example_count, read_count(data), found.problems) == (3, 3, ())


@pytest.mark.parametrize("label", [-1, 20230101, b"\0\1"])
def test_that_labels_of_records_that_cannot_be_used_are_not_read(
    tmp_path: Path, label: int | bytes
) -> None:
    rows = [example(image=image(number), label=label) for number in range(3)]
    path = write_records(tmp_path / "a.tfrecord", rows)
    data = TfrecordData(path=str(path), image_size=(4, 4))
    found = shown(data)
    assert (found.example_count, read_count(data), found.problems) == (3, 3, ())


def test_that_a_set_of_records_without_labels_is_predicted_on(tmp_path: Path) -> None:
    for name, more in (("train", {"label": 1}), ("test", {})):
        rows = [example(image=image(number), **more) for number in range(3)]
        write_records(tmp_path / f"{name}.tfrecord", rows)
    data = TfrecordData(path=str(tmp_path), image_size=(4, 4))
    found = shown(data)
    assert (found.example_count, read_count(data), found.problems) == (6, 6, ())
