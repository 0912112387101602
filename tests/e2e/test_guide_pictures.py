"""The pictures of the guide, taken of the real window so that they cannot go stale.

``GPUPANEL_WRITE_SCREENSHOTS=1`` writes them; without it they are taken and checked only. The GPUs
are the two unequal ones of the stand-in driver; the estimate is TensorFlow's, of a real model. The
nodes of the cluster are recorded answers.
"""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
from PIL import Image, ImageDraw
from PySide6.QtCore import QPoint, QRect, QSize
from PySide6.QtGui import QImage, QPainter
from PySide6.QtWidgets import QApplication, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from gpupanel.domain.cluster import ClusterSettings, NodeState
from gpupanel.domain.device import PhysicalDevice
from gpupanel.domain.images_data import ImagesData
from gpupanel.domain.memory import GrowingMemory, LimitedMemory, SplitMemory
from gpupanel.domain.model import CnnModel, MlpModel
from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.domain.strategy import StrategyKind, StrategySettings
from gpupanel.domain.training import TrainingSettings
from gpupanel.ui import theme
from gpupanel.ui.bindings.shown_devices import ShownDevices
from gpupanel.ui.main_window import MainWindow
from gpupanel.ui.panels.device_panel.device_card import DeviceCard
from gpupanel.ui.panels.device_panel.node_section import NodeSection
from gpupanel.ui.panels.strategy_panel.division_diagram import DivisionDiagram
from gpupanel.ui.run_page.predict.answer_list import AnswerList
from gpupanel.ui.run_page.predict.probability_bars import ProbabilityBars
from gpupanel.ui.run_state import RunState
from tests.fakes.clusters import ADDRESS, cluster_node, cluster_of
from tests.guide.pages import GUIDE

pytestmark = pytest.mark.slow

FOLDER = GUIDE / "images"
WIDEST = 700
"""Pixels: the window's Help shows pictures as large as they are."""
LARGEST = 100_000
"""Bytes."""
LEAST_COLORS = 30
MARGIN = 8
"""Pixels around what is taken."""


@pytest.fixture(params=[theme.LIGHT, theme.DARK], ids=lambda each: each.name)
def shown_theme(request: pytest.FixtureRequest, qapp: QApplication) -> Iterator[theme.Theme]:
    before = theme.current()
    theme.show(qapp, request.param)
    yield request.param
    theme.show(qapp, before)


def _take(widget: QWidget, name: str, shown: theme.Theme, height: int = 0) -> None:
    """A picture of a part of the window, kept under that name when that is asked for.

    Args:
        widget: The part.
        name: Of the picture, without the theme's.
        shown: The theme.
        height: Of what is seen of it, from above; 0: all of it.
    """
    QApplication.sendPostedEvents()
    QApplication.processEvents()
    seen = QRect(0, 0, widget.width(), height or widget.height())
    picture = QImage(seen.size() + QSize(2 * MARGIN, 2 * MARGIN), QImage.Format.Format_RGB32)
    picture.fill(shown.color("window"))
    painter = QPainter(picture)
    painter.drawPixmap(MARGIN, MARGIN, widget.grab(seen))
    painter.end()
    assert 0 < picture.width() <= WIDEST
    assert _colors(picture) > LEAST_COLORS
    if os.environ.get("GPUPANEL_WRITE_SCREENSHOTS"):
        path = FOLDER / f"{name}-{shown.name}.png"
        assert picture.save(str(path))
        assert path.stat().st_size < LARGEST


def _below(window: MainWindow, device: PhysicalDevice) -> int:
    """Where the card of a device ends."""
    (card,) = [
        each for each in window.devices.findChildren(DeviceCard) if each._device.key == device.key
    ]
    return card.mapTo(window.devices, QPoint(0, card.height())).y() + MARGIN


def _colors(picture: QImage) -> int:
    width, height = picture.width(), picture.height()
    return len({picture.pixel(x, y) for x in range(width) for y in range(height)})


def _gpus(window: MainWindow) -> tuple[PhysicalDevice, PhysicalDevice]:
    first, second = window.session.inventory.gpus
    return first, second


