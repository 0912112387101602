"""Layers on several devices as a bar: known after an estimate, dragged, balanced."""

from collections.abc import Callable, Iterator
from functools import partial

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from gpupanel.domain.model import ResNetModel
from gpupanel.domain.model_summary import ModelSummary, summary_request
from gpupanel.domain.strategy import StrategyKind, StrategySettings
from gpupanel.domain.training import TrainingSettings
from gpupanel.ui.panels.plan_panel.stage_part import StagePart
from gpupanel.ui.tools.session_tools.layers.binding import TOOL as LAYERS
from gpupanel.ui.tools.session_tools.layers.binding import LayersBinding
from gpupanel.ui.widgets.share_bar import ShareBar
from tests.fakes.step_variants import LARGE, VARIANTS
from tests.ui.tool_page import ToolPage, closing
from tests.ui.values import mirrored

pytestmark = pytest.mark.usefixtures("undressed")

NAMES = [layer.name for layer in LARGE.layers]
Bind = Callable[..., ToolPage]


@pytest.fixture
def bound(qtbot: QtBot) -> Iterator[Bind]:
    def make(placement: object = "auto") -> ToolPage:
        strategy = StrategySettings(kind=StrategyKind.MODEL_PARALLEL, placement=placement)
        changes = {
            "model": ResNetModel(),
            "strategy": strategy,
            "training": TrainingSettings(global_batch_size=8),
        }
        profile = mirrored().model_copy(update=changes)
        bind = partial(LayersBinding, tool=LAYERS)
        page = ToolPage(qtbot, "layers", "estimate_memory", bind, profile)
        request = summary_request(profile, with_variants=True)
        page.session.set_built(request, ModelSummary(step=LARGE, variants=VARIANTS))
        page.session.prepare_now()
        return page

    with closing(make) as made:
        yield made


def bar(shown: ToolPage) -> ShareBar:
    return shown.page.findChild(ShareBar, "stage_bar")


def placement(shown: ToolPage) -> object:
    return shown.session.profile.strategy.placement


def test_that_layers_are_drawn_once_they_are_known(bound: Bind) -> None:
    shown = bound()
    assert bar(shown).shares() == (10, 10)
    words = bar(shown).accessibleDescription()
    assert "RTX 4090: 10 of 20 layers, 50% of the work" in words
    shown.session.edit(mirrored())
    shown.session.prepare_now()
    assert not shown.page.findChild(StagePart).isVisibleTo(shown.page)


def test_that_a_border_moves_layers(qtbot: QtBot, bound: Bind) -> None:
    shown = bound()
    qtbot.keyClick(bar(shown), Qt.Key.Key_Right)
    assert placement(shown) == {name: int(number > 10) for number, name in enumerate(NAMES)}
    shown.session.prepare_now()
    assert bar(shown).shares() == (11, 9)
    first, second = shown.session.preparation.memory
    assert first.weights_mib > second.weights_mib


def test_that_layers_are_balanced_by_a_click(bound: Bind) -> None:
    shown = bound({NAMES[0]: 0, NAMES[3]: 1})
    assert bar(shown).shares() == (3, 17)
    button = shown.page.findChild(QPushButton, "balance_stages")
    assert button.isEnabled()
    button.click()
    shown.session.prepare_now()
    assert bar(shown).shares() == (10, 10)
    assert not button.isEnabled()


def test_that_layers_that_do_not_follow_each_other_are_no_bar(bound: Bind) -> None:
    shown = bound({NAMES[0]: 1, NAMES[3]: 0})
    assert not shown.page.findChild(StagePart).isVisibleTo(shown.page)
