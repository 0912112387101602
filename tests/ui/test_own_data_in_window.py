"""Own data that is dropped on a window begins with settings that fit it, until somebody chose."""

from collections.abc import Iterator
from pathlib import Path
from threading import Event

import numpy as np
import pytest
from PIL import Image
from PySide6.QtCore import QSettings, Qt
from PySide6.QtWidgets import QPushButton, QWidget
from pytestqt.qtbot import QtBot

from gpupanel.domain.preview import DataPreview
from gpupanel.domain.previewed_profile import preview_request
from gpupanel.domain.profile import Profile
from gpupanel.planning.own_data import Pretrained, pretrained_networks
from gpupanel.planning.starting_profile import starting_profile
from gpupanel.runs.directory.profile_file import write_profile
from gpupanel.ui.main_window import MainWindow
from gpupanel.ui.panels.data_panel.examples_view import ExamplesView
from gpupanel.ui.widgets.class_counts_view import ClassCountsView
from gpupanel.ui.workers.this_machine import ToolsHere
from tests.fakes.devices import CPU_ONLY
from tests.fakes.person import Person
from tests.ui.new_window import new_window

pytestmark = pytest.mark.usefixtures("preview_without_process", "undressed")

SMALLEST = Pretrained(pretrained_networks()[0], is_here=True)


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    folder = tmp_path / "my photos"
    for name in ("cats", "dogs"):
        (folder / name).mkdir(parents=True)
        for number in range(20):
            pixels = np.full((120, 160, 3), 10 * number, np.uint8)
            Image.fromarray(pixels).save(folder / name / f"{number}.png")
    return folder


@pytest.fixture
def window(
    qtbot: QtBot, tmp_path: Path, runs_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[MainWindow]:
    monkeypatch.setattr(ToolsHere, "pretrained_at_hand", lambda _: SMALLEST)
    settings = QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat)
    window = new_window(settings, runs_dir, Person())
    qtbot.addWidget(window)
    with qtbot.waitExposed(window):
        window.show()
    window.session.open_profile(starting_profile(CPU_ONLY), None)
    window.session.set_inventory(CPU_ONLY)
    yield window
    window.closing.close_unasked()


def choose(qtbot: QtBot, window: MainWindow, path: Path) -> None:
    """Choose the data, and wait until it was read."""
    window.session_page.data.take((str(path),))
    qtbot.waitUntil(lambda: not window.session.is_reading_data)


def said(window: MainWindow) -> str:
    note = window.session_page.fitted
    return note.text() if note.isVisibleTo(window.session_page.sections) else ""


def test_that_images_get_settings_of_their_own_with_a_sentence(
    qtbot: QtBot, window: MainWindow, photos: Path
) -> None:
    window.session_page.data.take((str(photos),))
    qtbot.waitUntil(lambda: said(window).startswith("Chosen for 32 images: MobileNetV3Small"))
    profile = window.session.profile
    assert (profile.name, profile.model.source) == ("my photos", "MobileNetV3Small")
    assert profile.data.chosen_shape == (96, 96, 3)
    window.session.undo()
    assert window.session.profile.model == starting_profile(CPU_ONLY).model
    assert window.session.profile.data.chosen_path == str(photos)
    assert said(window) == ""
    # It is not done again: somebody took it back.
    choose(qtbot, window, photos)
    assert window.session.profile.model == starting_profile(CPU_ONLY).model
    window.session.redo()
    assert said(window).startswith("Chosen for 32 images")


def test_that_the_button_brings_back_what_was_before_and_keeps_what_came_after(
    qtbot: QtBot, window: MainWindow, photos: Path
) -> None:
    window.session_page.data.take((str(photos),))
    qtbot.waitUntil(lambda: said(window) != "")
    strategy = window.session.profile.strategy.model_copy(update={"shares": "balanced"})
    window.session.edit(window.session.profile.model_copy(update={"strategy": strategy}))
    button = window.findChild(QPushButton, "fitted_note_revert")
    assert isinstance(button, QPushButton)
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    profile, example = window.session.profile, starting_profile(CPU_ONLY)
    assert (profile.name, profile.model, profile.training) == (
        example.name,
        example.model,
        example.training,
    )
    assert (profile.data.chosen_shape[:2], profile.strategy) == ((64, 64), strategy)
    assert said(window) == ""


