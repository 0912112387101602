"""The ways in which a training fits: found where it does not, shown, and taken by a click."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

import pytest
from PySide6.QtWidgets import QLabel, QPushButton
from pytestqt.qtbot import QtBot
from typing_extensions import override

from gpupanel.domain.model import ResNetModel
from gpupanel.domain.model_summary import LayerSummary, ModelSummary, ParameterCounts
from gpupanel.domain.profile import Profile
from gpupanel.domain.strategy import StrategyKind, StrategySettings
from gpupanel.domain.training import TrainingSettings
from gpupanel.runs.questions.model_summary import summarize_model
from gpupanel.ui.panels.plan_panel.ladder_list import LadderList, RungRow
from gpupanel.ui.tools.session_tools.layers import binding as layers_binding
from gpupanel.ui.tools.session_tools.layers.binding import TOOL as LAYERS
from gpupanel.ui.tools.session_tools.layers.binding import LayersBinding
from tests.fakes.questions import answering, asked_of
from tests.fakes.step_variants import LARGE, VARIANTS
from tests.ui.tool_page import ToolPage, closing
from tests.ui.values import mirrored

pytestmark = pytest.mark.usefixtures("undressed")

FOUND = ModelSummary(
    layers=(LayerSummary(name="a", kind="Dense"),),
    parameters=ParameterCounts(trainable=12),
    step=LARGE,
    variants=VARIANTS,
)


class Ways(ToolPage):
    """A page with two GPUs, and what answers for the model."""

    def __init__(self, qtbot: QtBot, profile: Profile, summary: ModelSummary) -> None:
        tool = replace(LAYERS, question=asked_of(summarize_model, answering(summary)))
        super().__init__(
            qtbot, "layers", "estimate_memory", partial(LayersBinding, tool=tool), profile
        )

    @property
    def ladder(self) -> LadderList:
        return self.page.findChild(LadderList, "ladder")

    @property
    def rows(self) -> list[RungRow]:
        return [row for row in self.ladder.findChildren(RungRow) if row.isVisibleTo(self.page)]

    @override
    def button(self, name: str) -> QPushButton:
        return self.page.findChild(QPushButton, name)

    def is_shown(self, name: str) -> bool:
        return self.button(name).isVisibleTo(self.page)


Bind = Callable[..., Ways]


@pytest.fixture
def bound(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bind]:
    monkeypatch.setattr(layers_binding, "FOLLOW_DELAY_MS", 1)
    monkeypatch.setattr(layers_binding, "LADDER_DELAY_MS", 1)

    def make(
        batch: int = 128, strategy: StrategySettings | None = None, summary: ModelSummary = FOUND
    ) -> Ways:
        profile = mirrored().model_copy(
            update={
                "model": ResNetModel(),
                "training": TrainingSettings(global_batch_size=batch),
                "strategy": strategy or StrategySettings(kind=StrategyKind.MIRRORED),
            }
        )
        return Ways(qtbot, profile, summary)

    with closing(make) as made:
        yield made


def test_that_a_session_that_does_not_fit_shows_the_ways_without_being_asked(
    qtbot: QtBot, bound: Bind
) -> None:
    shown = bound()
    assert not shown.ladder.isVisibleTo(shown.page)
    shown.button("estimate_memory").click()
    qtbot.waitUntil(lambda: len(shown.rows) == 5)
    as_it_is, *ways = (row.rung() for row in shown.rows)
    assert (as_it_is.title, as_it_is.fits) == ("As it is", False)
    assert all(way.fits and way.fix is not None for way in ways)
    assert [way.time for way in ways] == sorted(way.time for way in ways)
    words = [label.text() for label in shown.rows[0].findChildren(QLabel)]
    told = next(each for each in words if "does not fit" in each)
    assert "RTX\N{NO-BREAK SPACE}4090" in told


def test_that_one_click_takes_a_way_and_the_session_fits(qtbot: QtBot, bound: Bind) -> None:
    shown = bound()
    shown.button("estimate_memory").click()
    qtbot.waitUntil(lambda: len(shown.rows) == 5)
    way = shown.rows[1].rung()
    shown.rows[1].findChild(QPushButton).click()
    preparation = shown.session.prepare_now()
    assert preparation.memory == way.memory
    assert all(each.fits for each in preparation.memory)
    # The others stay to be compared with it; the model need not be built again for that.
    qtbot.waitUntil(lambda: shown.rows and shown.rows[0].rung().fits)
    assert not shown.worker.is_busy()
    shown.session.undo()
    preparation = shown.session.prepare_now()
    assert not all(each.fits for each in preparation.memory)


def test_that_ways_of_a_session_that_fits_are_shown_on_request(qtbot: QtBot, bound: Bind) -> None:
    shown = bound(batch=8, summary=FOUND.model_copy(update={"variants": ()}))
    shown.button("estimate_memory").click()
    qtbot.waitUntil(lambda: shown.is_shown("find_ways"))
    assert not shown.ladder.isVisibleTo(shown.page)
    shown = bound(batch=8)
    shown.button("estimate_memory").click()
    qtbot.waitUntil(lambda: shown.is_shown("find_ways"))
    shown.button("find_ways").click()
    qtbot.waitUntil(lambda: bool(shown.rows))
    assert shown.rows[0].rung().fits
    assert not shown.is_shown("find_ways")


def test_that_all_ways_are_a_click_away(qtbot: QtBot, bound: Bind) -> None:
    shown = bound()
    shown.button("estimate_memory").click()
    qtbot.waitUntil(lambda: len(shown.rows) == 5)
    shown.button("ladder_more").click()
    rungs = [row.rung() for row in shown.rows]
    assert rungs == list(shown.ladder.ladder().rungs)
    shown.button("ladder_more").click()
    assert len(shown.rows) == 5


def test_that_layers_on_several_devices_are_estimated(qtbot: QtBot, bound: Bind) -> None:
    placed = StrategySettings(kind=StrategyKind.MODEL_PARALLEL, placement="auto")
    shown = bound(strategy=placed)
    assert shown.session.prepare_now().memory == ()
    shown.button("estimate_memory").click()
    qtbot.waitUntil(lambda: len(shown.session.prepare_now().memory) == 2)
    first, second = shown.session.preparation.memory
    # Equal layers, divided evenly: each holds half of the weights.
    assert (first.weights_mib, second.weights_mib) == (pytest.approx(750, abs=2),) * 2


def test_that_layers_are_looked_at_once_they_are_divided(qtbot: QtBot, bound: Bind) -> None:
    shown = bound(batch=8)
    shown.button("estimate_memory").click()
    qtbot.waitUntil(lambda: bool(shown.session.prepare_now().memory))
    assert shown.binding._request is not None
    assert not shown.binding._request.with_variants
    placed = StrategySettings(kind=StrategyKind.MODEL_PARALLEL, placement="auto")
    shown.session.edit(shown.session.profile.model_copy(update={"strategy": placed}))
    qtbot.waitUntil(lambda: shown.binding._request.with_variants)
