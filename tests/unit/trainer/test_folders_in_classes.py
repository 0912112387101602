"""What stands within and beside folders of classes, and would be learned from unnoticed."""

from pathlib import Path

import pytest

from gpupanel.domain.data import ImagesData
from gpupanel.domain.problem import Fix, Problem, ProblemError, Severity
from gpupanel.domain.profile import Profile
from gpupanel.planning.fixes import apply_fix
from gpupanel.trainer.datasets.images.sets import list_sets
from tests.unit.trainer.image_folders import make_images


def made(root: Path, *names: str) -> ImagesData:
    make_images(root, {name: 7 * number for number, name in enumerate(names, start=1)})
    return ImagesData(path=str(root))


def notes_of(data: ImagesData) -> tuple[Problem, ...]:
    return list_sets(data)["training"].notes


def mended(data: ImagesData, fix: Fix | None) -> ImagesData:
    assert fix is not None
    found = apply_fix(Profile(data=data), fix).data
    assert isinstance(found, ImagesData)
    return found


def names_of(data: ImagesData) -> list[str]:
    paths = list_sets(data)["training"].files.paths
    return [str(Path(path).relative_to(data.path)) for path in paths]


@pytest.mark.parametrize(
    ("names", "code"),
    [
        # A set in some of the classes only, and sets that are called otherwise in each.
        (["cat/train/1.png", "cat/test/1.png", "dog/train/1.png"], "data_folders_in_classes"),
        (["cat/train/1.png", "cat/val/1.png", "dog/training/1.png"], "data_folders_in_classes"),
        # The same classes in each, but for one.
        (["easy/a/1.png", "easy/b/1.png", "hard/a/1.png", "hard/c/1.png"], None),
        (
            ["fold1/a/1.png", "fold1/b/1.png", "fold1/c/1.png", "fold2/a/1.png", "fold2/b/1.png"],
            "data_folders_in_classes",
        ),
        # Patients, of which some have images of one class only.
        (["p1/0/1.png", "p1/1/1.png", "p2/0/1.png", "p2/1/1.png", "p3/0/1.png"], None),
        # A set beside classes.
        (["cat/1.png", "dog/1.png", "val/1.png"], "data_sets_as_classes"),
        # Classes in a folder of a set, beside something else.
        (["train/a/1.png", "train/b/1.png", "other/1.png"], "data_sets_as_classes"),
    ],
)
def test_that_classes_and_sets_within_classes_are_warned_of(
    tmp_path: Path, names: list[str], code: str | None
) -> None:
    data = made(tmp_path, *names)
    (note,) = notes_of(data)
    assert (note.code, note.severity) == (code or "data_folders_in_classes", Severity.WARNING)
    kept = (*filter(None, [note.fix]), *note.alternatives)[-1]
    assert kept.label == "Keep them as classes"
    assert not notes_of(mended(data, kept))


@pytest.mark.parametrize(
    "names", [("bus", "car", "train"), ("invalid", "valid"), ("tested", "untested")]
)
def test_that_classes_may_be_called_like_a_set(tmp_path: Path, names: tuple[str, ...]) -> None:
    assert not notes_of(made(tmp_path, *(f"{name}/1.png" for name in names)))


def test_that_a_set_that_is_a_link_to_another_is_refused(tmp_path: Path) -> None:
    data = made(tmp_path, "train/a/1.png", "train/b/1.png")
    (tmp_path / "val").symlink_to(tmp_path / "train")
    with pytest.raises(ProblemError) as caught:
        list_sets(data)
    (problem,) = caught.value.problems
    assert (problem.code, problem.field) == ("data_sets_alike", "data.validation_path")


def test_that_classes_of_sets_may_be_in_another_form_of_unicode(tmp_path: Path) -> None:
    data = made(tmp_path, "train/caf\xe9/1.png", "train/b/1.png", "train/x/1.png")
    names = ("test/cafe\u0301/1.png", "test/b/1.png", "test/b/2.png", "test/x/1.png")
    made(tmp_path, *names)
    labels = {name: found.labels for name, found in list_sets(data).items()}
    assert labels["training"] is not None
    assert labels["test"] is not None
    assert labels["test"].names == labels["training"].names == ("b", "caf\xe9", "x")
    assert sorted(labels["test"].array.tolist()) == [0, 0, 1, 2]


def test_that_masks_of_each_class_are_warned_of_and_left_out(tmp_path: Path) -> None:
    images = ["a/images/1.png", "a/images/2.png", "b/images/3.png"]
    data = made(tmp_path, *images, "a/masks/1.png", "b/masks/3.png")
    (note,) = notes_of(data)
    assert (note.code, note.severity) == ("data_masks_as_classes", Severity.WARNING)
    assert 'in folders called "masks" are examples like the others' in note.message
    without = mended(data, note.fix)
    assert without.leave_out == ("masks",)
    assert names_of(without) == images
    assert not notes_of(without)


