"""Folders that are sets are never classes; what is hidden or unread is not learned from."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image

from gpupanel.domain.data import ImagesData
from gpupanel.domain.preview import DataPreview, PreviewRequest
from gpupanel.domain.scan import ScanRequest
from gpupanel.trainer.datasets.examples import DataSet
from gpupanel.trainer.datasets.source import Reading, source_of
from gpupanel.trainer.parts.image_formats import MISSING_READERS
from gpupanel.trainer.tools.preview.preview import preview
from gpupanel.trainer.tools.scan import scan
from tests.unit.trainer.image_folders import make_images

SPELLINGS = [
    ("train", "test"),
    ("Training", "Testing"),
    ("TRAIN", "TEST"),
    ("seg_train", "seg_test"),
    ("training_set", "test_set"),
    ("trainset", "testset"),
    ("TrainSet", "TestSet"),
    ("train_images", "test_images"),
    ("TrainingImages", "TestImages"),
    ("1_train", "2_test"),
    ("01-training", "02-testing"),
    ("cats train", "cats test"),
    ("pets.train", "pets.test"),
    ("train2017", "test2017"),
    ("trainingdata", "testdata"),
    ("train", "holdout"),
    ("train", "hold-out"),
    ("trn", "tst"),
]


def small(folder: Path, classes: tuple[str, ...] = ("cat", "dog"), count: int = 3) -> None:
    for place, name in enumerate(classes):
        values = {f"{name}/{number}.png": 60 * place + number for number in range(count)}
        make_images(folder, values)


def read(root: Path, **chosen: object) -> DataSet:
    data = ImagesData(path=str(root), image_size=(4, 4), **chosen)
    return source_of(data).read(data, Reading(print))


def previewed(root: Path, **chosen: object) -> DataPreview:
    data = ImagesData(path=str(root), image_size=(4, 4), **chosen)
    return preview(PreviewRequest(data=data))


@pytest.mark.parametrize(("training", "test"), SPELLINGS)
def test_that_folders_that_are_sets_are_found_however_they_are_called(
    tmp_path: Path, training: str, test: str
) -> None:
    small(tmp_path / training, count=4)
    small(tmp_path / test)
    (tmp_path / "seg_pred").mkdir()
    found = read(tmp_path)
    assert found.class_names == ("cat", "dog")
    assert (len(found.training), len(found.test), found.validation) == (8, 6, None)
    assert previewed(tmp_path).found["path"] == str(tmp_path / training)


@pytest.mark.parametrize("name", ["val", "Valid", "validation_set", "dev", "eval", "evaluation"])
def test_that_folders_that_validate_are_found_however_they_are_called(
    tmp_path: Path, name: str
) -> None:
    rest = "_set" if name.endswith("_set") else ""
    small(tmp_path / f"train{rest}")
    small(tmp_path / name, count=2)
    small(tmp_path / f"test{rest}", count=1)
    found = read(tmp_path)
    assert [len(each) for each in (found.training, found.validation, found.test)] == [6, 4, 2]


def test_that_sets_within_folders_of_their_name_or_of_the_archive_are_found(
    tmp_path: Path,
) -> None:
    small(tmp_path / "archive/data/seg_train/seg_train", count=4)
    small(tmp_path / "archive/data/seg_test/seg_test")
    found = read(tmp_path)
    assert (found.class_names, len(found.training), len(found.test)) == (("cat", "dog"), 8, 6)
    assert read(tmp_path / "archive/data").class_names == ("cat", "dog")


HIDDEN = (".ipynb_checkpoints/0.png", "@eaDir/0.png", "._1.png", "__MACOSX/0.png", ".git/a/b.png")


@pytest.mark.parametrize("kind", ["by class", "flat", "with a CSV"])
def test_that_hidden_files_and_folders_are_ignored_at_every_depth(
    tmp_path: Path, kind: str
) -> None:
    places = ("cat", "dog") if kind != "flat" else ("",)
    for place in places:
        folder = tmp_path / "images" / place
        make_images(folder, {f"{place}{number}.png": number for number in range(3)})
        make_images(folder, dict.fromkeys(HIDDEN, 9))
        (folder / "Thumbs.db").write_bytes(b"\0" * 20)
    chosen: dict[str, object] = {}
    if kind == "with a CSV":
        lines = [f"{name}/{name}{n}.png,{name}" for name in places for n in range(3)]
        (tmp_path / "images" / "labels.csv").write_text("file,label\n" + "\n".join(lines) + "\n")
        chosen["labels_csv"] = "labels.csv"
    data = ImagesData(path=str(tmp_path / "images"), image_size=(4, 4), **chosen)
    whole = source_of(data).read_all(data, Reading(print), needs_labels=kind != "flat")
    assert len(whole) == 3 * len(places)
    assert whole.notes == ()
    found = preview(PreviewRequest(data=data)).problems
    # Of a flat folder nobody says what the images are.
    assert {each.code for each in found} == ({"data_labels_missing"} if kind == "flat" else set())


def test_that_files_that_are_not_read_are_counted_and_named(tmp_path: Path) -> None:
    small(tmp_path, count=2)
    for number, suffix in enumerate([".heic", ".heic", ".svg", ""]):
        (tmp_path / "cat" / f"x{number}{suffix}").write_bytes(b"?")
    for name in ("notes.txt", "labels.json"):
        (tmp_path / "dog" / name).write_text("beside")
    make_images(tmp_path, {"dog/a.png": 3})
    for suffix in (".jfif", ".jpe", ".JPEG"):
        Image.new("RGB", (5, 5)).save(tmp_path / "dog" / f"b{suffix}", "JPEG")
    found = previewed(tmp_path)
    assert dict(found.class_counts) == {"cat": 2, "dog": 6}
    if ".heic" in MISSING_READERS:
        (problem,) = found.problems
        assert problem.code == "data_files_not_read"
        assert (
            "4 files are not images by their names: 2 .heic, 1 without a suffix, 1 .svg"
            in problem.message
        )
        assert "pillow-heif" in problem.hint
        scanned = scan(ScanRequest(data=ImagesData(path=str(tmp_path)))).problems
        assert "data_files_not_read" in {each.code for each in scanned}


NAMES = st.sampled_from(
    ["a", "Ä b", "日本", "x.y", "c-1", ".hidden", "._a", "Thumbs", "train", "n\u0303"]
)
SUFFIXES = st.sampled_from([".png", ".PNG", ".jpg", ".jfif", ".bmp", ".txt", ".heic", ""])
TREES = st.dictionaries(
    st.tuples(st.sampled_from(["cat", "dog"]), st.lists(NAMES, max_size=2), NAMES, SUFFIXES).map(
        lambda each: "/".join([each[0], *each[1], f"{each[2]}{each[3]}"])
    ),
    st.integers(0, 255),
    max_size=12,
)
FORMATS = {".jpg": "JPEG", ".jfif": "JPEG", ".bmp": "BMP"}


@settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(tree=TREES)
def test_that_names_counts_and_pixels_of_any_folder_are_those_of_pillow(
    tmp_path_factory: pytest.TempPathFactory, tree: Mapping[str, int]
) -> None:
    root = tmp_path_factory.mktemp("tree")
    wanted: list[tuple[tuple[str, ...], str]] = []
    for name, value in {**tree, "cat/0.png": 5, "dog/0.png": 6}.items():
        path = root / name
        if path.exists() or any(each.is_file() for each in path.parents):
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        suffix = path.suffix.lower()
        pixels = np.full((4, 4, 3), value, np.uint8)
        if suffix in (".png", *FORMATS):
            Image.fromarray(pixels).save(path, FORMATS.get(suffix, "PNG"))
        else:
            path.write_bytes(b"no image")
        is_shown = not any(part.startswith(".") for part in Path(name).parts)
        if is_shown and suffix in (".png", *FORMATS):
            wanted.append((Path(name).parts, str(path)))
    wanted.sort()
    found = read(root)
    assert found.class_names == ("cat", "dog")
    labels = [("cat", "dog").index(parts[0]) for parts, _ in wanted]
    assert found.training.labels.tolist() == labels
    rows = found.training.read(np.arange(len(wanted), dtype=np.int32))
    for row, (_, path) in zip(rows, wanted, strict=True):
        np.testing.assert_array_equal(row, np.asarray(Image.open(path).convert("RGB")))
