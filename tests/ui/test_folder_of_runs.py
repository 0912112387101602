"""The window says before Start what keeps runs out of their folder, and no longer than it does."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QSettings
from pytestqt.qtbot import QtBot

from gpupanel.domain.problem import Problem
from gpupanel.planning.starting_profile import starting_profile
from gpupanel.ui.main_window import MainWindow
from gpupanel.ui.workers import folder_worker
from gpupanel.ui.workers.folder_worker import FolderWatch
from tests.fakes.devices import CPU_ONLY
from tests.fakes.person import Person
from tests.ui.new_window import new_window

FULL = Problem(code="no_space", message="There is no space left.", hint="Free some.")


class Disk:
    """Answers what the test says, and counts."""

    def __init__(self) -> None:
        self.problem: Problem | None = FULL
        self.asked = 0
        self.may_answer = threading.Event()
        self.may_answer.set()

    def ask(self, _folder: Path) -> Problem | None:
        self.asked += 1
        self.may_answer.wait(10.0)
        return self.problem


@pytest.fixture
def disk() -> Disk:
    return Disk()


@pytest.fixture
def watch(
    qtbot: QtBot, disk: Disk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[FolderWatch]:
    monkeypatch.setattr(folder_worker, "AGAIN_MS", 10)
    made = FolderWatch(tmp_path, disk.ask, patience_s=0.02)
    yield made
    disk.may_answer.set()
    made.stop()


def test_that_a_folder_is_asked_again_until_it_is_mended_and_not_any_more(
    qtbot: QtBot, watch: FolderWatch, disk: Disk
) -> None:
    with qtbot.waitSignals([watch.found] * 2, check_params_cbs=[FULL.__eq__] * 2):
        watch.look()
    disk.problem = None
    with qtbot.waitSignal(watch.found, check_params_cb=lambda found: found is None):
        pass
    asked = disk.asked
    qtbot.wait(50)
    assert disk.asked == asked


def test_that_a_disk_that_does_not_answer_is_said_to_and_asked_once(
    qtbot: QtBot, watch: FolderWatch, disk: Disk
) -> None:
    disk.may_answer.clear()
    disk.problem = None
    with qtbot.waitSignal(watch.found) as silent:
        watch.look()
    assert silent.args[0].code == "disk_not_answering"
    watch.look()
    with qtbot.waitSignal(watch.found, check_params_cb=lambda found: found is None):
        disk.may_answer.set()
    assert disk.asked == 1


@pytest.mark.usefixtures("preview_without_process", "undressed")
def test_that_the_window_is_not_ready_where_nothing_can_be_kept_and_is_once_it_can(
    qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folder_worker, "AGAIN_MS", 10)
    taken = tmp_path / "runs"
    taken.touch()
    settings = QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat)
    window = new_window(settings, taken, Person())
    qtbot.addWidget(window)
    window.session.set_inventory(CPU_ONLY)
    window.session.edit(starting_profile(CPU_ONLY))
    window.begin()
    qtbot.waitUntil(lambda: said(window) == ["place_taken"])
    assert not window.session.buttons.start
    taken.unlink()
    qtbot.waitUntil(lambda: said(window) == [])
    qtbot.waitUntil(lambda: window.session.buttons.start)
    window.closing.close_unasked()


def said(window: MainWindow) -> list[str]:
    return [each.code for each in window.session.preparation.problems if each.is_error]
