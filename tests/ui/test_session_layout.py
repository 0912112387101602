"""Sections of the Session tab on screens of every width."""

import itertools
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from PySide6.QtCore import QEvent, QPoint, QSettings, Qt
from PySide6.QtGui import QHelpEvent
from PySide6.QtWidgets import (
    QApplication,
    QLabel,
    QPushButton,
    QScrollArea,
    QToolButton,
    QWidget,
)
from pytestqt.qtbot import QtBot

from gpupanel.domain.data import NpzData
from gpupanel.domain.device import DeviceInventory
from gpupanel.domain.model import MlpModel
from gpupanel.domain.profile import Profile
from gpupanel.domain.strategy import StrategyKind, StrategySettings
from gpupanel.domain.telemetry import DeviceProcess, DeviceReading, TelemetrySample
from gpupanel.domain.training import TrainingSettings
from gpupanel.planning.starting_profile import starting_profile
from gpupanel.ui.inputs.counter import Counter
from gpupanel.ui.inputs.quiet_inputs import ComboBox
from gpupanel.ui.main_window import MainWindow
from gpupanel.ui.panels.strategy_panel.placement_editor import PlacementEditor
from gpupanel.ui.panels.welcome_panel import WelcomePanel
from gpupanel.ui.widgets import tips
from gpupanel.ui.widgets.labels import ElidedLabel, NameLabel
from tests.fakes.devices import CPU, CPU_ONLY, RTX_4090, TWO_UNEQUAL
from tests.fakes.person import Person
from tests.ui.new_window import new_window

pytestmark = pytest.mark.usefixtures("preview_without_process")


@pytest.fixture
def settings(tmp_path: Path) -> QSettings:
    return QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat)


@pytest.fixture
def window(qtbot: QtBot, settings: QSettings, runs_dir: Path) -> Iterator[MainWindow]:
    window = new_window(settings, runs_dir, Person())
    window.resize(1280, 800)
    with qtbot.waitExposed(window):
        window.show()
    with qtbot.waitSignal(window.session.preparationChanged, timeout=10_000):
        window.begin()
    # What a test says of devices, and of what they report, would be replaced by this machine's.
    qtbot.waitUntil(lambda: window.session.inventory is not None, timeout=10_000)
    window.core.device_watch.stop()
    QApplication.processEvents()
    yield window
    window.close()
    window.deleteLater()


def busy(inventory: DeviceInventory) -> TelemetrySample:
    """What the devices report while somebody else uses each GPU."""
    process = DeviceProcess(pid=4711, memory_used_mib=900, name="python train.py")
    readings = [
        DeviceReading(key=gpu.key, memory_used_mib=900, memory_free_mib=9_000, processes=(process,))
        for gpu in inventory.gpus
    ]
    return TelemetrySample(time_s=0.0, readings=tuple(readings))


def place(window: MainWindow, part: QWidget) -> QPoint:
    return part.mapTo(window, QPoint(0, 0))


def is_seen(window: MainWindow, part: QWidget) -> bool:
    """Whether all of it is within every area around it, without scrolling."""
    rect = part.rect().translated(part.mapTo(window, QPoint(0, 0)))
    is_whole = part.visibleRegion().boundingRect() == part.rect()
    return part.isVisible() and is_whole and window.rect().contains(rect)


EIGHT = DeviceInventory(
    driver="570.86.15",
    devices=(
        *(
            RTX_4090.model_copy(update={"key": f"GPU-{place}", "name": "NVIDIA H100 80GB HBM3"})
            for place in range(8)
        ),
        CPU,
    ),
)


INVENTORIES = [
    pytest.param(CPU_ONLY, id="none"),
    pytest.param(TWO_UNEQUAL, id="two", marks=pytest.mark.slow),
    pytest.param(EIGHT, id="eight"),
]
SIZES = [(853, 493), (1100, 660), (1280, 800), (1920, 1080), (2560, 1440)]


@pytest.mark.parametrize("inventory", INVENTORIES)
def test_that_nothing_is_cut_at_the_side_and_no_bar_is_off_the_screen(
    qtbot: QtBot, window: MainWindow, inventory: DeviceInventory
) -> None:
    window.session.set_inventory(inventory)
    window.session.edit(starting_profile(inventory))
    pages = (window.session_page, window.live_page, window.runs)
    for size, page in itertools.product(SIZES, pages):
        window.tabs.setCurrentWidget(page)
        window.resize(*size)
        QApplication.processEvents()
        assert (window.width(), window.height()) == size
        for bar in (window.profile_bar, window.run_bar):
            assert window.rect().contains(bar.rect().translated(place(window, bar)))
        wide = [
            area
            for area in window.session_page.findChildren(QScrollArea)
            if area.isVisible() and area.horizontalScrollBar().maximum() > 0
        ]
        assert wide == [], size


