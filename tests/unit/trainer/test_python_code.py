"""Models and data from Python code: the same mathematics as those built in, and every misfit."""

import json
import os
import random
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from gpupanel.domain.data import DataCache, PythonData, Target
from gpupanel.domain.model import MlpModel, PythonModel
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.profile import Profile
from gpupanel.domain.run_layout import RunLayout
from gpupanel.domain.strategy import StrategyKind, StrategySettings
from gpupanel.trainer.datasets.examples import DataSet, Scaling
from gpupanel.trainer.datasets.source import Reading, read_data
from gpupanel.trainer.datasets.sources.python_data import read_python_data
from gpupanel.trainer.failures import problems_of
from gpupanel.trainer.user_code import RunCode
from tests.fakes.checked_files import trusted
from tests.forked.processes import run_forked
from tests.grouped import Grouped, others_long
from tests.unit.trainer.conftest import MakeRun
from tests.unit.trainer.trained_runs import (
    changed,
    evaluation,
    last_metrics,
    profile,
    state,
    train_all,
)

NAMED = "/home/someone/code.py"

MLP = """
import keras

def build_model(input_shape, outputs):
    return keras.Sequential([
        keras.layers.Flatten(),
        keras.layers.Dense(32),
        keras.layers.ReLU(),
        keras.layers.Dense(outputs, activation="softmax"),
    ])
"""
NORMED = """
import keras

def build_model(input_shape, outputs):
    inputs = keras.Input(input_shape)
    hidden = keras.layers.Dense(32, use_bias=False)(keras.layers.Flatten()(inputs))
    hidden = keras.layers.BatchNormalization()(hidden)
    hidden = keras.layers.Dropout(0.2)(keras.layers.ReLU()(hidden))
    outputs = keras.layers.Softmax()(keras.layers.Dense(outputs)(hidden))
    return keras.Model(inputs, outputs)
"""
LINE = """
import keras

def build_model(input_shape, outputs):
    return keras.Sequential([keras.Input(input_shape), keras.layers.Dense(outputs)])
"""
DIGITS = """
import numpy
from sklearn.datasets import load_digits

def load():
    x, y = load_digits(return_X_y=True)
    return {"x": (x.reshape(-1, 8, 8) / 16).astype(numpy.float32), "y": y}
"""
ROWS = """
import numpy
from sklearn.datasets import load_digits

class Rows:
    def __init__(self, x):
        self.x = x

    def __len__(self):
        return len(self.x)

    def __getitem__(self, index):
        return self.x[index]

def load():
    x, y = load_digits(return_X_y=True)
    return {"x": Rows((x.reshape(-1, 8, 8) / 16).astype(numpy.float32)), "y": y}
"""
VALUES = """
import numpy

def load():
    x = numpy.random.rand(200, 3)
    return (x[:160], 100 + 10 * x[:160, 0]), (x[160:], 100 + 10 * x[160:, 0])
"""


def code(folder: Path, text: str, key: str = "data.path") -> RunCode:
    kept = folder / "code.py"
    kept.write_text(text)
    return trusted(key, NAMED, kept)


def loaded(folder: Path, text: str, predicts: Target = Target.CLASSES, seed: int = 7) -> DataSet:
    data = PythonData(path=NAMED, predicts=predicts)
    return read_python_data(data, code(folder, text), seed)


def refusal(folder: Path, text: str, predicts: Target = Target.CLASSES) -> Problem:
    with pytest.raises(ProblemError) as caught:
        loaded(folder, text, predicts)
    (problem,) = caught.value.problems
    assert problem.field == "data.path"
    assert problem.hint
    return problem


def giving(what: str) -> str:
    return (
        f"import numpy as np\nx, y = np.ones((6, 2)), np.arange(6) % 3\ndef load(): return {what}"
    )


@pytest.mark.parametrize("what", ["(x, y)", '{"x": x, "y": y}', '{"x": x.tolist(), "y": y}'])
def test_that_data_is_taken_in_every_form(tmp_path: Path, what: str) -> None:
    data = loaded(tmp_path, giving(what))
    assert data.training.feature_shape == (2,)
    assert data.class_names == ("0", "1", "2")
    assert (data.test, data.scaling) == (None, Scaling.NONE)