def _open(window: MainWindow, profile: Profile) -> None:
    window.session.open_profile(profile, None)
    window.session.prepare_now()


def test_that_the_memory_of_two_gpus_is_drawn(
    qtbot: QtBot, nvml_in_process: object, shown_theme: theme.Theme, window: MainWindow
) -> None:
    first, second = _gpus(window)
    _open(
        window,
        Profile(
            devices=DeviceSettings(visible=(first.key, second.key)),
            memory={
                first.key: LimitedMemory(limit_mib=16_384, growth=True),
                second.key: GrowingMemory(),
            },
            strategy=StrategySettings(kind=StrategyKind.MIRRORED, shares=(48, 16)),
        ),
    )
    qtbot.wait(2_000)  # some samples for the lines beside each device
    _take(window.devices, "memory-bars", shown_theme, _below(window, second))


def test_that_a_split_gpu_is_drawn(
    qtbot: QtBot, nvml_in_process: object, shown_theme: theme.Theme, window: MainWindow
) -> None:
    first, _ = _gpus(window)
    _open(
        window,
        Profile(
            devices=DeviceSettings(visible=(first.key,)),
            memory={first.key: SplitMemory(split_mib=(8_192, 8_192))},
            strategy=StrategySettings(kind=StrategyKind.MIRRORED),
        ),
    )
    qtbot.wait(1_000)
    _take(window.devices, "memory-split", shown_theme, _below(window, first))


def test_that_the_nodes_of_a_cluster_are_drawn(
    qtbot: QtBot, shown_theme: theme.Theme, window: MainWindow
) -> None:
    workers = StrategySettings(kind=StrategyKind.MULTI_WORKER)
    _open(window, Profile(cluster=ClusterSettings(address=ADDRESS), strategy=workers))
    lost = cluster_node("gamma", state=NodeState.LOST, reason="its raylet has ended")
    for moment in range(40):
        nodes = (cluster_node(name, 8, time_s=float(moment)) for name in ("alpha", "beta"))
        window.parts[ShownDevices]._see_cluster(cluster_of(*nodes, lost))
    panel = window.devices
    (gone,) = [each for each in panel.findChildren(NodeSection) if each.name == "gamma"]
    qtbot.wait(500)
    end = gone.mapTo(panel, QPoint(0, gone.height())).y() + MARGIN
    _take(panel, "cluster-devices", shown_theme, end)


@pytest.mark.tensorflow
def test_that_the_estimate_of_a_training_is_drawn(
    qtbot: QtBot, nvml_in_process: object, shown_theme: theme.Theme, window: MainWindow
) -> None:
    first, second = _gpus(window)
    _open(
        window,
        Profile(
            devices=DeviceSettings(visible=(first.key, second.key)),
            memory={"default": LimitedMemory(limit_mib=4_096)},
            strategy=StrategySettings(kind=StrategyKind.MIRRORED, shares=(12_288, 4_096)),
            model=CnnModel(filters=(256, 512), hidden=(2_048,)),
            training=TrainingSettings(global_batch_size=16_384),
        ),
    )
    estimate = window.session_page.plan.estimate
    ask = estimate.findChild(QPushButton, "estimate_memory")
    qtbot.waitUntil(ask.isEnabled, timeout=30_000)
    estimate.requested.emit()
    bars = estimate.findChild(QWidget, "memory_bars")
    qtbot.waitUntil(lambda: bars.isVisibleTo(estimate), timeout=90_000)
    qtbot.waitUntil(lambda: not window.core.preview_loader.is_busy(), timeout=30_000)
    qtbot.waitUntil(lambda: bool(window.session.preparation.largest_batch), timeout=30_000)
    _take(estimate, "memory-estimate", shown_theme)


