"""How much memory a training takes: asked for by a click, drawn, followed, used."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

import pytest
from PySide6.QtCore import QPointF
from PySide6.QtWidgets import QLabel, QPushButton, QWidget
from pytestqt.qtbot import QtBot
from typing_extensions import override

from gpupanel.domain.memory import LimitedMemory
from gpupanel.domain.model import MlpModel, PythonModel
from gpupanel.domain.model_summary import LayerSummary, ModelSummary, ParameterCounts
from gpupanel.domain.problem import Problem
from gpupanel.domain.profile import Profile
from gpupanel.domain.step_memory import MemoryPeak, StepMemory
from gpupanel.runs.questions.model_summary import summarize_model
from gpupanel.ui import theme
from gpupanel.ui.device_labels import DeviceLabels
from gpupanel.ui.panels.plan_panel.memory_bars import MemoryBars
from gpupanel.ui.tools.session_tools.layers import binding as layers_binding
from gpupanel.ui.tools.session_tools.layers.binding import TOOL as LAYERS
from gpupanel.ui.tools.session_tools.layers.binding import LayersBinding
from tests.fakes.questions import answering, asked_of
from tests.ui.tool_page import ToolPage, closing
from tests.ui.values import TWO_GPUS, mirrored

pytestmark = pytest.mark.usefixtures("undressed")

MIB = 2**20
STEP = StepMemory(
    peaks=(MemoryPeak(fixed_bytes=100 * MIB, bytes_per_example=MIB),),
    example_bytes=0,
    weight_bytes=100 * MIB,
    trainable_bytes=100 * MIB,
)
FOUND = ModelSummary(
    layers=(LayerSummary(name="a", kind="Dense"),),
    parameters=ParameterCounts(trainable=12),
    step=STEP,
)
ROOM = {"default": LimitedMemory(limit_mib=1_000, growth=True)}


class Estimate(ToolPage):
    """A page with two GPUs, and what answers for the model."""

    def __init__(self, qtbot: QtBot, summary: ModelSummary, profile: Profile) -> None:
        tool = replace(LAYERS, question=asked_of(summarize_model, answering(summary)))
        bind = partial(LayersBinding, tool=tool)
        super().__init__(qtbot, "layers", "estimate_memory", bind, profile)

    @property
    def bars(self) -> MemoryBars:
        return self.page.findChild(MemoryBars, "memory_bars")

    @override
    def button(self, name: str) -> QPushButton:
        return self.page.findChild(QPushButton, name)

    def is_shown(self, widget: QWidget) -> bool:
        return widget.isVisibleTo(self.page)

    def note(self) -> str:
        return self.page.findChild(QLabel, "memory_estimate_note").text().replace("\u200b", "")


Bind = Callable[..., Estimate]


@pytest.fixture
def bound(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bind]:
    monkeypatch.setattr(layers_binding, "FOLLOW_DELAY_MS", 1)

    def make(summary: ModelSummary = FOUND, profile: Profile | None = None) -> Estimate:
        chosen = profile or mirrored().model_copy(update={"memory": ROOM})
        return Estimate(qtbot, summary, chosen)

    with closing(make) as made:
        yield made


def test_that_a_click_draws_what_each_device_takes_and_offers_the_largest_batch(
    qtbot: QtBot, bound: Bind
) -> None:
    shown = bound()
    assert not shown.is_shown(shown.bars)
    assert not shown.is_shown(shown.button("use_largest_batch"))
    shown.button("estimate_memory").click()
    assert shown.note() == "Building the model…"
    assert not shown.button("estimate_memory").isEnabled()
    qtbot.waitUntil(lambda: shown.is_shown(shown.bars))
    assert not shown.is_shown(shown.button("estimate_memory"))
    words = shown.bars.accessibleDescription()
    assert "RTX 4090, 500 MiB of 1,000 MiB (limit): weights 100 MiB" in words
    assert "optimizer 200 MiB" in words
    assert "overhead 500 MiB besides" in words
    assert shown.note() == ("1 layer, 12 parameters: 48 bytes. A global batch of up to 1,042 fits.")
    shown.button("use_largest_batch").click()
    assert shown.session.profile.training.global_batch_size == 1_042
    shown.session.prepare_now()
    assert not shown.is_shown(shown.button("use_largest_batch"))


def test_that_given_shares_keep_their_proportions_when_the_batch_is_used(
    qtbot: QtBot, bound: Bind
) -> None:
    shown = bound(profile=mirrored((48, 16)).model_copy(update={"memory": ROOM}))
    shown.button("estimate_memory").click()
    qtbot.waitUntil(lambda: shown.is_shown(shown.button("use_largest_batch")))
    shown.button("use_largest_batch").click()
    profile = shown.session.profile
    assert sum(profile.strategy.shares) == profile.training.global_batch_size
    assert profile.strategy.shares[0] == pytest.approx(3 * profile.strategy.shares[1], abs=2)


def test_that_changes_are_followed_once_somebody_has_asked(qtbot: QtBot, bound: Bind) -> None:
    shown = bound()
    other = shown.session.profile.model_copy(update={"model": MlpModel(hidden=(7,))})
    shown.session.edit(other)
    qtbot.wait(20)
    assert not shown.worker.is_busy()
    shown.button("estimate_memory").click()
    qtbot.waitUntil(lambda: shown.is_shown(shown.bars))
    # Batch and shares are calculated with; another model is built.
    bigger = other.training.model_copy(update={"global_batch_size": 128})
    shown.session.edit(other.model_copy(update={"training": bigger}))
    shown.session.prepare_now()
    assert shown.session.preparation.memory[0].examples == 64
    assert not shown.worker.is_busy()
    shown.session.edit(other.model_copy(update={"model": MlpModel(hidden=(8,))}))
    shown.session.prepare_now()
    assert not shown.is_shown(shown.bars)
    qtbot.waitUntil(lambda: shown.is_shown(shown.bars))


def test_that_why_there_is_no_estimate_is_said(qtbot: QtBot, bound: Bind) -> None:
    problem = Problem(code="data_file_missing", message="There is no such file.")
    shown = bound(ModelSummary(problems=(problem,)))
    shown.button("estimate_memory").click()
    qtbot.waitUntil(lambda: shown.note() == "There is no such file.")
    assert shown.button("estimate_memory").isEnabled()
    shown = bound(FOUND.model_copy(update={"step": None}))
    shown.button("estimate_memory").click()
    qtbot.waitUntil(lambda: "could not be estimated" in shown.note())
    code = shown.session.profile.model_copy(update={"model": PythonModel(path="/m.py")})
    shown = bound(ModelSummary(needs_start=True), code)
    shown.button("estimate_memory").click()
    qtbot.waitUntil(lambda: "come from Python code" in shown.note())


def test_that_other_tasks_are_not_estimated(bound: Bind) -> None:
    shown = bound()
    shown.session.edit(shown.session.profile.model_copy(update={"task": "evaluate"}))
    assert not shown.is_shown(shown.page.plan.estimate)


def bars_of(qtbot: QtBot, shown: Estimate, width: int) -> MemoryBars:
    bars = MemoryBars()
    qtbot.addWidget(bars)
    bars.setMemories(shown.session.preparation.memory, DeviceLabels(TWO_GPUS))
    bars.resize(width, 200)
    return bars


def test_that_bars_are_painted_in_both_themes_and_explained(qtbot: QtBot, bound: Bind) -> None:
    shown = bound()
    large = (MemoryPeak(fixed_bytes=9 * MIB, bytes_per_example=99 * MIB),)
    shown.session.set_built(
        layers_binding.summary_request(shown.session.profile),
        ModelSummary(step=STEP.model_copy(update={"peaks": large})),
    )
    shown.session.prepare_now()
    bars = MemoryBars()
    qtbot.addWidget(bars)
    bars.setMemories(shown.session.preparation.memory, DeviceLabels(TWO_GPUS))
    bars.resize(400, bars.sizeHint().height())
    for each in (theme.LIGHT, theme.DARK):
        with theme.painted_in(each):
            image = bars.grab().toImage()
            colors = {
                image.pixelColor(x, y).name()
                for x in range(image.width())
                for y in range(image.height())
            }
            assert each.color("error").name() in colors  # the limit, which is passed
    narrow, wide = (bars_of(qtbot, shown, width).sizeHint().height() for width in (200, 900))
    assert narrow > wide  # the legend has more lines, and no word is cut off
    assert "RTX 4090" in bars.tip_at(QPointF(5.0, 5.0))
    assert "RTX 3060" in bars.tip_at(QPointF(5.0, bars.height() / 2.0))
    assert bars.tip_at(QPointF(5.0, bars.height() - 1.0)) == ""
    problems = shown.session.preparation.problems
    assert "estimate_above_memory" in [problem.code for problem in problems]
