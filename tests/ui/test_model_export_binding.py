"""Exporting the model of a run by mouse: with its result, or the reason why not."""

import json
import sys
from dataclasses import replace

import psutil
import pytest
from PySide6.QtCore import QSettings, QUrl
from PySide6.QtGui import QDesktopServices, QGuiApplication
from PySide6.QtWidgets import QDialog, QLabel, QProgressBar, QPushButton, QTableView

from gpupanel.domain.events import ModelSaved
from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.runs.tools.export.export_format import ModelExportFormat
from gpupanel.runs.tools.export.model_export import write_model
from gpupanel.ui.tools.export.binding import ExportBinding
from gpupanel.ui.widgets.command_line import CommandLine
from tests.fakes.person import Person
from tests.fakes.run_directory import STARTED_S, WrittenRun
from tests.ui.new_window import new_window
from tests.ui.test_export_binding import choose, press_export, shown_in_live

pytestmark = pytest.mark.usefixtures("preview_without_process", "undressed")

CHILD = """
import json, os, sys, time
request = json.load(sys.stdin)
output = request["output"]
with open(os.environ["HEARD"], "w") as file:
    json.dump(request, file)
if request["model_format"] == "savedmodel":
    os.mkdir(output)
else:
    open(output, "w").close()
if len(sys.argv) > 1:
    time.sleep(60)
found = dict(size_bytes=3 * 2**20, compared=64, of_data=True, largest_difference=2.5e-7)
print(json.dumps(found))
"""


@pytest.fixture
def layout(runs_dir):
    profile = Profile(name="written", devices=DeviceSettings(visible=("cpu",)))
    with WrittenRun(runs_dir, profile) as run:
        run.begin()
        run.step(10)
        run.write(ModelSaved(time_s=STARTED_S + 3, path="model.keras"))
        run.end()
    run.layout.model.write_bytes(b"a model")
    return run.layout


@pytest.fixture
def person():
    return Person()


@pytest.fixture
def heard(tmp_path, monkeypatch):
    monkeypatch.setenv("HEARD", str(tmp_path / "heard.json"))
    return tmp_path / "heard.json"


@pytest.fixture
def window(qtbot, tmp_path, runs_dir, layout, person, heard):
    settings = QSettings(str(tmp_path / "s.ini"), QSettings.Format.IniFormat)
    window = new_window(settings, runs_dir, person)
    qtbot.addWidget(window)
    answers_with(window, CHILD)
    yield window
    window.close()


def answers_with(window, code, *arguments):
    command = (sys.executable, "-c", code, *arguments)
    window.parts[ExportBinding].models.question = replace(write_model, command=command)


def dialog_of(window):
    return window.findChild(QDialog, "model_export_dialog")


def words(window, name):
    return dialog_of(window).findChild(QLabel, f"model_export_{name}").text()


def button(window, name):
    return dialog_of(window).findChild(QPushButton, f"model_export_{name}")


def export(qtbot, window, layout, wanted):
    shown_in_live(qtbot, window, layout)
    exports = window.live_page.exports.findChild(QPushButton, f"export_{wanted.value}")
    qtbot.waitUntil(exports.isEnabled, timeout=10_000)
    press_export(window, wanted)


@pytest.mark.parametrize("wanted", ModelExportFormat)
def test_that_the_model_of_the_run_in_live_is_exported_where_a_person_wants_it(
    qtbot, window, layout, person, tmp_path, heard, monkeypatch, wanted
):
    folder = tmp_path / "my exports"
    folder.mkdir()
    person.saves = folder / f"m{wanted.suffix}"
    export(qtbot, window, layout, wanted)
    qtbot.waitUntil(lambda: words(window, "verdict").endswith("exported"), timeout=10_000)

    asked = json.loads(heard.read_text())
    assert asked["model"] == str(layout.model)
    assert (asked["model_format"], asked["quantization"]) == (
        wanted.model_format.value,
        wanted.quantization and wanted.quantization.value,
    )
    assert person.saves.exists()
    assert words(window, "verdict") == f"{wanted.title} exported"
    assert words(window, "sentence").startswith("3.0 MiB; over 64 examples of the data")
    button(window, "copy").click()
    copied = QGuiApplication.clipboard().text()
    assert str(person.saves) in copied
    assert "'" in copied.splitlines()[-1]  # a folder with a space is quoted
    assert dialog_of(window).findChild(CommandLine).isVisible()

    opened = []
    monkeypatch.setattr(QDesktopServices, "openUrl", opened.append)
    button(window, "folder").click()
    assert opened == [QUrl.fromLocalFile(str(folder if wanted.suffix else person.saves))]


