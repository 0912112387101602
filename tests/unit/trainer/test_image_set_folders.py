"""Folders that are sets are never classes, however they are spelled."""

from pathlib import Path

import pytest

from gpupanel.domain.data import ImagesData
from gpupanel.domain.preview import PreviewRequest
from gpupanel.domain.previewed_profile import with_detected
from gpupanel.domain.problem import ProblemError, Severity
from gpupanel.domain.profile import Profile
from gpupanel.planning.fixes import apply_fix
from gpupanel.trainer.datasets.images.set_folders import with_detected_sets
from gpupanel.trainer.datasets.images.sets import list_sets
from gpupanel.trainer.datasets.set_names import meant_by
from gpupanel.trainer.tools.preview.preview import preview
from tests.unit.trainer.image_folders import make_classes, make_images

_BOTH = {"cat": 1, "dog": 1}


def made(root: Path, *names: str) -> ImagesData:
    for name in names:
        make_classes(root / name, _BOTH)
    return ImagesData(path=str(root))


@pytest.mark.parametrize(
    ("training", "validation", "test"),
    [
        ("seg_train", "", "seg_test"),
        ("training_set", "", "test_set"),
        ("train", "eval", ""),
        ("train", "eval", "test"),
        ("train", "val", "eval"),
        ("train", "", "holdout"),
        ("TRAIN", "HOLD-OUT", "Test"),
        ("Training", "Validation", "Testing"),
        ("train_images", "dev_images", "test_images"),
        ("trainset", "valset", "testset"),
        ("TrainSet", "ValSet", "TestSet"),
        ("\uff34rain", "", "tests"),
        ("1_train", "2_val", "3_test"),
        ("train 80", "valid 10", "test 10"),
        ("training.data", "", "test.data"),
        ("seg_train/seg_train", "", "seg_test/seg_test"),
        ("train/train", "", "test"),
        ("dataset/seg_train/seg_train", "", "dataset/seg_test/seg_test"),
        ("Training", "Validierung", "Test"),
        ("Trainingsdaten", "", "Testdaten"),
        ("entra\u00eenement", "validation", ""),
        ("entrenamiento", "validaci\u00f3n", "prueba"),
        ("treino", "valida\u00e7\u00e3o", "teste"),
        ("addestramento", "convalida", "test"),
        ("\u043e\u0431\u0443\u0447\u0435\u043d\u0438\u0435", "", "\u0442\u0435\u0441\u0442"),
        ("\u8bad\u7ec3\u96c6", "\u9a8c\u8bc1\u96c6", "\u6d4b\u8bd5\u96c6"),
        ("\u8a13\u7df4\u30c7\u30fc\u30bf", "", "\u30c6\u30b9\u30c8\u30c7\u30fc\u30bf"),
    ],
)
def test_that_folders_with_names_of_sets_are_sets(
    tmp_path: Path, training: str, validation: str, test: str
) -> None:
    data = made(tmp_path, *filter(None, (training, validation, test)))

    found = with_detected_sets(data)

    assert found.path == str(tmp_path / training)
    assert found.validation_path == (str(tmp_path / validation) if validation else "")
    assert found.test_path == (str(tmp_path / test) if test else "")
    for each in list_sets(data).values():
        assert each.labels is not None
        assert (each.labels.names, len(each.files.paths)) == (("cat", "dog"), 2)


@pytest.mark.parametrize(
    "name", ["cat", "trainer", "constrained", "testament", "valley", "station", "train or test", ""]
)
def test_that_other_names_say_no_set(name: str) -> None:
    assert meant_by(name) is None


@pytest.mark.parametrize(
    "names",
    [
        ("train1", "train2", "test"),
        ("train", "val", "dev", "test"),
        ("train", "val", "eval", "test"),
    ],
)
def test_that_two_folders_of_one_set_are_not_chosen_from(
    tmp_path: Path, names: tuple[str, ...]
) -> None:
    data = made(tmp_path, *names)
    with pytest.raises(ProblemError) as caught:
        list_sets(data)
    assert caught.value.problems[0].code == "data_sets_ambiguous"


