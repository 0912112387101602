"""A table's columns divided over several inputs by name."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gpupanel.domain.data import DataCache, Scaling, TableData
from gpupanel.domain.model import PythonModel
from gpupanel.domain.preview import PreviewRequest
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.run_layout import RunLayout
from gpupanel.domain.scan import ScanRequest
from gpupanel.trainer.datasets.examples import DataSet, read_features
from gpupanel.trainer.datasets.packed_inputs import apart
from gpupanel.trainer.datasets.source import Reading, source_of
from gpupanel.trainer.datasets.tables.recipe import TableRecipe
from gpupanel.trainer.tools.preview.preview import preview
from gpupanel.trainer.tools.scan import scan
from tests.unit.trainer.array_code import with_code
from tests.unit.trainer.conftest import MakeRun
from tests.unit.trainer.test_the_rule import MIRRORED
from tests.unit.trainer.trained_runs import (
    ONE_DEVICE,
    changed,
    evaluation,
    last_metrics,
    profile,
    state,
    train_all,
)

INPUTS = {"item": ["price", "made"], "user": ["city", "age"]}


def write(folder: Path, count: int = 60, name: str = "sales.csv") -> str:
    random = np.random.default_rng(2)
    rows = [
        f"{number},{random.integers(18, 90)},{random.choice(['Rome', 'Oslo', 'Bern'])},"
        f"{random.normal(50, 20):.2f},2026-01-{number % 28 + 1:02},note {number} of many,"
        f"{random.integers(0, 2)}"
        for number in range(count)
    ]
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text("\n".join(["id,age,city,price,made,note,bought", *rows]) + "\n")
    return str(path)


def read(data: TableData, **reading: Any) -> DataSet:
    return source_of(data).read(data, Reading(print, **reading))


def named(path: str, **settings: Any) -> TableData:
    return TableData.model_validate({"path": path, "inputs": INPUTS, **settings})


@pytest.mark.parametrize("cache", [DataCache.MEMORY, DataCache.NONE])
def test_that_inputs_are_the_columns_as_a_table_has_them(tmp_path: Path, cache: DataCache) -> None:
    path = write(tmp_path)

    data = read(named(path, cache=cache))

    assert (data.form.inputs, data.scaling) == ({"item": (2,), "user": (4,)}, Scaling.STANDARDISE)
    assert (data.training.in_memory is None) is (cache is DataCache.NONE)
    rows = data.training.read_all()
    inputs = apart(rows, data.inputs)
    for columns, features in (
        (["price"], inputs["item"][:, :1]),
        (["made"], inputs["item"][:, 1:]),
        (["city"], inputs["user"][:, :3]),
        (["age"], inputs["user"][:, 3:]),
    ):
        others = {"id", "age", "city", "price", "made", "note"} - {*columns}
        alone = read(TableData(path=path, ignore=tuple(others), target="bought"))
        np.testing.assert_array_equal(features, alone.training.read_all())
    # Those of categories stay 0 and 1.
    assert data.categories == ((2, 3),)
    recipe = TableRecipe.model_validate_json(data.recipe)
    assert [each.name for each in recipe.features] == ["price", "made", "city", "age"]


def test_that_further_tables_are_divided_alike(tmp_path: Path) -> None:
    path = write(tmp_path)
    beside = write(tmp_path / "beside", 9)

    data = read(named(path, test_path=beside, missing="drop"))

    assert data.test is not None
    np.testing.assert_array_equal(data.test.read_all()[:, 2:5].sum(axis=1), np.ones(9))
    assert data.test.feature_shape == data.training.feature_shape == (6,)


@pytest.mark.parametrize(
    ("settings", "code", "words"),
    [
        ({"inputs": {"a/b": ["age"]}}, "table_inputs_misfit", "'a/b' is no name of an input"),
        ({"inputs": {"": ["age"]}}, "table_inputs_misfit", "'' is no name"),
        ({"inputs": {"user": []}}, "table_inputs_misfit", 'the input "user" has no columns'),
        ({"inputs": {"user": ["size"]}}, "table_column_missing", 'no column "size"'),
        ({"inputs": {"user": ["age", "bought"]}}, "table_inputs_misfit", "is what is predicted"),
        ({"inputs": {"user": ["age"]}, "ignore": ["age"]}, "table_inputs_misfit", "data.ignore"),
        ({"inputs": {"user": ["age"]}, "group": "age"}, "table_inputs_misfit", "the group column"),
        (
            {"inputs": {"user": ["age", "age"]}},
            "table_inputs_misfit",
            'column "age" is named twice: of "user" and "user"',
        ),
        (
            {"inputs": {"user": ["age"], "item": ["price", "age"]}},
            "table_inputs_misfit",
            'of "user" and "item"',
        ),
        ({"inputs": {"user": ["note"]}}, "table_inputs_misfit", "texts of many different values"),
    ],
)
def test_that_columns_that_cannot_be_an_input_are_named(
    tmp_path: Path, settings: dict[str, Any], code: str, words: str
) -> None:
    path = write(tmp_path, 120)

    with pytest.raises(ProblemError) as caught:
        read(named(path, **settings))

    (problem,) = caught.value.problems
    assert (problem.code, problem.field) == (code, "data.inputs")
    assert words in problem.message


def test_that_a_preview_and_a_scan_show_which_columns_are_learned_from(tmp_path: Path) -> None:
    data = named(write(tmp_path), validation_fraction=0.2)

    found = preview(PreviewRequest(data=data, example_limit=2))

    errors: list[Problem] = [each for each in found.problems if each.is_error]
    assert errors == []
    assert found.form.inputs == {"item": (2,), "user": (4,)}
    uses = {each.name: (each.use, each.detail) for each in found.columns}
    assert uses["age"][0] == uses["city"][0] == "feature"
    assert uses["id"] == ("left_out", "left out: of no input")
    assert uses["bought"][0] == "target"
    # What is not learned from is not complained of.
    assert "table_index_column" not in [each.code for each in found.problems]
    scanned = scan(ScanRequest(data=data))
    assert [each.examples for each in scanned.sets] == [48, 12]
    assert scanned.feature_shape == ()


def test_that_a_column_of_an_input_is_not_offered_to_be_left_out_elsewhere(tmp_path: Path) -> None:
    rows = [f"{number},7,{number % 2},{number % 2}" for number in range(60)]
    path = tmp_path / "odd.csv"
    path.write_text("\n".join(["row,same,leak,bought", *rows]) + "\n")
    alone = {each.code: each for each in read(TableData(path=str(path))).notes}
    inputs = {"a": ["row", "same"], "b": ["leak"]}

    divided = {each.code: each for each in read(named(str(path), inputs=inputs)).notes}

    assert divided.keys() == alone.keys()
    of_ignore = [code for code, each in alone.items() if each.field == "data.ignore"]
    assert len(of_ignore) > 1
    for code in of_ignore:
        assert alone[code].fix is not None
        assert (divided[code].field, divided[code].fix) == ("data.inputs", None)


def test_that_a_saved_model_keeps_its_inputs_whatever_order_they_are_named_in(
    tmp_path: Path,
) -> None:
    path = write(tmp_path)
    trained = read(named(path))
    other = {name: columns[::-1] for name, columns in reversed(INPUTS.items())}
    for inputs in (INPUTS, other, {}):
        data = TableData.model_validate({"path": path, "inputs": inputs})
        again = read(data, recipe=trained.recipe)
        assert again.inputs == trained.inputs
        np.testing.assert_array_equal(again.training.read_all(), trained.training.read_all())
        for needs_labels in (True, False):
            found = source_of(data).read_all(
                data, Reading(print, recipe=trained.recipe), needs_labels=needs_labels
            )
            assert found.inputs == trained.inputs
            np.testing.assert_array_equal(
                read_features(found.features, np.arange(60, dtype=np.int32)),
                trained.training.read_all(),
            )


def test_that_other_inputs_than_a_saved_model_has_are_refused(tmp_path: Path) -> None:
    path = write(tmp_path)
    plain = read(TableData(path=path, ignore=("id", "note"))).recipe
    swapped = {"item": ["price", "age"], "user": ["city", "made"]}
    for recipe, inputs, has in (
        (plain, INPUTS, "has one input, of all columns"),
        (read(named(path)).recipe, swapped, "has the inputs item (price, made), user (city, age)"),
    ):
        data = TableData.model_validate({"path": path, "inputs": inputs})
        for own_targets in (True, False):
            with pytest.raises(ProblemError) as caught:
                read(data, recipe=recipe, own_targets=own_targets)
            (problem,) = caught.value.problems
            assert problem.code == "table_inputs_misfit"
            assert has in problem.message


ONE = """
import keras
from keras import layers

