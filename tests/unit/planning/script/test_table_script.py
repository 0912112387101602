"""A table as a script reads it: carried out here, since it needs no TensorFlow."""

import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from gpupanel.domain.data import TableData, Target
from gpupanel.domain.model import Head, SavedModel
from gpupanel.domain.table_data import HeaderLine, MissingValues, Quoting
from gpupanel.planning.script.data_section import data_section, script_of
from gpupanel.planning.script.model_section import scaled

TEXT = "id;a;b;when;tag;y\n1;1,5;x;01.01.2024;0;2\n2;;y;03.01.2024;1;\n3;4,5;;;1;8,5\n"
FOUND = {
    "delimiter": ";",
    "decimal": ",",
    "encoding": "utf-8",
    "header": HeaderLine.FIRST,
    "numbers": ("id", "a", "tag", "y"),
    "categories": ("b",),
    "dates": ("when",),
    "ignore": ("id",),
}

DMY = {"decimal": ",", "thousands": "", "unit": "", "date_order": "dmy"}
RECIPE = {
    "features": [
        {"name": "b", "kind": "category", "categories": ["y", "z"]},
        {"name": "a", "kind": "number", "mean": 9.0},
        {"name": "when", "kind": "date", "mean": 1.0, "first_day": 19722.0},
    ],
    "targets": ["tag"],
    "target_kind": "number",
    "class_names": ["1", "0"],
}


def carried_out(text: str) -> dict[str, Any]:
    names: dict[str, Any] = {"np": np, "SEED": 1}
    exec(text, names)
    return names


@pytest.fixture
def path(tmp_path: Path) -> str:
    (tmp_path / "t.csv").write_text(TEXT)
    return str(tmp_path / "t.csv")


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    """Of a saved model no more than what says how its features are made."""
    with zipfile.ZipFile(tmp_path / "start.keras", "w") as archive:
        archive.writestr("recipe.json", json.dumps(RECIPE))
    return tmp_path / "start.keras"


def test_that_values_are_read_and_empty_cells_filled_in(path: str) -> None:
    data = TableData(path=path, target="y", predicts=Target.VALUES, **FOUND)
    found = carried_out(data_section(data))
    assert found["x"].tolist() == [[1.5, 1, 0, 0, 0], [4.5, 0, 0, 1, 1]]
    assert found["y"].tolist() == [2, 8.5]
    assert found["is_category"].tolist() == [False, True, True, False, False]


def test_that_rows_are_left_out_or_refused(path: str) -> None:
    chosen = {"path": path, "target": "tag", "predicts": Target.LABELS, **FOUND}
    dropped = carried_out(data_section(TableData(**chosen, missing=MissingValues.DROP)))
    assert dropped["x"].tolist() == [[1.5, 1, 0, 0, 2]]
    assert (dropped["y"].tolist(), dropped["class_count"]) == ([[0]], 1)
    with pytest.raises(SystemExit, match="empty cells"):
        carried_out(data_section(TableData(**chosen, missing=MissingValues.ERROR)))


@pytest.mark.parametrize(
    ("target", "names", "labels"),
    [("b", ["x", "y"], [0, 1]), ("tag", ["0", "1"], [0, 1, 1]), ("y", ["2", "8.5"], [0, 1])],
)
def test_that_classes_are_named_in_their_order(
    path: str, target: str, names: list[str], labels: list[int]
) -> None:
    data = TableData(path=path, target=target, predicts=Target.CLASSES, **FOUND)
    found = carried_out(data_section(data))
    assert (found["class_names"], found["y"].tolist()) == (names, labels)
    assert found["class_count"] == len(names)


