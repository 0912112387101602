"""A diagram of its own for each strategy, in the colours of the devices."""

import pytest
from PySide6.QtGui import QColor, QImage

from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.domain.strategy import StrategyKind, StrategySettings
from gpupanel.planning.prepare import prepare
from gpupanel.ui import theme
from gpupanel.ui.device_labels import DeviceLabels
from gpupanel.ui.panels.strategy_panel.diagrams.diagram import Division
from gpupanel.ui.panels.strategy_panel.division_diagram import DivisionDiagram
from tests.ui.values import TWO_GPUS

LABELS = DeviceLabels(TWO_GPUS)
WIDTH = 480


def _plan(**strategy: object) -> LaunchPlan:
    profile = Profile(strategy=StrategySettings.model_validate(strategy))
    plan = prepare(profile, TWO_GPUS).plan
    assert plan is not None
    return plan


@pytest.fixture
def diagram(qtbot) -> DivisionDiagram:
    diagram = DivisionDiagram()
    qtbot.addWidget(diagram)
    return diagram


def _image(diagram: DivisionDiagram, division: Division) -> QImage:
    diagram.setDivision(division)
    diagram.resize(WIDTH, diagram.sizeHint().height())
    return diagram.grab().toImage()


def _pixels(image: QImage) -> set[int]:
    return {
        image.pixel(x, y) for x in range(0, image.width(), 2) for y in range(0, image.height(), 2)
    }


def test_that_each_strategy_has_a_image_of_its_own(diagram):
    seen: list[QImage] = []
    for kind in StrategyKind:
        image = _image(diagram, Division(_plan(kind=kind), LABELS))
        assert all(image != each for each in seen), kind
        seen.append(image)


@pytest.mark.parametrize("kind", [kind for kind in StrategyKind if kind != "one_device"])
def test_that_a_image_shows_the_devices_in_their_colours(diagram, kind):
    pixels = _pixels(_image(diagram, Division(_plan(kind=kind), LABELS)))
    assert QColor(theme.device_color(0)).rgb() in pixels
    assert QColor(theme.device_color(1)).rgb() in pixels


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("central_storage", "the weights, once: gradients summed"),
        ("multi_worker", "Replica 1 \N{MIDDLE DOT} RTX 3060 in worker 1 takes 32"),
        ("parameter_server", "worker 0 on RTX 4090; worker 1 on RTX 3060; parameter server 0"),
        ("model_parallel", "RTX 4090: layers chosen at start; RTX 3060: layers chosen at start"),
    ],
)
def test_that_a_image_is_described_to_those_who_cannot_see_it(diagram, kind, words):
    diagram.setDivision(Division(_plan(kind=kind), LABELS))
    assert words in diagram.accessibleDescription()


def test_that_layers_stand_on_the_devices_that_were_chosen_for_them(diagram):
    placed = tuple((f"dense_{number}", number // 8) for number in range(1, 10))
    diagram.setDivision(Division(_plan(kind="model_parallel"), LABELS, placement=placed))
    assert (
        "RTX 4090: dense_1, dense_2, dense_3, dense_4, dense_5, and 2 more; "
        "RTX 3060: dense_8, dense_9." in diagram.accessibleDescription()
    )


def test_that_a_divided_state_of_the_optimizer_is_drawn_with_its_parts(diagram):
    whole = _image(diagram, Division(_plan(kind="mirrored"), LABELS))
    divided = _image(diagram, Division(_plan(kind="mirrored", optimizer_state=(3, 1)), LABELS))
    assert divided.height() > whole.height()
    words = diagram.accessibleDescription()
    assert "75 % of the state" in words
    assert "each updates its part, for all" in words
    assert "hands it to the others" in diagram.toolTip()


@pytest.mark.parametrize(
    ("task", "words"), [("evaluate", "counts summed"), ("predict", "in the order of the input")]
)
def test_that_no_gradients_are_drawn_where_nothing_is_trained(diagram, task, words):
    diagram.setDivision(Division(_plan(kind="mirrored"), LABELS, task))
    assert words in diagram.accessibleDescription()
    assert "gradient" not in diagram.accessibleDescription()


def test_that_many_replicas_still_fit(diagram):
    profile = Profile(
        devices=DeviceSettings(visible=("cpu",), cpu_replicas=16),
        strategy=StrategySettings(kind=StrategyKind.PARAMETER_SERVER, parameter_servers=9),
    )
    plan = prepare(profile, TWO_GPUS).plan
    assert plan is not None
    image = _image(diagram, Division(plan, LABELS))
    assert image.width() == WIDTH
    assert QColor(theme.device_color(theme.PROCESSOR_COLOR)).rgb() in _pixels(image)
