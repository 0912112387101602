"""Images that cannot be read: counted, reported and skipped, up to a share."""

import shutil
import threading
import zipfile
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from gpupanel.domain.data import DataCache, ImagesData, Target
from gpupanel.domain.inference import InferenceSettings
from gpupanel.domain.model import SavedModel
from gpupanel.domain.preview import PreviewRequest
from gpupanel.domain.problem import Problem, ProblemError, Severity
from gpupanel.domain.profile import Profile
from gpupanel.domain.trained_on import TRAINED_ON_MEMBER, TrainedOn
from gpupanel.files.cache_folder import CACHE_DIR_VARIABLE
from gpupanel.trainer.datasets import file_prints
from gpupanel.trainer.datasets.examples import read_features
from gpupanel.trainer.datasets.skipped_files import SkippedFiles
from gpupanel.trainer.datasets.source import Reading
from gpupanel.trainer.datasets.sources.images import SOURCE, read_images
from gpupanel.trainer.datasets.split import Split, split
from gpupanel.trainer.inference.examples import read_inference_examples
from gpupanel.trainer.tools.preview.preview import preview
from tests.unit.trainer.image_folders import make_classes
from tests.unit.trainer.test_image_layouts import csv_data, values_of


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(CACHE_DIR_VARIABLE, str(tmp_path / "cache"))
    monkeypatch.setattr(file_prints, "_RECENT_NS", 0)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Cats 40 to 44 and dogs 80 to 84, of which a cat and a dog cannot be read."""
    root = make_classes(tmp_path / "images", {"cat": 5, "dog": 5})
    (root / "cat" / "1.png").write_text("no image")
    (root / "dog" / "4.png").write_bytes((root / "dog" / "4.png").read_bytes()[:40])
    return root


def read(root: Path, cache: DataCache, **settings: object) -> tuple[ImagesData, Split]:
    data = ImagesData(path=str(root), cache=cache, unreadable_share=0.2, **settings)
    return data, split(read_images(data), data, 3)


def code_of(data: ImagesData) -> str:
    with pytest.raises(ProblemError) as caught:
        values_of(split(read_images(data), data, 3).training)
    return caught.value.problems[0].code


@pytest.mark.parametrize("cache", list(DataCache))
def test_that_the_next_image_with_the_same_label_stands_in(root: Path, cache: DataCache) -> None:
    for _ in range(2):  # with cache = "disk" the second time finds what the first one kept
        _, found = read(root, cache)
        assert values_of(found.training) == [40, 42, 42, 43, 44, 80, 81, 82, 83, 80]
        assert found.training.labels.tolist() == [0] * 5 + [1] * 5
        (note,) = found.data.all_notes()
        assert (note.code, note.severity) == ("data_images_skipped", Severity.WARNING)
        assert 'At least 2 of 10 images cannot be read: "1.png", "4.png".' in note.message
        assert [line.count(str(root)) for line in note.detail.splitlines()] == [1, 1]
    # Mended, it stands for itself.
    Image.new("RGB", (4, 4), (7, 7, 7)).save(root / "cat" / "1.png")
    _, found = read(root, cache)
    assert values_of(found.training) == [40, 7, 42, 43, 44, 80, 81, 82, 83, 80]


@pytest.mark.parametrize("stratify", [False, True])
def test_that_no_image_that_validates_stands_in_for_one_that_is_trained_on(
    root: Path, stratify: bool
) -> None:
    found = [
        read(root, cache, validation_fraction=0.4, stratify=stratify)[1] for cache in DataCache
    ]
    trained = [values_of(each.training) for each in found]
    held_out = [values_of(each.validation) for each in found]
    # The same, whatever was cached; and nothing on both sides.
    assert trained[0] == trained[1] == trained[2]
    assert held_out[0] == held_out[1] == held_out[2]
    assert not set(trained[0]) & set(held_out[0])
    assert (len(trained[0]), len(held_out[0])) == (6, 4)


@pytest.mark.parametrize("cache", list(DataCache))
def test_that_more_than_the_share_end_it(root: Path, cache: DataCache) -> None:
    data = ImagesData(path=str(root), cache=cache, unreadable_share=0.15)
    with pytest.raises(ProblemError) as caught:
        values_of(split(read_images(data), data, 3).training)
    (problem,) = caught.value.problems
    assert (problem.code, problem.field) == ("data_images_unreadable", "data.unreadable_share")
    assert "At least 2 of 10 images cannot be read, more than the 15.00%" in problem.message
    assert len(problem.detail.splitlines()) == 2
    # Where none may be, the first ends it, and is named.
    assert code_of(data.model_copy(update={"unreadable_share": 0.0})) == "data_image_unreadable"


@pytest.mark.parametrize("cache", list(DataCache))
def test_that_an_image_whose_label_no_other_has_ends_it(tmp_path: Path, cache: DataCache) -> None:
    data = csv_data(tmp_path / "i", "f,v\na.png,1.5\nb.png,2.5\ndeep/c.png,2.5\n", cache=cache)
    data = data.model_copy(update={"unreadable_share": 0.5, "predicts": Target.VALUES})
    (tmp_path / "i" / "b.png").write_text("no image")
    assert values_of(split(read_images(data), data, 3).training) == [10, 30, 30]
    (tmp_path / "i" / "b.png").write_bytes((tmp_path / "i" / "deep" / "c.png").read_bytes())
    (tmp_path / "i" / "a.png").write_text("no image")
    assert code_of(data) == "data_image_unreadable"


def test_that_an_image_that_goes_bad_while_training_is_skipped(root: Path) -> None:
    data = ImagesData(path=str(root), cache=DataCache.NONE, unreadable_share=0.3)
    found = split(read_images(data), data, 3)
    assert found.data.all_notes() == ()
    values_of(found.training)
    (root / "cat" / "2.png").unlink()
    assert values_of(found.training)[:3] == [40, 43, 43]
    (note,) = found.data.all_notes()
    assert "3 of 10 images" in note.message
    assert "no longer exists" in note.detail
    (root / "cat" / "3.png").unlink()
    with pytest.raises(ProblemError):
        values_of(found.training)


def test_that_a_preview_says_what_is_skipped(root: Path) -> None:
    seen = preview(PreviewRequest(data=ImagesData(path=str(root), unreadable_share=0.2)))
    assert [problem.code for problem in seen.problems] == ["data_images_skipped"]
    assert not seen.is_refused
    assert (seen.example_count, len(seen.examples)) == (10, 10)


@pytest.mark.parametrize("needs_labels", [True, False])
@pytest.mark.parametrize("cache", [DataCache.MEMORY, DataCache.DISK])
def test_that_a_trained_model_is_not_asked_about_what_cannot_be_read(
    root: Path, cache: DataCache, needs_labels: bool
) -> None:
    sets = root.parent / "sets"
    for name in ("train", "test"):
        shutil.copytree(root, sets / name)
    data = ImagesData(path=str(sets), cache=cache, unreadable_share=0.2)

    found = SOURCE.read_all(data, Reading(print), needs_labels=needs_labels)

    assert sorted(found.unreadable) == [1, 9, 11, 19]
    (note,) = found.notes
    assert note.message.endswith("They are left out.")
    model = root.parent / "model.keras"
    with zipfile.ZipFile(model, "w") as archive:
        archive.writestr("config.json", "{}")
        record = TrainedOn(predicts=Target.CLASSES, class_names=found.class_names)
        archive.writestr(TRAINED_ON_MEMBER, record.model_dump_json())
    profile = Profile(
        task="evaluate" if needs_labels else "predict",
        data=data,
        model=SavedModel(path=str(model)),
        inference=InferenceSettings(examples="training"),
    )
    chosen = read_inference_examples(profile, Reading(print))
    assert chosen.indices.tolist() == [0, 2, 3, 4, 5, 6, 7, 8]
    assert [int(each.mean()) for each in chosen.read(0, 3)] == [40, 42, 43]
    assert chosen.notes == (note,)


@pytest.mark.parametrize("needs_labels", [True, False])
def test_that_what_is_decoded_when_it_is_asked_for_must_be_readable(
    root: Path, needs_labels: bool
) -> None:
    data = ImagesData(path=str(root), unreadable_share=0.2, cache=DataCache.NONE)
    found = SOURCE.read_all(data, Reading(print), needs_labels=needs_labels)
    with pytest.raises(ProblemError):
        read_features(found.features, np.arange(10, dtype=np.int32))


def test_that_files_are_counted_once_from_many_threads() -> None:
    skipped = SkippedFiles(1000, 0.01)
    error = ProblemError(Problem(code="bad", message="Bad."))
    threads = [
        threading.Thread(target=skipped.add, args=(f"{number % 10}", error)) for number in range(40)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(skipped) == 10
    note = skipped.note()
    assert note is not None
    assert note.message.count('"') == 10
    assert ", ..." in note.message
    with pytest.raises(ProblemError) as caught:
        skipped.add("11", error)
    assert caught.value.problems[0].code == "data_images_unreadable"