def test_that_a_file_without_names_and_settings_and_one_of_parquet_are_read(
    tmp_path: Path,
) -> None:
    (tmp_path / "t.tsv").write_text("1,5\n2,6\n")
    pyarrow.parquet.write_table(
        pa.table({"a": [True, False], "c": pa.array(["k", "l"]).dictionary_encode(), "b": [5, 6]}),
        tmp_path / "t.parquet",
    )
    plain = TableData(
        path=str(tmp_path / "t.tsv"),
        header=HeaderLine.NONE,
        numbers=("column 1", "column 2"),
        target="column 2",
        predicts=Target.VALUES,
    )
    found = carried_out(data_section(plain))
    assert (found["x"].tolist(), found["y"].tolist()) == ([[1], [2]], [5, 6])
    parquet = TableData(
        path=str(tmp_path / "t.parquet"),
        numbers=("a", "b"),
        categories=("c",),
        target="b",
        predicts=Target.VALUES,
    )
    found = carried_out(data_section(parquet))
    assert found["x"].tolist() == [[1, 1, 0], [0, 0, 1]]


def test_that_a_saved_models_recipe_makes_the_features(path: str, saved: Path) -> None:
    data = TableData(path=path, predicts=Target.CLASSES, **FOUND)
    script = script_of(data)
    assert script.class_names(data) == ""
    for needs_labels in (True, False):
        text = script.read_for_model(data, str(saved), needs_labels=needs_labels)
        found = carried_out(text)
        assert found["x"].tolist() == [[0, 0, 1.5, 1], [1, 0, 9, 3], [0, 0, 4.5, 1]]
        assert (found["y"].tolist(), found["class_names"]) == ([1, 0, 0], ["1", "0"])
    values = TableData(path=path, target="y", predicts=Target.VALUES, **FOUND)
    found = carried_out(script.read_for_model(values, str(saved), needs_labels=False))
    assert (found["y"], len(found["x"])) == (None, 3)  # one is to be predicted
    labels = TableData(path=path, target="gone", predicts=Target.LABELS, **FOUND)
    found = carried_out(script.read_for_model(labels, str(saved), needs_labels=False))
    assert (found["y"], len(found["x"])) == (None, 3)


@pytest.mark.parametrize(
    ("target", "predicts", "own", "labels", "kept"),
    [
        ("tag", "classes", False, [1, 0, 0], ("number", ["1", "0"])),
        ("b", "classes", True, [0, 1], ("category", ["x", "y"])),
        ("y", "classes", True, [0, 1], ("number", ["2", "8.5"])),
        ("tag", "labels", False, [[0], [1], [1]], ("number", ["tag"])),
        ("y", "values", False, [2, 8.5], ("number", [])),
    ],
)
def test_that_a_saved_model_is_trained_further_on_features_as_it_knows_them(
    saved: Path,
    path: str,
    monkeypatch: pytest.MonkeyPatch,
    target: str,
    predicts: str,
    own: bool,
    labels: list[object],
    kept: tuple[str, list[str]],
) -> None:
    data = TableData(path=path, test_path=path, target=target, predicts=predicts, **FOUND)
    model = SavedModel(path=str(saved), head=Head.NEW if own else Head.KEPT)
    monkeypatch.chdir(saved.parent)
    save = script_of(data).kept_in_model(data, from_model=True)
    found = carried_out(f"{data_section(data, model)}\n{save}")
    rows = [[0, 0, 1.5, 1], [1, 0, 9, 3], [0, 0, 4.5, 1]]
    used = [at for at in range(3) if (target, at) not in (("b", 2), ("y", 1))]
    assert found["x"].tolist() == [rows[at] for at in used] == found["x_test"].tolist()
    assert found["y"].tolist() == labels == found["y_test"].tolist()
    assert found.get("class_count") == (len(kept[1]) or None)
    with zipfile.ZipFile("model.keras") as archive:
        recipe = json.loads(archive.read("recipe.json"))
    assert recipe["features"] == RECIPE["features"]
    assert (recipe["targets"], recipe["predicts"]) == ([target], predicts)
    assert (recipe["target_kind"], recipe["class_names"]) == kept


