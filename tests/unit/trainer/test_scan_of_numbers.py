"""A scan of tables, arrays, and whatever a source gives as examples."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from gpupanel.domain.data import (
    DigitsData,
    KerasData,
    NpzData,
    PythonData,
    TableData,
    Target,
    TfrecordData,
)
from gpupanel.domain.problem import Problem, ProblemError, Severity
from gpupanel.domain.scan import DataScan, ScanRequest
from gpupanel.trainer.datasets.examples import DataSet, Examples, Indices
from gpupanel.trainer.datasets.scanning.examples import scan_examples
from gpupanel.trainer.datasets.scanning.report import report_of
from gpupanel.trainer.tools.scan import scan
from tests.unit.trainer.record_files import example, image, write_records


def scanned(data: object, **asked: object) -> DataScan:
    return scan(ScanRequest(data=data, **asked))


def problem(found: DataScan, code: str) -> Problem:
    (one,) = [each for each in found.problems if each.code == code]
    return one


def codes(found: DataScan) -> set[str]:
    return {each.code for each in found.problems}


def table(path: Path, rows: list[str]) -> TableData:
    path.write_text("\n".join(["age,height,kind,when,target", *rows]) + "\n")
    return TableData(path=str(path))


@pytest.fixture
def rows() -> list[str]:
    numbers = np.random.default_rng(0)
    return [
        f"{number % 50},{numbers.normal():.4f},same,2026-01-{number % 28 + 1:02},"
        f"{'yes' if number % 3 else 'no'}"
        for number in range(100)
    ]


def test_that_columns_of_a_table_are_reported_with_what_they_hold(
    tmp_path: Path, rows: list[str]
) -> None:
    rows[7] = ",99999,same,2026-01-03,yes"
    rows[9] = "3,0.5,same,2026-01-03,"
    found = scanned(table(tmp_path / "t.csv", rows))
    assert found.is_complete
    assert found.unlabelled == 1
    assert found.sets[0].class_counts == (("no", 33), ("yes", 66))
    columns = {each.name: each for each in found.columns}
    assert [each.holds for each in found.columns] == [
        "number",
        "number",
        "category",
        "date",
        "category",
    ]
    assert (columns["age"].missing, columns["age"].least, columns["age"].greatest) == (1, 0, 49)
    assert columns["when"].least == 20_454  # days since 1970: 2026-01-01
    assert columns["kind"].is_constant
    assert columns["target"].different == 2
    assert [each.count for each in found.formats] == [100]
    far = problem(found, "scan_values_far_outside")
    assert '"height" holds 99,999 in row 8' in far.message
    assert problem(found, "table_constant_columns").fix is not None


def test_that_rows_are_named_as_in_the_file_where_others_are_left_out(
    tmp_path: Path, rows: list[str]
) -> None:
    rows[0] = "3,0.5,same,2026-01-03,"
    rows.append(rows[40])
    rows.append(rows[41].rpartition(",")[0] + ",maybe")
    found = scanned(table(tmp_path / "t.csv", rows))
    named = [{(each.name, each.label) for each in same.examples} for same in found.same]
    assert named == [
        {("row 42", "yes"), ("row 102", "maybe")},
        {("row 41", "yes"), ("row 101", "yes")},
    ]
    assert problem(found, "scan_labels_differ").severity is Severity.WARNING


def test_that_a_leak_between_rows_of_a_table_is_found(tmp_path: Path, rows: list[str]) -> None:
    rows.append(rows[0])
    data = table(tmp_path / "t.csv", rows)
    settings = {"validation_fraction": 0.05, "holdout": "last"}
    found = scanned(data.model_validate({**data.model_dump(), **settings}))
    assert found.problems[0].code == "scan_validation_leak"
    assert "row 1 (training" in found.problems[0].message
    assert "row 101 (validation" in found.problems[0].message


def test_that_a_row_of_another_kind_is_a_problem_of_the_report(tmp_path: Path) -> None:
    rows = [f"{n},{n},a,2026-01-01,{n % 2}" for n in range(30)]
    data = table(tmp_path / "t.csv", [*rows, "1,2,3"])
    found = scanned(data)
    assert not found.is_complete
    assert codes(found) == {"table_ragged"}


def arrays(path: Path, **named: object) -> NpzData:
    np.savez(path, **named)
    return NpzData(path=str(path))


def test_that_arrays_are_reported_with_shapes_and_types(tmp_path: Path) -> None:
    x = np.random.default_rng(1).normal(size=(40, 3))
    x[:, 1] = 5.0
    x[3, 0] = 1e6
    x[9] = x[8]
    found = scanned(arrays(tmp_path / "a.npz", x=x, y=np.arange(40) % 4, other=np.zeros((2, 2))))
    assert [(each.name, each.shape, each.dtype) for each in found.arrays] == [
        ("x", (40, 3), "float64"),
        ("y", (40,), "int64"),
        ("other", (2, 2), "float64"),
    ]
    assert "feature 2" in problem(found, "scan_constant_columns").message
    far = problem(found, "scan_values_far_outside").message
    assert "feature 1 holds 1,000,000 in example 4" in far
    assert [each.name for each in found.same[0].examples] == ["example 9", "example 10"]
    assert found.columns[1].is_constant


def test_that_a_class_that_is_counted_and_missing_is_reported(tmp_path: Path) -> None:
    x = np.arange(30.0).reshape(10, 3)
    data = arrays(tmp_path / "a.npz", x=x, y=np.array([0, 2] * 5))
    found = scanned(data)
    assert '"1"' in problem(found, "scan_class_not_in_training").message


def test_that_values_to_be_predicted_that_lie_far_outside_are_a_hint(tmp_path: Path) -> None:
    numbers = np.random.default_rng(2)
    y = numbers.normal(size=200)
    y[17] = -999.0
    x = numbers.normal(size=(200, 2))
    x[5] = x[4]
    found = scanned(arrays(tmp_path / "a.npz", x=x, y=y))
    assert found.target is Target.VALUES
    assert "What is predicted holds -999 in example 18" in (
        problem(found, "scan_values_far_outside").message
    )
    assert problem(found, "scan_labels_differ").severity is Severity.HINT


def test_that_several_labels_are_counted_each(tmp_path: Path) -> None:
    y = np.array([[1, 0, 1], [0, 0, 0], [1, 1, 1], [1, 0, 0]] * 5)
    x = np.arange(40.0).reshape(20, 2)
    x[1] = x[0]
    found = scanned(arrays(tmp_path / "a.npz", x=x, y=y))
    assert [count for _, count in found.sets[0].class_counts] == [15, 5, 10]
    assert {each.label for each in found.same[0].examples} == {"0, 2", "none"}


def test_that_examples_without_labels_are_scanned_to_predict_on_them(tmp_path: Path) -> None:
    data = arrays(tmp_path / "a.npz", x=np.arange(12.0).reshape(4, 3))
    trained, predicted = scanned(data), scanned(data, task="predict")
    assert codes(trained) == {"data_array_missing"}
    assert codes(predicted) == set()
    for found in (trained, predicted):
        assert [(each.examples, each.labelled) for each in found.sets] == [(4, 0)]


def test_that_an_array_that_is_not_in_memory_is_read_piece_by_piece(tmp_path: Path) -> None:
    x = np.random.default_rng(3).integers(0, 255, (300, 200, 200, 3), np.uint8)
    x[299] = x[0]
    np.save(tmp_path / "x.npy", x)
    np.save(tmp_path / "y.npy", np.arange(300) % 2)
    steps = []
    found = scan(
        ScanRequest(data=NpzData(path=str(tmp_path / "x.npy"))),
        lambda doing, done, total: steps.append(done),
    )
    assert len(steps) > 4
    assert [each.name for each in found.same[0].examples] == ["example 1", "example 300"]


class _SomeBad:
    """Examples of which some cannot be read."""

    shape, dtype = (50, 2), np.dtype(np.float32)

    def read(self, indices: Indices) -> np.ndarray:
        if bad := [index for index in indices.tolist() if index in (7, 30)]:
            raise ProblemError(Problem(code="bad", message=f"Example {bad[0]} is gone."))
        return np.repeat(indices[:, np.newaxis], 2, axis=1).astype(np.float32)


def test_that_examples_of_any_source_that_cannot_be_read_are_listed() -> None:
    labels = (np.arange(50) % 2).astype(np.int32)
    data = DataSet(Examples(_SomeBad(), labels), class_names=("a", "b"))
    whole = scan_examples(data, lambda *_: None, lambda _: None)
    found = report_of(whole, ScanRequest(data=DigitsData()))
    assert found.unreadable_count == 2
    assert [(each.name, each.why) for each in found.unreadable] == [
        ("example 8", "Example 7 is gone."),
        ("example 31", "Example 30 is gone."),
    ]
    assert problem(found, "scan_examples_unreadable").is_error


def test_that_digits_have_nothing_wrong() -> None:
    found = scanned(DigitsData(validation_fraction=0.2), seed=7)
    assert found.is_complete
    assert [each.examples for each in found.sets] == [1438, 359]
    assert found.problems == ()


def test_that_nothing_is_downloaded_and_no_code_is_carried_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KERAS_HOME", str(tmp_path))
    assert scanned(KerasData(source="mnist")).needs_download
    (tmp_path / "code.py").write_text("raise SystemExit('carried out')")
    assert scanned(PythonData(path=str(tmp_path / "code.py"))).needs_start


def test_that_the_process_imports_neither_tensorflow_nor_more_than_it_needs() -> None:
    code = (
        "import sys; from gpupanel.trainer.tools.scan import main; main();"
        "sys.exit('tensorflow' in sys.modules or 'sklearn' in sys.modules"
        " or 'pyarrow' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        input=ScanRequest(data=DigitsData()).model_dump_json(),
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )
    assert done.returncode == 0, done.stderr
    assert '{"scan": {' in done.stdout.splitlines()[-1]


def test_that_records_are_scanned_and_one_bad_image_ends_nothing(tmp_path: Path) -> None:
    images = [image(10 * number) for number in range(8)]
    images[5] = images[2]
    images[6] = images[6][:40]
    records = (example(image=each, label=place % 2) for place, each in enumerate(images))
    path = write_records(tmp_path / "a.tfrecord", records)
    found = scanned(TfrecordData(path=str(path)))
    assert found.is_complete, found.problems
    assert found.sets[0].class_counts == (("0", 4), ("1", 4))
    assert [each.name for each in found.same[0].examples] == ["example 3", "example 6"]
    assert not found.same[0].are_labelled_alike
    assert [each.name for each in found.unreadable] == ["example 7"]


def test_that_a_leak_into_a_validation_table_is_named_by_the_rows_of_both(
    tmp_path: Path, rows: list[str]
) -> None:
    data = table(tmp_path / "t.csv", rows)
    held = [rows[5], "1,2.5,same,2026-01-03,", rows[7]]
    table(tmp_path / "v.csv", [*(f"9,{n}.25,same,2026-01-09,no" for n in range(20)), *held])
    found = scanned(data.model_copy(update={"validation_path": str(tmp_path / "v.csv")}))
    assert found.problems[0].code == "scan_validation_leak", found.problems
    assert (
        "row 6 (training, yes) = row 21 (validation, yes); "
        "row 8 (training, yes) = row 23 (validation, yes)"
    ) in found.problems[0].message