LONG = "NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition"


def _is_cut(label: QLabel) -> bool:
    if isinstance(label, ElidedLabel) or label.wordWrap() or not label.pixmap().isNull():
        return False
    return label.isVisible() and label.width() < label.sizeHint().width()


def test_that_long_names_of_gpus_have_an_ellipsis_before_their_number_and_a_tooltip(
    qtbot: QtBot, window: MainWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown_tips: list[str] = []
    # The offscreen plugin warns of a tooltip's window.
    fake = SimpleNamespace(showText=lambda _place, tip, _widget: shown_tips.append(tip))
    monkeypatch.setattr(tips, "QToolTip", fake)
    same = tuple(gpu.model_copy(update={"name": LONG}) for gpu in TWO_UNEQUAL.gpus)
    inventory = DeviceInventory(driver="580.65", devices=(*same, CPU))
    window.resize(1100, 700)
    window.session.set_inventory(inventory)
    window.session.set_sample(busy(inventory))
    profile = starting_profile(inventory)
    by_hand = StrategySettings(kind=StrategyKind.MIRRORED, shares=(16, 16))
    layers = StrategySettings(kind=StrategyKind.MODEL_PARALLEL, placement={"dense_1": 1})
    for strategy, combos in ((by_hand, 0), (layers, 1)):
        window.session.edit(
            profile.model_copy(update={"strategy": strategy, "model": MlpModel(hidden=(64,))})
        )
        window.session.prepare_now()
        qtbot.wait(50)
        page = window.session_page
        assert [each.text() for each in page.findChildren(QLabel) if _is_cut(each)] == []
        names = [each for each in page.findChildren(NameLabel) if each.isVisible()]
        assert len(names) >= 4
        places = page.strategy.findChild(PlacementEditor).findChildren(ComboBox)
        boxes = [each for each in places if each.isVisible() and "Edition" in each.currentText()]
        assert len(boxes) >= combos
        for each in (*names, *boxes):
            shown = each.shownText()
            assert "\N{HORIZONTAL ELLIPSIS}" in shown
            assert shown.endswith(("#1", "#2"))
            point = each.rect().center()
            asked = QHelpEvent(QEvent.Type.ToolTip, point, each.mapToGlobal(point))
            QApplication.sendEvent(each, asked)
            assert "Blackwell Max-Q Workstation Edition #" in shown_tips[-1]


def test_that_the_welcome_of_a_first_start_fits_a_small_screen(
    qtbot: QtBot, window: MainWindow
) -> None:
    window.session.set_inventory(TWO_UNEQUAL)
    window.begin_unasked()
    QApplication.processEvents()
    window.resize(853, 493)
    QApplication.processEvents()
    assert (window.width(), window.height()) == (853, 493)
    panel = window.findChild(WelcomePanel)
    assert isinstance(panel, WelcomePanel)
    parts = [*panel.findChildren(QPushButton), *panel.findChildren(QLabel)]
    assert all(is_seen(window, part) for part in parts)


def test_that_the_driver_is_named_where_there_is_room_and_never_cut(
    qtbot: QtBot, window: MainWindow
) -> None:
    window.session.set_inventory(TWO_UNEQUAL)
    (driver,) = (
        each for each in window.devices.findChildren(QLabel) if each.text().startswith("Driver")
    )
    window.resize(1280, 800)
    qtbot.waitUntil(lambda: is_seen(window, driver), timeout=5_000)
    longer = TWO_UNEQUAL.model_copy(update={"driver": "570.86.15-of-a-very-long-branch"})
    window.session.set_inventory(longer)
    qtbot.waitUntil(lambda: not driver.isVisible(), timeout=5_000)


def test_that_the_first_view_has_epochs_batch_and_learning_rate_and_what_will_happen(
    window: MainWindow,
) -> None:
    panel = window.session_page.training
    for name in ("Epochs", "Global batch size", "Learning rate"):
        (editor,) = (each for each in panel.findChildren(QWidget) if _is_named(each, name))
        assert is_seen(window, editor)
    assert place(window, window.session_page.plan).y() < 600


def _is_named(widget: QWidget, name: str) -> bool:
    is_input = widget.focusPolicy() != Qt.FocusPolicy.NoFocus and widget.focusProxy() is None
    return widget.accessibleName() == name and is_input


def test_that_sections_stand_in_as_many_columns_as_there_is_room_for(
    qtbot: QtBot, window: MainWindow
) -> None:
    page = window.session_page

    def columns() -> int:
        QApplication.processEvents()
        parts = (page.task, page.data, page.model, page.strategy, page.training, page.plan)
        return len({place(window, part).x() for part in parts})

    assert columns() == 2
    page.data.setFocus()
    focused = QApplication.focusWidget()
    for width, expected in ((2560, 4), (1920, 3), (853, 1), (1280, 2)):
        window.resize(width, 800)
        assert columns() == expected
        qtbot.waitUntil(lambda: page.data.height() >= page.data.minimumSizeHint().height())
        assert QApplication.focusWidget() is focused


@pytest.mark.parametrize(
    "inventory",
    [
        # The most that has to fit.
        pytest.param(EIGHT, id="eight"),
        *(
            pytest.param(each, id=name, marks=pytest.mark.slow)
            for name, each in (("none", CPU_ONLY), ("two", TWO_UNEQUAL))
        ),
    ],
)
def test_that_nothing_scrolls_on_a_large_screen(
    window: MainWindow, inventory: DeviceInventory
) -> None:
    window.resize(2560, 1440)
    window.session.set_inventory(inventory)
    window.session.edit(starting_profile(inventory))
    window.session.set_sample(busy(inventory))
    window.session.prepare_now()
    QApplication.processEvents()
    areas = [each for each in window.session_page.findChildren(QScrollArea) if each.isVisible()]
    assert max(each.verticalScrollBar().maximum() for each in areas) == 0


def test_that_a_folded_section_says_what_is_set_and_what_is_wrong(
    qtbot: QtBot, window: MainWindow
) -> None:
    panel = window.session_page.training
    training = TrainingSettings(epochs=7, global_batch_size=32, learning_rate=0.01)
    window.session.edit(Profile(training=training))
    (head,) = (each for each in panel.findChildren(QToolButton) if each.text() == "TRAINING")
    editor = panel.findChild(Counter)
    qtbot.mouseClick(head, Qt.MouseButton.LeftButton)
    assert not editor.isVisible()
    assert panel._head.words.text() == "7 epochs · batch 32 · learning rate 0.01"
    window.session_page.go_to_field("training.epochs")
    assert editor.isVisible()
    window.session_page.data.set_folded(folded=True)
    window.session.edit(Profile(data=NpzData(path="/none.npz")))
    data = window.session_page.data
    qtbot.waitUntil(lambda: data._head.words.text() == "1 problem to fix", timeout=10_000)


def test_that_what_will_happen_folds_and_says_it_in_a_line(
    qtbot: QtBot, window: MainWindow
) -> None:
    plan = window.session_page.plan
    window.session.set_inventory(TWO_UNEQUAL)
    window.session.edit(starting_profile(TWO_UNEQUAL))
    window.session.prepare_now()
    sentence = plan.findChild(QLabel, "plan_summary")
    (head,) = (each for each in plan.findChildren(QToolButton) if each.text() == "WHAT WILL HAPPEN")
    qtbot.mouseClick(head, Qt.MouseButton.LeftButton)
    assert not sentence.isVisible()
    assert plan._head.words.isVisible()
    assert plan._head.words.text() == sentence.text() != ""
    qtbot.mouseClick(head, Qt.MouseButton.LeftButton)
    assert sentence.isVisible()


def test_that_folds_come_back_in_the_next_window(
    qtbot: QtBot, settings: QSettings, runs_dir
) -> None:
    for folded in (False, True):
        window = new_window(settings, runs_dir, Person())
        for section in (window.session_page.data, window.session_page.plan):
            assert section.is_folded is folded
            section.set_folded(folded=True)
        window.close()
        window.deleteLater()


def test_that_a_link_leads_to_its_section(qtbot: QtBot, window: MainWindow) -> None:
    page = window.session_page
    page.strategy.set_folded(folded=True)
    (link,) = (
        each for each in page.findChildren(QToolButton) if each.accessibleName() == "Go to Strategy"
    )
    qtbot.mouseClick(link, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: is_seen(window, page.strategy._head), timeout=5_000)
    assert not page.strategy.is_folded
    qtbot.waitUntil(lambda: page.strategy.isAncestorOf(QApplication.focusWidget() or window))