def test_that_a_test_set_and_class_names_are_taken(tmp_path: Path) -> None:
    data = loaded(tmp_path, giving('{"x": x, "y": y, "x_test": x, "y_test": y % 1, '
                                   '"class_names": ["a", "b", "c", "d"]}'))  # fmt: skip
    assert data.class_names == ("a", "b", "c", "d")
    assert data.test is not None
    assert loaded(tmp_path, giving("((x, y), (x, y))")).test is not None


def test_that_bytes_are_pixels_and_values_have_no_classes(tmp_path: Path) -> None:
    pixels = loaded(tmp_path, giving("(x.astype(np.uint8), y)"))
    assert (pixels.scaling, pixels.greatest) == (Scaling.DIVIDE, 255.0)
    values = loaded(tmp_path, giving("(x, y * 0.5)"), Target.VALUES)
    assert (values.target, values.training.labels.dtype) == (Target.VALUES, np.float32)


ONE_BY_ONE = """
import numpy as np

class Rows:
    shapes = {}
    types = {}

    def __len__(self):
        return 6

    def __getitem__(self, index):
        if index == FAILS:
            raise LookupError("no such example")
        return np.full(self.shapes.get(index, (2,)), float(index), self.types.get(index, TYPE))

x, y = Rows(), np.arange(6) % 3

def load():
    return x, y
"""


def one_by_one(folder: Path, cache: DataCache, **changes: str) -> DataSet:
    text = ONE_BY_ONE
    for name, value in ({"FAILS": "None", "TYPE": "np.float64"} | changes).items():
        text = text.replace(name, value)
    data = PythonData(path=NAMED, cache=cache)
    return read_python_data(data, code(folder, text), 7)


def test_that_examples_that_are_given_one_by_one_are_read_when_they_are_needed(
    tmp_path: Path,
) -> None:
    data = one_by_one(tmp_path, DataCache.NONE)

    assert data.training.in_memory is None
    assert (data.training.feature_shape, data.scaling) == ((2,), Scaling.NONE)
    read = data.training.read(np.asarray([4, 0, 4], np.int32))
    assert read.dtype == np.float32
    assert read.tolist() == [[4.0, 4.0], [0.0, 0.0], [4.0, 4.0]]
    pixels = one_by_one(tmp_path, DataCache.NONE, TYPE="np.uint8")
    assert (pixels.training.features.dtype, pixels.scaling) == (np.uint8, Scaling.DIVIDE)


def test_that_examples_that_are_given_one_by_one_are_held_in_memory_where_they_fit(
    tmp_path: Path,
) -> None:
    held = one_by_one(tmp_path, DataCache.MEMORY).training.in_memory

    assert held is not None
    assert held[:, 0].tolist() == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"shapes = {}": "shapes = {3: (5,)}"}, "the shape (5,) in example 3, and (2,)"),
        ({"types = {}": "types = {3: np.uint8}"}, "uint8 values in example 3, and float32"),
        ({"types = {}": "types = {3: object}"}, "object values in example 3"),
        ({"float(index)": "1e300 if index == 3 else 0.0"}, "such as inf in example 3"),
        ({"float(index)": "np.nan if index == 3 else 0.0"}, "such as nan in example 3"),
        ({"FAILS": "3"}, "in __getitem__: LookupError: no such example"),
    ],
)
def test_that_an_example_that_does_not_fit_is_named_when_it_is_read(
    tmp_path: Path, changes: dict[str, str], words: str
) -> None:
    with pytest.raises(Exception, match=r".*") as caught:
        one_by_one(tmp_path, DataCache.NONE, **changes).training.read(np.arange(6, dtype=np.int32))

    (problem,) = problems_of(caught.value)
    assert problem.field == "data.path"
    assert words in problem.message


