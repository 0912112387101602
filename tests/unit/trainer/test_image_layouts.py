"""Folders with sets in them, images with a CSV, and images alone."""

from pathlib import Path

import numpy as np
import pytest

from gpupanel.domain.data import ImagesData, Target
from gpupanel.domain.preview import PreviewRequest
from gpupanel.domain.previewed_profile import with_detected
from gpupanel.domain.problem import Problem, ProblemError, Severity
from gpupanel.domain.profile import Profile
from gpupanel.planning.fixes import apply_fix
from gpupanel.trainer.datasets.examples import DataSet, Examples, read_features
from gpupanel.trainer.datasets.source import Reading
from gpupanel.trainer.datasets.sources.images import SOURCE, read_images
from gpupanel.trainer.tools.preview.preview import preview
from tests.unit.trainer.image_folders import make_classes, make_images

READING = Reading(print)


def values_of(examples: Examples | None) -> list[int]:
    """What each image is filled with."""
    assert examples is not None
    read = examples.read(np.arange(len(examples), dtype=np.int32))
    return [int(image.mean()) for image in read]


def labels_of(data: DataSet) -> list[object]:
    return list(data.training.labels.tolist())


def problem_of(data: ImagesData) -> Problem:
    with pytest.raises(ProblemError) as caught:
        read_images(data)
    (problem,) = caught.value.problems
    assert problem.hint
    return problem


@pytest.mark.parametrize("names", [("train", "val", "test"), ("Training", "valid", "testing")])
def test_that_sets_in_the_folder_are_found(tmp_path: Path, names: tuple[str, str, str]) -> None:
    counts = ({"cat": 2, "dog": 1}, {"cat": 1, "dog": 1}, {"cat": 0, "dog": 1})
    for name, count in zip(names, counts, strict=True):
        make_classes(tmp_path / name, count)
    (tmp_path / "annotations").mkdir()
    data = ImagesData(path=str(tmp_path))

    read, seen = read_images(data), preview(PreviewRequest(data=data))

    assert read.class_names == ("cat", "dog")
    assert values_of(read.training) == [40, 41, 80]
    assert values_of(read.validation) == [40, 80]
    assert values_of(read.test) == [80]
    assert (seen.example_count, seen.validation_example_count, seen.test_example_count) == (3, 2, 1)
    paths = [str(tmp_path / name) for name in names]
    keys = ("path", "validation_path", "test_path")
    assert {key: seen.found[key] for key in keys} == dict(zip(keys, paths, strict=True))
    chosen = with_detected(Profile(data=data), seen).data
    assert [getattr(chosen, key) for key in keys] == paths


def test_that_sets_are_classes_where_that_is_said(tmp_path: Path) -> None:
    for name in ("train", "val"):
        make_classes(tmp_path / name, {"cat": 1, "dog": 1})
    data = ImagesData(path=str(tmp_path), find_sets=False)

    read = read_images(data)

    assert read.class_names == ("train", "val")
    assert read.validation is None
    assert not SOURCE.find(data, Reading(print)).found


def test_that_one_level_of_sets_is_found_and_a_chosen_one_stays(tmp_path: Path) -> None:
    make_classes(tmp_path / "train" / "train", {"cat": 1})
    make_classes(tmp_path / "train" / "val", {"cat": 1})
    make_classes(tmp_path / "val", {"train": 1, "val": 2})
    make_classes(tmp_path / "other", {"train": 3, "val": 1})

    read = read_images(ImagesData(path=str(tmp_path), validation_path=str(tmp_path / "other")))

    assert read.class_names == ("train", "val")
    assert len(read.training) == 2
    assert len(read.validation or ()) == 4


@pytest.mark.parametrize("names", [("train",), ("training data", "val"), ("cat", "test")])
def test_that_folders_of_other_names_are_classes(tmp_path: Path, names: tuple[str, ...]) -> None:
    make_classes(tmp_path, dict.fromkeys((*names, "zebra"), 1))
    assert read_images(ImagesData(path=str(tmp_path))).class_names == (*names, "zebra")


def test_that_two_folders_of_one_set_are_not_chosen_from(tmp_path: Path) -> None:
    for name in ("train", "val", "valid"):
        make_classes(tmp_path / name, {"cat": 1, "dog": 1})

    problem = problem_of(ImagesData(path=str(tmp_path)))

    assert problem.code == "data_sets_ambiguous"
    assert '"val" and "valid"' in problem.message


