"""A table that is odd in many ways at once: training, scripts and ``predict.py`` read it alike."""

import importlib.util
import json
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gpupanel.domain.data import TableData, Target
from gpupanel.domain.preview import PreviewRequest
from gpupanel.domain.previewed_profile import with_detected
from gpupanel.domain.problem import ProblemError
from gpupanel.domain.profile import Profile
from gpupanel.planning.script.data_section import data_section, script_of
from gpupanel.trainer.datasets.examples import DataSet
from gpupanel.trainer.datasets.source import Reading, source_of
from gpupanel.trainer.datasets.tables.recipe import TableRecipe
from gpupanel.trainer.exports import description
from gpupanel.trainer.parts import text_layout
from gpupanel.trainer.tools.preview.preview import preview

ABOVE = "Umsatz 2026;;;;;;\n\n"
NAMES = "ort;preis;anteil;tag;art;code;wert\n"
NUMBERS = ("1.234,5", "NA", " ", "-12.000,25", "(7,5)", "n/a", "3,25 €", "0,5", "?", "1.000")
PRICES = (1234.5, None, None, -12000.25, -7.5, None, 3.25, 0.5, None, 1000.0)
KINDS = ("None", "a", "b")
CODES = ("1.002", "1.003", "2.002", "20.230.101", "20.230.102")
ROWS = [
    f"{('Köln', 'Bonn')[at % 2]};{NUMBERS[at % 10]};{at % 7} %;{at % 28 + 1:02}.0{at % 9 + 1}.24;"
    f"{KINDS[at % 3]};{CODES[at % 5]};{-at}.{at:03},5\n"
    for at in range(1, 61)
]
NEW = [
    "Köln;1.234,5;5 %;NA;None;1.002;\n",
    "Bonn; ;-;13.02.24; ;20.230.102;\n",
    "Bonn;NA;0 %;01.02.24;NA;1.003;\n",
    "Köln;1000;12 %;2.1.24;a;1.003;\n",
]


@pytest.fixture
def trained(tmp_path: Path) -> TableData:
    path = tmp_path / "train.csv"
    path.write_bytes(f"{ABOVE}{NAMES}{''.join(ROWS)}".encode("cp1252"))
    return TableData(path=str(path), target="wert", validation_fraction=0)


@pytest.fixture
def new(tmp_path: Path) -> str:
    """Other rows in another encoding, without lines before them."""
    path = tmp_path / "new.csv"
    path.write_text(f"{NAMES}{''.join(NEW)}", encoding="utf-8")
    return str(path)


