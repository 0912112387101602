"""Several inputs an example: packed into rows, taken apart, and refused where one is needed."""

from pathlib import Path

import numpy as np
import pytest

from gpupanel.domain.augmentation import Augmentation
from gpupanel.domain.data import DataCache, PythonData, Scaling, Target
from gpupanel.domain.model import MlpModel, PythonModel
from gpupanel.domain.problem import ProblemError
from gpupanel.domain.profile import Profile
from gpupanel.trainer.datasets.examples import DataSet
from gpupanel.trainer.datasets.packed_inputs import apart
from gpupanel.trainer.datasets.source import Reading, source_of
from gpupanel.trainer.datasets.sources.python_data import read_python_data
from gpupanel.trainer.datasets.trained_form import check_form
from tests.fakes.checked_files import trusted

ROWS = """
class Rows:
    def __init__(self, x):
        self.x = x

    def __len__(self):
        return len(self.x)

    def __getitem__(self, index):
        return self.x[index]
"""
NAMED = f"""
import numpy as np
{ROWS}
picture = np.arange(6 * 2 * 3, dtype="uint8").reshape(6, 2, 3)
row = np.arange(12).reshape(6, 2) * 0.5
age = np.arange(6)
y = np.arange(6) % 3

def load():
    return WHAT
"""


def loaded(
    folder: Path,
    what: str,
    *,
    cache: DataCache = DataCache.MEMORY,
    predicts: Target = Target.CLASSES,
) -> DataSet:
    path = folder / "data.py"
    path.write_text(NAMED.replace("WHAT", what))
    data = PythonData(path=str(path), cache=cache, predicts=predicts)
    return read_python_data(data, trusted("data.path", path.name, path), 7)


@pytest.mark.parametrize(
    ("picture", "cache", "is_held"),
    [
        ("picture", DataCache.MEMORY, True),
        ("Rows(picture)", DataCache.MEMORY, True),
        ("Rows(picture)", DataCache.NONE, False),
    ],
)
def test_that_inputs_come_out_of_their_rows_as_they_were(
    tmp_path: Path, picture: str, cache: DataCache, is_held: bool
) -> None:
    what = f'{{"x": {{"row": row, "picture": {picture}, "age": age}}, "y": y}}'
    data = loaded(tmp_path, what, cache=cache)

    assert (data.training.in_memory is not None) is is_held
    assert (data.training.feature_shape, data.scaling) == ((9,), Scaling.NONE)
    rows = data.training.read(np.array([4, 0], np.int32))
    assert rows.dtype == np.float32
    inputs = apart(rows, data.inputs)
    assert {name: (each.dtype, each.shape) for name, each in inputs.items()} == {
        "row": (np.float32, (2, 2)),
        "picture": (np.uint8, (2, 2, 3)),
        "age": (np.float32, (2, 1)),
    }
    assert data.training.read(np.empty(0, np.int32)).shape == (0, 9)
    assert inputs["row"].tolist() == [[4.0, 4.5], [0.0, 0.5]]
    assert inputs["picture"].tolist() == [
        [[24, 25, 26], [27, 28, 29]],
        [[0, 1, 2], [3, 4, 5]],
    ]
    assert inputs["age"].tolist() == [[4.0], [0.0]]


def test_that_bytes_alone_stay_bytes(tmp_path: Path) -> None:
    data = loaded(tmp_path, '{"x": {"a": picture, "b": picture[:, :1]}, "y": y}')

    assert data.training.features.dtype == np.uint8
    assert [each.are_pixels for each in data.inputs] == [True, True]
    # Each is scaled by itself.
    assert (data.scaling, data.greatest) == (Scaling.NONE, 1.0)