def test_that_images_to_predict_on_beside_sets_are_no_set(tmp_path: Path) -> None:
    data = made(tmp_path, "seg_train/seg_train", "seg_test/seg_test")
    make_images(tmp_path / "seg_pred" / "seg_pred", {"1.png": 1})
    assert list(list_sets(data)) == ["training", "test"]


def test_that_sets_among_other_folders_are_warned_of(tmp_path: Path) -> None:
    data = made(tmp_path, "seg_train", "seg_test", "more")
    listed = list_sets(data)["training"]
    (note,) = listed.notes
    assert (note.code, note.severity) == ("data_sets_as_classes", Severity.WARNING)
    assert '"seg_test"' in note.message
    assert '"seg_train"' in note.message
    assert note.fix is not None
    mended = apply_fix(Profile(data=data), note.fix).data
    assert isinstance(mended, ImagesData)
    assert (mended.path, mended.test_path) == (
        str(tmp_path / "seg_train"),
        str(tmp_path / "seg_test"),
    )
    assert [len(each.files.paths) for each in list_sets(mended).values()] == [2, 2]
    kept = apply_fix(Profile(data=data), note.alternatives[0]).data
    assert isinstance(kept, ImagesData)
    assert not list_sets(kept)["training"].notes


def test_that_sets_without_training_images_are_warned_of(tmp_path: Path) -> None:
    (note,) = list_sets(made(tmp_path, "val_set", "test_set"))["training"].notes
    assert (note.code, note.fix) == ("data_sets_as_classes", None)


@pytest.mark.parametrize("is_absolute", [False, True])
def test_that_a_csv_beside_the_folders_of_sets_is_of_the_training_images(
    tmp_path: Path, is_absolute: bool
) -> None:
    make_images(tmp_path / "train", {"001.png": 1, "002.png": 2})
    make_images(tmp_path / "test", {"t1.png": 3})
    (tmp_path / "train.csv").write_text("id,breed\n001,pug\n002,boxer\n")
    labels_csv = str(tmp_path / "train.csv") if is_absolute else "train.csv"
    data = ImagesData(path=str(tmp_path), labels_csv=labels_csv)

    listed = list_sets(data)

    assert list(listed) == ["training"]
    assert listed["training"].labels is not None
    assert listed["training"].labels.names == ("boxer", "pug")
    seen = preview(PreviewRequest(data=data))
    chosen = with_detected(Profile(data=data), seen).data
    assert isinstance(chosen, ImagesData)
    again = list_sets(chosen)
    assert (list(again), again["training"].files.paths) == (
        ["training"],
        listed["training"].files.paths,
    )


def test_that_folders_of_the_same_classes_are_warned_of_where_one_is_a_set(tmp_path: Path) -> None:
    (note,) = list_sets(made(tmp_path, "other", "train"))["training"].notes
    assert note.code == "data_sets_as_classes"
    assert '"other" and "train"' in note.message


def test_that_a_csv_beside_the_folder_of_images_is_offered(tmp_path: Path) -> None:
    make_images(tmp_path / "train", {"001.png": 1, "002.png": 2})
    (tmp_path / "train.csv").write_text("id,breed\n001,pug\n002,boxer\n")
    data = ImagesData(path=str(tmp_path / "train"), labels_csv="train.csv")
    with pytest.raises(ProblemError) as caught:
        list_sets(data)
    (problem,) = caught.value.problems
    assert problem.fix is not None
    mended = apply_fix(Profile(data=data), problem.fix).data
    assert isinstance(mended, ImagesData)
    assert len(list_sets(mended)["training"].files.paths) == 2


