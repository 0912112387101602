"""An exported model takes its place whole, with what stands beside it, or nothing does."""

import json
import os
import sys
from dataclasses import replace
from pathlib import Path
from threading import Event, Timer

import pytest

from gpupanel.domain.model_export import ModelExport, ModelExportRequest, ModelFormat
from gpupanel.runs.questions.question import Question
from gpupanel.runs.tools.export.model_export import SCRIPT, export_model, write_model

FIRST_LINE = "# a script of ours"
CHILD = f"""
import json, os, sys, time
request = json.load(sys.stdin)
output = request["output"]
folder = os.path.dirname(output)
if request["model_format"] == "savedmodel":
    os.mkdir(output)
    folder, names = output, ("saved_model.pb", "model.json", "predict.py")
else:
    name = os.path.basename(output)
    names = (name, name + ".json", "predict.py")
for name in names:
    with open(os.path.join(folder, name), "w") as file:
        file.write("{FIRST_LINE}" + chr(10) + "new")
if len(sys.argv) > 1:
    open(sys.argv[1], "w").close()
    time.sleep(60)
print(json.dumps(dict(size_bytes=7, problems=[])))
"""


def request(output: Path, model_format: ModelFormat = ModelFormat.TFLITE) -> ModelExportRequest:
    return ModelExportRequest(model="m.keras", output=str(output), model_format=model_format)


def answering(*arguments: str, code: str = CHILD) -> Question[ModelExportRequest, ModelExport]:
    return replace(write_model, command=(sys.executable, "-c", code, *arguments))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "exports"
    folder.mkdir()
    return folder


def names(folder: Path) -> set[str]:
    return {each.name for each in folder.iterdir()}


def test_that_a_file_stands_with_what_belongs_beside_it(folder: Path) -> None:
    (folder / "a.tflite").write_text("before")
    (folder / SCRIPT).write_text(f"{FIRST_LINE}\nof an earlier version")
    found = export_model(request(folder / "a.tflite"), question=answering())
    assert (found.size_bytes, found.problems) == (7, ())
    assert names(folder) == {"a.tflite", "a.tflite.json", SCRIPT}
    assert {each.read_text() for each in folder.iterdir()} == {f"{FIRST_LINE}\nnew"}


def test_that_a_folder_holds_what_belongs_to_it(folder: Path) -> None:
    found = export_model(request(folder / "a", ModelFormat.SAVEDMODEL), question=answering())
    assert found.problems == ()
    assert names(folder) == {"a"}
    assert names(folder / "a") == {"saved_model.pb", "model.json", SCRIPT}
    again = export_model(request(folder / "a", ModelFormat.SAVEDMODEL), question=answering())
    assert [each.code for each in again.problems] == ["export_in_the_way"]


@pytest.mark.parametrize("is_link", [False, True])
def test_that_a_script_of_somebody_else_stays(folder: Path, tmp_path: Path, is_link: bool) -> None:
    theirs = tmp_path / "theirs.py"
    theirs.write_text(f"{FIRST_LINE}\n" if is_link else "print(1)\n")
    if is_link:
        (folder / SCRIPT).symlink_to(theirs)
    else:
        theirs.rename(folder / SCRIPT)
    before = (folder / SCRIPT).read_text()
    found = export_model(request(folder / "a.tflite"), question=answering())
    assert [each.code for each in found.problems] == ["export_without_script"]
    assert found.is_written
    assert (folder / SCRIPT).read_text() == before
    assert (folder / "a.tflite").exists()


def test_that_a_fifo_in_its_place_keeps_nobody_waiting(folder: Path) -> None:
    for name in (SCRIPT, "a.tflite"):
        os.mkfifo(folder / name)
    found = export_model(request(folder / "a.tflite"), question=answering())
    assert [each.code for each in found.problems] == ["not_a_regular_file"]
    found = export_model(request(folder / "b.tflite"), question=answering())
    assert [each.code for each in found.problems] == ["export_without_script"]


def test_that_nothing_is_left_of_an_export_that_nobody_wants_any_more(
    folder: Path, tmp_path: Path
) -> None:
    begun, cancelled = tmp_path / "begun", Event()

    def cancel() -> None:
        while not begun.exists():
            pass
        assert any((folder / each).is_dir() for each in names(folder))
        cancelled.set()

    timer = Timer(0.0, cancel)
    timer.start()
    found = export_model(
        request(folder / "a.tflite"), cancelled=cancelled, question=answering(str(begun))
    )
    timer.join()
    assert not found.is_written
    assert names(folder) == set()


def test_that_a_child_that_dies_leaves_nothing(folder: Path) -> None:
    child = CHILD.replace("print(json.dumps", "os.abort(), (json.dumps")
    found = export_model(request(folder / "a.tflite"), question=answering(code=child))
    assert [each.code for each in found.problems] == ["model_export_died"]
    assert names(folder) == set()


def test_that_a_place_that_is_not_there_is_a_problem(folder: Path) -> None:
    found = export_model(request(folder / "none" / "a.tflite"), question=answering())
    assert [each.code for each in found.problems] == ["file_missing"]
    assert json.loads(found.model_dump_json())["size_bytes"] == 0
