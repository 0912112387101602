"""Exporting a run by mouse, in Runs and in Live, in a thread of its own."""

import json
from contextlib import suppress
from threading import Event

import pytest
from PySide6.QtCore import QSettings
from PySide6.QtWidgets import QLabel, QMenu, QPushButton, QTableView

from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.runs.report.run_events import ReportCancelledError
from gpupanel.runs.tools.export import exported_run
from gpupanel.runs.tools.export.export_format import ExportFormat
from gpupanel.ui.tools.export.binding import ExportBinding
from tests.fakes.hostile_files import fifo, put_in_place
from tests.fakes.person import Person
from tests.fakes.run_directory import WrittenRun
from tests.ui.new_window import new_window

pytestmark = pytest.mark.usefixtures("preview_without_process", "undressed")


@pytest.fixture
def layout(runs_dir):
    profile = Profile(name="written", devices=DeviceSettings(visible=("cpu",)))
    with WrittenRun(runs_dir, profile) as run:
        run.begin()
        run.step(10)
        run.end()
    return run.layout


@pytest.fixture
def person():
    return Person()


@pytest.fixture
def window(qtbot, tmp_path, runs_dir, layout, person):
    settings = QSettings(str(tmp_path / "s.ini"), QSettings.Format.IniFormat)
    window = new_window(settings, runs_dir, person)
    qtbot.addWidget(window)
    yield window
    window.close()


def press_export(window, wanted):
    """As a click on the button in the tab of the run's page."""
    button = window.live_page.exports.findChild(QPushButton, f"export_{wanted.value}")
    assert button.isEnabled()
    button.click()


def choose(button, wanted):
    """As a click on the button and on the entry of its menu."""
    assert button.isEnabled()
    assert not button.isHidden()
    menu = button.menu()
    assert isinstance(menu, QMenu)
    entries = {entry.objectName(): entry for entry in menu.actions() if not entry.isSeparator()}
    assert len(entries) == 9
    entries[f"export_{wanted.value}"].trigger()


def shown_in_live(qtbot, window, layout):
    window.open_target(layout.root)
    qtbot.waitUntil(lambda: window.control.shown_profile is not None, timeout=10_000)
    return window.live_page.banner


def notice_of(banner):
    return banner.findChild(QLabel, "run_notice").text()


@pytest.mark.parametrize(
    ("wanted", "beginning"),
    [
        (ExportFormat.REPORT, "<!DOCTYPE html>"),
        (ExportFormat.NOTEBOOK, '{\n "cells"'),
        (ExportFormat.SCRIPT, "'written: written by gpupanel"),
        (ExportFormat.SLURM, "#!/bin/bash\n# written\n"),
    ],
)
def test_that_the_run_in_live_is_exported_where_a_person_wants_it(
    qtbot, window, layout, person, tmp_path, wanted, beginning
):
    person.saves = tmp_path / f"out{wanted.suffix}"
    banner = shown_in_live(qtbot, window, layout)

    press_export(window, wanted)

    qtbot.waitUntil(lambda: "saved to" in notice_of(banner), timeout=10_000)
    assert str(person.saves) in notice_of(banner)
    assert person.saves.read_text().startswith(beginning)
    assert not person.problems


def test_that_the_chosen_run_is_exported_from_the_list(qtbot, window, layout, person, tmp_path):
    person.saves = tmp_path / "out.html"
    window.begin()
    table = window.findChild(QTableView, "runs_table")
    qtbot.waitUntil(lambda: table.model().rowCount() == 1, timeout=10_000)
    button = window.findChild(QPushButton, "runs_export_button")
    assert not button.isEnabled()
    table.selectRow(0)

    choose(button, ExportFormat.REPORT)

    notice = window.findChild(QLabel, "runs_notice")
    qtbot.waitUntil(lambda: "Report saved to" in notice.toolTip(), timeout=10_000)
    assert layout.name in person.saves.read_text()


def test_that_nothing_is_written_where_no_place_was_chosen(qtbot, window, layout, tmp_path):
    banner = shown_in_live(qtbot, window, layout)
    before = sorted(tmp_path.rglob("*.html"))

    press_export(window, ExportFormat.REPORT)

    assert notice_of(banner) == ""
    assert sorted(tmp_path.rglob("*.html")) == before


def test_that_what_cannot_be_exported_is_said_with_its_reason(
    qtbot, window, layout, person, tmp_path
):
    person.saves = tmp_path / "out.py"
    banner = shown_in_live(qtbot, window, layout)
    plan = json.loads(layout.plan.read_text())
    plan["environment"]["LD_PRELOAD"] = "/x.so"
    layout.plan.write_text(json.dumps(plan))

    press_export(window, ExportFormat.SCRIPT)

    qtbot.waitUntil(lambda: bool(person.problems), timeout=10_000)
    ((title, (problem,)),) = person.problems
    assert title == "The file was not written."
    assert problem.code == "run_damaged"
    assert notice_of(banner) == ""
    assert not person.saves.exists()


def test_that_predictions_take_the_place_of_no_file_of_a_run(qtbot, window, layout, person):
    layout.predictions("csv").write_text("index,predicted\n0,seven\n")
    person.saves, before = layout.profile, layout.profile.read_text()
    window.parts[ExportBinding].save_predictions(layout, layout.predictions("csv").name)
    qtbot.waitUntil(lambda: bool(person.problems), timeout=10_000)
    ((_, (problem,)),) = person.problems
    assert problem.code == "inside_a_run"
    assert layout.profile.read_text() == before


@pytest.mark.timeout(20)
def test_that_a_fifo_in_the_folder_of_a_run_keeps_nobody_waiting(layout, tmp_path):
    put_in_place(fifo, layout.events, tmp_path)
    path = tmp_path / "out.html"

    exported_run.write_run(layout, ExportFormat.REPORT, path, Event())

    assert "FIFO" in path.read_text()


@pytest.mark.parametrize("wanted", ExportFormat)
def test_that_nothing_is_written_that_nobody_wants_any_more(layout, tmp_path, wanted):
    given_up = Event()
    given_up.set()
    path = tmp_path / f"out{wanted.suffix}"
    with suppress(ReportCancelledError):
        exported_run.write_run(layout, wanted, path, given_up)
    assert not path.exists()


def test_that_an_export_ends_with_the_window(qtbot, window, layout, person, tmp_path, monkeypatch):
    person.saves = tmp_path / "out.html"
    begun, ended = Event(), Event()

    def write(layout, wanted, path, dropped):
        begun.set()
        dropped.wait(10)
        ended.set()

    monkeypatch.setattr(exported_run, "write_run", write)
    banner = shown_in_live(qtbot, window, layout)
    press_export(window, ExportFormat.REPORT)
    qtbot.waitUntil(begun.is_set, timeout=10_000)
    window.close()
    qtbot.waitUntil(ended.is_set, timeout=5_000)
    assert "saved" not in notice_of(banner)
