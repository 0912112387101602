"""A scan of folders of images: what is in them, said once, and what mends it."""

import shutil
import time
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from gpupanel.domain.data import ImagesData
from gpupanel.domain.problem import Problem, Severity
from gpupanel.domain.profile import Profile
from gpupanel.domain.scan import DataScan, ScanRequest
from gpupanel.planning.fixes import apply_fix
from gpupanel.trainer.datasets.scanning import image_facts, images
from gpupanel.trainer.datasets.scanning.scanned import Scanned
from gpupanel.trainer.datasets.skipped_files import share_for
from gpupanel.trainer.datasets.sources.images import read_images
from gpupanel.trainer.tools.scan import scan
from tests.unit.trainer.image_folders import make_images
from tests.unit.trainer.test_image_layouts import csv_data


def image(path: Path, seed: int, size: tuple[int, int] = (9, 7)) -> None:
    """An image like no other."""
    path.parent.mkdir(parents=True, exist_ok=True)
    pixels = np.random.default_rng(seed).integers(0, 255, (*size, 3), np.uint8)
    Image.fromarray(pixels).save(path)


def make_many(root: Path, counts: dict[str, int]) -> Path:
    for number, (name, count) in enumerate(counts.items()):
        for each in range(count):
            image(root / name / f"{each}.png", 1000 * number + each)
    return root


def scanned(root: Path, **settings: object) -> DataScan:
    return scan(ScanRequest(data=ImagesData(path=str(root), **settings), seed=3))


def problem(found: DataScan, code: str) -> Problem:
    (one,) = [each for each in found.problems if each.code == code]
    return one


def codes(found: DataScan) -> list[str]:
    return [each.code for each in found.problems]


def test_that_sets_classes_sizes_and_formats_are_counted(tmp_path: Path) -> None:
    make_many(tmp_path / "train", {"cat": 3, "dog": 2})
    make_many(tmp_path / "val", {"cat": 0, "dog": 0})
    image(tmp_path / "val" / "cat" / "1.jpg", 77, (12, 20))
    image(tmp_path / "val" / "dog" / "2.png", 78)
    found = scanned(tmp_path)
    assert found.is_complete
    assert [(each.name, each.examples, each.labelled) for each in found.sets] == [
        ("training", 5, 5),
        ("validation", 2, 2),
    ]
    assert found.sets[0].class_counts == (("cat", 3), ("dog", 2))
    assert found.feature_shape == (64, 64, 3)
    assert {each.name: each.count for each in found.formats} == {"PNG, RGB": 6, "JPEG, RGB": 1}
    assert {each.name: each.count for each in found.sizes} == {"7 x 9": 6, "20 x 12": 1}
    assert (found.leaked, found.copies, found.unreadable_count) == (0, 0, 0)
    assert found.problems == ()


def test_that_a_validation_set_is_drawn_as_a_training_draws_it(tmp_path: Path) -> None:
    make_many(tmp_path, {"cat": 6, "dog": 6})
    found = scanned(tmp_path, validation_fraction=0.25)
    assert [(each.name, each.examples) for each in found.sets] == [
        ("training", 9),
        ("validation", 3),
    ]


def test_that_a_leak_into_validation_is_named_first_with_its_files(tmp_path: Path) -> None:
    make_many(tmp_path / "train", {"cat": 3, "dog": 2})
    make_many(tmp_path / "val", {"cat": 0, "dog": 0})
    image(tmp_path / "val" / "cat" / "own.png", 77)
    (tmp_path / "val" / "dog").mkdir(exist_ok=True)
    shutil.copy(tmp_path / "train" / "dog" / "1.png", tmp_path / "val" / "dog" / "again.png")
    (tmp_path / "train" / "dog" / "bad.png").write_text("none")
    found = scanned(tmp_path)
    assert codes(found)[:2] == ["scan_validation_leak", "scan_images_unreadable"]
    leak = found.problems[0]
    assert "1 of 2 validation examples is among the training examples" in leak.message
    assert "dog/1.png (training, dog) = dog/again.png (validation, dog)" in leak.message
    assert (found.leaked, found.copies) == (1, 1)
    (same,) = found.same
    assert [(each.set, each.name) for each in same.examples] == [
        ("training", "dog/1.png"),
        ("validation", "dog/again.png"),
    ]