def test_that_a_test_set_has_the_same_inputs(tmp_path: Path) -> None:
    given = '"x": {"a": row, "b": age}, "y": y, "y_test": y'
    found = loaded(tmp_path, f'{{{given}, "x_test": {{"a": row, "b": age}}}}')
    assert found.test is not None
    assert found.test.feature_shape == (3,)

    for test, words in (
        ('{"a": row, "c": age}', "and a (2,), c (1,) in"),
        ('{"a": row, "b": row}', "and a (2,), b (2,) in"),
        ("row", "and one input in"),
    ):
        with pytest.raises(ProblemError) as caught:
            loaded(tmp_path, f'{{{given}, "x_test": {test}}}')
        assert "one example has a (2,), b (1,)" in caught.value.problems[0].message
        assert words in caught.value.problems[0].message


@pytest.mark.parametrize(
    ("x", "code", "words"),
    [
        ("{}", "user_code_data_misfit", "0 inputs"),
        ("{str(n): age for n in range(33)}", "user_code_data_misfit", "33 inputs, not 1 to 32"),
        ("{1: row}", "user_code_data_misfit", "an input called 1"),
        ('{"a/b": row}', "user_code_data_misfit", "an input called 'a/b', which is no name"),
        ('{"a b": row}', "user_code_data_misfit", "letters from a to z, digits, dots, hyphens"),
        ('{"größe": row}', "user_code_data_misfit", "an input called 'größe'"),
        ('{"_a": row}', "user_code_data_misfit", "an input called '_a'"),
        ('{"": row}', "user_code_data_misfit", "an input called ''"),
        ('{"outputs": row}', "user_code_data_misfit", "a layer that a saved model gets"),
        ('{"pixels_a": row}', "user_code_data_misfit", "a layer that a saved model gets"),
        ('{"a": row, "b": age[:5]}', "user_code_data_misfit", "a (6,), b (5,)"),
        ('{"a": row, "b": None}', "user_code_data_misfit", 'there is no "x.b"'),
        ('{"a": row, "b": age + np.inf}', "data_features_not_finite", '"x.b"'),
        ('{"a": row[:5], "b": age[:5]}', "data_lengths_differ", "5 examples"),
    ],
)
def test_that_inputs_that_do_not_fit_are_named(
    tmp_path: Path, x: str, code: str, words: str
) -> None:
    with pytest.raises(ProblemError) as caught:
        loaded(tmp_path, f'{{"x": {x}, "y": y}}')
    (problem,) = caught.value.problems
    assert (problem.code, problem.field) == (code, "data.path")
    assert words in problem.message


def test_that_several_inputs_are_not_what_is_predicted(tmp_path: Path) -> None:
    with pytest.raises(ProblemError) as caught:
        loaded(tmp_path, '{"x": {"a": row}}', predicts=Target.VALUES)
    assert 'there is no "y"' in caught.value.problems[0].message


def test_that_only_a_model_of_ones_own_takes_several_inputs_unchanged(tmp_path: Path) -> None:
    data = loaded(tmp_path, '{"x": {"a": row, "b": age}, "y": y}')
    one = loaded(tmp_path, '{"x": row, "y": y}')
    source = PythonData(path="/data.py", augmentation=Augmentation(mixup=0.2))
    own = Profile(data=PythonData(path="/data.py"), model=PythonModel(path="/model.py"))
    check_form(own, data)

    for change, code in (
        ({"model": MlpModel()}, "examples_have_inputs"),
        ({"data": source}, "augmentation_of_inputs"),
    ):
        changed = own.model_copy(update=change)
        with pytest.raises(ProblemError) as caught:
            check_form(changed, data)
        assert [each.code for each in caught.value.problems] == [code]
        check_form(changed, one)


def test_that_several_inputs_say_their_form_to_an_evaluation_or_a_prediction(
    tmp_path: Path,
) -> None:
    loaded(tmp_path, '{"x": {"a": row, "b": age}, "y": y}')
    path = tmp_path / "data.py"
    data = PythonData(path=str(path))
    reading = Reading(print, trusted("data.path", path.name, path))

    found = source_of(data).read_all(data, reading, needs_labels=False)
    assert [(each.name, each.shape) for each in found.inputs] == [("a", (2,)), ("b", (1,))]
    assert found.whole is not None
    assert found.whole.inputs == found.inputs