@pytest.fixture
def exported(tmp_path: Path) -> Iterator[Any]:
    """``predict.py`` as it stands beside an export."""
    (tmp_path / "predict.py").write_text(description.script_text(), encoding="utf-8")
    (tmp_path / "text_layout.py").write_bytes(Path(text_layout.__file__).read_bytes())
    spec = importlib.util.spec_from_file_location("predict_alike", tmp_path / "predict.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    yield module
    sys.modules.pop("text_layout", None)


def read(data: TableData) -> DataSet:
    return source_of(data).read(data, Reading(lambda *_: None))


def features(found: DataSet) -> np.ndarray:
    return np.asarray(found.training.read(np.arange(len(found.training), dtype=np.int32)))


def as_found(data: TableData, recipe: str = "") -> TableData:
    """With what a preview finds, as an exported script has it."""
    if not recipe:
        found = preview(PreviewRequest(data=data))
        assert not found.is_refused, found.problems
        filled = with_detected(Profile(data=data), found).data
    else:
        found = source_of(data).find(data, Reading(lambda *_: None, recipe=recipe)).found
        filled = TableData.model_validate({**data.model_dump(exclude_none=True), **found})
    assert isinstance(filled, TableData)
    return filled


def carried_out(text: str) -> dict[str, Any]:
    names: dict[str, Any] = {"np": np, "SEED": 1}
    exec(text, names)
    return names


def predicted(data: TableData, recipe: str, path: str) -> np.ndarray:
    other = data.model_copy(update={"path": path})
    reading = Reading(lambda *_: None, recipe=recipe)
    found = source_of(other).read_all(other, reading, needs_labels=False)
    return np.asarray(found.features)


def by_export(exported: Any, data: TableData, recipe: str, path: str) -> list[np.ndarray]:
    made = TableRecipe.model_validate_json(recipe)
    found = description._input(data, None, made, (made.width,), "float32")
    takes = json.loads(found.model_dump_json(exclude_none=True))
    names = [each.name for each in made.features]
    rows = exported.rows(Path(path), names, takes)
    return [exported.features_of_row(cells, takes, row) for row, cells in rows]


def test_that_each_cell_is_what_it_means(trained: TableData) -> None:
    found = read(trained)
    recipe = TableRecipe.model_validate_json(found.recipe)
    kinds = {each.name: each.kind for each in recipe.features}
    assert kinds == {
        "ort": "category",
        "preis": "number",
        "anteil": "number",
        "tag": "date",
        "art": "category",
        "code": "number",
    }
    known = [value for value in PRICES if value is not None]
    mean = np.float32(np.mean(known))
    made = features(found)
    prices = [mean if PRICES[at % 10] is None else PRICES[at % 10] for at in range(1, 61)]
    np.testing.assert_allclose(made[:, 2], prices, rtol=1e-6)
    assert made[:, 3].tolist() == [at % 7 for at in range(1, 61)]
    assert found.training.labels[:3].tolist() == [-1001.5, -2002.5, -3003.5]
    art = next(each for each in recipe.features if each.name == "art")
    assert art.categories == ("None", "a", "b")


@pytest.mark.parametrize("target", ["wert", "code", "art"])
def test_that_training_and_prediction_are_alike_in_all_that_reads_a_table(
    tmp_path: Path, trained: TableData, new: str, exported: Any, target: str
) -> None:
    predicts = Target.VALUES if target == "wert" else Target.CLASSES
    data = trained.model_copy(update={"target": target, "predicts": predicts})
    here = read(data)
    script = carried_out(data_section(as_found(data)))
    np.testing.assert_array_equal(script["x"], features(here))
    np.testing.assert_array_equal(script["y"], here.training.labels)
    if target == "code":
        assert here.class_names == ("1002", "1003", "2002", "20230101", "20230102")
    if predicts is Target.CLASSES:
        assert tuple(script["class_names"]) == here.class_names

    expected = predicted(data, here.recipe, new)
    assert not np.isnan(expected).any()
    model = tmp_path / "model.keras"
    with zipfile.ZipFile(model, "w") as archive:
        archive.writestr("recipe.json", here.recipe)
    other = as_found(data.model_copy(update={"path": new}), here.recipe)
    text = script_of(other).read_for_model(other, str(model), needs_labels=False)
    np.testing.assert_array_equal(carried_out(text)["x"], expected)

    np.testing.assert_array_equal(by_export(exported, data, here.recipe, new), expected)


@pytest.mark.parametrize("odd", ["1,234.5", "12 %", "many", "1_000"])
def test_that_another_way_of_writing_is_refused_by_all(
    tmp_path: Path, trained: TableData, exported: Any, odd: str
) -> None:
    here = read(trained)
    path = tmp_path / "odd.csv"
    path.write_text(f"{NAMES}Köln;{odd};5 %;NA;a;1.002;\n", encoding="utf-8")
    with pytest.raises(ProblemError, match="preis"):
        predicted(trained, here.recipe, str(path))
    with pytest.raises(SystemExit, match="preis"):
        by_export(exported, trained, here.recipe, str(path))


def test_that_columns_of_different_locales_are_read_by_a_script_as_training_read_them(
    tmp_path: Path,
) -> None:
    path = tmp_path / "two.csv"
    path.write_text("a;b;y\n" + "".join(f"{at},5;{at}.25;{at % 2}\n" for at in range(30)))
    data = TableData(path=str(path), validation_fraction=0)
    here = read(data)
    script = carried_out(data_section(as_found(data)))
    np.testing.assert_array_equal(script["x"], features(here))
    model = tmp_path / "model.keras"
    with zipfile.ZipFile(model, "w") as archive:
        archive.writestr("recipe.json", here.recipe)
    other = as_found(data, here.recipe)
    text = script_of(other).read_for_model(other, str(model), needs_labels=False)
    np.testing.assert_array_equal(carried_out(text)["x"], features(here))


def test_that_chosen_empty_words_and_days_without_marks_are_read_alike_by_all(
    tmp_path: Path, exported: Any
) -> None:
    path, new = tmp_path / "train.csv", tmp_path / "new.csv"
    cells = ("-999", "1.5", ".", "2.5", "3")
    path.write_text(
        "a,day,y\n"
        + "".join(f"{cells[at % 5]},2023{at % 12 + 1:02}15,{'uv'[at % 2]}\n" for at in range(40))
    )
    new.write_text("a,day\n-999.0,20230101\n.,2023-01-02\n7,20230103.0\n-999.5,NA\n")
    data = TableData(
        path=str(path), validation_fraction=0, empty_words=("-999", "."), dates=("day",)
    )
    here = read(data)
    np.testing.assert_array_equal(carried_out(data_section(as_found(data)))["x"], features(here))
    plain = data.model_copy(update={"empty_words": None, "dates": None})
    expected = predicted(plain, here.recipe, str(new))
    mean = np.float32(7 / 3)
    np.testing.assert_allclose(expected[:, 0], [mean, mean, 7, -999.5], rtol=1e-6)
    assert expected[:3, 1].tolist() == [-14, -13, -12]
    model = tmp_path / "model.keras"
    with zipfile.ZipFile(model, "w") as archive:
        archive.writestr("recipe.json", here.recipe)
    other = as_found(plain.model_copy(update={"path": str(new)}), here.recipe)
    text = script_of(other).read_for_model(other, str(model), needs_labels=False)
    np.testing.assert_array_equal(carried_out(text)["x"], expected)
    np.testing.assert_array_equal(by_export(exported, data, here.recipe, str(new)), expected)


@pytest.mark.parametrize("day", ["13", "05"])
def test_that_a_script_reads_dates_of_other_rows_in_the_order_of_training(
    tmp_path: Path, day: str
) -> None:
    path, new = tmp_path / "train.csv", tmp_path / "new.csv"
    rows = "".join(f"{at % 28 + 1:02}/{at % 12 + 1:02}/2026,{'uv'[at % 2]}\n" for at in range(60))
    path.write_text(f"day,y\n{rows}")
    new.write_text(f"day,sold\n04/{day}/2026,03/25/2026\n")
    data = TableData(path=str(path), validation_fraction=0)
    here = read(data)
    model = tmp_path / "model.keras"
    with zipfile.ZipFile(model, "w") as archive:
        archive.writestr("recipe.json", here.recipe)
    other = as_found(data.model_copy(update={"path": str(new)}), here.recipe)
    text = script_of(other).read_for_model(other, str(model), needs_labels=False)
    if day == "13":
        with pytest.raises(ProblemError, match="which is not a date"):
            predicted(data, here.recipe, str(new))
        with pytest.raises(ValueError, match="04/13/2026"):
            carried_out(text)
        return
    expected = predicted(data, here.recipe, str(new))
    assert expected.tolist() == [[123.0]]  # from the first of January to the fourth of May
    np.testing.assert_array_equal(carried_out(text)["x"], expected)


@pytest.mark.parametrize(
    ("first", "second"),
    [("utf-8", "utf-16"), ("utf-16", "utf-8-sig"), ("utf-16", "cp1252"), ("utf-8", "utf-16-be")],
)
def test_that_a_script_finds_the_encoding_of_each_table(
    tmp_path: Path, first: str, second: str
) -> None:
    text = "größe,ort,y\n" + "".join(
        f"{at},{('Köln', 'Bonn')[at % 2]},{at % 3}\n" for at in range(20)
    )
    for name, encoding in (("train.csv", first), ("test.csv", second)):
        (tmp_path / name).write_bytes(text.encode(encoding))
    data = TableData(
        path=str(tmp_path / "train.csv"),
        test_path=str(tmp_path / "test.csv"),
        validation_fraction=0,
    )
    here = read(data)
    assert here.test is not None
    script = carried_out(data_section(as_found(data)))
    np.testing.assert_array_equal(script["x"], features(here))
    np.testing.assert_array_equal(script["x_test"], script["x"])
    np.testing.assert_array_equal(script["y_test"], here.test.labels)
