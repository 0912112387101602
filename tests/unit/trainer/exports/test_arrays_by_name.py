"""Files with the arrays of several inputs are read by their names, or refused in a sentence."""

from pathlib import Path

import numpy as np
import pytest

from gpupanel.trainer.parts.named_arrays import (
    ArraysError,
    by_names,
    examples_in,
    write_stacked,
)

WANTED = {"scene": [4, 3, 1], "row": [2]}
ONE = {"scene": np.arange(12.0).reshape(4, 3), "row": np.array([1.0, 2.0])}
MANY = {name: np.stack([each, each + 1, each + 2]) for name, each in ONE.items()}


def written(path: Path, arrays: dict[str, np.ndarray]) -> Path:
    np.savez(path, **arrays)
    return path


def test_that_a_file_of_one_example_is_that_example(tmp_path: Path) -> None:
    ((name, found),) = examples_in(written(tmp_path / "a.npz", ONE), WANTED)

    assert name == "a.npz"
    assert {each: array.shape for each, array in found.items()} == {"scene": (4, 3), "row": (2,)}


def test_that_examples_stand_along_the_first_axis_and_other_arrays_are_passed_over(
    tmp_path: Path,
) -> None:
    path = written(tmp_path / "a.npz", {**MANY, "y": np.zeros(7)})
    found = list(examples_in(path, WANTED))

    assert [name for name, _ in found] == ["a.npz [0]", "a.npz [1]", "a.npz [2]"]
    np.testing.assert_array_equal(found[2][1]["row"], ONE["row"] + 2)
    assert sorted(found[0][1]) == ["row", "scene"]


def test_that_an_input_of_one_number_an_example_may_have_no_axis_for_it(tmp_path: Path) -> None:
    path = written(tmp_path / "a.npz", {"age": np.array([3.0, 4.0]), "row": np.zeros((2, 2))})
    found = [each["age"] for _, each in examples_in(path, {"age": [1], "row": [2]})]

    assert [float(each) for each in found] == [3.0, 4.0]


@pytest.mark.parametrize(
    ("arrays", "words"),
    [
        ({"scene": ONE["scene"]}, "no array called row"),
        ({**ONE, "row": np.array(["a", "b"])}, "row of .* holds no numbers"),
        ({**ONE, "row": np.zeros(5)}, r"row of .* has the shape \(5,\), that of an example \(2,\)"),
        ({**ONE, "row": np.array(1.0)}, r"row of .* has the shape \(\)"),
        ({**ONE, "row": MANY["row"]}, "different numbers of examples: scene 1, row 3"),
        ({**MANY, "row": MANY["row"][:2]}, "different numbers of examples: scene 3, row 2"),
        ({**ONE, "row": np.array([{}, {}])}, "holds no arrays of numbers"),
    ],
)
def test_that_other_arrays_are_refused_by_name(
    tmp_path: Path, arrays: dict[str, np.ndarray], words: str
) -> None:
    with pytest.raises(ArraysError, match=words):
        list(examples_in(written(tmp_path / "a.npz", arrays), WANTED))


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 no archive", b"text"])
def test_that_what_is_no_archive_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.npz"
    path.write_bytes(content)
    with pytest.raises(ArraysError):
        list(examples_in(path, WANTED))


def test_that_a_single_array_in_place_of_an_archive_is_refused(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.zeros(3))
    path = (tmp_path / "a.npy").rename(tmp_path / "a.npz")
    with pytest.raises(ArraysError):
        list(examples_in(path, WANTED))


def test_that_outputs_have_their_names_however_a_model_gives_them() -> None:
    mask, age = np.zeros((1, 2, 2)), np.ones((1, 1))

    for found in ({"age": age, "mask": mask}, [mask, age], (mask, age)):
        named = by_names(found, ["mask", "age"])
        assert {name: array.shape for name, array in named.items()} == {"mask": (2, 2), "age": (1,)}
    for found in (mask, [mask], {"output_0": mask}):
        assert by_names(found, ["mask"])["mask"].shape == (2, 2)
    with pytest.raises(ArraysError, match="gives other, but mask, age are known"):
        by_names({"other": mask}, ["mask", "age"])


def test_that_what_is_written_is_read_as_numpy_writes_it(tmp_path: Path) -> None:
    kept = [{"file": np.full((2, 3), number), "age": np.array([number])} for number in (1.0, 2.0)]
    write_stacked(tmp_path / "out.npz", kept)

    with np.load(tmp_path / "out.npz", allow_pickle=False) as archive:
        assert sorted(archive.files) == ["age", "file"]
        assert archive["file"].shape == (2, 2, 3)
        np.testing.assert_array_equal(archive["age"][:, 0], [1.0, 2.0])