def test_that_images_alone_are_predicted_on_and_not_trained_on(tmp_path: Path) -> None:
    make_images(tmp_path, {"b.png": 7, "a.jpg": 60, "c.txt.bmp": 9})
    (tmp_path / "notes.txt").write_text("no image")
    (tmp_path / "empty").mkdir()
    data = ImagesData(path=str(tmp_path))

    problem = problem_of(data)
    assert (problem.code, problem.field) == ("data_labels_missing", "data.labels_csv")
    with pytest.raises(ProblemError):
        SOURCE.read_all(data, READING, needs_labels=True)

    found = SOURCE.read_all(data, READING, needs_labels=False)
    assert (found.labels, found.class_names, found.training_count) == (None, (), 3)
    assert not found.class_count_is_known
    read = read_features(found.features, np.arange(3, dtype=np.int32))
    assert [int(image.mean()) for image in read] == [60, 7, 9]

    seen = preview(PreviewRequest(data=data, task="predict"))
    assert (seen.example_count, len(seen.examples)) == (3, 3)
    assert not seen.problems


def test_that_sets_of_images_alone_are_predicted_on(tmp_path: Path) -> None:
    for number, name in enumerate(("train", "test")):
        make_images(tmp_path / name, {"1.png": number})
    found = SOURCE.read_all(ImagesData(path=str(tmp_path)), READING, needs_labels=False)
    assert (len(found), found.training_count, found.labels) == (2, 1, None)


def test_that_the_one_csv_beside_images_is_offered(tmp_path: Path) -> None:
    data = csv_data(tmp_path, "f,k\nb.png,tea\na.png,cup\n").model_copy(update={"labels_csv": ""})
    (tmp_path / "deep" / "c.png").rename(tmp_path / "c.png")
    fix = problem_of(data).fix
    assert fix is not None
    mended = apply_fix(Profile(data=data), fix).data
    assert isinstance(mended, ImagesData)
    assert mended.labels_csv == "labels.csv"
    assert read_images(mended).class_names == ("cup", "tea")
    # Neither one of other images, nor what competitions give for predictions, is offered.
    (tmp_path / "other.tsv").write_text("f\tk\nx.png\ttea\n")
    (tmp_path / "sample_submission.csv").write_text("f,k\na.png,cup\nb.png,cup\n")
    assert (problem_of(data).fix, problem_of(data).alternatives) == (fix, ())
    (tmp_path / "more.csv").write_text("f,k\na.png,1\nb.png,2\n")
    several = problem_of(data)
    fixes = [each for each in (several.fix, *several.alternatives) if each is not None]
    assert [each.changes[0].value for each in fixes] == ["labels.csv", "more.csv"]


def csv_data(root: Path, text: str, **settings: object) -> ImagesData:
    make_images(root, {"a.png": 10, "b.png": 20, "deep/c.png": 30})
    (root / "labels.csv").write_text(text, encoding="utf-8")
    return ImagesData(path=str(root), labels_csv="labels.csv", **settings)


@pytest.mark.parametrize(
    ("text", "target", "names", "labels"),
    [
        ("file,kind\nb.png,tea\na.png,cup\ndeep/c.png,tea\n", "classes", ("cup", "tea"), [1, 0, 1]),
        ("b.png,tea\na.png,cup\ndeep/c.png,tea\n", "classes", ("cup", "tea"), [1, 0, 1]),
        ("\ufefffile;id\r\nb;10\r\n\r\na;9\r\ndeep\\c;10\r\n", "classes", ("9", "10"), [1, 0, 1]),
        ("f\tg\nb.png\t1.5\na.png\t2\n./deep/c.png\t-3e1\n", "values", (), [1.5, 2.0, -30.0]),
        ("f,sun,sea\nb.png,1,1\na.png,0,1\ndeep/c.png,0,0\n", "labels", ("sun", "sea"), None),
        ("f,sun,sea\nb.png,1,0\na.png,0,1\ndeep/c.png,1,0\n", "classes", ("sun", "sea"), [0, 1, 0]),
        ("f,x,y\nb.png,1,0.5\na.png,0,1\ndeep/c.png,7,0\n", "values", (), None),
        ('f,k\nb.png,"a, ""b"""\na.png,c\ndeep/c.png,c\n', "classes", ('a, "b"', "c"), [0, 1, 1]),
    ],
)
def test_that_a_csv_says_what_images_are(
    tmp_path: Path, text: str, target: str, names: tuple[str, ...], labels: list[float] | None
) -> None:
    read = read_images(csv_data(tmp_path, text))

    assert read.target == target
    assert read.class_names == names
    assert values_of(read.training) == [20, 10, 30]  # in the order of the lines
    if labels is not None:
        assert labels_of(read) == labels
    assert read.notes == ()
    assert read.files is not None
    assert [each.path for each in read.files.prints][-1] == "labels.csv"


