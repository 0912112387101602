"""Arrays in every usual layout, in one file or a file each, in memory or left on disk."""

import os
from pathlib import Path

import numpy as np
import pytest

from gpupanel.domain.data import NpzData, Scaling, Target
from gpupanel.domain.preview import PreviewRequest
from gpupanel.domain.previewed_profile import with_detected
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.profile import Profile
from gpupanel.trainer.datasets.arrays.npy_rows import NpyRows
from gpupanel.trainer.datasets.fingerprint import compare, take_fingerprint
from gpupanel.trainer.datasets.sources.npz import read_all_npz, read_npz
from gpupanel.trainer.tools.preview.preview import preview

X = np.arange(24, dtype=np.float64).reshape(6, 2, 2)
Y = np.array([0, 1, 2, 0, 1, 2])


def in_one(folder: Path, **arrays: object) -> Path:
    folder.mkdir(exist_ok=True)
    np.savez(folder / "data.npz", **arrays)
    return folder / "data.npz"


def in_several(folder: Path, **arrays: object) -> Path:
    folder.mkdir(exist_ok=True)
    for name, array in arrays.items():
        np.save(folder / f"{name}.npy", array)
    return folder / f"{next(iter(arrays))}.npy"


def data_of(path: Path, **settings: object) -> NpzData:
    return NpzData(path=str(path), **settings)


def problem_of(path: Path, **settings: object) -> Problem:
    with pytest.raises(ProblemError) as caught:
        read_npz(data_of(path, **settings))
    (problem,) = caught.value.problems
    assert problem.hint
    return problem


@pytest.mark.parametrize("save", [in_one, in_several])
@pytest.mark.parametrize("cache", ["memory", "none"])
def test_that_training_and_test_arrays_are_found(tmp_path: Path, save: object, cache: str) -> None:
    path = save(tmp_path, x_train=X, y_train=Y, x_test=X[:2] + 1, y_test=np.array([0, 3]))  # type: ignore[operator]

    data = read_npz(data_of(path, cache=cache))

    everything = np.arange(6, dtype=np.int32)
    assert data.training.read(everything).tolist() == X.tolist()
    assert data.training.features.dtype == np.float32
    assert data.training.labels.tolist() == Y.tolist()
    assert data.test is not None
    assert data.test.read(everything[:2]).tolist() == (X[:2] + 1).tolist()
    assert data.class_names == ("0", "1", "2", "3"), "a class of the test set is one, too"
    on_disk = save is in_several and cache == "none"
    assert isinstance(data.training.features, NpyRows) is on_disk
    all_of_it = read_all_npz(data_of(path, cache=cache), needs_labels=True)
    assert (len(all_of_it), all_of_it.training_count) == (8, 6)
    assert all_of_it.labels is not None
    assert all_of_it.labels.tolist() == [*Y, 0, 3]


@pytest.mark.parametrize(
    ("labels", "target", "names"),
    [
        (np.eye(3)[Y], Target.CLASSES, ("0", "1", "2")),
        (np.array([[1, 1], [0, 0]] * 3), Target.LABELS, ("0", "1")),
        (np.arange(12.0).reshape(6, 2), Target.VALUES, ()),
        (np.linspace(0, 1, 6), Target.VALUES, ()),
    ],
)
def test_that_labels_of_each_kind_are_read(
    tmp_path: Path, labels: np.ndarray, target: Target, names: tuple[str, ...]
) -> None:
    path = in_one(tmp_path, images=X.astype(np.uint8), labels=labels)

    data = read_npz(data_of(path))

    assert (data.target, data.class_names) == (target, names)
    assert (data.scaling, data.greatest) == (Scaling.DIVIDE, 255.0)


def test_that_arrays_whose_names_say_nothing_are_listed_with_their_shapes(tmp_path: Path) -> None:
    path = in_one(tmp_path, a=X, b=X, c=Y)

    problem = problem_of(path)

    assert (problem.code, problem.field) == ("data_arrays_ambiguous", "data.features")
    assert "a: 6 x 2 x 2, float64; b: 6 x 2 x 2, float64; c: 6, int64" in problem.message
    assert read_npz(data_of(path, features="a", labels="c")).training.labels.tolist() == Y.tolist()