@pytest.mark.parametrize(
    ("what", "is_streamed"),
    [
        ("x", False),
        ("x.tolist()", False),
        ("np.memmap('/proc/self/exe', np.uint8, 'r', shape=(6, 2))", True),
        (("type('HDF5', (), dict(shape=(6, 2), dtype=x.dtype, __len__=lambda s: 6, "
         "__array__=lambda s, *_, **__: x, __getitem__=lambda s, i: x[i]))()"), True),
        (("type('Series', (), dict(shape=(6,), dtype=x.dtype, __len__=lambda s: 6, "
         "__array__=lambda s, *_, **__: x, __getitem__=lambda s, i: None))()"), False),
        (("type('Frame', (), dict(shape=(6, 2), __len__=lambda s: 6, "
         "__array__=lambda s, *_, **__: x, __getitem__=lambda s, i: None))()"), False),
    ],
    ids=["array", "list", "memmap", "hdf5", "series", "frame"],
)  # fmt: skip
def test_that_only_what_gives_rows_by_their_numbers_is_asked_for_them(
    tmp_path: Path, what: str, is_streamed: bool
) -> None:
    data = PythonData(path=NAMED, cache=DataCache.NONE)
    found = read_python_data(data, code(tmp_path, giving(f"({what}, y)")), 7)

    assert (found.training.in_memory is None) is is_streamed
    assert found.training.read(np.arange(6, dtype=np.int32)).shape == (6, 2)


def test_that_what_is_drawn_depends_on_the_seed_alone(tmp_path: Path) -> None:
    text = "import numpy as np\ndef load(): return np.random.rand(6, 2), np.arange(6) % 2"
    first = loaded(tmp_path, text).training.features
    random.random()
    assert np.array_equal(first, loaded(tmp_path, text).training.features)
    assert not np.array_equal(first, loaded(tmp_path, text, seed=8).training.features)


@pytest.mark.parametrize(
    ("what", "code", "words"),
    [
        ("None", "user_code_data_misfit", "NoneType"),
        ('{"x": x}', "user_code_data_misfit", 'there is no "y"'),
        ('{"x": x, "y": y, "z": 1}', "user_code_data_misfit", "z is none of"),
        ('{"x": x, "y": y, "x_test": x}', "user_code_data_misfit", 'there is no "y_test"'),
        ('{"x": x, "y": y, "x_test": x[:, :1], "y_test": y}', "user_code_data_misfit", "shape"),
        ('{"x": x, "y": y, "class_names": "abc"}', "user_code_data_misfit", "not a list"),
        ('{"x": x, "y": y, "class_names": ["a"] * 100_001}', "user_code_data_misfit", "100,000"),
        ("([[1], [1, 2]], y)", "user_code_data_misfit", "not an array"),
        ("(x, y[:4])", "data_lengths_differ", "6 examples"),
        ("(x, y - 1)", "data_labels_negative", "negative"),
        ("(x * np.inf, y)", "data_features_not_finite", "infinite"),
    ],
)  # fmt: skip
def test_that_what_does_not_fit_is_reported(
    tmp_path: Path, what: str, code: str, words: str
) -> None:
    problem = refusal(tmp_path, giving(what))
    assert problem.code == code
    assert words in problem.message
    assert NAMED in problem.message


def test_that_a_function_that_is_not_there_is_reported(tmp_path: Path) -> None:
    problem = refusal(tmp_path, "def lod(): pass")
    assert problem.code == "user_code_function_missing"


def test_that_a_file_that_ends_the_process_is_reported(tmp_path: Path) -> None:
    for text in ("import sys\nsys.exit(3)", "import sys\ndef load(): sys.exit(3)"):
        assert "exit status 3" in refusal(tmp_path, text).message


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("x = (\n", 1, "SyntaxError"),
        ("import numpy\nimport not_installed\n", 2, "ModuleNotFoundError"),
        ("def load():\n\n    return 1 / 0\n", 3, "in load: ZeroDivisionError: division by zero"),
        ("import numpy\ndef load():\n    return numpy.zeros(3).reshape(2)", 3, "ValueError"),
    ],
)
def test_that_an_error_is_reported_with_file_line_and_sentence(
    tmp_path: Path, text: str, line: int, words: str
) -> None:
    with pytest.raises(Exception, match=r".*") as caught:
        loaded(tmp_path, text)
    (problem,) = problems_of(caught.value)
    assert (problem.code, problem.field) == ("user_code_failed", "data.path")
    assert problem.message.startswith(f"{NAMED} failed in line {line}")
    assert words in problem.message
    assert problem.detail


