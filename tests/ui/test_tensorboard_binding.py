"""TensorBoard by mouse: opened in the browser, or the reason why not, and gone with the window."""

import sys

import psutil
import pytest
from PySide6.QtCore import QSettings, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QLabel, QPushButton

from gpupanel.domain.model import SavedModel
from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.ui.bindings.tensorboard_binding import TensorBoardBinding
from tests.fakes.person import Person
from tests.fakes.run_directory import WrittenRun
from tests.ui.new_window import new_window

pytestmark = pytest.mark.usefixtures("preview_without_process", "undressed")

SERVING = "import sys; print('http://127.0.0.1:1234/', flush=True); sys.stdin.read()"
ON_CPU = DeviceSettings(visible=("cpu",))


@pytest.fixture
def person():
    return Person()


@pytest.fixture
def window(qtbot, tmp_path, runs_dir, person):
    settings = QSettings(str(tmp_path / "s.ini"), QSettings.Format.IniFormat)
    window = new_window(settings, runs_dir, person)
    qtbot.addWidget(window)
    window.parts[TensorBoardBinding].opener._performer.boards._command = (
        sys.executable,
        "-c",
        SERVING,
    )
    yield window
    window.close()


def written(runs_dir, profile):
    with WrittenRun(runs_dir, profile) as run:
        run.begin()
        run.step(3)
        run.end()
    return run.layout


def shown_button(qtbot, window, layout):
    window.open_target(layout.root)
    qtbot.waitUntil(lambda: window.control.shown_profile is not None, timeout=10_000)
    qtbot.waitUntil(lambda: window.control.shown_status is not None, timeout=10_000)
    qtbot.waitUntil(lambda: window.control.shown_status.has_ended, timeout=10_000)
    return window.findChild(QPushButton, "tensorboard_button")


def notice(window):
    return window.live_page.banner.findChild(QLabel, "run_notice").text()


def serving():
    found = psutil.Process().children(recursive=True)
    return [each for each in found if "127.0.0.1:1234" in " ".join(each.cmdline())]


def test_that_the_browser_shows_the_run_until_the_window_closes(
    qtbot, window, runs_dir, person, monkeypatch
):
    layout = written(runs_dir, Profile(name="trained", devices=ON_CPU))
    (layout.tensorboard / "train").mkdir(parents=True)
    (layout.tensorboard / "train" / "events.out.tfevents.1").write_bytes(b"")
    opened = []
    monkeypatch.setattr(QDesktopServices, "openUrl", opened.append)
    button = shown_button(qtbot, window, layout)
    assert not button.isHidden()
    for count in (1, 2):
        button.click()
        assert notice(window) == "Starting TensorBoard…"
        qtbot.waitUntil(lambda count=count: len(opened) == count, timeout=10_000)
    assert set(map(QUrl.toString, opened)) == {"http://127.0.0.1:1234/"}
    assert "http://127.0.0.1:1234/" in notice(window)
    assert len(serving()) == 1
    assert not person.problems

    window.close()
    qtbot.waitUntil(lambda: not serving(), timeout=10_000)


def test_that_why_it_was_not_opened_is_said(qtbot, window, runs_dir, person):
    button = shown_button(qtbot, window, written(runs_dir, Profile(name="a", devices=ON_CPU)))
    button.click()
    qtbot.waitUntil(lambda: bool(person.problems), timeout=10_000)
    ((title, (problem,)),) = person.problems
    assert title == "TensorBoard was not opened."
    assert problem.code == "tensorboard_without_files"
    assert notice(window) == ""


def test_that_runs_without_curves_do_not_offer_it(qtbot, window, runs_dir):
    model = SavedModel(path="/m.keras")
    profile = Profile(name="b", task="evaluate", model=model, devices=ON_CPU)
    with WrittenRun(runs_dir, profile) as run:
        run.begin()
        run.end()
    button = shown_button(qtbot, window, run.layout)
    qtbot.waitUntil(lambda: window.control.shown_status.has_ended, timeout=10_000)
    assert not button.isEnabled()
