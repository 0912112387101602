"""Anything can be dropped anywhere on the window."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPointF, QSettings, QSysInfo, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from pytestqt.qtbot import QtBot

from gpupanel.domain.outcome import Outcome
from gpupanel.domain.profile import Profile
from gpupanel.runs.directory.profile_file import write_profile
from gpupanel.ui.dropped_files import local_paths
from gpupanel.ui.main_window import MainWindow
from tests.fakes.person import Person
from tests.fakes.run_directory import WrittenRun
from tests.ui.new_window import new_window

pytestmark = pytest.mark.usefixtures("preview_without_process", "undressed")


@pytest.fixture
def person() -> Person:
    return Person()


@pytest.fixture
def window(qtbot: QtBot, tmp_path: Path, runs_dir: Path, person: Person) -> Iterator[MainWindow]:
    settings = QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat)
    window = new_window(settings, runs_dir, person)
    with qtbot.waitExposed(window):
        window.show()
    with qtbot.waitSignal(window.session.preparationChanged, timeout=10_000):
        window.begin()
    window.tabs.setCurrentWidget(window.runs)
    yield window
    window.close()
    window.deleteLater()


def drop(window: MainWindow, *paths: Path) -> None:
    data, point = QMimeData(), QPointF(5, 5)
    data.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    by = (Qt.DropAction.CopyAction, data, Qt.MouseButton.LeftButton)
    entering = QDragEnterEvent(point.toPoint(), *by, Qt.KeyboardModifier.NoModifier)
    window.dragEnterEvent(entering)
    assert entering.isAccepted()
    window.dropEvent(QDropEvent(point, *by, Qt.KeyboardModifier.NoModifier))


def test_that_a_profile_is_opened(window: MainWindow, tmp_path: Path) -> None:
    write_profile(tmp_path / "dropped.TOML", Profile(name="dropped"))
    drop(window, tmp_path / "dropped.TOML")
    assert window.session.profile.name == "dropped"


def test_that_a_run_is_shown(window: MainWindow, runs_dir: Path) -> None:
    with WrittenRun(runs_dir) as run:
        run.begin()
        run.end(Outcome.COMPLETED)
    drop(window, run.layout.root)
    assert window.control.shown == run.layout
    assert window.tabs.currentWidget() is window.live_page


def test_that_data_is_chosen(window: MainWindow, tmp_path: Path) -> None:
    for name, source in (("t.csv", "table"), ("a.npz", "npz"), ("pictures", "images")):
        path = tmp_path / name
        if "." in name:
            path.write_bytes(b"")
        else:
            path.mkdir()
        window.tabs.setCurrentWidget(window.runs)
        drop(window, path)
        data = window.session.profile.data
        assert (data.source, data.chosen_path) == (source, str(path))
        assert window.tabs.currentWidget() is window.session_page


def test_that_a_model_is_chosen(window: MainWindow, tmp_path: Path) -> None:
    (tmp_path / "m.keras").write_bytes(b"")
    drop(window, tmp_path / "m.keras")
    model = window.session.profile.model
    assert (model.source, model.chosen_path) == ("saved", str(tmp_path / "m.keras"))


def test_that_a_file_without_an_ending_is_no_folder_of_images(
    window: MainWindow, person: Person, tmp_path: Path
) -> None:
    (tmp_path / "README").write_text("words", encoding="utf-8")
    (tmp_path / "loop").symlink_to("loop")
    before = window.session.profile
    for count, name in enumerate(("README", "loop", "gone"), start=1):
        drop(window, tmp_path / name)
        said = [problem.code for _, found in person.problems for problem in found]
        assert said == ["drop_not_understood"] * count
    assert window.session.profile == before


def test_that_only_files_of_this_machine_are_dropped() -> None:
    data = QMimeData()
    here = QSysInfo.machineHostName()
    data.setUrls(
        [
            QUrl("file:///a/%ff.npz"),
            QUrl("file://localhost/b.npz"),
            QUrl(f"file://{here}/c.npz"),
            QUrl("file://another.example/d.npz"),
            QUrl("https://another.example/e.npz"),
            QUrl("file:///f%00.toml"),
        ]
    )
    assert local_paths(data) == ("/a/\udcff.npz", "/b.npz", "/c.npz")


@pytest.mark.parametrize("count", [1, 3])
def test_that_what_nothing_takes_is_refused_in_words(
    window: MainWindow, person: Person, tmp_path: Path, count: int
) -> None:
    before = window.session.profile
    names = [f"\x1b[31m{'x' * 200}{number}.exe" for number in range(count)]
    drop(window, *(tmp_path / name for name in names))
    ((_, (problem,)),) = person.problems
    assert problem.code == "drop_not_understood"
    assert "\x1b" not in problem.message
    assert len(problem.message) < 260
    assert window.session.profile == before
    assert window.tabs.currentWidget() is window.runs