@pytest.mark.parametrize(
    ("path", "leads_nowhere"), [("numbers.csv", True), ("/nowhere/numbers.csv", False)]
)
def test_that_code_that_opens_a_relative_path_is_given_the_way_to_its_own_folder(
    tmp_path: Path, path: str, leads_nowhere: bool
) -> None:
    with pytest.raises(FileNotFoundError) as caught:
        loaded(tmp_path, f"def load():\n    return open({path!r})\n")
    (problem,) = problems_of(caught.value)
    assert problem.code == "user_code_failed"
    assert ("Path(__file__).parent" in problem.hint) is leads_nowhere


def test_that_a_preview_of_data_never_gets_to_the_code() -> None:
    with pytest.raises(ProblemError) as caught:
        read_data(PythonData(path=NAMED), Reading(print))
    assert caught.value.problems[0].code == "code_not_carried_out"


def sharing(kind: StrategyKind) -> StrategySettings:
    return StrategySettings(kind=kind)


PYTHON = PythonModel(path=NAMED)
CODE = {NAMED: MLP, "/home/someone/normed.py": NORMED, "/home/someone/line.py": LINE}
DATA_CODE = {
    NAMED: DIGITS,
    "/home/someone/rows.py": ROWS,
    "/home/someone/values.py": VALUES,
}
RUNS: dict[str, tuple[Profile, Sequence[int]]] = {
    "mlp": (profile(model=MlpModel(hidden=(32,))), [64]),
    "code": (profile(model=PYTHON), [64]),
    "code, 48 + 16": (profile(model=PYTHON, strategy=sharing(StrategyKind.MIRRORED)), [48, 16]),
    "code, central": (
        profile(model=PYTHON, strategy=sharing(StrategyKind.CENTRAL_STORAGE)),
        [32, 32],
    ),
    "code, accumulated": (profile(changed(accumulation_steps=2), model=PYTHON), [64]),
    "normed": (profile(model=PythonModel(path="/home/someone/normed.py")), [64]),
    "own data": (
        profile(model=PYTHON, data=PythonData(path=NAMED, validation_fraction=0.2)),
        [64],
    ),
    "own data, one by one": (
        profile(
            model=PYTHON,
            data=PythonData(
                path="/home/someone/rows.py", validation_fraction=0.2, cache=DataCache.NONE
            ),
        ),
        [64],
    ),
    "values": (
        profile(
            changed(epochs=15, learning_rate=0.05),
            model=PythonModel(path="/home/someone/line.py"),
            data=PythonData(path="/home/someone/values.py", predicts=Target.VALUES),
        ),
        [64],
    ),
}


QUICK = ("mlp", "code")
EVALUATED = ("code", "normed", "values")
OTHERS = ("code, central", "code, accumulated")
"""For ``make test-slow``."""


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory, make_run: MakeRun) -> dict[str, RunLayout]:
    def train(names: Sequence[str]) -> dict[str, RunLayout]:
        folder, chosen = tmp_path_factory.mktemp("python"), {name: RUNS[name] for name in names}
        evaluated = [name for name in EVALUATED if name in names]
        return train_all(folder, with_code(make_run), chosen, evaluated=evaluated)

    further = [name for name in RUNS if name not in (*QUICK, *OTHERS)]
    return Grouped(train, QUICK, further)


def with_code(make_run: MakeRun) -> MakeRun:
    def made(folder: Path, chosen: Profile, shares: Sequence[int]) -> RunLayout:
        layout = make_run(folder, chosen, shares)
        layout.code.mkdir()
        if isinstance(chosen.model, PythonModel):
            layout.model_code.write_text(CODE[chosen.model.path])
        if isinstance(chosen.data, PythonData):
            layout.data_code.write_text(DATA_CODE[chosen.data.path])
        return layout

    return made


