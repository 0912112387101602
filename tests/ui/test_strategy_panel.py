import pytest
from hypothesis import HealthCheck, given, settings
from PySide6.QtGui import QColor, QImage
from PySide6.QtWidgets import QComboBox
from pytestqt.qtbot import QtBot

from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.strategy import StrategyKind, StrategySettings
from gpupanel.planning.prepare import prepare
from gpupanel.ui import theme
from gpupanel.ui.panels.strategy_panel import StrategyPanel
from gpupanel.ui.panels.strategy_panel.division_diagram import DivisionDiagram
from gpupanel.ui.panels.strategy_panel.share_fields import ShareFields
from gpupanel.ui.widgets.counter import Counter
from gpupanel.ui.widgets.settings_form import Note
from tests.ui.values import STRATEGIES, TWO_GPUS, mirrored


@pytest.fixture
def panel(qtbot: QtBot) -> StrategyPanel:
    panel = StrategyPanel()
    qtbot.addWidget(panel)
    panel.setInventory(TWO_GPUS)
    return panel


def _plan(shares: str | tuple[int, ...] = "equal") -> LaunchPlan:
    plan = prepare(mirrored(shares), TWO_GPUS).plan
    assert plan is not None
    return plan


def _box(panel: StrategyPanel, name: str) -> QComboBox:
    box = panel.findChild(QComboBox, name)
    assert box is not None
    return box


def _choose(panel: StrategyPanel, name: str, value: str) -> None:
    box = _box(panel, name)
    box.setCurrentIndex(box.findData(value))


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(value=STRATEGIES)
def test_that_every_value_comes_back_unchanged_and_unannounced(panel, value):
    heard = []
    panel.valueChanged.connect(heard.append)
    panel.setValue(value)
    assert panel.value() == value
    assert heard == []


def test_that_only_strategies_that_train_are_offered(panel):
    box = _box(panel, "strategy_chooser")
    assert [box.itemData(index) for index in range(box.count())] == ["one_device", "mirrored"]


def test_that_a_strategy_of_another_version_is_shown_until_another_is_chosen(panel):
    panel.setValue(StrategySettings(kind=StrategyKind.MULTI_WORKER, workers=2))
    box = _box(panel, "strategy_chooser")
    assert box.currentText() == "Multi worker (not usable)"
    assert any("cannot train with" in note.text() for note in panel.findChildren(Note))
    _choose(panel, "strategy_chooser", "mirrored")
    assert panel.value() == StrategySettings(kind=StrategyKind.MIRRORED, workers=2)
    assert box.count() == 2


def test_that_shares_by_hand_start_from_those_of_the_plan(panel):
    panel.setValue(StrategySettings(kind=StrategyKind.MIRRORED))
    panel.setPlan(_plan())
    heard = []
    panel.valueChanged.connect(heard.append)
    _choose(panel, "shares_chooser", "by_hand")
    assert [value.shares for value in heard] == [(32, 32)]


def test_that_without_a_plan_shares_by_hand_are_refused_in_words(panel):
    panel.setValue(StrategySettings(kind=StrategyKind.MIRRORED))
    _choose(panel, "shares_chooser", "by_hand")
    assert panel.value().shares == "equal"
    assert _box(panel, "shares_chooser").currentText() == "Equal"
    assert any("mend the problems first" in note.text() for note in panel.findChildren(Note))


def test_that_each_replica_has_a_field_for_its_share(panel):
    panel.setValue(StrategySettings(kind=StrategyKind.MIRRORED, shares=(48, 16)))
    panel.setPlan(_plan((48, 16)))
    fields = panel.findChild(ShareFields)
    second = next(
        each for each in fields.findChildren(Counter) if "replica 1" in each.accessibleName()
    )
    heard = []
    panel.valueChanged.connect(heard.append)
    second.stepUp()
    assert [value.shares for value in heard] == [(48, 17)]


def test_that_one_device_has_no_shares_and_the_typed_ones_come_back(panel):
    panel.setValue(StrategySettings(kind=StrategyKind.MIRRORED, shares=(48, 16)))
    _choose(panel, "strategy_chooser", "one_device")
    assert panel.value().shares == "equal"
    assert _box(panel, "shares_chooser").isHidden()
    _choose(panel, "strategy_chooser", "mirrored")
    assert panel.value().shares == (48, 16)


def test_that_balanced_shares_of_a_profile_are_kept_and_said_to_be_unusable(panel):
    panel.setValue(StrategySettings(kind=StrategyKind.MIRRORED, shares="balanced"))
    assert _box(panel, "shares_chooser").currentText() == "Balanced (not usable)"
    assert panel.value().shares == "balanced"


def _pixels(image: QImage) -> set[int]:
    return {
        image.pixel(x, y) for x in range(0, image.width(), 2) for y in range(0, image.height(), 2)
    }


def test_that_the_diagram_is_painted_in_the_colours_of_the_devices(panel, qtbot):
    panel.setPlan(_plan((48, 16)))
    diagram = panel.findChild(DivisionDiagram)
    diagram.resize(400, diagram.sizeHint().height())
    pixels = _pixels(diagram.grab().toImage())
    for index in (0, 1):
        assert QColor(theme.device_color(index)).rgb() in pixels
    assert theme.device_color(2).rgb() not in pixels


def test_that_the_diagram_says_the_plan_to_those_who_cannot_see_it(panel):
    panel.setPlan(_plan((48, 16)))
    words = panel.findChild(DivisionDiagram).accessibleDescription()
    assert "replica 0 on RTX 4090 takes 48" in words
    assert "replica 1 on RTX 3060 takes 16" in words


def test_that_the_last_diagram_fades_when_there_is_no_plan(panel):
    panel.setPlan(_plan())
    diagram = panel.findChild(DivisionDiagram)
    diagram.resize(400, diagram.sizeHint().height())
    panel.setPlan(None)
    assert theme.device_color(0).rgb() not in _pixels(diagram.grab().toImage())
    assert diagram.accessibleDescription().startswith("No plan now")