def test_that_the_model_that_a_script_saves_says_how_its_features_were_made(
    path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for target, kind, names in (("y", "values", []), ("b", "classes", ["x", "y"])):
        data = TableData(path=path, target=target, predicts=Target(kind), **FOUND)
        carried_out(f"{data_section(data)}\n{script_of(data).kept_in_model(data)}")
        with zipfile.ZipFile("model.keras") as archive:
            recipe = json.loads(archive.read("recipe.json"))
        Path("model.keras").unlink()
        assert recipe["targets"] == [target]
        assert (recipe["predicts"], recipe["class_names"]) == (kind, names)
        assert {
            "name": "when",
            "kind": "date",
            "mean": 1.0,
            "first_day": 19723.0,
            "written": DMY,
        } in (recipe["features"])


def test_that_categories_are_not_scaled() -> None:
    assert "mean[is_category]" in scaled(TableData(path="t.csv"))


@pytest.mark.parametrize("group", ["id", "b", "when"])
def test_that_groups_are_held_out_whole(path: str, group: str) -> None:
    chosen = {**FOUND, "ignore": ()}
    data = TableData(
        path=path, target="tag", predicts="classes", group=group, validation_fraction=0.4, **chosen
    )
    found = carried_out(data_section(data))
    assert (len(found["x"]), len(found["x_val"])) == (2, 1)
    assert not set(found["groups"][found["kept"]]) & set(found["groups"][found["held_back"]])


def test_that_further_tables_are_read_as_the_rows_that_are_trained_on(tmp_path: Path) -> None:
    more = tmp_path / "val.csv"
    more.write_text("when;y;a;b;tag\n05.01.2024;1,5;;y;1\n")
    other = tmp_path / "test.parquet"
    columns = {"a": [2.0], "b": ["x"], "when": pa.array([None], pa.date32())}
    pa.parquet.write_table(pa.table({**columns, "tag": [0.0], "y": [4.0]}), other)
    (tmp_path / "t.csv").write_text(TEXT)
    data = TableData(
        path=str(tmp_path / "t.csv"),
        validation_path=str(more),
        test_path=str(other),
        target="y",
        predicts=Target.VALUES,
        **FOUND,
    )
    found = carried_out(data_section(data))
    assert found["x_val"].tolist() == [[3.0, 0, 1, 4, 1]]
    assert found["y_val"].tolist() == [1.5]
    assert found["x_test"].tolist() == [[2.0, 1, 0, 1, 0]]
    assert found["y_test"].tolist() == [4.0]


@pytest.mark.parametrize("header", [HeaderLine.FIRST, HeaderLine.NONE])
def test_that_lines_before_a_table_are_left_out_and_quotation_marks_may_be_letters(
    tmp_path: Path, header: HeaderLine
) -> None:
    names = "n,y\n" if header is HeaderLine.FIRST else ""
    (tmp_path / "t.csv").write_text(f'He said "no\n\n{names}"a,1\nb,2\n"a,1\n')
    data = TableData(
        path=str(tmp_path / "t.csv"),
        header=header,
        quoting=Quoting.NONE,
        skip_lines=1,
        categories=("n", "column 1"),
        numbers=("y", "column 2"),
        target="y" if names else "column 2",
        predicts=Target.CLASSES,
    )
    found = carried_out(data_section(data))
    assert found["x"].tolist() == [[1, 0], [0, 1], [1, 0]]
    assert (found["y"].tolist(), found["class_names"]) == ([0, 1, 0], ["1", "2"])


def test_that_chosen_words_mean_nothing_whatever_a_saved_model_knows(
    tmp_path: Path, saved: Path
) -> None:
    (tmp_path / "t.csv").write_text(TEXT.replace(";x;", ";z;"))
    words = {"empty_words": ("z",), "path": str(tmp_path / "t.csv")}
    data = TableData(**words, predicts=Target.CLASSES, **FOUND)
    found = carried_out(script_of(data).read_for_model(data, str(saved), needs_labels=True))
    assert found["x"].tolist()[0] == [0, 0, 1.5, 1]
    assert found["is_missing"][0].tolist() == [True, False, True]