@pytest.mark.parametrize(
    ("outer", "inner", "named"),
    [
        (("cam1", "cam2"), ("a", "b"), 'The folders "cam1" and "cam2" are classes here'),
        (("left", "right"), ("a", "b"), '"a" and "b": those may be the classes'),
        (("a", "b"), ("train", "test"), '"test" and "train", and these are names of sets'),
    ],
)
def test_that_classes_that_hold_the_same_folders_are_warned_of(
    tmp_path: Path, outer: tuple[str, ...], inner: tuple[str, ...], named: str
) -> None:
    for folder in outer:
        make_images(tmp_path / folder, {f"{name}/1.png": 1 for name in inner})
    data = ImagesData(path=str(tmp_path))
    (note,) = list_sets(data)["training"].notes
    assert (note.code, note.severity) == ("data_folders_in_classes", Severity.WARNING)
    assert named in note.message
    kept = apply_fix(Profile(data=data), note.alternatives[0]).data
    assert isinstance(kept, ImagesData)
    assert not list_sets(kept)["training"].notes


def test_that_classes_with_folders_of_their_own_are_not_spoken_of(tmp_path: Path) -> None:
    make_images(tmp_path, {"animal/cat/1.png": 1, "animal/dog/1.png": 2, "plant/oak/1.png": 3})
    make_images(tmp_path, {"plant/elm/1.png": 4, "other/1.png": 5})
    assert not list_sets(ImagesData(path=str(tmp_path)))["training"].notes
    make_images(tmp_path / "one", {"cat/all/1.png": 1, "dog/all/1.png": 2})
    assert not list_sets(ImagesData(path=str(tmp_path / "one")))["training"].notes


def test_that_images_beside_the_folders_of_classes_are_counted(tmp_path: Path) -> None:
    make_images(tmp_path, {"cat/1.png": 1, "dog/1.png": 2, "a.png": 3, "b.png": 4})
    (note,) = list_sets(ImagesData(path=str(tmp_path)))["training"].notes
    assert (note.code, note.severity) == ("data_files_beside_classes", Severity.WARNING)
    assert note.message.startswith("2 images stand beside the folders of the classes")


def test_that_masks_beside_images_are_warned_of(tmp_path: Path) -> None:
    make_images(tmp_path, {"images/1.png": 1, "masks/1.png": 2})
    (note,) = list_sets(ImagesData(path=str(tmp_path)))["training"].notes
    assert (note.code, note.severity) == ("data_masks_as_classes", Severity.WARNING)


def test_that_classes_in_one_folder_of_the_chosen_one_are_offered(tmp_path: Path) -> None:
    make_images(tmp_path / "archive" / "photos", {"cat/1.png": 1, "dog/1.png": 2})
    data = ImagesData(path=str(tmp_path))
    with pytest.raises(ProblemError) as caught:
        list_sets(data)
    (problem,) = caught.value.problems
    assert problem.code == "data_one_class"
    assert problem.fix is not None
    mended = apply_fix(Profile(data=data), problem.fix).data
    assert isinstance(mended, ImagesData)
    labels = list_sets(mended)["training"].labels
    assert labels is not None
    assert labels.names == ("cat", "dog")


@pytest.mark.parametrize("name", ["test/1.png", "test/images/1.png"])
def test_that_a_found_set_of_images_without_classes_is_left_out_and_said(
    tmp_path: Path, name: str
) -> None:
    make_images(tmp_path, {"train/cat/1.png": 1, "train/dog/1.png": 2, name: 3})
    data = ImagesData(path=str(tmp_path))
    found = list_sets(data)
    assert list(found) == ["training"]
    (note,) = found["training"].notes
    assert (note.code, note.severity) == ("data_sets_left_out", Severity.HINT)
    assert note.message == 'The images in "test" are not used: they are in no folders of classes.'
    # One that was chosen has to have classes.
    with pytest.raises(ProblemError):
        list_sets(data.model_copy(update={"test_path": str(tmp_path / "test")}))