@pytest.mark.usefixtures("dressed")
def test_that_images_and_classes_are_seen_without_scrolling(
    qtbot: QtBot, window: MainWindow, photos: Path
) -> None:
    window.resize(1280, 800)
    window.session_page.data.take((str(photos),))
    qtbot.waitUntil(lambda: said(window) != "" and not window.session.is_reading_data)
    for shown in (ExamplesView, ClassCountsView):
        view = window.session_page.data.preview.findChild(shown)
        assert isinstance(view, QWidget)
        qtbot.waitUntil(
            lambda view=view: 20 < view.height() == view.visibleRegion().boundingRect().height()
        )


def test_that_what_is_changed_while_a_network_is_looked_for_stays(
    qtbot: QtBot, window: MainWindow, photos: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_asked, is_changed = Event(), Event()

    def slow(_tools: ToolsHere) -> Pretrained:
        is_asked.set()
        assert is_changed.wait(60)
        return SMALLEST

    monkeypatch.setattr(ToolsHere, "pretrained_at_hand", slow)
    window.session_page.data.take((str(photos),))
    qtbot.waitUntil(is_asked.is_set)
    # A run would begin with settings that nobody chose for this data.
    window.session.prepare_now()
    assert window.session.preparation.is_startable
    assert not window.session.buttons.start
    profile = window.session.profile
    training = profile.training.model_copy(update={"epochs": 7})
    window.session.edit(profile.model_copy(update={"training": training}))
    is_changed.set()
    qtbot.waitUntil(lambda: window.session.profile.name == "my photos")
    assert window.session.profile.training.epochs == 7
    assert window.session.profile.model.source == SMALLEST.application.name
    assert "pretrained on ImageNet" in said(window)
    qtbot.waitUntil(lambda: window.session.buttons.start)


@pytest.mark.parametrize("is_file", [True, False])
def test_that_what_a_person_opened_or_chose_stays(
    qtbot: QtBot, window: MainWindow, photos: Path, tmp_path: Path, is_file: bool
) -> None:
    if is_file:
        write_profile(tmp_path / "mine.toml", Profile())
        window.open_target(tmp_path / "mine.toml")
    else:
        training = window.session.profile.training.model_copy(update={"epochs": 7})
        window.session.edit(window.session.profile.model_copy(update={"training": training}))
    before = window.session.profile
    choose(qtbot, window, photos)
    qtbot.wait(200)
    after = window.session.profile
    assert (after.name, after.model, after.training) == (
        before.name,
        before.model,
        before.training,
    )
    assert said(window) == ""


def test_that_a_table_gets_a_network_for_tables(
    qtbot: QtBot, window: MainWindow, tmp_path: Path
) -> None:
    rows = "\n".join(f"{n},{n % 7},{'yes' if n % 2 else 'no'}" for n in range(60))
    (tmp_path / "houses.csv").write_text(f"a,b,target\n{rows}\n")
    window.session_page.data.take((str(tmp_path / "houses.csv"),))
    qtbot.waitUntil(lambda: said(window).startswith("Chosen for 48 rows"))
    profile = window.session.profile
    assert (profile.name, profile.model.source) == ("houses", "table")
    assert profile.training.early_stopping_patience == 10


def test_that_the_plan_shows_no_numbers_of_the_data_before(
    qtbot: QtBot, window: MainWindow, photos: Path
) -> None:
    qtbot.waitUntil(lambda: window.session.buttons.start)
    window.session_page.data.take((str(photos),))
    assert window.session.is_reading_data
    assert window.session.trained_count is None
    assert not window.session.buttons.start
    assert window.session.state_text == "Reading the data…"


def test_that_an_answer_about_other_data_is_not_taken_for_that_of_the_chosen_data(
    qtbot: QtBot, window: MainWindow, photos: Path
) -> None:
    qtbot.waitUntil(lambda: window.session.buttons.start)
    request = preview_request(window.session.profile)
    window.session_page.data.take((str(photos),))
    # It was on its way when the data was changed.
    of_digits = DataPreview(example_count=1_797, trained_count=1_438, held_out_count=359)
    window.core.preview_loader.answered.emit(of_digits)
    assert request != preview_request(window.session.profile)
    assert window.session.is_reading_data
    assert window.session.trained_count is None
    assert not window.session.buttons.start
    qtbot.waitUntil(lambda: window.session.trained_count == 32)
