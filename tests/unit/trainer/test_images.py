"""Folders of images by class, good and bad."""

import os
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from gpupanel.domain.data import DataCache, ImagesData
from gpupanel.domain.preview import PreviewRequest
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.trainer.datasets.examples import read_features
from gpupanel.trainer.datasets.source import Reading, source_of
from gpupanel.trainer.datasets.sources.images import read_images
from gpupanel.trainer.tools.preview.preview import preview


def make_folder(root: Path, counts: dict[str, int]) -> Path:
    for brightness, (name, count) in enumerate(counts.items(), start=1):
        folder = root / name
        folder.mkdir(parents=True)
        for number in range(count):
            pixels = np.full((10, 12, 3), 40 * brightness + number, np.uint8)
            Image.fromarray(pixels).save(folder / f"{number}.png")
    return root


def problem_of(root: Path) -> Problem:
    with pytest.raises(ProblemError) as caught:
        read_images(ImagesData(path=str(root)))
    (problem,) = caught.value.problems
    assert problem.hint
    assert problem.field == "data.path"
    return problem


@pytest.mark.parametrize("cache", list(DataCache))
@pytest.mark.parametrize(("color", "channels"), [("rgb", 3), ("grayscale", 1)])
def test_that_images_are_read_by_class(
    tmp_path: Path, cache: DataCache, color: str, channels: int
) -> None:
    root = make_folder(tmp_path / "images", {"cat": 2, "dog": 3})
    settings = ImagesData(path=str(root), image_size=(8, 6), color=color, cache=cache)

    data = read_images(settings)

    assert data.class_names == ("cat", "dog")
    assert data.training.labels.tolist() == [0, 0, 1, 1, 1]
    assert data.training.feature_shape == (8, 6, channels)
    assert (data.training.in_memory is not None) == (cache is DataCache.MEMORY)
    read = data.training.read(np.array([4, 0], np.int32))
    assert [int(image.mean()) for image in read] == [82, 40]


@pytest.mark.parametrize("cache", list(DataCache))
def test_that_sets_in_folders_of_their_own_are_read(tmp_path: Path, cache: DataCache) -> None:
    counts = {
        "training": {"cat": 2, "dog": 3},
        "validation": {"cat": 1, "dog": 2},
        "test": {"cat": 0, "dog": 4},
    }
    path, validation, test = (str(make_folder(tmp_path / name, counts[name])) for name in counts)
    settings = ImagesData(path=path, validation_path=validation, test_path=test, cache=cache)

    data = read_images(settings)

    assert data.validation is not None
    assert data.test is not None
    assert data.training.labels.tolist() == [0, 0, 1, 1, 1]
    assert data.validation.labels.tolist() == [0, 1, 1]
    assert data.test.labels.tolist() == [1, 1, 1, 1]
    assert (data.test.in_memory is not None) == (cache is DataCache.MEMORY)
    read = data.test.read(np.array([3, 0], np.int32))
    assert [int(image.mean()) for image in read] == [83, 80]
    assert int(data.validation.read(np.array([2], np.int32)).mean()) == 81
    # One after the other, for a trained model; some from each, in the order asked for.
    whole = source_of(settings).read_all(settings, Reading(print), needs_labels=True)
    assert (whole.training_count, whole.validation_count, len(whole)) == (5, 3, 12)
    found = read_features(whole.features, np.array([11, 4, 5, 0, 6], np.int32))
    assert [int(image.mean()) for image in found] == [83, 82, 40, 40, 80]
    assert whole.labels is not None
    assert whole.labels.tolist() == [0, 0, 1, 1, 1, 0, 1, 1, 1, 1, 1, 1]


@pytest.mark.parametrize("key", ["validation_path", "test_path"])
@pytest.mark.parametrize(
    ("counts", "code", "words"),
    [
        ({"cat": 1, "fox": 1}, "data_classes_differ", 'has no folder "dog" and has also "fox"'),
        ({"cat": 1, "dog": 1, "fox": 1}, "data_classes_differ", 'it has also "fox".'),
        ({"dog": 1}, "data_classes_differ", 'it has no folder "cat".'),
        ({"cat": 0, "dog": 0}, "data_class_empty", '"cat", "dog"'),
        ({}, "data_no_classes", "has no sub-folders"),
        (None, "data_file_missing", "does not exist"),
    ],
)
def test_that_what_is_wrong_with_a_set_is_said_of_its_setting(
    tmp_path: Path, key: str, counts: dict[str, int] | None, code: str, words: str
) -> None:
    root = make_folder(tmp_path / "training", {"cat": 2, "dog": 3})
    other = tmp_path / "other"
    if counts is not None:
        other.mkdir()
        make_folder(other, counts)

    with pytest.raises(ProblemError) as caught:
        read_images(ImagesData(path=str(root), **{key: str(other)}))

    (problem,) = caught.value.problems
    assert (problem.code, problem.field) == (code, f"data.{key}")
    assert words in problem.message
    assert str(other) in problem.message


