"""Every way in which an .npz file can be wrong is a problem of its own."""

import zipfile
from pathlib import Path

import numpy as np
import pytest

from gpupanel.domain.data import NpzData
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.trainer.datasets.checks import ArrayName
from gpupanel.trainer.datasets.examples import Scaling
from gpupanel.trainer.datasets.labels import checked_classes
from gpupanel.trainer.datasets.sources.npz import read_npz

FEATURES = np.arange(12, dtype=np.float32).reshape(6, 2)
LABELS = np.array([0, 1, 2, 0, 1, 2])


def save(folder: Path, x: object = FEATURES, y: object = LABELS) -> Path:
    path = folder / "data.npz"
    np.savez(path, x=x, y=y)
    return path


def problem_of(path: Path, **settings: object) -> Problem:
    with pytest.raises(ProblemError) as caught:
        read_npz(NpzData(path=str(path), **settings))
    (problem,) = caught.value.problems
    assert problem.hint
    return problem


def test_that_good_arrays_are_read(tmp_path: Path) -> None:
    data = read_npz(NpzData(path=str(save(tmp_path))))

    assert data.training.features.tolist() == FEATURES.tolist()
    assert data.training.labels.dtype == np.int32
    assert data.class_names == ("0", "1", "2")
    assert data.scaling is Scaling.NONE


def test_that_bytes_are_taken_for_pixels(tmp_path: Path) -> None:
    path = save(tmp_path, x=np.zeros((6, 4, 4), np.uint8))

    data = read_npz(NpzData(path=str(path)))

    assert (data.scaling, data.greatest) == (Scaling.DIVIDE, 255.0)
    assert data.training.features.dtype == np.uint8


def test_that_labels_in_a_column_and_whole_floats_are_taken(tmp_path: Path) -> None:
    path = save(tmp_path, y=LABELS.astype(float)[:, np.newaxis])

    assert read_npz(NpzData(path=str(path))).training.labels.tolist() == LABELS.tolist()


def test_that_a_class_count_makes_room_for_classes_without_examples(tmp_path: Path) -> None:
    data = read_npz(NpzData(path=str(save(tmp_path)), class_count=5))

    assert data.class_names == ("0", "1", "2", "3", "4")


def test_that_a_missing_file_is_named(tmp_path: Path) -> None:
    problem = problem_of(tmp_path / "gone.npz")

    assert (problem.code, problem.field) == ("data_file_missing", "data.path")
    assert str(tmp_path / "gone.npz") in problem.message


def test_that_no_file_chosen_is_reported() -> None:
    assert problem_of(Path()).code == "data_path_missing"


def test_that_a_folder_is_no_file(tmp_path: Path) -> None:
    assert problem_of(tmp_path).code == "data_file_unreadable"


@pytest.mark.parametrize("kept", [0, 10, 200, 0.5, 0.9])
def test_that_a_file_cut_short_is_reported(tmp_path: Path, kept: float) -> None:
    path = save(tmp_path)
    whole = path.read_bytes()
    path.write_bytes(whole[: int(kept * len(whole)) if isinstance(kept, float) else kept])

    problem = problem_of(path)

    assert problem.code == "data_file_damaged"
    assert str(path) in problem.message
    assert problem.detail


def test_that_a_file_of_another_kind_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "data.npz"
    path.write_text("a,b\n1,2\n", encoding="utf-8")

    assert problem_of(path).code == "data_file_damaged"


@pytest.mark.parametrize("where", ["header", "values"])
def test_that_a_damaged_array_is_reported(tmp_path: Path, where: str) -> None:
    path = tmp_path / "data.npz"
    member = tmp_path / "x.npy"
    np.save(member, FEATURES)
    content = member.read_bytes()
    broken = b"\x00" * 20 if where == "header" else content[:-8]
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("x.npy", broken)
        archive.writestr("y.npy", broken)

    assert problem_of(path).code == "data_file_damaged"


def test_that_a_missing_array_is_reported_with_those_there_are(tmp_path: Path) -> None:
    problem = problem_of(save(tmp_path), features="pictures")

    assert (problem.code, problem.field) == ("data_array_missing", "data.features")
    assert '"pictures"' in problem.message
    assert '"x", "y"' in problem.message