MISFITS = {
    "a string": ("'a model'", "it is a str, not a Keras model"),
    "a class of its own": ("type('M', (keras.Model,), {})()", "its layers are not known"),
    "other inputs": ("model(layers.Dense(outputs), shape=(3,))", "it takes examples of the shape"),
    "other outputs": ("model(layers.Dense(outputs + 1))", "but 4 are needed"),
    "two outputs": (
        "keras.Model(i := keras.Input(input_shape), [layers.Dense(4)(i), layers.Dense(4)(i)])",
        "2 outputs",
    ),
    "sigmoid": ("model(layers.Dense(outputs, activation='sigmoid'))", "it ends in sigmoid"),
    "state": (
        "model(layers.SpectralNormalization(layers.Dense(outputs)))",
        "changes its weight",
    ),
    "fine": ("model(layers.Dense(outputs, activation='softmax'))", "fine"),
    "sigmoid of labels": ("model(layers.Dense(outputs, activation='sigmoid'))", "fine"),
    "softmax of labels": (
        "model(layers.Dense(outputs, activation='softmax'))",
        "ends in softmax, but logits or a sigmoid are needed",
    ),
    "named output": ("named(layers.Dense(outputs))", "fine"),
    "values": ("model(layers.Dense(outputs))", "fine"),
    "softmax of values": (
        "model(layers.Dense(outputs, activation='softmax'))",
        "ends in softmax, but the values as they are are needed",
    ),
}
_BUILD = """
import json, sys, numpy as np
from pathlib import Path
from gpupanel.domain.problem import ProblemError
from gpupanel.trainer.datasets.examples import DataSet, Examples
from gpupanel.domain.model import PythonModel
from gpupanel.trainer.models.network import Building, network_of
from tests.fakes.checked_files import trusted

def data_of(name):
    features, names = np.zeros((8, 2), np.float32), ("a", "b", "c", "d")
    if name.endswith("values"):
        return DataSet(Examples(features, np.zeros((8, 4), np.float32)))
    if name.endswith("labels"):
        return DataSet(Examples(features, np.zeros((8, 4), np.float32)), class_names=names)
    return DataSet(Examples(features, np.zeros(8, np.int32)), class_names=names)

reported = {}
for path in map(Path, sys.argv[1:]):
    try:
        model = PythonModel(path=path.name)
        data = data_of(path.stem)
        building = Building(data, data.training, trusted("model.path", path.name, path))
        network_of(model).outputs(model, building.inputs, building)
        reported[path.stem] = "fine"
    except ProblemError as error:
        assert error.problems[0].code == "user_code_model_misfit"
        reported[path.stem] = error.problems[0].message
print(json.dumps(reported))
"""
_BUILDER = """
import keras
from keras import layers

def model(last, shape=None):
    return keras.Sequential([keras.Input(shape or (2,)), last])

def named(last):
    inputs = keras.Input((2,))
    return keras.Model({{"row": inputs}}, {{"classes": last(inputs)}})

def build_model(input_shape, outputs):
    return {what}
"""
_TWICE = """
import json, sys, numpy as np
from pathlib import Path
from gpupanel.domain.model import PythonModel
from gpupanel.domain.problem import ProblemError
from gpupanel.trainer.datasets.examples import DataSet, Examples
from gpupanel.trainer.models.build import build_model, check_built_again
from gpupanel.trainer.models.network import Building
from tests.fakes.checked_files import trusted

reported = {}
for path in map(Path, sys.argv[1:]):
    features = np.random.default_rng(0).random((8, 4), np.float32)
    data = DataSet(Examples(features, np.arange(8, dtype=np.int32) % 2), class_names=("a", "b"))
    building = Building(data, data.training, trusted("model.path", path.name, path))
    built = build_model(PythonModel(path=path.name), building)
    try:
        check_built_again(built, features[:4])
        reported[path.stem] = "fine"
    except ProblemError as error:
        reported[path.stem] = error.problems[0].message
print(json.dumps(reported))
"""
_CHANCE = """
import keras, numpy as np, random
from keras import layers

by_module = np.random.rand(4, 8).astype("float32")

class Projection(layers.Layer):
    def build(self, shape):
        self.by = self.add_weight(shape=(4, 8), initializer="random_normal", trainable=False)

    def call(self, given):
        return given @ self.by

def build_model(input_shape, outputs):
    inputs = keras.Input(input_shape)
    random.seed()
    hidden = {what}
    return keras.Model(inputs, layers.Dense(outputs)(hidden))
"""
CHANCES = {
    "numbers": ("keras.ops.matmul(inputs, np.random.rand(4, 8).astype('float32'))", False),
    "numbers of the module": ("keras.ops.matmul(inputs, by_module)", False),
    "factor": ("layers.Rescaling(random.random())(inputs)", False),
    "units": ("layers.Dense(random.randrange(2, 2**16))(inputs)", False),
    "numbers of a seed": ("inputs * np.random.default_rng(0).random(4).astype('float32')", True),
    "weights": ("Projection()(layers.Dense(4)(layers.BatchNormalization()(inputs)))", True),
}
"""What is between input and last layer, and whether a second model can be the same."""


