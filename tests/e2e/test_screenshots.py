"""The pictures of the README, taken of the real window so that they cannot go stale.

``GPUPANEL_WRITE_SCREENSHOTS=1`` writes them; without it they are taken and checked only. The
session is shown with the two unequal GPUs of the stand-in driver, the training is real.
"""

import os
from pathlib import Path

import pytest
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication

from gpupanel.domain.memory import LimitedMemory
from gpupanel.domain.model import MlpModel
from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.domain.strategy import StrategyKind, StrategySettings
from gpupanel.domain.training import TrainingSettings
from gpupanel.ui import theme
from gpupanel.ui.main_window import MainWindow
from gpupanel.ui.run_state import RunState

pytestmark = pytest.mark.slow

FOLDER = Path(__file__).parents[2] / "resources" / "screenshots"
SIZES = [(1280, 800), (1920, 1080)]
LEAST_COLORS = 200
"""A window that painted little more than its background has fewer."""


@pytest.fixture(params=[theme.LIGHT, theme.DARK], ids=lambda each: each.name)
def shown_theme(request, qapp: QApplication):
    before = theme.current()
    theme.show(qapp, request.param)
    yield request.param
    theme.show(qapp, before)


def _take(window: MainWindow, size: tuple[int, int], name: str | None = None) -> QImage:
    """A picture of the window, kept under that name when that is asked for."""
    window.resize(*size)
    QApplication.sendPostedEvents()
    picture = window.grab().toImage()
    assert (picture.width(), picture.height()) == size, "the window does not fit"
    if name is not None and os.environ.get("GPUPANEL_WRITE_SCREENSHOTS"):
        assert picture.save(str(FOLDER / f"{name}.png"))
    return picture


def _colors(picture: QImage) -> int:
    width, height = picture.width(), picture.height()
    return len({picture.pixel(x, y) for x in range(0, width, 3) for y in range(0, height, 3)})


def _two_gpus(window: MainWindow) -> Profile:
    first, second = window.session.inventory.gpus
    return Profile(
        name="digits on two GPUs",
        devices=DeviceSettings(visible=(first.key, second.key)),
        memory={second.key: LimitedMemory(limit_mib=8192, growth=True)},
        strategy=StrategySettings(kind=StrategyKind.MIRRORED, shares=(48, 16)),
        training=TrainingSettings(epochs=10),
    )


@pytest.mark.tensorflow
def test_that_a_run_is_drawn_while_it_trains(qtbot, shown_theme, window):
    profile = Profile(
        name="digits on two replicas",
        devices=DeviceSettings(visible=("cpu",), cpu_replicas=2),
        strategy=StrategySettings(kind=StrategyKind.MIRRORED),
        model=MlpModel(hidden=(2048, 2048)),
        training=TrainingSettings(epochs=40, learning_rate=3e-5, tensorboard=False),
    )
    window.session.open_profile(profile, None)
    window.session.prepare_now()
    qtbot.waitUntil(lambda: window.session.buttons.start, timeout=30_000)
    window.control.start()
    qtbot.waitUntil(lambda: window.session.run_state is RunState.RUNNING, timeout=90_000)
    qtbot.waitUntil(lambda: window.session.run_status.epoch > 8, timeout=60_000)
    for size in SIZES:
        name = f"training-{shown_theme.name}" if size == SIZES[0] else None

        assert _colors(_take(window, size, name)) > LEAST_COLORS
    window.control.stop()
    qtbot.waitUntil(lambda: window.session.run_state is RunState.ENDED, timeout=60_000)


def test_that_the_session_is_drawn_at_each_size(qtbot, nvml_in_process, shown_theme, window):
    window.session.open_profile(_two_gpus(window), None)
    window.session.prepare_now()
    # Not the folder of this test.
    window.session_page.plan.setRunsFolder("/home/ada/gpupanel/runs")
    qtbot.wait(2_000)  # some samples for the lines beside each device, and the look at the data
    qtbot.waitUntil(lambda: not window.core.preview_loader.is_busy(), timeout=30_000)
    for size in SIZES:
        name = f"session-{shown_theme.name}" if size == SIZES[0] else None
        picture = _take(window, size, name)

        assert _colors(picture) > LEAST_COLORS
        assert picture.pixelColor(2, size[1] // 2) == shown_theme.color("window")
