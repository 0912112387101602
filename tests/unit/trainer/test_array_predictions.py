"""Predictions that are arrays come part by part, stand whole or not at all, and are shown."""

import zipfile
from pathlib import Path

import numpy as np
import pytest

from gpupanel.trainer.inference.array_predictions import ArrayPredictions
from gpupanel.trainer.inference.written_predictions import read_predictions

SHAPES = {"mask": (2, 3), "age": (1,), "file": (4,)}
ROWS = np.arange(55.0, dtype=np.float32).reshape(5, 11)
INDICES = np.array([3, 5, 7, 8, 20], np.int32)


def written(folder: Path) -> Path:
    path = folder / "predictions.npz"
    with ArrayPredictions(path, SHAPES) as predictions:
        for first, end in ((0, 2), (2, 3), (3, 5)):
            predictions.add(ROWS[first:end])
        predictions.save(INDICES)
    return path


def changed(path: Path, name: str, array: np.ndarray) -> None:
    with np.load(path) as archive:
        arrays = {each: archive[each] for each in archive}
    with zipfile.ZipFile(path, "w") as archive:
        for each, held in {**arrays, name: array}.items():
            with archive.open(f"{each}.npy", "w") as member:
                np.lib.format.write_array(member, held, allow_pickle=False)


def test_that_parts_are_joined_into_an_array_of_each_output(tmp_path: Path) -> None:
    with np.load(written(tmp_path), allow_pickle=False) as archive:
        assert archive.files == ["index", "output_names", "mask", "age", "file"]
        np.testing.assert_array_equal(archive["index"], INDICES)
        np.testing.assert_array_equal(archive["mask"], ROWS[:, :6].reshape(5, 2, 3))
        np.testing.assert_array_equal(archive["age"], ROWS[:, 6:7])
        np.testing.assert_array_equal(archive["file"], ROWS[:, 7:])
    assert [each.name for each in tmp_path.iterdir()] == ["predictions.npz"]


def test_that_what_was_interrupted_leaves_nothing(tmp_path: Path) -> None:
    def interrupted() -> None:
        with ArrayPredictions(tmp_path / "predictions.npz", SHAPES) as predictions:
            predictions.add(ROWS)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert list(tmp_path.iterdir()) == []


def test_that_some_are_read_in_words(tmp_path: Path) -> None:
    path = written(tmp_path)
    shown = read_predictions(path, 1, 2)

    assert (shown.total, [each.index for each in shown.examples]) == (5, [5, 7])
    (said,) = shown.examples[0].predicted
    assert said.name == "mask 2x3 numbers from 11 to 16, age 17, file 4 numbers from 18 to 21"
    assert said.probability is None
    assert read_predictions(path, 5, 2).examples == ()
    assert read_predictions(path, 50, 2).examples == ()


@pytest.mark.parametrize(
    ("name", "array"),
    [
        ("mask", np.zeros((4, 2, 3), np.float32)),
        ("mask", np.zeros((5, 2), np.int32)),
        ("mask", np.float32(1.0)),
        ("index", np.zeros(5, np.float32)),
        ("index", np.zeros((5, 2), np.int32)),
        ("output_names", np.array(["mask", "gone"])),
        ("output_names", np.zeros(3)),
        ("mask", np.asfortranarray(np.zeros((5, 2, 3), np.float32))),
    ],
)
def test_that_other_arrays_are_no_predictions(tmp_path: Path, name: str, array: np.ndarray) -> None:
    path = written(tmp_path)
    changed(path, name, array)
    with pytest.raises(ValueError, match=r".+"):
        read_predictions(path, 0, 50)


def test_that_a_header_is_not_believed(tmp_path: Path) -> None:
    path = written(tmp_path)
    with zipfile.ZipFile(path, "a") as archive, archive.open("more.npy", "w") as member:
        said = {"shape": (5, 2**40), "fortran_order": False, "descr": "<f4"}
        np.lib.format.write_array_header_1_0(member, said)
    changed_names = tmp_path / "names.npz"
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(changed_names, "w") as new:
        for each in old.namelist():
            if each != "output_names.npy":
                new.writestr(each, old.read(each))
        with new.open("output_names.npy", "w") as member:
            np.lib.format.write_array(member, np.array(["more"]))
    with pytest.raises(ValueError, match="which it does not"):
        read_predictions(changed_names, 0, 50)