def build_model(input_shape, outputs):
    row = keras.Input(input_shape)
    made = [layers.Dense(4, activation="tanh")(each) for each in (row[:, :2], row[:, 2:])]
    return keras.Model(row, layers.Dense(outputs)(layers.Concatenate()(made)))
"""
SEVERAL = """
import keras
from keras import layers

def build_model(input_shape, outputs):
    inputs = {name: keras.Input(shape, name=name) for name, shape in input_shape.items()}
    made = [layers.Dense(4, activation="tanh")(inputs[name]) for name in ("item", "user")]
    return keras.Model(inputs, layers.Dense(outputs)(layers.Concatenate()(made)))
"""
TRAINING = changed(learning_rate=0.05, epochs=3, global_batch_size=16)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory, make_run: MakeRun) -> dict[str, RunLayout]:
    folder = tmp_path_factory.mktemp("tables")
    path, plans = write(folder, 300), {}
    for name, code, more in (
        ("one", ONE, {"ignore": ("id", "note")}),
        ("several", SEVERAL, {"inputs": {"item": ["age", "price"], "user": ["city", "made"]}}),
        ("same order", SEVERAL, {"inputs": {"item": ["age"], "user": ["city", "price", "made"]}}),
    ):
        model = folder / f"{name}.py"
        model.write_text(code)
        if name == "one":
            model.write_text(code.replace("row[:, :2], row[:, 2:]", "row[:, :1], row[:, 1:]"))
        data = TableData.model_validate({"path": path, "validation_fraction": 0.2, **more})
        plans[name] = (
            profile(TRAINING, ONE_DEVICE, data=data, model=PythonModel(path=str(model))),
            [16],
        )
    settings = plans["same order"][0].model_copy(update={"strategy": MIRRORED})
    plans["divided"] = settings, [12, 4]
    return train_all(folder, with_code(make_run), plans, evaluated=["same order"])


@pytest.mark.long
@pytest.mark.tensorflow
def test_that_inputs_are_learned_as_parts_of_one_row(runs: dict[str, RunLayout]) -> None:
    one = runs["one"]
    for name in ("same order", "divided"):
        for mine, other in zip(state(runs[name]), state(one), strict=True):
            np.testing.assert_allclose(mine, other, rtol=1e-5, atol=1e-6)
        assert last_metrics(runs[name]).val_loss == pytest.approx(
            last_metrics(one).val_loss, rel=1e-5
        )
    measured = last_metrics(runs["same order"])
    # The saved model takes raw inputs by their names.
    assert evaluation(runs["same order"])["validation"] == pytest.approx(
        [measured.val_loss, measured.val_accuracy], rel=1e-5
    )
    # Another division of the columns is another model.
    assert last_metrics(runs["several"]).val_loss != last_metrics(one).val_loss