@pytest.mark.tensorflow
def test_that_a_model_that_cannot_be_trained_is_reported(tmp_path: Path) -> None:
    for name, (what, _) in MISFITS.items():
        (tmp_path / f"{name}.py").write_text(_BUILDER.format(what=what))
    done = run_forked(
        [sys.executable, "-c", _BUILD, *(str(tmp_path / f"{name}.py") for name in MISFITS)],
        env={**os.environ, "CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "3"},
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    reported = json.loads(done.stdout.splitlines()[-1])
    assert {name: words in reported[name] for name, (_, words) in MISFITS.items()} == dict.fromkeys(
        MISFITS, True
    ), reported


@pytest.mark.tensorflow
def test_that_code_that_builds_another_model_each_time_is_reported(tmp_path: Path) -> None:
    # What is saved is built a second time, and gets the weights that were learned.
    for name, (what, _) in CHANCES.items():
        (tmp_path / f"{name}.py").write_text(_CHANCE.format(what=what))
    done = run_forked(
        [sys.executable, "-c", _TWICE, *(str(tmp_path / f"{name}.py") for name in CHANCES)],
        env={**os.environ, "CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "3"},
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    reported = json.loads(done.stdout.splitlines()[-1])
    assert {name: said == "fine" for name, said in reported.items()} == {
        name: is_same for name, (_, is_same) in CHANCES.items()
    }, reported
    assert reported["numbers"].startswith("build_model() gives another model")


@pytest.mark.tensorflow
@pytest.mark.parametrize("name", others_long(["code", "code, 48 + 16"], "code"))
def test_that_code_that_builds_the_mlp_learns_what_the_mlp_does(
    trained: dict[str, RunLayout], name: str
) -> None:
    assert_alike(trained["mlp"], trained[name])


@pytest.mark.slow
@pytest.mark.tensorflow
def test_that_it_does_so_under_other_strategies(tmp_path: Path, make_run: MakeRun) -> None:
    plans = {name: RUNS[name] for name in ("mlp", *OTHERS)}
    others = train_all(tmp_path, with_code(make_run), plans)
    for name in OTHERS:
        assert_alike(others["mlp"], others[name])


def assert_alike(one: RunLayout, other: RunLayout) -> None:
    for value, again in zip(state(one), state(other), strict=True):
        np.testing.assert_allclose(value, again, rtol=1e-5, atol=1e-6)


@pytest.mark.tensorflow
@pytest.mark.parametrize("name", others_long(EVALUATED, "code"))
def test_that_the_saved_model_is_one_that_plain_keras_measures_alike(
    trained: dict[str, RunLayout], name: str
) -> None:
    metrics = last_metrics(trained[name])
    second = metrics.val_mean_absolute_error if name == "values" else metrics.val_accuracy
    assert evaluation(trained[name])["validation"] == pytest.approx(
        [metrics.val_loss, second], rel=1e-4
    )


@pytest.mark.tensorflow
@pytest.mark.long
def test_that_data_of_ones_own_is_learned_from(trained: dict[str, RunLayout]) -> None:
    accuracy = last_metrics(trained["own data"]).val_accuracy
    streamed = state(trained["own data, one by one"])
    for one, other in zip(streamed, state(trained["own data"]), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-7)
    assert accuracy is not None
    assert accuracy > 0.8
    error = last_metrics(trained["values"]).val_mean_absolute_error
    assert error is not None
    assert error < 2.0  # of values from 100 to 110