def test_that_a_copy_of_the_classes_beside_them_is_warned_of_and_left_out(tmp_path: Path) -> None:
    classes = ["daisy/1.png", "rose/2.png", "tulip/3.png"]
    data = made(tmp_path, *classes, *(f"flowers/{name}" for name in classes))
    (note,) = notes_of(data)
    assert (note.code, note.severity) == ("data_classes_in_class", Severity.WARNING)
    assert note.message.startswith('The folder "flowers" is a class here')
    without = mended(data, note.fix)
    assert names_of(without) == classes
    assert not notes_of(without)


@pytest.mark.parametrize(
    ("masks", "said"),
    [
        (["a/1_mask.png", "b/2_mask.png"], '"1_mask" beside "1"'),
        (["a/1_mask_1.png", "b/2-segmentation.png"], '"1_mask_1" beside "1"'),
        (["a/1.tif", "b/2.tif"], 'two called "1"'),
    ],
)
def test_that_images_called_as_masks_of_others_are_warned_of(
    tmp_path: Path, masks: list[str], said: str
) -> None:
    (note,) = notes_of(made(tmp_path, "a/1.png", "b/2.png", *masks))
    assert (note.code, note.severity) == ("data_masks_as_images", Severity.WARNING)
    assert note.message.startswith("2 images in ")
    assert said in note.message


def test_that_one_name_with_two_suffixes_of_jpeg_is_no_mask(tmp_path: Path) -> None:
    assert not notes_of(made(tmp_path, "a/1.jpg", "b/2.jpg", "a/1.jpeg", "b/2.JPG"))


def test_that_names_of_masks_without_an_image_are_names_like_others(tmp_path: Path) -> None:
    assert not notes_of(made(tmp_path, "with_mask/face_mask.png", "without_mask/1.png"))


def test_that_found_sets_are_looked_at_like_a_folder_that_was_chosen(tmp_path: Path) -> None:
    names = [f"{where}/{what}/1.png" for where in ("train", "test") for what in ("images", "masks")]
    data = made(tmp_path, *names)
    (note,) = notes_of(data)
    assert note.code == "data_masks_as_classes"
    # Kept as classes, the sets stay sets.
    kept = mended(data, note.alternatives[0])
    assert (kept.path, kept.test_path) == (str(tmp_path / "train"), str(tmp_path / "test"))
    assert not notes_of(kept)
    assert list(list_sets(kept)) == ["training", "test"]


def test_that_images_beside_sets_are_said(tmp_path: Path) -> None:
    sets = [f"{where}/{what}/1.png" for where in ("train", "val") for what in ("a", "b")]
    data = made(tmp_path, *sets, "train_augmented/a/1.png", "1.png", "seg_pred/1.png")
    (note,) = notes_of(data)
    assert (note.code, note.severity) == ("data_beside_sets", Severity.HINT)
    assert note.message.endswith('are not used: the images in "train_augmented" and 1 images.')


def test_that_annotations_are_no_empty_class(tmp_path: Path) -> None:
    data = made(tmp_path, "images/1.png", "images/2.png")
    (tmp_path / "labels").mkdir()
    (tmp_path / "labels" / "1.txt").write_text("0 0.5 0.5 0.2 0.2\n")
    with pytest.raises(ProblemError) as caught:
        list_sets(data)
    problem = caught.value.problems[0]
    assert (problem.code, problem.fix) == ("data_annotations_are_no_labels", None)


def test_that_classes_of_one_set_alone_can_be_left_out_of_all(tmp_path: Path) -> None:
    names = [f"train/{what}/1.png" for what in ("a", "b", "c")]
    data = made(tmp_path, *names, "test/a/1.png", "test/b/1.png")
    with pytest.raises(ProblemError) as caught:
        list_sets(data)
    problem = caught.value.problems[0]
    assert problem.code == "data_classes_differ"
    found = list_sets(mended(data, problem.fix))
    assert [len(each.files.paths) for each in found.values()] == [2, 2]


def test_that_classes_called_train_and_test_are_offered_as_such(tmp_path: Path) -> None:
    data = made(tmp_path, "bus/1.png", "train/1.png", "test/1.png")
    with pytest.raises(ProblemError) as caught:
        list_sets(data)
    problem = caught.value.problems[0]
    assert problem.code == "data_labels_missing"
    labels = list_sets(mended(data, problem.fix))["training"].labels
    assert labels is not None
    assert labels.names == ("bus", "test", "train")
