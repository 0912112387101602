"""Hidden files, suffixes that are read and others, alike in every layout and in a script."""

import sys
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from gpupanel.domain.data import ImagesData
from gpupanel.domain.preview import PreviewRequest
from gpupanel.domain.problem import ProblemError, Severity
from gpupanel.planning.script.data_section import data_section
from gpupanel.trainer.datasets.images import listing, unread
from gpupanel.trainer.datasets.images.sets import ImageSet, list_sets
from gpupanel.trainer.datasets.source import Reading
from gpupanel.trainer.datasets.sources.images import SOURCE, read_images
from gpupanel.trainer.parts import image_formats
from gpupanel.trainer.tools.preview.preview import preview
from tests.unit.trainer.image_folders import make_classes, make_images

HIDDEN = (
    "._1.png",
    ".ipynb_checkpoints/1-checkpoint.png",
    "@eaDir/1.png/SYNOPHOTO_THUMB_M.jpg",
    "__MACOSX/1.png",
    "Thumbs.db",
    "deep/.thumbnails/1.png",
    "deep/@eaDir/1.png",
)


def hide(folder: Path) -> None:
    """Put what programs leave behind beside images."""
    for name in HIDDEN:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(b"\0\5\x16\7 no image")


def names_of(root: Path, found: ImageSet) -> list[str]:
    return [str(Path(path).relative_to(root)) for path in found.files.paths]


def script_names(data: ImagesData) -> list[str]:
    script: dict[str, object] = {"np": np, "SEED": 3}
    text = data_section(data.model_copy(update={"cache": "none"}))
    exec(f"import os\n{text}", script)
    return [str(Path(path).relative_to(data.path)) for path in script["x"].paths]  # type: ignore[attr-defined]


def test_that_what_is_hidden_is_not_there_at_any_depth(tmp_path: Path) -> None:
    make_classes(tmp_path, {"cat": 2, "dog": 2})
    hide(tmp_path / "cat")
    hide(tmp_path / "dog")
    (tmp_path / "@eaDir").mkdir()
    (tmp_path / "__MACOSX" / "cat").mkdir(parents=True)
    data = ImagesData(path=str(tmp_path), image_size=(4, 5))
    wanted = ["cat/0.png", "cat/1.png", "dog/0.png", "dog/1.png"]
    assert names_of(tmp_path, list_sets(data)["training"]) == wanted
    assert script_names(data) == wanted
    seen = preview(PreviewRequest(data=data))
    assert (seen.example_count, seen.problems) == (4, ())
    assert [each.value for each in seen.offers["leave_out"]] == ["cat", "dog"]


@pytest.mark.parametrize("labels", ["", "labels.csv"])
def test_that_what_is_hidden_is_not_predicted_on_and_has_no_labels(
    tmp_path: Path, labels: str
) -> None:
    make_images(tmp_path, {"a.png": 1, "b.png": 2})
    hide(tmp_path)
    if labels:
        (tmp_path / labels).write_text("f,k\na.png,x\nb.png,y\n")
        read = read_images(ImagesData(path=str(tmp_path), labels_csv=labels))
        assert (len(read.training), read.notes) == (2, ())
    data = ImagesData(path=str(tmp_path), labels_csv=labels)
    assert len(SOURCE.read_all(data, Reading(print), needs_labels=False)) == 2


def test_that_jpegs_of_every_suffix_are_read(tmp_path: Path) -> None:
    suffixes = ("JPG", "jpeg", "jpe", "jfif", "jif", "pjpeg", "pjp")
    for name in ("cat", "dog"):
        make_classes(tmp_path / "made", {name: len(suffixes)})
        for number, suffix in enumerate(suffixes):
            place = tmp_path / name / f"{number}.{suffix}"
            place.parent.mkdir(exist_ok=True)
            Image.open(tmp_path / "made" / name / f"{number}.png").save(place, "JPEG", quality=100)
    data = ImagesData(path=str(tmp_path), leave_out=("made",), image_size=(9, 11))
    read = read_images(data)
    means = [int(x.mean()) for x in read.training.read(np.arange(14, dtype=np.int32))]
    assert means == [40 + number for number in range(7)] * 2
    assert len(script_names(data)) == 14


