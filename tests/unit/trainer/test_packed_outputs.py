"""Labels of several outputs: packed into rows, and what does not fit is named."""

from pathlib import Path

import numpy as np
import pytest

from gpupanel.domain.best_epoch import BestMetric
from gpupanel.domain.data import PythonData, Target
from gpupanel.domain.model import PythonModel
from gpupanel.domain.problem import ProblemError
from gpupanel.domain.profile import Profile
from gpupanel.domain.training import TrainingSettings
from gpupanel.trainer.datasets.examples import DataSet
from gpupanel.trainer.datasets.sources.python_data import read_python_data
from gpupanel.trainer.datasets.trained_form import check_form
from tests.fakes.checked_files import trusted

PARTS = """
import numpy as np

x = np.ones((6, 2))
mask = np.arange(24).reshape(6, 2, 2) % 3
kind = np.arange(6) % 2
age = np.arange(6) * 0.5
tags = np.arange(12).reshape(6, 2) % 2

def load():
    return WHAT
"""
Y = '"y": {"mask": mask, "kind": kind, "age": age, "tags": tags}'
PREDICTS = '"predicts": {"age": "values", "tags": "labels"}'


def loaded(folder: Path, what: str) -> DataSet:
    path = folder / "data.py"
    path.write_text(PARTS.replace("WHAT", f'{{"x": x, {what}}}'))
    data = PythonData(path=str(path))
    return read_python_data(data, trusted("data.path", path.name, path), 7)


def refused(folder: Path, what: str) -> str:
    with pytest.raises(ProblemError) as caught:
        loaded(folder, what)
    (problem,) = caught.value.problems
    assert problem.field == "data.path"
    return problem.message


def test_that_each_output_says_what_it_predicts(tmp_path: Path) -> None:
    names = '"class_names": {"kind": ["cat", "dog", "bird"]}'
    data = loaded(tmp_path, f"{Y}, {PREDICTS}, {names}")

    found = [(each.name, each.target, each.shape, each.output_shape) for each in data.outputs]
    assert found == [
        ("mask", Target.CLASSES, (2, 2), (2, 2, 3)),
        ("kind", Target.CLASSES, (), (3,)),
        ("age", Target.VALUES, (), (1,)),
        ("tags", Target.LABELS, (2,), (2,)),
    ]
    assert data.outputs[1].class_names == ("cat", "dog", "bird")
    assert (data.arrays_of, data.output_shape) == (Target.VALUES, (18,))
    labels = data.training.labels
    assert (labels.dtype, labels.shape) == (np.float32, (6, 8))
    assert labels[5].tolist() == [2.0, 0.0, 1.0, 2.0, 1.0, 2.5, 0.0, 1.0]


def test_that_a_test_set_has_the_same_outputs_and_classes(tmp_path: Path) -> None:
    given = f'"x_test": x, {Y}, {PREDICTS}'
    # Its labels are of the first class only.
    few = '"y_test": {"mask": mask * 0, "kind": kind * 0, "age": age, "tags": tags}'
    found = loaded(tmp_path, f"{given}, {few}")
    assert found.test is not None
    assert found.test.labels.shape == (6, 8)

    other = '"y_test": {"mask": mask, "kind": kind, "age": age}'
    assert 'the outputs are mask, kind, age, tags in "y", and mask, kind, age in "y_test"' in (
        refused(tmp_path, f"{given}, {other}")
    )
    larger = few.replace("mask * 0", "mask[:, :1]")
    assert "one example has mask (2, 2), kind (), age (), tags (2,)" in (
        refused(tmp_path, f"{given}, {larger}")
    )
    assert "none in" in refused(tmp_path, f'"x_test": x, "y": kind, "class_names": None, {few}')


@pytest.mark.parametrize(
    ("what", "words"),
    [
        ('"y": {}', "0 outputs"),
        ('"y": {f"a{n}": kind for n in range(9)}', "9 outputs, not 1 to 8"),
        ('"y": {"Mask": mask}', "an output called 'Mask'"),
        ('"y": {"loss": mask}', "an output called 'loss'"),
        ('"y": {"a" * 25: mask}', "up to 24 small letters"),
        ('"y": {"mask": mask, "kind": kind[:4]}', "different lengths: mask (6,), kind (4,)"),
        ('"y": {"mask": None}', 'there is no "y.mask"'),
        (f'{Y}, "predicts": "values"', '"predicts" is no dictionary'),
        (f'{Y}, "predicts": {{"size": "values"}}', '"predicts" is of size, which'),
        (f'{Y}, "predicts": {{"age": "numbers"}}', "'numbers', which is none of"),
        (f'{Y}, {PREDICTS}, "class_names": ["a", "b"]', '"class_names" is no dictionary'),
        (f'{Y}, {PREDICTS}, "class_names": {{"kind": ["a"]}}', "with 1 classes"),
        (Y, '"y.age" in'),
        ('"y": kind, "predicts": {"y": "classes"}', "of one data.predicts says it"),
    ],
)
def test_that_labels_that_do_not_fit_are_named(tmp_path: Path, what: str, words: str) -> None:
    assert words in refused(tmp_path, what)


def test_that_the_loss_alone_decides_which_epoch_is_the_best(tmp_path: Path) -> None:
    data = loaded(tmp_path, f"{Y}, {PREDICTS}")
    for metric in BestMetric:
        profile = Profile(
            data=PythonData(path="/data.py", validation_fraction=0.5),
            model=PythonModel(path="/model.py"),
            training=TrainingSettings(best_metric=metric),
        )
        if metric is BestMetric.LOSS:
            check_form(profile, data)
            continue
        with pytest.raises(ProblemError) as caught:
            check_form(profile, data)
        assert "there are several outputs" in caught.value.problems[0].message
