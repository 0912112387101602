"""Labels that may be something else, classes without examples, sets that are scaled otherwise."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from gpupanel.domain.data import DataSettings, ImagesData, NpzData, TableData
from gpupanel.domain.preview import DataPreview, PreviewRequest
from gpupanel.domain.problem import Problem, Severity
from gpupanel.domain.profile import Profile
from gpupanel.planning.fixes import apply_fix
from gpupanel.trainer.tools.preview.preview import preview
from tests.unit.trainer.image_folders import make_images

_CLASSES = np.arange(24) % 3


def previewed(data: DataSettings) -> DataPreview:
    return preview(PreviewRequest(data=data, example_limit=0))


def saved(root: Path, **arrays: np.ndarray) -> NpzData:
    features = {"x": np.ones((24, 4), np.float32)} if "x_train" not in arrays else {}
    np.savez(root / "a.npz", **features, **arrays)
    return NpzData(path=str(root / "a.npz"))


def only_problem(data: DataSettings) -> Problem:
    (problem,) = previewed(data).problems
    return problem


def of_arrays(root: Path) -> DataSettings:
    return saved(root, y=_CLASSES + 1.0)


def of_a_table(root: Path) -> DataSettings:
    lines = ["x,label", *(f"{number}.5,{number % 3 * 4}" for number in range(24))]
    (root / "a.csv").write_text("\n".join(lines))
    return TableData(path=str(root / "a.csv"), target="label")


def of_images(root: Path) -> DataSettings:
    make_images(root, {f"{number}.png": number for number in range(8)})
    lines = ["file,label", *(f"{number}.png,{number % 2 + 1}.0" for number in range(8))]
    (root / "a.csv").write_text("\n".join(lines))
    return ImagesData(path=str(root), labels_csv="a.csv")


@pytest.mark.parametrize(
    ("make", "severity"),
    [
        (of_arrays, Severity.WARNING),
        (of_a_table, Severity.HINT),  # they do not count up from 0 or 1
        (of_images, Severity.WARNING),
    ],
)
def test_that_few_whole_numbers_may_be_classes(
    tmp_path: Path, make: Callable[[Path], DataSettings], severity: Severity
) -> None:
    data = make(tmp_path)
    problem = only_problem(data)
    assert (problem.code, problem.severity) == ("data_values_seem_classes", severity)
    assert problem.fix is not None
    for fix, counted in ((problem.fix, True), (problem.alternatives[0], False)):
        found = previewed(apply_fix(Profile(data=data), fix).data)
        assert bool(found.class_counts) == counted
        assert "data_values_seem_classes" not in {each.code for each in found.problems}


@pytest.mark.parametrize(
    "labels",
    [
        np.arange(24) * 1000.0,  # each once, as prices are
        (_CLASSES + 1) / 2,
        np.stack([_CLASSES * 0.5, _CLASSES * 0.2], axis=1),
    ],
)
def test_that_other_values_are_no_classes(tmp_path: Path, labels: np.ndarray) -> None:
    assert not previewed(saved(tmp_path, y=labels)).problems


def test_that_rows_that_are_together_1_may_be_probabilities(tmp_path: Path) -> None:
    rows = np.random.default_rng(1).dirichlet([1, 1, 1], 24)
    problem = only_problem(saved(tmp_path, y=rows))
    assert problem.code == "data_values_seem_classes"
    assert problem.message.startswith("The 3 values of each example are together 1")


@pytest.mark.parametrize(
    ("labels", "severity", "said"),
    [
        (_CLASSES + 1, Severity.HINT, '1 of the 4 classes has no example that is trained on: "0"'),
        (_CLASSES // 2 * 255, Severity.WARNING, "254 of the 256 classes have no example"),
        (
            np.stack([_CLASSES == 0, _CLASSES == 3, _CLASSES < 2], axis=1).astype(int),
            Severity.HINT,
            '1 of the 3 labels has no example that is trained on: "1"',
        ),
    ],
)
def test_that_classes_and_labels_without_examples_are_named(
    tmp_path: Path, labels: np.ndarray, severity: Severity, said: str
) -> None:
    problem = only_problem(saved(tmp_path, y=labels))
    assert (problem.code, problem.severity) == ("data_classes_without_examples", severity)
    assert said in problem.message


@pytest.mark.parametrize("kind", ["names", "dates", "classes"])
def test_that_labels_that_hardly_ever_come_back_are_pointed_out(tmp_path: Path, kind: str) -> None:
    cells = {"names": "photo{}", "dates": "2024-01-{:02}", "classes": "a"}[kind]
    make_images(tmp_path, {f"{number}.png": number for number in range(10)})
    lines = [f"{number}.png,{cells.format(number + 1)}" for number in range(9)]
    (tmp_path / "a.csv").write_text("\n".join(["file,label", *lines, "9.png,b"]))
    data = ImagesData(path=str(tmp_path), labels_csv="a.csv")
    codes = {each.code for each in previewed(data).problems}
    assert ("data_classes_of_one_example" in codes) == (kind != "classes")


@pytest.mark.parametrize("greatest", [1.0, 2.0, 255.0])
def test_that_a_set_that_is_scaled_otherwise_is_warned_of(tmp_path: Path, greatest: float) -> None:
    images = np.linspace(0, 1, 24 * 9).reshape(24, 3, 3)
    data = saved(
        tmp_path, x_train=images, y_train=_CLASSES, x_test=images * greatest, y_test=_CLASSES
    )
    found = {each.code: each for each in previewed(data).problems}
    if greatest < 255:
        assert not found
    else:
        problem = found["data_sets_scaled_differently"]
        assert problem.message.startswith("Values of the test set go up to 255, and those that are")


@pytest.mark.parametrize(
    ("cells", "is_said"),
    [
        (("a|b", "b", "a|c", "c"), True),
        (("['a', 'b']", "['b']", "['a']"), True),
        (("very good", "good", "very bad"), False),
        (("Berlin, DE", "Paris, FR"), False),
    ],
)
def test_that_classes_of_a_table_may_be_several_labels(
    tmp_path: Path, cells: tuple[str, ...], is_said: bool
) -> None:
    lines = ["x;label", *(f"{n}.5;{cells[n % len(cells)]}" for n in range(24))]
    (tmp_path / "a.csv").write_text("\n".join(lines))
    data = TableData(path=str(tmp_path / "a.csv"), target="label")
    found = {each.code: each for each in previewed(data).problems}
    assert ("data_labels_seem_several" in found) == is_said
    if is_said:
        kept = apply_fix(Profile(data=data), found["data_labels_seem_several"].fix).data
        assert "data_labels_seem_several" not in {each.code for each in previewed(kept).problems}
