"""Arrays in any order of memory, bytes and axes are read as the same numbers."""

from pathlib import Path

import numpy as np
import pytest

from gpupanel.domain.data import Axes, NpzData
from gpupanel.domain.preview import DataPreview, PreviewRequest
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.profile import Profile
from gpupanel.planning.fixes import apply_fix
from gpupanel.planning.script.data_section import script_of
from gpupanel.trainer.datasets.source import Reading, source_of
from gpupanel.trainer.tools.preview.preview import preview

COUNT = 12
X = np.random.default_rng(3).integers(0, 200, (COUNT, 6, 5, 3))
Y = np.arange(COUNT) % 2


def save(path: Path, x: np.ndarray, y: np.ndarray = Y) -> Path:
    """As one archive, or as a file each."""
    if path.suffix == ".npz":
        np.savez(path, x=x, y=y)
    else:
        np.save(path, x)
        np.save(path.with_name("y.npy"), y)
    return path


def read(data: NpzData) -> np.ndarray:
    training = source_of(data).read(data, Reading(print)).training
    rows = np.array([3, 0, 11], np.int32)
    found = training.read(rows)
    assert found.dtype in (np.uint8, np.float32)
    return found


def refused(data: NpzData) -> Problem:
    with pytest.raises(ProblemError) as raised:
        read(data)
    (problem,) = raised.value.problems
    return problem


@pytest.mark.parametrize("kind", ["<f4", ">f4", ">f8", ">u2", ">i4", "u1", ">f2"])
@pytest.mark.parametrize(("name", "cache"), [("x.npz", "memory"), ("x.npy", "none")])
@pytest.mark.parametrize("order", ["C", "F"])
def test_that_the_order_of_memory_and_bytes_does_not_matter(
    tmp_path: Path, kind: str, name: str, cache: str, order: str
) -> None:
    path = save(tmp_path / name, np.array(X, kind, order=order), Y.astype(">i8"))
    found = read(NpzData(path=str(path), cache=cache))
    assert np.array_equal(found, X[[3, 0, 11]])


@pytest.mark.parametrize("kind", ["u1", ">f4"])
@pytest.mark.parametrize(
    ("axes", "from_place", "to_place"), [("channels_first", -1, 1), ("examples_last", 0, -1)]
)
@pytest.mark.parametrize(("name", "cache"), [("x.npz", "memory"), ("x.npy", "none")])
def test_that_axes_of_another_order_are_moved_in_run_and_script(
    tmp_path: Path, kind: str, axes: str, from_place: int, to_place: int, name: str, cache: str
) -> None:
    path = save(tmp_path / name, np.moveaxis(X.astype(kind), from_place, to_place))
    data = NpzData(path=str(path), cache=cache, axes=axes)
    assert np.array_equal(read(data), X[[3, 0, 11]])
    made: dict[str, object] = {"np": np}
    exec(script_of(data).read(data, needs_labels=True), made)
    assert np.array_equal(np.asarray(made["x"]), X)
    assert np.array_equal(np.asarray(made["y"]), Y)


def test_that_examples_that_come_last_are_offered_by_a_fix(tmp_path: Path) -> None:
    path = save(tmp_path / "x.npz", np.moveaxis(X, 0, -1))
    data = NpzData(path=str(path))
    problem = refused(data)
    assert (problem.code, problem.field) == ("data_lengths_differ", "data.features")
    assert problem.fix is not None
    mended = apply_fix(Profile(data=data), problem.fix).data
    assert isinstance(mended, NpzData)
    assert mended.axes is Axes.EXAMPLES_LAST
    assert np.array_equal(read(mended), X[[3, 0, 11]])


def test_that_sets_of_their_own_have_the_same_order(tmp_path: Path) -> None:
    x = np.moveaxis(X, -1, 1)
    np.savez(tmp_path / "x.npz", x_train=x, y_train=Y, x_test=x[:4], y_test=Y[:4])
    data = NpzData(path=str(tmp_path / "x.npz"), axes="channels_first")
    found = source_of(data).read(data, Reading(print))
    assert found.test is not None
    assert found.test.feature_shape == found.training.feature_shape == (6, 5, 3)


def test_that_an_order_that_an_array_does_not_have_is_refused(tmp_path: Path) -> None:
    path = save(tmp_path / "x.npz", X[:, 0, 0])
    problem = refused(NpzData(path=str(path), axes="channels_first"))
    assert (problem.code, problem.field) == ("data_axes_misfit", "data.features")
    assert problem.fix is not None
    seen: DataPreview = preview(PreviewRequest(data=NpzData(path=str(path))))
    assert not seen.problems