def test_that_what_a_csv_holds_can_be_said(tmp_path: Path) -> None:
    text = "f,stars\nb.png,1\na.png,5\ndeep/c.png,1\n"
    assert read_images(csv_data(tmp_path, text)).class_names == ("1", "5")
    values = read_images(csv_data(tmp_path, text, predicts=Target.VALUES))
    assert (values.class_names, labels_of(values)) == ((), [1.0, 5.0, 1.0])
    problem = problem_of(csv_data(tmp_path, text, predicts=Target.LABELS))
    assert problem.code == "data_labels_not_zero_or_one"
    assert 'Column "stars" of' in problem.message


def test_that_images_without_a_line_are_left_out_and_said(tmp_path: Path) -> None:
    data = csv_data(tmp_path, "f,k\nb.png,tea\na.png,cup\n")
    (note,) = read_images(data).notes
    assert (note.code, note.severity) == ("data_images_unlabelled", Severity.HINT)
    assert '"c.png"' in note.message
    assert preview(PreviewRequest(data=data)).problems == (note,)
    # Said once, however often: the same line twice is no contradiction.
    twice = read_images(csv_data(tmp_path, "f,k\nb.png,tea\na.png,cup\nb.png,tea\n"))
    assert len(twice.training) == 2


def test_that_lines_without_a_image_are_left_out_up_to_a_share(tmp_path: Path) -> None:
    text = "f,k\nb.png,tea\na.png,cup\ngone.png,tea\ndeep/c.png,tea\n"
    problem = problem_of(csv_data(tmp_path, text))
    assert (problem.code, problem.field) == ("data_images_missing", "data.labels_csv")
    assert "1 of the 4 images" in problem.message
    (note,) = read_images(csv_data(tmp_path, text, unreadable_share=0.25)).notes
    assert (note.code, note.severity) == ("data_images_missing", Severity.WARNING)
    assert note.detail == "gone.png"


def test_that_each_set_has_a_csv_of_its_own(tmp_path: Path) -> None:
    csv_data(tmp_path / "train", "f,k\nb.png,tea\na.png,cup\n")
    csv_data(tmp_path / "val", "f,k\ndeep/c.png,cup\n")
    for chosen in ("labels.csv", str(tmp_path / "train" / "labels.csv")):
        data = ImagesData(path=str(tmp_path), labels_csv=chosen)
        read = read_images(data)
        assert (read.class_names, values_of(read.validation)) == (("cup", "tea"), [30])
        assert read.validation is not None
        assert read.validation.labels.tolist() == [0]
        filled = with_detected(Profile(data=data), preview(PreviewRequest(data=data))).data
        assert isinstance(filled, ImagesData)
        assert filled.labels_csv == str(tmp_path / "train" / "labels.csv")
    (tmp_path / "val" / "labels.csv").write_text("f,k\ndeep/c.png,pot\n")
    problem = problem_of(ImagesData(path=str(tmp_path), labels_csv="labels.csv"))
    assert '"pot", which is not a class of the training images' in problem.message
    (tmp_path / "val" / "labels.csv").write_text("f,m,l\ndeep/c.png,1,0\n")
    problem = problem_of(ImagesData(path=str(tmp_path), labels_csv="labels.csv"))
    assert problem.code == "data_csv_columns_differ"
    (tmp_path / "val" / "labels.csv").unlink()
    problem = problem_of(ImagesData(path=str(tmp_path), labels_csv="labels.csv"))
    assert problem.code == "data_labels_missing"
    assert str(tmp_path / "val" / "labels.csv") in problem.message


def test_that_predicting_does_without_the_csv(tmp_path: Path) -> None:
    data = csv_data(tmp_path, "f,k\nb.png,tea\na.png,cup\n")
    found = SOURCE.read_all(data, READING, needs_labels=False)
    assert (len(found), found.class_names) == (2, ("cup", "tea"))
    (tmp_path / "labels.csv").unlink()
    found = SOURCE.read_all(data, READING, needs_labels=False)
    assert (len(found), found.labels, found.class_names) == (3, None, ())


def test_that_folders_by_class_hold_no_values(tmp_path: Path) -> None:
    make_classes(tmp_path, {"cat": 1, "dog": 1})
    problem = problem_of(ImagesData(path=str(tmp_path), predicts=Target.VALUES))
    assert (problem.code, problem.field) == ("data_predicts_misfit", "data.predicts")