@pytest.mark.parametrize(
    ("name", "strategy"),
    [
        ("mirrored", StrategySettings(kind=StrategyKind.MIRRORED, shares=(48, 16))),
        ("servers", StrategySettings(kind=StrategyKind.PARAMETER_SERVER)),
        (
            "layers",
            StrategySettings(
                kind=StrategyKind.MODEL_PARALLEL,
                placement={"dense_1": 0, "dense_2": 1, "outputs": 1},
            ),
        ),
    ],
)
def test_that_a_strategy_is_drawn(
    qtbot: QtBot,
    nvml_in_process: object,
    shown_theme: theme.Theme,
    window: MainWindow,
    name: str,
    strategy: StrategySettings,
) -> None:
    first, second = _gpus(window)
    _open(
        window,
        Profile(
            devices=DeviceSettings(visible=(first.key, second.key)),
            strategy=strategy,
            model=MlpModel(hidden=(256, 128)),
        ),
    )
    diagram = window.session_page.strategy.findChild(DivisionDiagram)
    qtbot.waitUntil(diagram.has_plan)
    diagram.resize(480, diagram.sizeHint().height())
    _take(diagram, f"strategy-{name}", shown_theme)


SHAPES = ("circle", "square", "triangle")


def _draw_shapes(folder: Path, count: int, seed: int) -> None:
    """Pictures of one's own: shapes of any size, place and colour, a folder for each kind."""
    random = Random(seed)
    for shape in SHAPES:
        (folder / shape).mkdir(parents=True)
        for number in range(count):
            dark, light = (tuple(random.randint(*of) for _ in range(3)) for of in _TONES)
            picture = Image.new("RGB", (48, 48), dark)
            draw = ImageDraw.Draw(picture)
            x, y, size = random.randint(14, 34), random.randint(14, 34), random.randint(9, 13)
            if shape == "circle":
                draw.ellipse((x - size, y - size, x + size, y + size), fill=light)
            elif shape == "square":
                draw.rectangle((x - size, y - size, x + size, y + size), fill=light)
            else:
                corners = ((x, y - size), (x - size, y + size), (x + size, y + size))
                draw.polygon(corners, fill=light)
            picture.save(folder / shape / f"IMG_{seed}{number:03}.png")


_TONES = ((0, 90), (150, 255))


@pytest.fixture
def photos() -> Iterator[Path]:
    """A folder whose path can be read in a picture."""
    with tempfile.TemporaryDirectory(prefix="ada-") as folder:
        _draw_shapes(Path(folder) / "photos", 160, seed=7)
        yield Path(folder) / "photos"


@pytest.mark.tensorflow
def test_that_the_way_from_own_pictures_to_a_model_is_drawn(
    qtbot: QtBot, shown_theme: theme.Theme, window: MainWindow, photos: Path, tmp_path: Path
) -> None:
    """The three pictures of the first page, of one real training."""
    profile = Profile(
        name="photos",
        devices=DeviceSettings(visible=("cpu",)),
        data=ImagesData(
            path=str(photos), image_size=(48, 48), validation_fraction=0.2, stratify=True
        ),
        model=CnnModel(filters=(16, 32, 64), hidden=(64,)),
        training=TrainingSettings(epochs=20, global_batch_size=32),
    )
    _open(window, profile)
    qtbot.waitUntil(lambda: window.session.buttons.start, timeout=60_000)
    qtbot.waitUntil(lambda: not window.core.preview_loader.is_busy(), timeout=60_000)
    qtbot.wait(1_000)  # the little pictures are drawn one by one
    _take(window.session_page.data, "first-data", shown_theme, height=436)
    window.control.start()
    qtbot.waitUntil(lambda: window.session.run_state is RunState.ENDED, timeout=300_000)
    live = window.live_page
    qtbot.waitUntil(lambda: live.predictions.single.isEnabled(), timeout=30_000)
    qtbot.wait(1_000)  # plots are drawn on a timer
    _take(live.findChild(QWidget, "loss_plot"), "first-curves", shown_theme)
    _draw_shapes(tmp_path / "new", 1, seed=8)
    window.resize(1150, 800)
    live.tabs.show_page(live.predictions)
    asked = tuple(str(file) for file in sorted((tmp_path / "new").rglob("*.png")))
    live.predictions.single.give(asked)
    answers = live.findChild(AnswerList)
    assert isinstance(answers, AnswerList)
    bars = answers.findChildren(ProbabilityBars)
    qtbot.waitUntil(lambda: all(each.isVisibleTo(answers) for each in bars), timeout=120_000)
    qtbot.wait(500)
    _take(answers, "first-answers", shown_theme, height=500)