def test_that_files_that_are_not_read_are_counted_and_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_classes(tmp_path, {"cat": 2, "dog": 2})
    for name in ("cat/1.heic", "cat/2.HEIC", "dog/1.heic", "dog/x.xcf", "dog/odd", "cat/notes.txt"):
        (tmp_path / name).touch()
    monkeypatch.setattr(unread, "MISSING_READERS", {".heic": "the package pillow-heif"})
    monkeypatch.setattr(listing, "SUFFIXES", listing.SUFFIXES - {".heic"})
    seen = preview(PreviewRequest(data=ImagesData(path=str(tmp_path))))
    (note,) = seen.problems
    assert (note.code, note.severity) == ("data_files_not_read", Severity.WARNING)
    assert (
        "5 files are not images by their names: 3 .heic, 1 without a suffix, 1 .xcf" in note.message
    )
    assert ".heic can be read with the package pillow-heif" in note.hint
    for path in (tmp_path / name for name in ("cat/1.heic", "cat/2.HEIC", "dog/1.heic")):
        path.unlink()
    (tmp_path / "dog" / "x.xcf").rename(tmp_path / "dog" / "clip.mov")
    (tmp_path / "dog" / "odd").unlink()
    (note,) = read_images(ImagesData(path=str(tmp_path))).notes
    assert note.severity is Severity.HINT
    assert "1 file is not an image by its name: 1 .mov" in note.message


def test_that_a_class_of_files_that_are_not_read_says_so(tmp_path: Path) -> None:
    make_classes(tmp_path, {"cat": 2, "dog": 0})
    (tmp_path / "dog" / "1.jxl").touch()
    with pytest.raises(ProblemError) as caught:
        read_images(ImagesData(path=str(tmp_path)))
    empty, note = caught.value.problems
    assert (empty.code, note.code) == ("data_class_empty", "data_files_not_read")


def test_that_a_file_is_read_by_its_content_whatever_its_name_ends_in(tmp_path: Path) -> None:
    make_classes(tmp_path, {"cat": 1, "dog": 1})
    (tmp_path / "cat" / "0.png").rename(tmp_path / "cat" / "0.jpg")
    read = read_images(ImagesData(path=str(tmp_path)))
    assert int(read.training.read(np.array([0], np.int32)).mean()) == 40


def test_that_a_heic_file_under_another_name_is_called_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_classes(tmp_path, {"cat": 1, "dog": 1})
    (tmp_path / "cat" / "0.png").write_bytes(b"\0\0\0\x18ftypheic" + b"\0" * 90)
    monkeypatch.setattr(image_formats, "_READERS", ())
    with pytest.raises(ProblemError) as caught:
        read_images(ImagesData(path=str(tmp_path)))
    assert "AVIF or HEIC" in str(caught.value)
    assert "pillow-heif" in caught.value.problems[0].hint


@pytest.mark.skipif("AVIF" not in image_formats.FORMATS, reason="this Pillow reads no AVIF")
def test_that_avif_is_read_where_pillow_can(tmp_path: Path) -> None:
    make_classes(tmp_path, {"cat": 1, "dog": 1})
    with BytesIO() as file:
        Image.open(tmp_path / "dog" / "0.png").save(file, "AVIF", quality=100)
        (tmp_path / "dog" / "1.avif").write_bytes(file.getvalue())
    data = ImagesData(path=str(tmp_path), image_size=(9, 11))
    read = read_images(data)
    mean = read.training.read(np.array([2], np.int32)).mean()
    assert abs(float(mean) - 80) <= 1
    assert script_names(data)[-1] == "dog/1.avif"


def test_that_no_other_package_is_needed() -> None:
    assert ("HEIF" in image_formats.FORMATS) == ("pillow_heif" in sys.modules)