def test_that_the_same_content_with_two_labels_is_reported(tmp_path: Path) -> None:
    make_many(tmp_path, {"cat": 3, "dog": 3})
    shutil.copy(tmp_path / "dog" / "0.png", tmp_path / "cat" / "9.png")
    found = scanned(tmp_path)
    odd = problem(found, "scan_labels_differ")
    assert odd.severity is Severity.WARNING
    assert "cat/9.png (training, cat) = dog/0.png (training, dog)" in odd.message
    assert not found.same[0].are_labelled_alike
    assert "scan_validation_leak" not in codes(found)


def test_that_unreadable_files_are_listed_once_and_a_fix_skips_just_as_many(tmp_path: Path) -> None:
    make_many(tmp_path, {"cat": 20, "dog": 20})
    for number in range(3):
        (tmp_path / "cat" / f"bad{number}.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    found = scanned(tmp_path)
    assert found.unreadable_count == 3
    assert [each.name for each in found.unreadable] == [f"cat/bad{n}.png" for n in range(3)]
    assert all("is truncated or is not an image" in each.why for each in found.unreadable)
    odd = problem(found, "scan_images_unreadable")
    assert odd.severity is Severity.ERROR
    assert odd.fix is not None
    assert odd.fix.label == "Skip 3 unreadable images"
    mended = apply_fix(Profile(data=ImagesData(path=str(tmp_path))), odd.fix).data
    assert isinstance(mended, ImagesData)
    read = read_images(mended)
    assert read.skipped is not None
    assert len(read.skipped) == 3
    again = scan(ScanRequest(data=mended))
    assert problem(again, "scan_images_unreadable").severity is Severity.WARNING
    assert problem(again, "scan_images_unreadable").fix is None


@pytest.mark.parametrize(("count", "total"), [(3, 43), (1, 3), (7, 10_000), (1, 1_000_000)])
def test_that_the_share_is_enough_and_hardly_more(count: int, total: int) -> None:
    share = share_for(count, total)
    assert share is not None
    assert count <= int(total * share)
    assert share < count / total + 2e-4


def test_that_no_share_skips_all_files() -> None:
    assert share_for(5, 5) is None


def test_that_an_empty_class_is_left_out_by_a_fix(tmp_path: Path) -> None:
    make_many(tmp_path, {"cat": 4, "dog": 4})
    (tmp_path / "empty_class").mkdir()
    found = scanned(tmp_path)
    assert found.empty_classes == ("empty_class",)
    assert found.is_complete
    empty = problem(found, "data_class_empty")
    assert empty.fix is not None
    assert empty.fix.label == "Leave out empty_class"
    mended = apply_fix(Profile(data=ImagesData(path=str(tmp_path))), empty.fix).data
    assert mended.model_dump()["leave_out"] == ("empty_class",)
    assert isinstance(mended, ImagesData)
    assert read_images(mended).class_names == ("cat", "dog")
    assert scan(ScanRequest(data=mended)).problems == ()


def test_that_classes_are_left_out_of_each_set_by_their_names(tmp_path: Path) -> None:
    for name in ("train", "test"):
        make_many(tmp_path / name, {"cat": 2, "dog": 2, "caf\udce9": 1})
    data = ImagesData(path=str(tmp_path), leave_out=("caf\\xe9",))
    read = read_images(data)
    assert read.class_names == ("cat", "dog")
    assert read.test is not None
    assert (len(read.training), len(read.test)) == (4, 4)


def test_that_a_class_to_be_left_out_that_is_not_there_is_a_hint(tmp_path: Path) -> None:
    make_many(tmp_path, {"cat": 2, "dog": 2, "eel": 2})
    found = scanned(tmp_path, leave_out=("eel", "Dog"))
    assert found.sets[0].class_counts == (("cat", 2), ("dog", 2))
    hint = problem(found, "data_left_out_unknown")
    assert '"Dog"' in hint.message
    assert hint.fix is not None
    assert hint.fix.changes[0].value == ["eel"]
    none_left = scanned(tmp_path, leave_out=("cat", "dog", "eel"))
    assert codes(none_left) == ["data_no_classes"]
    assert not none_left.is_complete


def test_that_odd_classes_are_reported(tmp_path: Path) -> None:
    make_many(tmp_path, {"Café": 30, "cafe ": 12, "dog": 2, "eel": 1})
    found = scanned(tmp_path)
    assert '"Café" and "cafe "' in problem(found, "scan_class_names_alike").message
    assert '"eel"' in problem(found, "scan_class_of_one").message
    uneven = problem(found, "scan_classes_uneven")
    assert '"Café" has 30 training examples, "eel" 1' in uneven.message
    assert uneven.fix is not None
    assert uneven.fix.changes[0].value == "balanced"
    weighed = problem(scanned(tmp_path, class_weights="balanced"), "scan_classes_uneven")
    assert weighed.fix is None


def test_that_images_of_one_colour_are_named(tmp_path: Path) -> None:
    make_many(tmp_path, {"cat": 2, "dog": 2})
    make_images(tmp_path / "dog", {"black.png": 0})
    assert "1 image is of one colour: dog/black.png" in (
        problem(scanned(tmp_path), "scan_pictures_blank").message
    )


def test_that_images_without_a_line_in_the_csv_are_counted(tmp_path: Path) -> None:
    data = csv_data(tmp_path, "f,k\nb.png,tea\na.png,cup\ngone.png,cup\n")
    found = scan(ScanRequest(data=data))
    assert found.unlabelled == 1
    assert found.sets[0].class_counts == (("cup", 1), ("tea", 1))
    assert [each.severity for each in found.problems if each.code == "data_images_missing"] == [
        Severity.ERROR
    ]


def test_that_a_flat_folder_is_scanned_without_labels(tmp_path: Path) -> None:
    make_many(tmp_path, {"": 3})
    data = ImagesData(path=str(tmp_path))
    trained = scan(ScanRequest(data=data))
    assert [(each.examples, each.labelled) for each in trained.sets] == [(3, 0)]
    assert codes(trained) == ["data_labels_missing"]
    assert codes(scan(ScanRequest(data=data, task="predict"))) == []


def test_that_classes_that_differ_between_sets_end_no_scan(tmp_path: Path) -> None:
    make_many(tmp_path / "train", {"cat": 3, "dog": 2})
    make_many(tmp_path / "val", {"cat": 1, "eel": 1})
    found = scanned(tmp_path)
    assert found.is_complete
    assert codes(found) == ["data_classes_differ"]
    assert found.sets[0].examples == 5


def test_that_a_first_look_comes_before_any_file_is_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_many(tmp_path, {"cat": 3, "dog": 2})
    opened = []
    monkeypatch.setattr(images, "open_regular", opened.append)
    looks = []

    def look(listed: Scanned) -> None:
        looks.append((len(opened), {name: each.count for name, each in listed.sets.items()}))

    scan(ScanRequest(data=ImagesData(path=str(tmp_path))), on_first_report=look)
    assert looks == [(0, {"training": 5})]
    assert opened


def test_that_the_next_scan_opens_only_what_has_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(image_facts, "_RECENT_NS", 0)
    make_many(tmp_path, {"cat": 3, "dog": 2})
    (tmp_path / "cat" / "bad.png").write_text("none")
    time.sleep(0.02)  # times of files are no finer than some milliseconds
    first = scanned(tmp_path)
    opened, real = [], images.open_regular

    def watched(path: Path) -> object:
        opened.append(path.name)
        return real(path)

    monkeypatch.setattr(images, "open_regular", watched)
    again = scanned(tmp_path)
    assert opened == ["bad.png"]
    assert again.model_copy(update={"seconds": first.seconds}) == first
    image(tmp_path / "dog" / "1.png", 99, (20, 20))
    (tmp_path / "dog" / "0.png").rename(tmp_path / "cat" / "moved.png")
    opened.clear()
    changed = scanned(tmp_path)
    assert set(opened) == {"1.png", "bad.png", "moved.png"}
    assert {each.name: each.count for each in changed.sizes} == {"7 x 9": 4, "20 x 20": 1}


def test_that_a_cache_that_somebody_damaged_is_not_believed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cache_dir: Path
) -> None:
    monkeypatch.setattr(image_facts, "_RECENT_NS", 0)
    make_many(tmp_path, {"cat": 3, "dog": 2})
    time.sleep(0.02)
    first = scanned(tmp_path)
    (kept,) = (cache_dir / "scans").glob(f"{image_facts._place([tmp_path], None).stem}*")
    content = kept.read_bytes()
    for damaged in (b"", content[:-3], b"{}\n" + content, content[:200], b"\n" * 400):
        kept.write_bytes(damaged)
        assert scanned(tmp_path).model_copy(update={"seconds": first.seconds}) == first
