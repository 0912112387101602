"""Cells that are classes, groups or categories: each digit counts, and so does a word like None."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from gpupanel.domain.data import DataSettings, TableData, TextData
from gpupanel.domain.preview import DataPreview
from gpupanel.domain.previewed_profile import with_detected
from gpupanel.domain.problem import Problem, ProblemError, Severity
from gpupanel.domain.profile import Profile
from gpupanel.planning.script.data_section import data_section, script_of
from gpupanel.trainer.datasets.examples import DataSet
from gpupanel.trainer.datasets.source import Reading, source_of
from gpupanel.trainer.datasets.split import split


def read(data: DataSettings, **reading: Any) -> DataSet:
    return source_of(data).read(data, Reading(print, **reading))


def noted(found: DataSet, code: str) -> Problem:
    (note,) = [each for each in found.notes if each.code == code]
    return note


def by_script(data: TableData | TextData) -> dict[str, Any]:
    """What the exported script reads; a preview fills in what was found."""
    found = source_of(data).find(data, Reading(print)).found
    profile = Profile(data=data)
    chosen = with_detected(profile, DataPreview(found=found)).data
    names: dict[str, Any] = {"np": np, "SEED": 1}
    # Numbers of words are made by TensorFlow, which has no part here.
    is_text = isinstance(chosen, TextData)
    text = script_of(chosen).read(chosen, needs_labels=True) if is_text else data_section(chosen)
    exec(text, names)
    return names


def table(folder: Path, cells: list[str], suffix: str = ".csv") -> str:
    path = folder / f"t{suffix}"
    if suffix == ".parquet":
        wide = all(abs(int(cell)) < 2**63 for cell in cells)
        column = pa.array(map(int, cells), pa.int64()) if wide else pa.array(cells)
        numbers = pa.array([float(place) + 0.5 for place in range(len(cells))])
        pa.parquet.write_table(pa.table({"x": numbers, "code": column}), path)
    else:
        lines = [f"{place}.5,{cell}" for place, cell in enumerate(cells)]
        path.write_text("\n".join(["x,code", *lines]))
    return str(path)


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
@pytest.mark.parametrize(
    "codes",
    [
        [str(20230101 + place) for place in range(6)],
        [str(2**53 + place) for place in range(5)],
        [str(-(2**62) + place) for place in range(4)],
        ["9", "10", "16777217", "16777216"],
    ],
)
def test_that_classes_keep_every_digit_in_run_and_script(
    tmp_path: Path, suffix: str, codes: list[str]
) -> None:
    path = table(tmp_path, codes * 4, suffix)
    data = TableData(path=path, target="code", predicts="classes", validation_fraction=0)
    found, script = read(data), by_script(data)
    names = sorted(codes, key=int)
    assert found.class_names == tuple(names)
    assert found.training.labels.tolist() == [names.index(code) for code in codes] * 4
    assert script["class_names"] == names
    assert script["y"].tolist() == found.training.labels.tolist()
    # The model's file knows them, and so does an evaluation.
    again = source_of(data).read_all(data, Reading(print, recipe=found.recipe), needs_labels=True)
    assert again.labels is not None
    assert again.labels.tolist() == found.training.labels.tolist()


def test_that_numbers_that_are_written_otherwise_are_the_same_class(tmp_path: Path) -> None:
    path = table(tmp_path, ["7", "7.0", " 7", "20230101.0", "20230101", "1.5", "NA", "inf"])
    data = TableData(path=path, target="code", predicts="classes", validation_fraction=0)
    found, script = read(data), by_script(data)
    assert found.class_names == ("1.5", "7", "20230101")
    assert found.training.labels.tolist() == [1, 1, 1, 2, 2, 0]
    assert script["class_names"] == list(found.class_names)
    assert script["y"].tolist() == found.training.labels.tolist()


def test_that_zeros_before_digits_are_part_of_a_class(tmp_path: Path) -> None:
    codes = ["007", "070", "012345678901234567890", "012345678901234567891"]
    data = TableData(path=table(tmp_path, codes * 3), target="code", predicts="classes")
    assert read(data).class_names == tuple(sorted(codes))
    found = read(data.model_copy(update={"predicts": None}))
    assert found.class_names == tuple(sorted(codes))
    assert by_script(data)["class_names"] == sorted(codes)


def test_that_a_class_that_is_no_number_is_named_with_its_row(tmp_path: Path) -> None:
    cells = [str(place) for place in range(30)]
    data = TableData(
        path=table(tmp_path, [*cells, "3O", *cells]), target="code", predicts="classes"
    )
    with pytest.raises(ProblemError) as raised:
        read(data)
    (problem,) = raised.value.problems
    assert problem.code == "table_cell_misfit"
    assert "Row 31 of " in problem.message
    assert '"3O"' in problem.message


@pytest.mark.parametrize(
    "first", [9_900_000_000, 2**53 + 1], ids=["float32 is too small", "so is float64"]
)
@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_that_groups_keep_every_digit_in_run_and_script(
    tmp_path: Path, suffix: str, first: int
) -> None:
    ids = [first + row // 5 for row in range(200)]
    path = tmp_path / f"t{suffix}"
    if suffix == ".csv":
        lines = [f"{of},{row}.5,{'ab'[row % 2]}" for row, of in enumerate(ids)]
        path.write_text("\n".join(["pid,x,label", *lines]))
    else:
        columns = {"pid": ids, "x": np.arange(200) + 0.5, "label": ["a", "b"] * 100}
        pa.parquet.write_table(pa.table(columns), path)
    data = TableData(path=str(path), target="label", group="pid", validation_fraction=0.2)
    found = read(data)
    assert found.groups is not None
    assert len(np.unique(found.groups)) == 40
    parts = split(found, data, 1)
    assert parts.validation is not None
    assert len(parts.validation) == 40
    held = parts.validation.read(np.arange(40, dtype=np.int32)).ravel()
    assert len({int(x) // 5 for x in held}) == 8
    assert sorted(by_script(data)["x_val"].ravel()) == sorted(held)


def words(folder: Path, severity: list[str], source: str) -> TableData | TextData:
    lines = [f"{row}.5,{word}" for row, word in enumerate(severity * 10)]
    if source == "parquet":
        cells = {"x": np.arange(10.0 * len(severity)), "severity": severity * 10}
        pa.parquet.write_table(pa.table(cells), folder / "t.parquet")
        return TableData(path=str(folder / "t.parquet"), validation_fraction=0)
    (folder / "t.csv").write_text("\n".join(["x,severity", *lines]))
    if source == "text":
        return TextData(path=str(folder / "t.csv"), text="x", validation_fraction=0)
    return TableData(path=str(folder / "t.csv"), validation_fraction=0)


@pytest.mark.parametrize("source", ["csv", "parquet", "text"])
@pytest.mark.parametrize("word", ["None", "NA", "N/A", "?", "-"])
def test_that_a_word_that_may_be_a_class_is_one_and_named_with_both_ways(
    tmp_path: Path, source: str, word: str
) -> None:
    data = words(tmp_path, [word, "Mild", "Severe"], source)
    found = read(data)
    assert found.class_names == tuple(sorted([word, "Mild", "Severe"]))
    assert len(found.training) == 30
    assert by_script(data)["class_names"] == list(found.class_names)
    note = noted(found, "table_words_kept")
    assert note.severity is Severity.WARNING
    assert f'"{word}" in 10 rows of column "severity"' in note.message
    keep, take = note.fix, note.alternatives[0]
    assert keep is not None
    for fix, names in ((keep, found.class_names), (take, ("Mild", "Severe"))):
        (change,) = fix.changes
        chosen = type(data).model_validate({**data.model_dump(), "empty_words": change.value})
        again = read(chosen)
        assert again.class_names == names
        assert len(again.training) == 10 * len(names)
        assert not [each for each in again.notes if "words" in each.code]
        assert by_script(chosen)["class_names"] == list(names)
        assert len(by_script(chosen)["x"]) == len(again.training)


def test_that_a_word_of_programs_is_empty_and_named_where_classes_are(tmp_path: Path) -> None:
    data = words(tmp_path, ["null", "Mild", "Severe"], "csv")
    found = read(data)
    assert found.class_names == ("Mild", "Severe")
    note = noted(found, "table_words_empty")
    assert '"null" in 10 rows of column "severity"' in note.message
    (change,) = note.alternatives[0].changes
    kept = TableData.model_validate({**data.model_dump(), "empty_words": change.value})
    assert read(kept).class_names == ("Mild", "Severe", "null")


def test_that_white_space_alone_is_an_empty_cell_everywhere(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("n,c,when,y\n1,a,2024-01-01,u\n \t, ,  ,v\n3,b,2024-01-03,u\n5,a,,  \n")
    data = TableData(path=str(path), validation_fraction=0)
    found, script = read(data), by_script(data)
    assert [each.missing for each in found.columns] == [1, 1, 2, 1]
    rows = found.training.read(np.arange(3, dtype=np.int32))
    assert rows.tolist() == [[1, 1, 0, 0], [3, 0, 0, 1], [3, 0, 1, 2]]
    assert script["x"].tolist() == rows.tolist()


def test_that_what_is_no_class_of_the_model_is_no_label(tmp_path: Path) -> None:
    found = read(words(tmp_path, ["Mild", "Severe"], "csv"))
    later = words(tmp_path, ["Mild", "NA", "Severe"], "csv")
    reading = Reading(print, recipe=found.recipe)
    known = source_of(later).read_all(later, reading, needs_labels=True)
    assert known.labels is not None
    assert known.labels.tolist() == [0, 1] * 10


def test_that_two_forms_of_the_same_letter_are_one_name(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("x,ort,y\n1,K\u00f6ln,caf\u00e9\n2,Ko\u0308ln,cafe\u0301\n3,Bonn,bar\n")
    data = TableData(path=str(path), validation_fraction=0)
    found, script = read(data), by_script(data)
    assert found.class_names == ("bar", "caf\u00e9") == tuple(script["class_names"])
    assert found.training.feature_shape == (3,) == script["x"].shape[1:]