def test_that_a_preview_offers_the_arrays_and_says_what_it_found(tmp_path: Path) -> None:
    path = in_one(tmp_path, x_train=X, y_train=Y, x_test=X, y_test=Y, notes=np.zeros(3))

    found = preview(PreviewRequest(data=data_of(path)))

    assert found.problems == ()
    assert found.found == {
        "features": "x_train",
        "labels": "y_train",
        "test_features": "x_test",
        "test_labels": "y_test",
        "predicts": "classes",
    }
    assert [choice.label for choice in found.offers["labels"]] == [
        "x_train: 6 x 2 x 2, float64",
        "y_train: 6, int64",
        "x_test: 6 x 2 x 2, float64",
        "y_test: 6, int64",
        "notes: 3, float64",
    ]
    assert (found.example_count, found.test_example_count) == (6, 6)


def test_that_arrays_are_offered_where_they_are_ambiguous(tmp_path: Path) -> None:
    found = preview(PreviewRequest(data=data_of(in_one(tmp_path, a=X, b=X))))

    assert [problem.code for problem in found.problems] == ["data_arrays_ambiguous"]
    assert [choice.value for choice in found.offers["features"]] == ["a", "b"]


def test_that_a_preview_shows_several_labels_and_several_values(tmp_path: Path) -> None:
    tags = np.array([[1, 1, 0], [0, 0, 0], [1, 0, 0]] * 2)
    found = preview(PreviewRequest(data=data_of(in_one(tmp_path, x=X, y=tags)), example_limit=6))
    assert found.target is Target.LABELS
    assert found.class_counts == (("0", 4), ("1", 2), ("2", 0))
    assert {example.label for example in found.examples} == {"0, 1", "none", "0"}
    assert found.output_count == 3

    values = np.array([[1.5, 2.0]] * 6)
    found = preview(PreviewRequest(data=data_of(in_one(tmp_path, x=X, y=values)), example_limit=1))
    assert (found.target, found.value_count, found.output_count) == (Target.VALUES, 2, 2)
    assert found.examples[0].label == "1.5; 2"


@pytest.mark.parametrize("save", [in_one, in_several])
@pytest.mark.parametrize("cache", ["memory", "none"])
def test_that_sets_may_stand_in_files_of_their_own(
    tmp_path: Path, save: object, cache: str
) -> None:
    path = save(tmp_path / "training", x_train=X, y_train=Y)  # type: ignore[operator]
    validating = save(tmp_path / "validation", x_val=X[:2] + 1, y_val=np.array([0, 3]))  # type: ignore[operator]
    testing = save(tmp_path / "test", x=X[:3] + 2, y=np.array([0, 1, 4]))  # type: ignore[operator]
    settings = data_of(path, validation_path=str(validating), test_path=str(testing), cache=cache)

    data = read_npz(settings)

    order = np.array([1, 0], np.int32)
    assert data.validation is not None
    assert data.test is not None
    assert data.validation.read(order).tolist() == (X[[1, 0]] + 1).tolist()
    assert data.test.read(order).tolist() == (X[[1, 0]] + 2).tolist()
    assert data.test.labels.tolist() == [0, 1, 4]
    assert data.class_names == ("0", "1", "2", "3", "4")
    whole = read_all_npz(settings, needs_labels=True)
    assert (whole.training_count, whole.validation_count, len(whole)) == (6, 2, 11)
    files = data.files.prints if data.files else ()
    assert len(files) == (6 if save is in_several else 0)


def test_that_a_validation_set_in_the_same_file_is_found(tmp_path: Path) -> None:
    path = in_one(
        tmp_path, x_train=X, y_train=Y, x_val=X[:2], y_val=Y[:2], x_test=X[:3], y_test=Y[:3]
    )

    data = read_npz(data_of(path))

    assert data.validation is not None
    assert data.test is not None
    assert (len(data.training), len(data.validation), len(data.test)) == (6, 2, 3)
    found = preview(PreviewRequest(data=data_of(path))).found
    assert (found["validation_features"], found["test_labels"]) == ("x_val", "y_test")
    filled = with_detected(Profile(data=data_of(path)), preview(PreviewRequest(data=data_of(path))))
    assert filled.data.has_validation_set
    assert not filled.data.may_validate_on_test_set


