"""The real window, as a person finds it, over folders of the test's own."""

import os
import threading

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from PySide6.QtCore import QSettings
from pytestqt.qtbot import QtBot

from gpupanel.domain.request import Request
from gpupanel.domain.run_layout import RunLayout
from gpupanel.runs.directory.requests import ask
from gpupanel.runs.history.summaries import list_runs
from gpupanel.ui.main_window import MainWindow
from tests.fakes.person import Person
from tests.forked.processes import fork_server_pids
from tests.ui.conftest import (
    _dressed_application,
    _garbage_collection,
    _nothing_left_behind,
    qtbot,
)
from tests.ui.new_window import new_window

__all__ = ["_dressed_application", "_garbage_collection", "_nothing_left_behind", "qtbot"]


@pytest.fixture
def person() -> Person:
    return Person()


@pytest.fixture
def settings(tmp_path: Path) -> QSettings:
    return QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat)


@pytest.fixture
def window(
    qtbot: QtBot, settings: QSettings, runs_dir: Path, person: Person
) -> Iterator[MainWindow]:
    """The window, open and with its devices known."""
    window = new_window(settings, runs_dir, person)
    window.resize(1280, 800)
    with qtbot.waitExposed(window):
        window.show()
    with qtbot.waitSignal(window.session.preparationChanged, timeout=10_000):
        window.begin()
    yield window
    window.close()
    window.deleteLater()


@pytest.fixture(autouse=True)
def _no_run_left_behind(runs_dir: Path, _nothing_left_behind: None) -> Iterator[None]:
    """Ends what a failed test left going, so that the next one finds a quiet machine."""
    yield
    for run in list_runs(runs_dir):
        if run.is_running:
            ask(RunLayout(run.path), Request.END)
    left = psutil.Process().children(recursive=True)
    psutil.wait_procs([each for each in left if each.pid not in fork_server_pids()], timeout=10.0)
    for thread in threading.enumerate():
        if thread.name.startswith("supervisor of"):
            thread.join(5.0)
