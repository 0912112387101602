"""Tables: what is found in a file, and the features and labels that are made of it."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from gpupanel.domain.data import DataCache, Scaling, TableData, Target
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.table_data import MissingValues
from gpupanel.trainer.datasets.examples import DataSet
from gpupanel.trainer.datasets.source import Reading, source_of
from gpupanel.trainer.datasets.split import split
from gpupanel.trainer.datasets.tables.recipe import TableRecipe

HOUSES = """\
id;Größe;Heizung;gebaut;Notiz;Preis
1;70,5;Öl;01.02.1990;{0};100,25
2;;Gas;11.02.1990;{1};200
3;30,5;;21.02.1990;{2};150
4;19;Gas;;{3};NA
"""


def write(path: Path, text: str, encoding: str = "utf-8") -> str:
    path.write_text(text, encoding=encoding)
    return str(path)


def houses(folder: Path, encoding: str = "utf-8") -> str:
    return write(folder / "houses.csv", HOUSES.format(*"abcd"), encoding)


def read(data: TableData, **reading: object) -> DataSet:
    return source_of(data).read(data, Reading(_no_download, **reading))


def features(found: DataSet) -> np.ndarray:
    return found.training.read(np.arange(len(found.training), dtype=np.int32))


def refused(data: TableData, **reading: object) -> Problem:
    with pytest.raises(ProblemError) as raised:
        read(data, **reading)
    (problem,) = raised.value.problems
    return problem


def _no_download(*_: object) -> None:
    raise AssertionError


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "cp1252", "utf-16", "utf-16-le", "utf-16-be"]
)
def test_that_delimiter_decimal_encoding_and_columns_are_found(
    tmp_path: Path, encoding: str
) -> None:
    data = TableData(path=houses(tmp_path, encoding))
    found = source_of(data).find(data, Reading(print))
    assert found.found == {
        "delimiter": ";",
        "decimal": ",",
        "encoding": encoding.removesuffix("-sig"),
        "header": "first_line",
        "numbers": ("id", "Größe", "Preis"),
        "categories": ("Heizung", "Notiz"),
        "dates": ("gebaut",),
        "date_order": "day_first",
        "target": ("Preis",),
    }
    assert [choice.label for choice in found.offers["target"]][:3] == [
        "id: number",
        "Größe: number",
        "Heizung: category",
    ]


def test_that_numbers_are_filled_in_categories_become_columns_and_dates_days(
    tmp_path: Path,
) -> None:
    data = TableData(path=houses(tmp_path), ignore=("id", "Notiz"))
    found = read(data)
    # Size, Gas, Öl, days; the row without a price is left out, and counts for the means.
    assert features(found).tolist() == [[70.5, 0, 1, 0], [40, 1, 0, 10], [30.5, 0, 0, 20]]
    assert found.training.labels.tolist() == [100.25, 200, 150]
    assert (found.target, found.scaling) == (Target.VALUES, Scaling.STANDARDISE)
    assert found.categories == ((1, 2),)
    assert [each.code for each in found.notes] == ["table_rows_left_out", "table_cells_read"]
    assert [(each.name, each.use, each.missing) for each in found.columns] == [
        ("id", "left_out", 0),
        ("Größe", "feature", 1),
        ("Heizung", "feature", 1),
        ("gebaut", "feature", 1),
        ("Notiz", "left_out", 0),
        ("Preis", "target", 1),
    ]
    assert found.columns[3].detail == ('days since 1990-02-01; "01.02.1990" is read as 1990-02-01')


def test_that_rows_with_empty_cells_are_left_out_or_refused_where_that_is_chosen(
    tmp_path: Path,
) -> None:
    data = TableData(path=houses(tmp_path), ignore=("id", "Notiz"), missing="drop")
    assert features(read(data)).tolist() == [[70.5, 0, 1, 0]]
    problem = refused(data.model_copy(update={"missing": MissingValues.ERROR}))
    assert (problem.code, problem.field) == ("table_cell_empty", "data.missing")
    assert "Row 2 of " in problem.message
    assert '"Größe"' in problem.message


def test_that_a_table_on_disk_gives_the_same_as_one_in_memory(tmp_path: Path) -> None:
    lines = [f"{number},{'ab'[number % 2]},{number % 3}" for number in range(1000)]
    path = write(tmp_path / "t.csv", "\n".join(["x,c,y", *lines]))
    held = read(TableData(path=path))
    on_disk = read(TableData(path=path, cache=DataCache.NONE))
    assert held.training.in_memory is not None
    assert on_disk.training.in_memory is None
    order = np.random.default_rng(1).permutation(1000).astype(np.int32)
    assert np.array_equal(held.training.read(order), on_disk.training.read(order))
    assert held.training.labels.tolist() == [number % 3 for number in range(1000)]
    assert held.class_names == ("0", "1", "2")


@pytest.mark.parametrize(
    ("cells", "target", "names"),
    [
        (["b", "a", "b"], Target.CLASSES, ("a", "b")),
        (["1", "2", "3"], Target.CLASSES, ("1", "2", "3")),
        (["0", "1", "1"], Target.CLASSES, ("0", "1")),
        (["2", "3", "4"], Target.VALUES, ()),
        (["1", "2", "4"], Target.VALUES, ()),
        (["1", "1.5", "2"], Target.VALUES, ()),
    ],
)
def test_that_what_is_predicted_is_found_by_how_it_looks(
    tmp_path: Path, cells: list[str], target: Target, names: tuple[str, ...]
) -> None:
    lines = [f"{cell},{place}.5" for place, cell in enumerate(cells)]
    found = read(TableData(path=write(tmp_path / "t.csv", "\n".join(["y,x", *lines]))))
    assert (found.target, found.class_names) == (target, names)


def test_that_numbers_are_classes_and_several_columns_labels_or_values_as_chosen(
    tmp_path: Path,
) -> None:
    path = write(tmp_path / "t.csv", "x,a,b,n\n5,0,1,7\n6,1,1,2.5\n7,0,0,7\n")
    classes = read(TableData(path=path, target="n", predicts="classes"))
    assert classes.class_names == ("2.5", "7")
    assert classes.training.labels.tolist() == [1, 0, 1]
    labels = read(TableData(path=path, target=("a", "b")))
    assert (labels.target, labels.class_names) == (Target.LABELS, ("a", "b"))
    assert labels.training.labels.tolist() == [[0, 1], [1, 1], [0, 0]]
    values = read(TableData(path=path, target=["a", "n"]))
    assert values.training.labels.tolist() == [[0, 7], [1, 2.5], [0, 7]]


def test_that_a_target_is_found_by_its_name_and_else_is_the_last(tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", "Class,a,b\n1,2,3\n2,3,4\n")
    for chosen, target in (
        ({}, "Class"),
        ({"ignore": ("Class",)}, "b"),
        ({"target": "a"}, "a"),
        ({"ignore": ("Class", "b"), "target": None}, "a"),
    ):
        data = TableData(path=path, **chosen)
        assert source_of(data).find(data, Reading(print)).found["target"] == (target,)


def test_that_a_file_without_names_of_columns_numbers_them(tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", "5.1,3.5,setosa\n4.9,3.0,virginica\n")
    found = read(TableData(path=path))
    assert features(found).tolist() == [[np.float32(5.1), 3.5], [np.float32(4.9), 3.0]]
    assert found.columns[2].name == "column 3"
    named = read(TableData(path=path, header="first_line"), must_differ=False)
    assert [each.name for each in named.columns] == ["5.1", "3.5", "setosa"]


def test_that_columns_are_taken_as_a_person_says(tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", "zip,when,y\n04103,2024-01-01,1\n10115,2024-01-03,2\n")
    data = TableData(path=path, categories=("zip",))
    found = read(data)
    assert features(found).tolist() == [[1, 0, 0], [0, 1, 2]]
    recipe = TableRecipe.model_validate_json(found.recipe)
    assert recipe.features[0].categories == ("04103", "10115")
    problem = refused(TableData(path=path, numbers=("zipp",)))
    assert (problem.code, problem.field) == ("table_column_missing", "data.numbers")


def test_that_a_prediction_makes_the_features_that_training_made(tmp_path: Path) -> None:
    trained = read(TableData(path=houses(tmp_path), ignore=("id", "Notiz")))
    # Other dates first, categories in another order and an unknown one, no target; numbers that
    # are written with a point.
    path = write(
        tmp_path / "new.csv",
        "Heizung,gebaut,Größe,id\nHolz,1990-02-04,1.5,9\nGas,1990-02-02,,8\nÖl,,-2,7\n",
    )
    reading = Reading(_no_download, recipe=trained.recipe)
    with pytest.raises(ProblemError) as raised:
        source_of(TableData(path=path)).read_all(TableData(path=path), reading, needs_labels=False)
    assert 'holds "1.5" in column' in raised.value.problems[0].message
    data = TableData(path=path, decimal=".")
    found = source_of(data).read_all(data, reading, needs_labels=False)
    assert found.features.tolist() == [[1.5, 0, 0, 3], [40, 1, 0, 1], [-2, 0, 1, 10]]
    assert (found.labels, found.target) == (None, Target.VALUES)
    (note,) = found.notes
    assert note.code == "table_categories_unknown"
    assert '"Heizung" holds "Holz" in 1 row,' in note.message
    with pytest.raises(ProblemError) as raised:
        source_of(data).read_all(data, reading, needs_labels=True)
    assert raised.value.problems[0].field == "data.target"


def test_that_an_evaluation_numbers_classes_as_training_did(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", "x,y\n1,b\n2,a\n3,c\n")
    recipe = read(TableData(path=path)).recipe
    other = write(tmp_path / "b.csv", "y,x\nc,5\nb,\n")
    data = TableData(path=other)
    reading = Reading(_no_download, recipe=recipe, must_differ=False)
    found = source_of(data).read_all(data, reading, needs_labels=True)
    assert found.labels is not None
    assert (found.labels.tolist(), found.class_names) == ([2, 1], ("a", "b", "c"))
    assert found.features.tolist() == [[5], [2]]
    unknown = TableData(path=write(tmp_path / "c.csv", "y,x\nc,5\nd,1\n"))
    with pytest.raises(ProblemError) as raised:
        source_of(unknown).read_all(unknown, reading, needs_labels=True)
    assert raised.value.problems[0].code == "table_class_unknown"


def test_that_what_a_new_last_layer_predicts_is_found_in_the_data(tmp_path: Path) -> None:
    recipe = read(TableData(path=write(tmp_path / "a.csv", "x,y\n1,2.5\n2,3.5\n3,9\n"))).recipe
    path = write(tmp_path / "b.csv", "x,code\n5,007\n,x1\n9,\n")
    # By itself it holds numbers: not with the rows that are trained on.
    other = write(tmp_path / "c.csv", "x,code\n6,007\n")
    data, reading = TableData(path=path, validation_path=other), {"recipe": recipe}
    made = read(data, **reading, own_targets=True)
    assert features(made).tolist() == [[5], [2]]
    assert (made.training.labels.tolist(), made.class_names) == ([0, 1], ("007", "x1"))
    assert made.validation is not None
    assert made.validation.labels.tolist() == [0]
    found = source_of(data).find(data, Reading(_no_download, **reading, own_targets=True)).found
    assert (found["target"], found["categories"]) == (("code",), ("code",))
    chosen = Reading(lambda *_: None, **reading, own_targets=True)
    assert source_of(data).scan(data, chosen, lambda _: None).unlabelled == 1
    found = source_of(data).find(data, Reading(_no_download, **reading)).found
    assert found["target"] == ("y",)  # the last layer that is kept predicts that alone


def test_that_a_column_that_the_model_takes_is_not_what_its_new_last_layer_predicts(
    tmp_path: Path,
) -> None:
    recipe = read(TableData(path=write(tmp_path / "a.csv", "x,y\n1,2.5\n2,3.5\n3,9\n"))).recipe
    data = TableData(path=write(tmp_path / "b.csv", "y,x\n5,1\n6,2\n9,3\n"), target="x")
    with pytest.raises(ProblemError) as raised:
        read(data, recipe=recipe, own_targets=True)
    (problem,) = raised.value.problems
    assert (problem.code, problem.field) == ("target_is_feature", "data.target")
    assert '"x"' in problem.message


def test_that_a_model_that_says_nothing_of_columns_predicts_on_no_table(tmp_path: Path) -> None:
    data = TableData(path=houses(tmp_path))
    for recipe, code in (("", "table_recipe_missing"), ("{}", "table_recipe_unreadable")):
        reading = Reading(_no_download, recipe=recipe)
        with pytest.raises(ProblemError) as raised:
            source_of(data).read_all(data, reading, needs_labels=False)
        assert raised.value.problems[0].code == code


def test_that_parquet_has_types_of_its_own(tmp_path: Path) -> None:
    table = pa.table(
        {
            "flag": [True, False, None],
            "whole": pa.array([1, 2, 3], pa.int64()),
            "when": pa.array([0, 1, 2], pa.date32()),
            "kind": pa.array(["a", "b", None]).dictionary_encode(),
            "nested": [[1], [2], [3]],
            "raw": [b"a", b"b", b"c"],
            "y": [1.5, 2.5, 4.5],
        }
    )
    path = tmp_path / "t.parquet"
    pyarrow.parquet.write_table(table, path)
    found = read(TableData(path=str(path)))
    assert features(found).tolist() == [[1, 1, 0, 1, 0], [0, 2, 1, 0, 1], [0.5, 3, 2, 0, 0]]
    assert [each.name for each in found.columns if each.use == "left_out"] == ["nested", "raw"]


def test_that_texts_of_many_values_and_empty_columns_are_left_out_and_said_to_be(
    tmp_path: Path,
) -> None:
    lines = [f"{place * 1.5},text {place},,{place % 2}" for place in range(101)]
    path = write(tmp_path / "t.csv", "\n".join(["x,note,nothing,y", *lines]))
    found = read(TableData(path=path))
    assert found.training.feature_shape == (1,)
    assert [each.detail for each in found.columns] == [
        "standardised",
        "left out: more than 100 different texts",
        "left out: it is empty",
        "predicted",
    ]
    alone = refused(TableData(path=path, ignore=("x",)))
    assert alone.code == "table_no_features"
    unfit = refused(TableData(path=path, target="nothing"))
    assert unfit.code == "table_target_unfit"


def test_that_row_numbers_and_constant_columns_are_named_with_a_fix(tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", "id,same,x,y\n1,5,3,0\n2,5,1,1\n3,5,2,1\n")
    found = read(TableData(path=path))
    assert [each.code for each in found.notes] == [
        "table_row_numbers",
        "table_constant_columns",
    ]
    fix = found.notes[0].fix
    assert fix is not None
    assert fix.changes[0].value == ["id"]


def test_that_a_cell_that_comes_late_and_does_not_fit_is_named(tmp_path: Path) -> None:
    lines = [f"{place}.25,{place % 2}" for place in range(200_000)]
    lines[150_000] = "x,1"
    path = write(tmp_path / "t.csv", "\n".join(["n,y", *lines]))
    problem = refused(TableData(path=path))
    assert problem.code == "table_cell_misfit"
    assert problem.message.startswith("Row 150,001 of ")
    assert problem.fix is not None
    assert problem.fix.label == 'Take "x" as empty'
    assert problem.alternatives[0].changes[0].value == ["n"]


def test_that_a_table_is_imported_once_and_anew_when_it_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GPUPANEL_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr("gpupanel.trainer.datasets.tables.table_file._RECENT_NS", 0)
    path = write(tmp_path / "t.csv", "x,y\n1,5\n2,6.5\n")
    found = read(TableData(path=path))
    kept = list((tmp_path / "cache" / "tables").glob("*.rows"))
    assert len(kept) == 1
    before = kept[0].stat().st_ino
    assert features(read(TableData(path=path))).tolist() == features(found).tolist()
    assert kept[0].stat().st_ino == before  # not written again
    kept[0].write_bytes(b"")
    assert features(read(TableData(path=path))).tolist() == features(found).tolist()
    write(tmp_path / "t.csv", "x,y\n1,5\n2,6.5\n3,9\n")
    assert features(read(TableData(path=path))).tolist() == [[1], [2], [3]]


def test_that_names_that_are_alike_or_empty_are_distinguished(tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", "a,a,,a (2),y\n1,2,3,4,5.5\n2,3,4,5,6\n")
    found = read(TableData(path=path))
    names = [each.name for each in found.columns]
    assert names == ["a", "a (2)", "column 3", "a (2) (2)", "y"]


def test_that_a_look_leaves_a_large_table_to_a_run_and_shows_it_afterwards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gpupanel.trainer.datasets.tables.chosen_table._LARGEST_PREVIEW_BYTES", 10)
    monkeypatch.setattr("gpupanel.trainer.datasets.tables.table_file._RECENT_NS", 0)
    data = TableData(path=write(tmp_path / "t.csv", "x,y\n1,5\n2,6.5\n"))
    problem = refused(data, is_preview=True)
    assert (problem.code, problem.is_error) == ("table_not_imported", False)
    read(data)
    assert len(read(data, is_preview=True).training) == 2


def test_that_rows_of_a_group_are_held_out_together(tmp_path: Path) -> None:
    lines = [f"{place}.5,p{place % 17},{place % 2}" for place in range(300)]
    path = write(tmp_path / "t.csv", "\n".join(["x,patient,y", *lines]))
    data = TableData(path=path, group="patient", validation_fraction=0.3)
    found = read(data)
    assert found.training.feature_shape == (1,)
    parts = split(found, data, 4)
    assert parts.validation is not None
    everything = np.arange(300, dtype=np.int32)
    patients = [
        {int(value) % 17 for value in part.read(everything[: len(part)]).ravel()}
        for part in (parts.training, parts.validation)
    ]
    assert patients[0].isdisjoint(patients[1])
    assert patients[0] | patients[1] == set(range(17))
    assert 70 <= len(parts.validation) <= 90
    reading = Reading(_no_download, recipe=found.recipe)
    again = source_of(data).read_all(data, reading, needs_labels=True)
    assert again.groups is not None
    assert found.groups is not None
    assert again.groups.tolist() == found.groups.tolist()


def test_that_many_different_texts_can_be_groups_and_nothing_cannot(tmp_path: Path) -> None:
    lines = [f"{place}.5,patient {place},{place % 2}" for place in range(10_001)]
    path = write(tmp_path / "t.csv", "\n".join(["x,patient,y", *lines]))
    groups = read(TableData(path=path, group="patient")).groups
    assert groups is not None
    assert len(np.unique(groups)) == 10_001
    empty = write(tmp_path / "empty.csv", "x,g,y\n1,,0\n2, ,1\n")
    assert refused(TableData(path=empty, group="g")).code == "table_group_texts"
    also = TableData(path=path, group="patient", target="patient")
    assert refused(also).code == "table_target_unfit"
    assert refused(TableData(path=path, group="gone")).code == "table_column_missing"
    one = write(tmp_path / "one.csv", "x,g,y\n1,a,0\n2,a,1\n3,a,1\n")
    alone = TableData(path=one, group="g", validation_fraction=0.4)
    with pytest.raises(ProblemError):
        split(read(alone), alone, 1)


def test_that_a_prediction_on_texts_where_categories_were_is_refused(tmp_path: Path) -> None:
    recipe = read(TableData(path=write(tmp_path / "a.csv", "k,y\na,1.5\nb,2\n"))).recipe
    lines = ["k", *(f"text {place}" for place in range(10_001))]
    data = TableData(path=write(tmp_path / "b.csv", "\n".join(lines)))
    reading = Reading(_no_download, recipe=recipe)
    with pytest.raises(ProblemError) as raised:
        source_of(data).read_all(data, reading, needs_labels=False)
    assert raised.value.problems[0].code == "table_categories_unfit"


def sets(folder: Path) -> dict[str, str]:
    """A table in German, and further rows in it that alone would look like something else."""
    return {
        "path": write(folder / "train.csv", "a;kind;y\n1,5;x;no\n;z;yes\n4,5;x;no\n2,5;;yes\n"),
        "validation_path": write(folder / "val.csv", "kind;a;y\nz;7,5;yes\nx;;no\n"),
        "test_path": write(folder / "test.csv", "y;a;kind\nyes;1;x\n"),
    }


def test_that_further_tables_are_made_as_the_rows_that_are_trained_on(tmp_path: Path) -> None:
    found = read(TableData(**sets(tmp_path)))
    assert found.class_names == ("no", "yes")
    mean = np.float32((1.5 + 4.5 + 2.5) / 3)
    assert found.validation is not None
    assert found.test is not None
    assert features(found).tolist() == [[1.5, 1, 0], [mean, 0, 1], [4.5, 1, 0], [2.5, 0, 0]]
    whole = np.arange(2, dtype=np.int32)
    assert found.validation.read(whole).tolist() == [[7.5, 0, 1], [mean, 1, 0]]
    assert found.validation.labels.tolist() == [1, 0]
    assert found.test.read(whole[:1]).tolist() == [[1, 1, 0]]
    assert found.test.labels.tolist() == [1]
    assert found.files is not None
    assert len(found.files.prints) == 3


def test_that_a_trained_model_is_evaluated_on_the_further_tables_too(tmp_path: Path) -> None:
    data = TableData(**sets(tmp_path))
    recipe = read(data).recipe
    reading = Reading(_no_download, recipe=recipe)
    everything = source_of(data).read_all(data, reading, needs_labels=True)
    counts = (everything.training_count, everything.validation_count, len(everything))
    assert counts == (4, 2, 7)
    assert everything.labels.tolist() == [0, 1, 0, 1, 1, 0, 1]
    # A prediction is on the table itself.
    assert len(source_of(data).read_all(data, reading, needs_labels=False)) == 4


def test_that_predicting_takes_rows_of_classes_that_the_model_does_not_know(
    tmp_path: Path,
) -> None:
    data = TableData(**sets(tmp_path))
    reading = Reading(_no_download, recipe=read(data).recipe)
    other = TableData(path=str(write(tmp_path / "new.csv", "a;kind;y\n1;x;perhaps\n2;x;no\n")))
    with pytest.raises(ProblemError):
        source_of(other).read_all(other, reading, needs_labels=True)
    found = source_of(other).read_all(other, reading, needs_labels=False)
    assert (len(found), found.labels, found.class_names) == (2, None, ("no", "yes"))


@pytest.mark.parametrize(
    ("text", "code", "field"),
    [
        ("a;kind;y\n1;frog;no\n", None, ""),
        ("a;kind;y\n1;x;perhaps\n", "table_class_unknown", "data.target"),
        ("a;y\n1;no\n", "table_column_missing", "data.validation_path"),
        ("a;kind\n1;x\n", "table_column_missing", "data.target"),
    ],
)
def test_that_further_tables_that_do_not_fit_are_refused(
    tmp_path: Path, text: str, code: str | None, field: str
) -> None:
    chosen = {**sets(tmp_path), "validation_path": write(tmp_path / "other.csv", text)}
    if code is None:
        found = read(TableData(**chosen))
        # A category that training did not have is none of its columns.
        assert found.validation.read(np.zeros(1, np.int32)).tolist() == [[1, 0, 0]]
        assert [note.code for note in found.notes if "categor" in note.code]
        return
    problem = refused(TableData(**chosen))
    assert (problem.code, problem.field) == (code, field)