def test_that_a_bad_image_of_a_set_is_said_of_its_setting(tmp_path: Path) -> None:
    path, test = (make_folder(tmp_path / name, {"cat": 2, "dog": 3}) for name in ("all", "test"))
    broken = test / "dog" / "1.png"
    broken.unlink()
    broken.symlink_to(tmp_path / "gone")
    (problem,) = preview(
        PreviewRequest(data=ImagesData(path=str(path), test_path=str(test)))
    ).problems
    assert (problem.code, problem.field) == ("data_image_missing", "data.test_path")
    broken.unlink()
    broken.write_text("no image", encoding="utf-8")
    for settings in (
        ImagesData(path=str(path), test_path=str(test)),
        ImagesData(path=str(path), test_path=str(test), cache=DataCache.NONE),
    ):
        request = PreviewRequest(data=settings)
        (problem,) = preview(request).problems
        assert (problem.code, problem.field) == ("data_image_unreadable", "data.test_path")


def test_that_a_subset_of_images_on_disk_reads_its_own(tmp_path: Path) -> None:
    root = make_folder(tmp_path, {"cat": 2, "dog": 3})
    data = read_images(ImagesData(path=str(root), cache=DataCache.NONE))

    chosen = data.training.subset(np.array([3, 1], np.int32))

    assert len(chosen) == 2
    assert int(chosen.read(np.array([0], np.int32)).mean()) == 81


def test_that_a_missing_folder_is_reported(tmp_path: Path) -> None:
    assert problem_of(tmp_path / "gone").code == "data_file_missing"


def test_that_no_folder_chosen_is_reported() -> None:
    assert problem_of(Path()).code == "data_path_missing"


def test_that_a_file_is_no_folder(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.touch()

    assert problem_of(path).code == "data_file_unreadable"


def test_that_a_folder_without_classes_is_reported(tmp_path: Path) -> None:
    assert problem_of(tmp_path).code == "data_no_classes"


def test_that_a_class_without_images_is_reported_by_name(tmp_path: Path) -> None:
    problem = problem_of(make_folder(tmp_path, {"cat": 2, "dog": 0}))

    assert problem.code == "data_class_empty"
    assert '"dog"' in problem.message


def test_that_one_class_only_is_reported(tmp_path: Path) -> None:
    assert problem_of(make_folder(tmp_path, {"cat": 2})).code == "data_one_class"
    found = read_images(ImagesData(path=str(tmp_path)), must_differ=False)
    assert found.class_names == ("cat",)


@pytest.mark.parametrize("damage", ["cut short", "no image"])
def test_that_a_bad_image_is_reported_by_name(tmp_path: Path, damage: str) -> None:
    root = make_folder(tmp_path, {"cat": 2, "dog": 2})
    bad = root / "dog" / "1.png"
    if damage == "cut short":
        os.truncate(bad, bad.stat().st_size // 2)
    else:
        bad.write_text("no image", encoding="utf-8")

    problem = problem_of(root)

    assert problem.code == "data_image_unreadable"
    assert str(bad) in problem.message
    assert problem.detail


def test_that_a_image_that_vanished_is_not_called_cut_short(tmp_path: Path) -> None:
    root = make_folder(tmp_path, {"cat": 2, "dog": 3})
    data = read_images(ImagesData(path=str(root), cache=DataCache.NONE))
    (root / "dog" / "1.png").unlink()

    with pytest.raises(ProblemError) as caught:
        data.training.read(np.array([3], np.int32))

    (problem,) = caught.value.problems
    assert problem.code == "data_image_missing"
    assert "dog/1.png no longer exists" in problem.message
    assert "cut short" not in problem.message


def test_that_class_folders_and_images_may_have_names_that_are_no_utf_8(tmp_path: Path) -> None:
    root = make_folder(tmp_path / "images", {os.fsdecode(b"caf\xe9"): 2, "tea": 2})
    odd = os.fsdecode(b"caf\xe9")
    (root / odd / "0.png").rename(root / odd / os.fsdecode(b"im\xe9ge.png"))

    data = read_images(ImagesData(path=str(root), image_size=(8, 6)))

    assert data.class_names == (r"caf\xe9", "tea")
    assert data.training.labels.tolist() == [0, 0, 1, 1]


def test_that_a_broken_image_whose_name_is_no_utf_8_can_be_reported(tmp_path: Path) -> None:
    root = make_folder(tmp_path / "images", {"cat": 1, "dog": 1})
    (root / "dog" / os.fsdecode(b"d\xf6g.png")).write_bytes(b"no image")

    problem = problem_of(root)

    assert r"d\xf6g.png" in problem.message
    assert Problem.model_validate_json(problem.model_dump_json()) == problem


def test_that_more_class_folders_than_can_be_distinguished_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gpupanel.trainer.datasets.images.sets.MOST_CLASSES", 2)
    root = make_folder(tmp_path / "images", {"cat": 1, "dog": 1, "fox": 1})

    assert problem_of(root).code == "data_too_many_classes"
