"""Labels that are arrays: what they are read as, and which settings have no meaning for them."""

from pathlib import Path

import numpy as np
import pytest

from gpupanel.domain.augmentation import Augmentation, Flip
from gpupanel.domain.best_epoch import BestMetric
from gpupanel.domain.data import ClassWeights, PythonData, Target
from gpupanel.domain.model import MlpModel, PythonModel
from gpupanel.domain.problem import ProblemError
from gpupanel.domain.profile import Profile
from gpupanel.domain.training import Loss, TrainingSettings
from gpupanel.trainer.datasets.examples import DataSet
from gpupanel.trainer.datasets.source import Reading, read_data, source_of
from gpupanel.trainer.datasets.sources.python_data import read_python_data
from gpupanel.trainer.datasets.trained_form import check_form
from tests.fakes.checked_files import trusted

CLASSES, LABELS, VALUES = Target.CLASSES, Target.LABELS, Target.VALUES


def loaded(folder: Path, given: str, predicts: Target) -> DataSet:
    path = folder / "data.py"
    path.write_text(f"import numpy as np\nx = np.ones((6, 4, 4))\ndef load(): return {given}\n")
    data = PythonData(path=str(path), predicts=predicts)
    return read_python_data(data, trusted("data.path", path.name, path), 7)


def labels(shape: str, of: str = "np.arange(96) % 3") -> str:
    return f"(x, np.resize({of}, {shape}))"


@pytest.mark.parametrize(
    ("given", "predicts", "arrays_of", "label_shape", "output_shape"),
    [
        (labels("(6, 4, 4)"), CLASSES, CLASSES, (4, 4), (4, 4, 3)),
        (labels("(6, 4, 4, 1)"), CLASSES, CLASSES, (4, 4), (4, 4, 3)),
        (labels("(6, 5)"), CLASSES, CLASSES, (5,), (5, 3)),
        (labels("(6, 4, 4)", "np.arange(96.0) % 3"), CLASSES, CLASSES, (4, 4), (4, 4, 3)),
        (labels("(6, 4, 4)", "np.arange(96) % 2 > 0"), LABELS, LABELS, (4, 4), (4, 4)),
        (labels("(6, 4, 4, 2)"), VALUES, VALUES, (4, 4, 2), (4, 4, 2)),
        ('{"x": x}', VALUES, VALUES, (4, 4), (4, 4)),
        ('{"x": x, "x_test": x[:2]}', VALUES, VALUES, (4, 4), (4, 4)),
        # One label, or a row of them, is no array.
        (labels("(6,)"), CLASSES, None, (), (3,)),
        (labels("(6, 1)"), CLASSES, None, (), (3,)),
        ("(x, np.eye(3)[np.arange(6) % 3])", CLASSES, None, (), (3,)),
        (labels("(6, 5)", "np.arange(96) % 2"), LABELS, None, (5,), (5,)),
        (labels("(6, 5)"), VALUES, None, (5,), (5,)),
        (labels("(6,)"), VALUES, None, (), (1,)),
    ],
)  # fmt: skip
def test_that_labels_say_the_shape_of_what_a_model_has_to_give(
    tmp_path: Path,
    given: str,
    predicts: Target,
    arrays_of: Target | None,
    label_shape: tuple[int, ...],
    output_shape: tuple[int, ...],
) -> None:
    data = loaded(tmp_path, given, predicts)

    assert (data.arrays_of, data.target) == (arrays_of, predicts)
    assert (data.label_shape, data.output_shape) == (label_shape, output_shape)
    assert data.learns_inputs is given.startswith('{"x": x')
    wanted = np.int32 if predicts is CLASSES or data.learns_inputs else np.float32
    assert data.training.labels.dtype == wanted