def test_that_a_preview_finds_and_offers_the_arrays_of_each_file(tmp_path: Path) -> None:
    path = in_one(tmp_path / "training", x=X, y=Y)
    beside = in_one(tmp_path / "test", images=X, labels=Y)

    found = preview(PreviewRequest(data=data_of(path, test_path=str(beside))))

    assert (found.found["test_features"], found.found["test_labels"]) == ("images", "labels")
    assert [choice.value for choice in found.offers["test_labels"]] == ["images", "labels"]
    assert [choice.value for choice in found.offers["labels"]] == ["x", "y"]
    assert found.test_example_count == 6


@pytest.mark.parametrize("key", ["validation_path", "test_path"])
@pytest.mark.parametrize(
    ("arrays", "code", "field"),
    [
        ({"x": X[:, :1], "y": Y}, "data_test_set_misfit", ""),
        ({"x": X.astype(np.uint8), "y": Y}, "data_test_set_misfit", ""),
        ({"x": X, "y": np.eye(6)[:, :3] / 2}, "data_labels_not_one_each", ""),
        ({"x": X, "y": Y[:3]}, "data_lengths_differ", ""),
        ({"a": X, "b": X}, "data_arrays_ambiguous", "features"),
        ({"x": X}, "data_array_missing", "labels"),
        (None, "data_file_missing", ""),
    ],
)
def test_that_what_is_wrong_with_a_set_is_said_of_its_file(
    tmp_path: Path, key: str, arrays: dict[str, np.ndarray] | None, code: str, field: str
) -> None:
    beside = tmp_path / "none.npz"
    if arrays is not None:
        beside = in_one(tmp_path / "beside", **arrays)
    problem = problem_of(in_one(tmp_path, x=X, y=Y), **{key: str(beside)})

    assert problem.code == code
    assert problem.field == (f"data.{key.replace('path', field)}" if field else f"data.{key}")


def test_that_a_test_set_of_another_shape_is_refused(tmp_path: Path) -> None:
    path = in_one(tmp_path, x_train=X, y_train=Y, x_test=X[:, :1], y_test=Y)
    assert problem_of(path).code == "data_test_set_misfit"
    path = in_one(tmp_path, x_train=X, y_train=np.ones((6, 2)) / 3, x_test=X, y_test=np.ones(6) / 3)
    assert problem_of(path).code == "data_test_set_misfit"
    path = in_one(tmp_path, x_train=X, y_train=Y, x_test=X, y_test=Y[:3])
    assert problem_of(path).code == "data_lengths_differ"


@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.float32, np.float64, np.bool_, ">f4"])
def test_that_rows_on_disk_are_those_in_memory(tmp_path: Path, dtype: object) -> None:
    x = (np.arange(60).reshape(20, 3) % 7).astype(dtype)  # type: ignore[call-overload]
    path = in_several(tmp_path, x=x, y=np.arange(20) % 3)

    streamed, held = (read_npz(data_of(path, cache=cache)) for cache in ("none", "memory"))

    order = np.random.default_rng(0).permutation(20).astype(np.int32)
    assert isinstance(streamed.training.features, NpyRows)
    assert streamed.training.read(order).tolist() == held.training.read(order).tolist()
    assert streamed.training.features.dtype == held.training.features.dtype
    assert (streamed.scaling, streamed.greatest) == (held.scaling, held.greatest)
    part = streamed.training.subset(order[:5])
    assert part.read(np.array([1, 4], np.int32)).tolist() == x[order[[1, 4]]].tolist()


def test_that_one_number_an_example_stays_on_disk_as_a_column(tmp_path: Path) -> None:
    path = in_several(tmp_path, x=np.arange(6.0), y=Y)
    read = read_npz(data_of(path, cache="none")).training
    assert read.feature_shape == (1,)
    assert read.read(np.array([4], np.int32)).tolist() == [[4.0]]