def test_that_the_weights_that_were_not_kept_are_exported_in_any_format(
    qtbot, window, layout, person, tmp_path, heard
):
    person.saves = tmp_path / "last.tflite"
    other = layout.other_model(is_best=False)
    other.write_bytes(b"the last weights")
    shown_in_live(qtbot, window, layout)
    window.live_page.exports.otherChosen.emit(ModelExportFormat.TFLITE_FLOAT16)
    qtbot.waitUntil(lambda: words(window, "verdict").endswith("exported"), timeout=10_000)
    asked = json.loads(heard.read_text())
    assert (asked["model"], asked["model_format"]) == (str(other), "tflite")
    assert asked["quantization"] == "float16"


def test_that_the_model_of_the_chosen_run_is_exported_from_the_list(
    qtbot, window, person, tmp_path
):
    person.saves = tmp_path / "m.tflite"
    window.begin()
    table = window.findChild(QTableView, "runs_table")
    qtbot.waitUntil(lambda: table.model().rowCount() == 1, timeout=10_000)
    table.selectRow(0)
    choose(window.findChild(QPushButton, "runs_export_button"), ModelExportFormat.TFLITE)
    qtbot.waitUntil(lambda: words(window, "verdict").endswith("exported"), timeout=10_000)
    assert person.saves.exists()


def test_that_nothing_is_exported_where_no_place_was_chosen(qtbot, window, layout):
    export(qtbot, window, layout, ModelExportFormat.KERAS)
    assert dialog_of(window) is None


def test_that_why_a_model_was_not_exported_is_said(qtbot, window, layout, person, tmp_path):
    person.saves = tmp_path / "m.tflite"
    layout.model.unlink()
    export(qtbot, window, layout, ModelExportFormat.TFLITE)
    qtbot.waitUntil(lambda: "not exported" in words(window, "verdict"), timeout=10_000)
    shown = " ".join(each.text() for each in dialog_of(window).findChildren(QLabel))
    assert "has saved no model yet" in shown
    assert not button(window, "folder").isEnabled()

    layout.model.write_bytes(b"a model")
    answers_with(window, "import os; os.abort()")
    press_export(window, ModelExportFormat.KERAS)
    qtbot.waitUntil(lambda: "was killed" in dialog_of(window).text(), timeout=10_000)


@pytest.mark.parametrize("how", ["stop", "dialog", "window"])
def test_that_an_export_that_is_not_wanted_any_more_leaves_nothing(
    qtbot, window, layout, person, tmp_path, heard, how
):
    folder = tmp_path / "exports"
    folder.mkdir()
    person.saves = folder / "m.tflite"
    answers_with(window, CHILD, "slowly")
    export(qtbot, window, layout, ModelExportFormat.TFLITE)
    qtbot.waitUntil(lambda: heard.exists() and heard.stat().st_size > 0, timeout=10_000)
    assert words(window, "verdict") == "Exporting TFLite, float32…"
    assert dialog_of(window).findChild(QProgressBar).isVisible()
    if how == "stop":
        button(window, "cancel").click()
        assert words(window, "verdict") == "Not exported"
    elif how == "dialog":
        dialog_of(window).close()
    else:
        window.close()
    qtbot.waitUntil(lambda: not list(folder.iterdir()), timeout=10_000)
    qtbot.waitUntil(lambda: not _children(), timeout=10_000)


def _children() -> list[psutil.Process]:
    return [
        each
        for each in psutil.Process().children(recursive=True)
        if "slowly" in " ".join(each.cmdline())
    ]


def test_that_a_folder_is_suggested_without_dots(qtbot, window, layout, person, monkeypatch):
    asked = []

    def place(title, suggestion, kind):
        asked.append(suggestion)

    monkeypatch.setattr(person, "place_to_export", place)
    export(qtbot, window, layout, ModelExportFormat.SAVEDMODEL)
    assert asked[0].suffix == ""
    assert asked[0].name.endswith("-savedmodel")