@pytest.mark.parametrize(
    ("given", "predicts", "code", "words"),
    [
        (labels("(6, 4, 4)", "[0.5]"), CLASSES, "data_labels_not_integer", "0.5 in example 0"),
        (labels("(6, 4, 4)", "['a']"), CLASSES, "data_labels_not_integer", "<U1 values"),
        (
            labels("(6, 4, 4)", "np.arange(96) - 95 + 18"),
            CLASSES,
            "data_labels_negative",
            "the negative label -77 in example 0 at (0, 0)",
        ),
        (labels("(6, 4, 4)", "[0, 255000]"), CLASSES, "data_labels_out_of_range", "255,001"),
        (labels("(6, 4, 4)", "[4]"), CLASSES, "data_one_class", "one class only (4)"),
        (labels("(6, 0, 4)"), CLASSES, "data_empty", "(6, 0, 4)"),
        (labels("(6, 4, 4)"), LABELS, "data_labels_not_zero_or_one", "each place"),
        (labels("(6, 4, 4)", "[np.nan]"), VALUES, "data_labels_not_finite", "nan in example 0"),
        (labels("(5, 4, 4)"), CLASSES, "data_lengths_differ", "6 examples"),
        (
            '{"x": x, "y": np.resize(np.arange(3), (6, 4, 4)), "class_names": ["a", "b"]}',
            CLASSES,
            "data_labels_out_of_range",
            "with 2 classes",
        ),
        ('{"x": x}', CLASSES, "user_code_data_misfit", 'there is no "y"'),
        ('{"x": x, "x_test": x, "y_test": x}', VALUES, "user_code_data_misfit", 'no "y"'),
        (
            '{"x": x, "y": x, "x_test": x, "y_test": x[:, :2]}',
            VALUES,
            "user_code_data_misfit",
            'one row of labels has the shape (4, 4) in "y" and (2, 4) in "y_test"',
        ),
    ],
)  # fmt: skip
def test_that_arrays_that_are_no_labels_of_that_kind_are_refused(
    tmp_path: Path, given: str, predicts: Target, code: str, words: str
) -> None:
    with pytest.raises(ProblemError) as caught:
        loaded(tmp_path, given, predicts)

    (problem,) = caught.value.problems
    assert (problem.code, problem.field) == (code, "data.path")
    assert words in problem.message


def profile(data: dict[str, object], **training: object) -> Profile:
    return Profile(
        data=PythonData(path="/data.py", **data),
        model=PythonModel(path="/model.py"),
        training=TrainingSettings(**training),
    )


REFUSED = {
    "data.stratify": profile({"stratify": True, "validation_fraction": 0.5}),
    "data.oversample": profile({"oversample": True}),
    "data.class_weights": profile({"class_weights": ClassWeights.BALANCED}),
    "data.augmentation": profile({"augmentation": Augmentation(flip=Flip.HORIZONTAL)}),
    "training.loss": profile({}, loss=Loss.FOCAL),
    "training.best_metric": profile({"validation_fraction": 0.5}, best_metric=BestMetric.F1),
}


@pytest.mark.parametrize("field", REFUSED)
@pytest.mark.parametrize(
    ("given", "predicts"), [(labels("(6, 4, 4)"), CLASSES), ('{"x": x}', VALUES)]
)
def test_that_a_setting_that_is_of_one_label_an_example_is_refused(
    tmp_path: Path, field: str, given: str, predicts: Target
) -> None:
    data = loaded(tmp_path, given, predicts)
    check_form(profile({"validation_fraction": 0.5}), data)

    with pytest.raises(ProblemError) as caught:
        check_form(REFUSED[field], data)
    (problem,) = caught.value.problems
    assert problem.field == field
    assert problem.fix is not None
    # As any other labels.
    check_form(REFUSED[field], loaded(tmp_path, labels("(6,)"), CLASSES))


def test_that_only_a_model_of_ones_own_is_trained_on_arrays(tmp_path: Path) -> None:
    data = loaded(tmp_path, labels("(6, 4, 4)"), CLASSES)
    built_in = profile({}).model_copy(update={"model": MlpModel()})

    with pytest.raises(ProblemError) as caught:
        check_form(built_in, data)
    (problem,) = caught.value.problems
    assert problem.code == "labels_are_arrays"
    assert "arrays of the shape (4, 4) for each example, and a model of mlp" in problem.message


def test_that_arrays_say_their_form_to_an_evaluation_or_a_prediction(tmp_path: Path) -> None:
    path = tmp_path / "data.py"
    path.write_text("import numpy as np\ndef load(): return {'x': np.ones((6, 4))}\n")
    data = PythonData(path=str(path), predicts=VALUES)
    reading = Reading(print, trusted("data.path", path.name, path))

    assert read_data(data, reading).learns_inputs
    found = source_of(data).read_all(data, reading, needs_labels=False)
    assert found.whole is not None
    assert found.whole.form.learns_inputs
