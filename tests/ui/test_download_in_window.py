"""The download button of a data set that is not here yet: size, progress, stop, preview."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QProgressBar, QPushButton
from pytestqt.qtbot import QtBot

from gpupanel.domain.data import DigitsData, KerasData
from gpupanel.domain.data_download import DownloadProgress
from gpupanel.domain.preview import DataPreview
from gpupanel.domain.profile import Profile
from gpupanel.runs.questions.data_download import download_data
from gpupanel.runs.questions.data_preview import preview_data
from gpupanel.ui.panels.data_panel import DataPanel
from gpupanel.ui.session import Session
from gpupanel.ui.session_page import SessionPage
from gpupanel.ui.tools.download_binding import DownloadBinding
from gpupanel.ui.workers.tool_worker import QuestionWorker
from tests.fakes.questions import asked_of
from tests.forked.processes import child_processes

pytestmark = pytest.mark.usefixtures("undressed")

_NEEDED = DataPreview(needs_download=True)
_GOES_ON = (
    "import time\n"
    'print(\'{"progress": {"done": 1048576, "total": 11534336}}\', flush=True)\n'
    "time.sleep(60)"
)
_FAILS = 'print(\'{"end": {"problems": [{"code": "x", "message": "No network."}]}}\', flush=True)'
_DONE = "print('{\"end\": {}}', flush=True)"


class Loader(QuestionWorker):
    """Counts what is asked for."""

    asked = 0

    def ask(self, request: object) -> None:
        self.asked += 1


def button(panel: DataPanel, name: str = "download_button") -> QPushButton:
    found = panel.findChild(QPushButton, name)
    assert isinstance(found, QPushButton)
    return found


class Shown:
    """A page whose data is not here, and what downloads it."""

    def __init__(self, qtbot: QtBot, code: str) -> None:
        self.session = Session()
        self.session.edit(Profile(data=KerasData(source="mnist")))
        self.loader = Loader(preview_data)
        self.page = SessionPage(self.session, self.loader)
        qtbot.addWidget(self.page)
        self.binding = DownloadBinding(self.session, self.page)
        self.binding.worker.question = asked_of(download_data, code)
        self.refused = []
        self.binding.refused.connect(self.refused.append)
        self.page.data.setPreview(_NEEDED)
        self.page.show()

    def press(self, qtbot: QtBot, name: str = "download_button") -> None:
        qtbot.mouseClick(button(self.page.data, name), Qt.MouseButton.LeftButton)

    def end(self) -> None:
        self.binding.stop()
        self.loader.stop()
        self.session.close()


@pytest.fixture
def show(qtbot: QtBot):
    shown: list[Shown] = []

    def make(code: str) -> Shown:
        shown.append(Shown(qtbot, code))
        return shown[-1]

    yield make
    for each in shown:
        each.end()


def test_that_the_button_says_how_much_there_is_and_is_seen_only_where_it_is_needed(qtbot) -> None:
    panel = DataPanel()
    qtbot.addWidget(panel)
    panel.setValue(KerasData(source="mnist"))
    panel.setPreview(_NEEDED)
    assert button(panel).text() == "Down&load 11 MiB"
    assert not button(panel).isHidden()
    panel.setValue(KerasData(source="boston_housing"))
    assert button(panel).text() == "Down&load 1 MiB"
    panel.setValue(DigitsData())
    panel.setPreview(DataPreview(example_count=3))
    assert not button(panel).isVisibleTo(panel)


def test_that_a_download_shows_how_far_it_is_and_is_stopped(qtbot, show) -> None:
    shown = show(_GOES_ON)
    before = set(child_processes())
    shown.press(qtbot)
    panel = shown.page.data
    bar = panel.findChild(QProgressBar, "download_progress")
    qtbot.waitUntil(lambda: bar.value() == 90, timeout=10_000)
    assert "1 MiB of 11 MiB" in [label.text() for label in panel.findChildren(QLabel)]
    assert not button(panel).isVisible()
    shown.press(qtbot, "download_cancel")
    assert button(panel).isVisible()
    assert not bar.isVisible()
    qtbot.waitUntil(lambda: set(child_processes()) <= before, timeout=10_000)
    assert shown.refused == []


def test_that_a_data_set_chosen_meanwhile_shows_no_progress_of_another(qtbot, show) -> None:
    shown = show(_GOES_ON)
    shown.press(qtbot)
    panel = shown.page.data
    bar = panel.findChild(QProgressBar, "download_progress")
    qtbot.waitUntil(lambda: bar.value() == 90, timeout=10_000)
    shown.session.edit(Profile(data=KerasData(source="imdb")))
    panel.setPreview(_NEEDED)
    assert button(panel).isVisible()
    assert not bar.isVisible()
    shown.press(qtbot)
    assert [problem.code for problem in shown.refused[0]] == ["download_goes_on"]
    assert not bar.isVisible()
    shown.session.edit(Profile(data=KerasData(source="mnist"), name="back"))
    assert bar.isVisible()
    shown.press(qtbot, "download_cancel")
    assert button(panel).isVisible()


def test_that_what_was_downloaded_is_previewed(qtbot, show) -> None:
    shown = show(_DONE)
    # The page asks for a preview of its own accord first.
    qtbot.waitUntil(lambda: shown.loader.asked > 0, timeout=10_000)
    asked = shown.loader.asked
    shown.press(qtbot)
    qtbot.waitUntil(lambda: shown.loader.asked > asked, timeout=10_000)
    qtbot.waitUntil(button(shown.page.data).isVisible, timeout=10_000)


def test_that_why_nothing_came_is_reported(qtbot, show) -> None:
    shown = show(_FAILS)
    shown.press(qtbot)
    qtbot.waitUntil(lambda: bool(shown.refused), timeout=10_000)
    assert [problem.message for problem in shown.refused[0]] == ["No network."]
    qtbot.waitUntil(button(shown.page.data).isVisible, timeout=10_000)


def test_that_a_size_that_nobody_knows_moves_a_bar_without_an_end(qtbot) -> None:
    panel = DataPanel()
    qtbot.addWidget(panel)
    panel.setDownloading(True)
    panel.setDownloadProgress(DownloadProgress(done=3 * 2**20))
    bar = panel.findChild(QProgressBar, "download_progress")
    assert (bar.minimum(), bar.maximum()) == (0, 0)
    panel.setDownloadProgress(DownloadProgress(done=2**40, total=2**41))
    assert bar.value() == bar.maximum() // 2
