"""Labels of arrays that are text name their classes, in a run and in its script."""

from pathlib import Path

import numpy as np
import pytest

from gpupanel.domain.data import NpzData
from gpupanel.domain.preview import PreviewRequest
from gpupanel.domain.previewed_profile import with_detected
from gpupanel.domain.problem import ProblemError
from gpupanel.domain.profile import Profile
from gpupanel.planning.script.data_section import data_section, script_of
from gpupanel.trainer.datasets.examples import DataSet
from gpupanel.trainer.datasets.sources.npz import read_all_npz, read_npz
from gpupanel.trainer.tools.preview.preview import preview
from tests.unit.trainer.test_classes_of_the_model import examples_of, model_of, profile_of, said


def saved(root: Path, **labels: np.ndarray) -> NpzData:
    features = {
        f"x{name[1:]}": np.arange(4 * len(each), dtype=np.float32).reshape(-1, 4)
        for name, each in labels.items()
    }
    np.savez(root / "a.npz", **features, **labels)
    return NpzData(path=str(root / "a.npz"))


def read_by_both(data: NpzData) -> DataSet:
    """What a run reads; the exported script reads the same."""
    read = read_npz(data)
    filled = with_detected(Profile(data=data), preview(PreviewRequest(data=data))).data
    script: dict[str, object] = {"np": np, "SEED": 3}
    exec(f"import os\n{data_section(filled)}\n{script_of(filled).class_names(filled)}", script)
    for part, examples in (("", read.training), ("_val", read.validation), ("_test", read.test)):
        if examples is not None:
            assert np.array_equal(np.asarray(script[f"y{part}"]), examples.labels)
    assert tuple(script["class_names"]) == read.class_names  # type: ignore[call-overload]
    return read


@pytest.mark.parametrize(
    ("labels", "names", "numbers"),
    [
        (np.array(["dog", "cat", "dog"]), ("cat", "dog"), [1, 0, 1]),
        (np.array([b"dog", "chat\xe9".encode(), b"dog"]), ("chat\xe9", "dog"), [1, 0, 1]),
        (np.array([["dog "], ["cat"], ["dog"]]), ("cat", "dog"), [1, 0, 1]),
        (np.array(["10", "2", "10"]), ("2", "10"), [1, 0, 1]),
        (np.array(["e\u0301", "b", "\xe9"]), ("b", "\xe9"), [1, 0, 1]),
    ],
)
def test_that_text_names_the_classes(
    tmp_path: Path, labels: np.ndarray, names: tuple[str, ...], numbers: list[int]
) -> None:
    data = saved(tmp_path, y=labels)
    read = read_by_both(data)
    assert (read.class_names, read.training.labels.tolist()) == (names, numbers)
    assert read_all_npz(data, needs_labels=True).class_count_is_known


def test_that_sets_have_the_numbers_of_the_same_names(tmp_path: Path) -> None:
    trained, test = np.array(["a", "b", "c"]), np.array(["c", "b", "c"])
    read = read_by_both(saved(tmp_path, y_train=trained, y_test=test))
    assert read.test is not None
    assert read.test.labels.tolist() == [2, 1, 2]


@pytest.mark.parametrize(
    ("trained", "test", "code"),
    [
        (["a", "b", "c"], ["a", "d", "b"], "data_classes_differ"),
        (["a", "b", ""], ["a", "a", "b"], "data_labels_empty"),
        (["a", "b", "c"], [0, 1, 2], "data_test_set_misfit"),
        ([0, 1, 2], ["a", "b", "c"], "data_labels_not_integer"),
    ],
)
def test_that_names_that_fit_nothing_are_refused(
    tmp_path: Path, trained: list[object], test: list[object], code: str
) -> None:
    with pytest.raises(ProblemError) as caught:
        read_npz(saved(tmp_path, y_train=np.array(trained), y_test=np.array(test)))
    assert caught.value.problems[0].code == code


def test_that_a_model_knows_them_by_name(tmp_path: Path) -> None:
    data = saved(tmp_path, y=np.array(["wolf", "cat", "wolf"]))
    found = examples_of(profile_of(model_of(tmp_path), data))
    assert (said(found), found.notes) == (["wolf", "cat", "wolf"], ())