def test_that_an_array_in_fortran_order_is_held_in_memory(tmp_path: Path) -> None:
    path = in_several(tmp_path, x=np.asfortranarray(X), y=Y)
    read = read_npz(data_of(path, cache="none")).training
    assert read.in_memory is not None
    assert read.read(np.array([3], np.int32)).tolist() == X[[3]].tolist()


def test_that_a_bad_number_on_disk_is_named_when_it_is_read(tmp_path: Path) -> None:
    x = X.copy()
    x[4, 1, 0] = np.nan
    read = read_npz(data_of(in_several(tmp_path, x=x, y=Y), cache="none")).training
    read.read(np.array([0, 1], np.int32))
    with pytest.raises(ProblemError, match="nan in example 4"):
        read.read(np.array([2, 4], np.int32))


@pytest.mark.parametrize("happens", ["cut short", "gone", "a FIFO"])
def test_that_a_file_that_changes_while_it_is_read_is_reported(
    tmp_path: Path, happens: str
) -> None:
    path = in_several(tmp_path, x=X, y=Y)
    read = read_npz(data_of(path, cache="none")).training
    if happens == "cut short":
        os.truncate(path, path.stat().st_size - 8)
    else:
        path.unlink()
    if happens == "a FIFO":
        os.mkfifo(path)
    with pytest.raises(ProblemError) as caught:
        read.read(np.array([5], np.int32))
    assert caught.value.problems[0].field == "data.path"


def test_that_links_and_what_is_no_array_beside_a_file_are_left_alone(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    path = in_several(folder, x=X, y=Y)
    np.save(tmp_path / "secret.npy", Y)
    (folder / "labels.npy").symlink_to(tmp_path / "secret.npy")
    os.mkfifo(folder / "targets.npy")
    (folder / "classes.npy").mkdir()
    (folder / "notes.npy").write_bytes(b"no array")

    assert read_npz(data_of(path)).training.labels.tolist() == Y.tolist()
    assert problem_of(path, labels="labels").code == "data_array_missing"
    assert problem_of(path, labels="notes").code == "data_file_damaged"


def test_that_an_array_file_that_lies_about_its_size_is_refused(tmp_path: Path) -> None:
    path = in_several(tmp_path, x=X, y=Y)
    content = path.read_bytes().replace(b"(6, 2, 2), ", b"(6**9, 2), ")
    path.write_bytes(content)
    assert problem_of(path).code == "data_file_damaged"
    content = content.replace(b"(6**9, 2), ", b"(60, 2, 2),")
    path.write_bytes(content)
    assert problem_of(path).code == "data_file_damaged"


def test_that_an_array_file_of_objects_is_refused(tmp_path: Path) -> None:
    path = in_several(tmp_path, x=np.array([{}, []], object), y=Y)
    assert problem_of(path).code == "data_array_of_objects"


def test_that_files_that_stay_on_disk_are_known_by_their_content(tmp_path: Path) -> None:
    path = in_several(tmp_path, x=X, y=Y)
    before = read_npz(data_of(path, cache="none"))
    was = take_fingerprint(before)
    assert [file.path for file in was.files] == ["x.npy", "y.npy"]
    held = read_npz(data_of(path))
    assert take_fingerprint(held).files == was.files, "a run may go on with less memory"
    np.save(tmp_path / "y.npy", Y[::-1])
    now = read_npz(data_of(path, cache="none"))
    differences, _ = compare(was, take_fingerprint(now), now.files)
    assert "y.npy" in (*differences.changed, *differences.unknown)


@pytest.mark.parametrize("labels", [Y, np.eye(3)[Y], Y[:, np.newaxis] / 7, np.ones((6, 2)) / 3])
def test_that_a_preview_without_examples_finds_the_same(tmp_path: Path, labels: np.ndarray) -> None:
    path = in_one(tmp_path, x=X, y=labels)
    found, shown = (
        preview(PreviewRequest(data=data_of(path), example_limit=limit)) for limit in (0, 6)
    )
    assert found.problems == ()
    assert found == shown.model_copy(update={"examples": ()})
