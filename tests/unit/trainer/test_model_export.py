"""A trained model is written for other programs, and compared with itself before it stands."""

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from gpupanel.domain.model_export import ModelExportRequest, ModelFormat
from gpupanel.runs.tools.export.model_export import export_model, write_model
from tests.fakes.questions import asked_of
from tests.forked.processes import run_forked

SCRIPT = Path(__file__).with_name("export_models.py")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("exports")


@pytest.fixture(scope="module")
def found(folder: Path) -> dict[str, Any]:
    done = run_forked(
        [sys.executable, str(SCRIPT), str(folder)],
        env={**os.environ, "CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "3"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout[done.stdout.index('{"savedmodel"') :])
    return answer


@pytest.mark.tensorflow
@pytest.mark.parametrize(
    ("name", "most"),
    [("keras", 1e-6), ("savedmodel", 1e-6), ("tflite", 1e-5), ("float16", 1e-2), ("int8", 0.1)],
)
def test_that_an_export_gives_what_the_model_does(
    found: dict[str, Any], name: str, most: float
) -> None:
    assert found[name]["problems"] == []
    assert (found[name]["compared"], found[name]["of_data"]) == (64, True)
    assert found[name]["largest_difference"] < most
    assert found[name]["size_bytes"] > 500
    assert 0.0 < found[name]["seconds_an_example"] < 10.0


@pytest.mark.tensorflow
def test_that_files_stand_whole_and_nothing_else(found: dict[str, Any], folder: Path) -> None:
    names = {each.name for each in folder.iterdir()}
    exports = {f"{n}.tflite{end}" for n in "abcdhj" for end in ("", ".json")}
    beside = {"g.keras", "g.keras.json", "predict.py"}
    models = {"model.keras", "mixed.keras", "bicubic.keras"}
    assert names == {
        "data.npz",
        "images",
        "broken",
        "folder",
        "mixed folder",
        *models,
        *exports,
        *beside,
    }
    assert {"saved_model.pb", "model.json", "predict.py"} <= {
        each.name for each in (folder / "folder").iterdir()
    }
    assert (folder / "g.keras").read_bytes() == (folder / "model.keras").read_bytes()
    for name, file in (("tflite", "a"), ("int8", "c")):
        assert (folder / f"{file}.tflite").stat().st_size == found[name]["size_bytes"]
    assert found["int8"]["size_bytes"] != found["tflite"]["size_bytes"]
    assert found["served"] < 1e-6


@pytest.mark.tensorflow
def test_that_a_model_is_compared_on_random_numbers_where_the_data_is_gone(
    found: dict[str, Any],
) -> None:
    without = found["without data"]
    assert (without["problems"], without["of_data"], without["compared"]) == ([], False, 16)
    assert without["largest_difference"] < 1e-5


@pytest.mark.tensorflow
def test_that_a_model_is_compared_on_the_images_that_can_be_read(found: dict[str, Any]) -> None:
    images = found["int8 of images"]
    # Eight of thirty are cut short.
    assert (images["problems"], images["of_data"], images["compared"]) == ([], True, 22)
    (problem,) = found["int8 of broken images"]["problems"]
    assert "x.png" in problem["detail"]


@pytest.mark.tensorflow
@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("savedmodel again", "export_in_the_way"),
        ("int8 without data", "export_without_examples"),
        ("int8 of broken images", "export_without_examples"),
        ("no model", "model_file_missing"),
        ("bicubic", "export_not_convertible"),
    ],
)
def test_that_why_nothing_is_written_is_a_problem(
    found: dict[str, Any], name: str, code: str
) -> None:
    assert [problem["code"] for problem in found[name]["problems"]] == [code]


@pytest.mark.tensorflow
@pytest.mark.parametrize("name", ["mixed", "mixed savedmodel"])
def test_that_a_model_of_mixed_precision_is_exported(found: dict[str, Any], name: str) -> None:
    assert found[name]["problems"] == []
    assert found[name]["largest_difference"] < 2e-2


@pytest.mark.tensorflow
def test_that_a_model_that_has_no_tflite_form_is_not_printed_whole(found: dict[str, Any]) -> None:
    (problem,) = found["bicubic"]["problems"]
    assert "ResizeBicubic" in problem["detail"]
    assert len(problem["detail"]) < 2_000


@pytest.mark.tensorflow
def test_that_a_folder_that_is_not_there_is_a_problem(found: dict[str, Any]) -> None:
    (problem,) = found["without folder"]["problems"]
    assert "No such file" in problem["message"] + problem["detail"]


@pytest.mark.parametrize(
    ("code", "problem"), [("raise SystemExit(3)", "died"), ("print('{')", "unreadable")]
)
def test_that_the_end_of_the_process_is_a_problem(code: str, problem: str) -> None:
    request = ModelExportRequest(
        model="m.keras", output="m.tflite", model_format=ModelFormat.TFLITE
    )
    found = export_model(request, question=asked_of(write_model, code))
    assert [each.code for each in found.problems] == [f"model_export_{problem}"]


def test_that_a_file_that_is_no_model_is_refused_by_the_process(tmp_path: Path) -> None:
    (tmp_path / "m.keras").write_text("no model")
    request = ModelExportRequest(
        model=str(tmp_path / "m.keras"),
        output=str(tmp_path / "m.tflite"),
        model_format=ModelFormat.TFLITE,
    )
    (problem,) = export_model(request).problems
    assert problem.code == "model_file_damaged"
    assert not (tmp_path / "m.tflite").exists()