def test_that_object_arrays_are_refused_without_running_their_code(tmp_path: Path) -> None:
    ran = tmp_path / "ran"

    class Bomb:
        def __reduce__(self) -> tuple[object, ...]:
            return (Path.touch, (ran,))

    problem = problem_of(save(tmp_path, x=np.array([Bomb()] * 6, dtype=object)))

    assert problem.code == "data_array_of_objects"
    assert not ran.exists()


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e300])
def test_that_features_that_are_not_finite_are_reported(tmp_path: Path, value: float) -> None:
    features = FEATURES.astype(np.float64)
    features[4, 1] = value

    problem = problem_of(save(tmp_path, x=features))

    assert problem.code == "data_features_not_finite"
    assert "1 of 6 examples" in problem.message
    assert "example 4" in problem.message
    assert '"x"' in problem.message


@pytest.mark.parametrize(
    ("features", "code"),
    [
        (np.array(["a", "b"] * 3), "data_features_not_numbers"),
        (np.zeros((0, 2)), "data_empty"),
        (np.zeros((6, 0)), "data_empty"),
        (np.float64(3.0), "data_empty"),
        (np.zeros((5, 2)), "data_lengths_differ"),
    ],
)
def test_that_bad_features_are_reported(tmp_path: Path, features: object, code: str) -> None:
    if isinstance(features, np.float64):
        features = np.zeros(())
    assert problem_of(save(tmp_path, x=features)).code == code


@pytest.mark.parametrize(
    ("labels", "code", "words"),
    [
        (np.array([0, 1, 2, 0, -1, 2]), "data_labels_negative", "example 4"),
        (np.array([0, 1, 2.5, 0, 1, 2]), "data_labels_not_integer", "2.5 in example 2"),
        (np.array([0, 1, np.nan, 0, 1, 2]), "data_labels_not_integer", "nan in example 2"),
        (np.array([list("ab")] * 6), "data_labels_not_one_each", "(6, 2)"),
        (np.arange(6).astype("datetime64[D]"), "data_labels_not_integer", "datetime64[D]"),
        (np.zeros((0,), int), "data_empty", "empty"),
        (np.full(6, 3), "data_one_class", "(3)"),
        (np.array([0, 1, 2, 0, 1, 10**6]), "data_labels_out_of_range", "1,000,001 classes"),
    ],
)
def test_that_bad_labels_are_reported(
    tmp_path: Path, labels: np.ndarray, code: str, words: str
) -> None:
    problem = problem_of(save(tmp_path, y=labels), predicts="classes")

    assert problem.code == code
    assert words in problem.message
    assert '"y"' in problem.message
    assert problem.field == "data.labels"


def test_that_a_label_beyond_all_classes_that_can_be_distinguished_is_refused() -> None:
    labels = np.arange(150_000)
    with pytest.raises(ProblemError) as caught:
        checked_classes(labels, ArrayName(source="file", name="y"), None)

    (problem,) = caught.value.problems
    assert problem.code == "data_labels_out_of_range"
    assert len(checked_classes(labels[:100_000], ArrayName(source="file", name="y"), None))


def test_that_labels_outside_the_classes_are_reported(tmp_path: Path) -> None:
    problem = problem_of(save(tmp_path), class_count=2)

    assert problem.code == "data_labels_out_of_range"
    assert "example 2" in problem.message


@pytest.mark.parametrize(
    ("label", "said"),
    [
        (1e30, "label 1e+30"),
        (3e9, "label 3000000000"),
        (np.uint64(2**63 + 5), "label 9223372036854775813"),
        (np.int64(2**40), "label 1099511627776"),
    ],
)
@pytest.mark.parametrize("class_count", [None, 3, 100_000])
def test_that_a_label_too_great_for_a_class_is_not_called_negative(
    tmp_path: Path, label: float, said: str, class_count: int | None
) -> None:
    y = np.array([0, 1, 2, 0, label, 2], dtype=np.asarray(label).dtype)

    problem = problem_of(save(tmp_path, y=y), class_count=class_count, predicts="classes")

    assert problem.code == "data_labels_out_of_range"
    assert said in problem.message


def test_that_a_great_negative_label_is_reported_as_it_stands(tmp_path: Path) -> None:
    problem = problem_of(save(tmp_path, y=np.array([0, 1, -1e30, 0, 1, 2])), predicts="classes")

    assert problem.code == "data_labels_negative"
    assert "-1e+30, first in example 2" in problem.message
