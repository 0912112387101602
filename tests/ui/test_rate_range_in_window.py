"""A learning rate is found in the window: asked for by a click, drawn, chosen, used."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QGuiApplication, QWheelEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from gpupanel.domain.problem import Problem
from gpupanel.domain.rate_range import RatePoint, RateRange, rates
from gpupanel.domain.training import TrainingSettings
from gpupanel.runs.questions.rate_range import try_learning_rates
from gpupanel.ui import theme
from gpupanel.ui.plots.rate_range_plot import RateRangePlot
from gpupanel.ui.tools.session_tools.rate_range.binding import TOOL as RATE_RANGE
from gpupanel.ui.tools.session_tools.rate_range.binding import RateRangeBinding
from gpupanel.ui.widgets.problem_row import ProblemRow
from tests.fakes.questions import answering, asked_of
from tests.forked.processes import child_processes
from tests.ui.tool_page import ToolPage, closing

FOUND = RateRange(
    points=tuple(
        RatePoint(rate=rate, loss=2.0 - number / 100, smoothed=2.1 - number / 100)
        for number, rate in enumerate(rates()[:106])
    ),
    suggested=0.02,
)


Bind = Callable[[str], ToolPage]


@pytest.fixture
def bound(qtbot: QtBot) -> Iterator[Bind]:
    def make(code: str) -> ToolPage:
        tool = replace(RATE_RANGE, question=asked_of(try_learning_rates, code))
        bind = partial(RateRangeBinding, tool=tool)
        return ToolPage(qtbot, "rate_range", "find_learning_rate", bind)

    with closing(make) as made:
        yield made


def test_that_a_rate_is_found_and_used(qtbot: QtBot, bound: Bind) -> None:
    shown = bound(answering(FOUND))
    shown.click()
    assert not shown.button("use").isEnabled()
    qtbot.waitUntil(lambda: shown.dialog.answer() is not None)
    assert "falls fastest at a learning rate of 0.02" in shown.label("sentence")
    shown.button("copy").click()
    assert "Learning rate\tLoss\tSmoothed\n1e-07\t2\t2.1" in QGuiApplication.clipboard().text()
    # A change of the rate itself makes nothing outdated, another one does.
    faster = shown.session.profile.training.model_copy(update={"learning_rate": 0.5})
    shown.session.edit(shown.session.profile.model_copy(update={"training": faster}))
    assert shown.label("verdict") == "Learning rate"
    other = TrainingSettings(global_batch_size=16)
    shown.session.edit(shown.session.profile.model_copy(update={"training": other}))
    assert shown.label("verdict") == "Outdated"
    assert shown.button("use").text() == "&Use 0.02"
    shown.button("use").click()
    assert shown.session.profile.training.learning_rate == 0.02
    assert not shown.dialog.isVisible()


def test_that_another_rate_is_chosen_by_a_click_into_the_plot(qtbot: QtBot, bound: Bind) -> None:
    shown = bound(answering(FOUND))
    shown.click()
    qtbot.waitUntil(lambda: shown.dialog.answer() is not None)
    plot = shown.dialog.findChild(RateRangePlot)
    plot.resize(600, 400)
    qtbot.mouseClick(plot.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(1, 50))
    assert plot.chosen() == pytest.approx(1e-7)
    qtbot.mouseClick(plot.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(300, 50))
    assert 1e-5 < plot.chosen() < 1e-2
    assert shown.button("use").text() == f"&Use {plot.chosen():g}"
    # By keys, too: to the next of two digits.
    qtbot.keyClick(plot, Qt.Key.Key_Home)
    before = plot.chosen()
    qtbot.keyClick(plot, Qt.Key.Key_Right)
    assert 1.05 * before < plot.chosen() < 1.2 * before
    qtbot.keyClick(plot, Qt.Key.Key_Left)
    assert plot.chosen() == pytest.approx(before, rel=0.05)
    assert f"{plot.chosen():g} is chosen" in plot.accessibleDescription()
    labels = [text for _, text in plot.ticks("bottom")]
    assert labels[:2] == ["1e-7", "1e-6"]
    for each in (theme.LIGHT, theme.DARK):
        with theme.painted_in(each):
            plot.recolor()
            image = plot.grab().toImage()
            colors = {
                image.pixelColor(x, y).name()
                for x in range(image.width())
                for y in range(image.height())
            }
            assert each.color("accent").name() in colors


def test_that_a_plot_of_one_step_or_none_is_painted(qtbot: QtBot) -> None:
    plot = RateRangePlot()
    qtbot.addWidget(plot)
    plot.resize(400, 300)
    huge = (RatePoint(rate=rate, loss=-1e308, smoothed=1e308) for rate in (1e-300, 1.0, 1e300))
    equal = (RatePoint(rate=1.0, loss=1.0, smoothed=1.0),) * 3
    for points in ((), FOUND.points[:1], equal, tuple(huge)):
        plot.setPoints(points, None)
        plot.grab()
        qtbot.mouseClick(plot.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(200, 50))
        assert (plot.chosen() is None) == (not points)


def test_that_the_wheel_over_a_plot_scrolls_what_it_stands_in(qtbot: QtBot) -> None:
    plot = RateRangePlot()
    qtbot.addWidget(plot)
    plot.resize(400, 300)
    plot.setPoints(FOUND.points, FOUND.suggested)
    shown = plot.ticks("bottom")
    for x in (10.0, 200.0):
        turned = (QPointF(x, 50.0), QPointF(x, 50.0), QPoint(), QPoint(0, 120))
        buttons = (Qt.MouseButton.NoButton, Qt.KeyboardModifier.NoModifier)
        event = QWheelEvent(*turned, *buttons, Qt.ScrollPhase.NoScrollPhase, False)
        QApplication.sendEvent(plot.viewport(), event)
        assert not event.isAccepted()
    assert plot.ticks("bottom") == shown


def test_that_why_nothing_could_be_tried_is_shown(qtbot: QtBot, bound: Bind) -> None:
    problem = Problem(code="data_file_missing", message="There is no such file.")
    shown = bound(answering(RateRange(problems=(problem,))))
    shown.click()
    qtbot.waitUntil(lambda: shown.dialog.answer() is not None)
    assert shown.dialog.findChild(ProblemRow).problem() == problem
    assert not shown.button("use").isEnabled()
    assert not shown.button("copy").isEnabled()
    shown = bound(answering(RateRange(needs_start=True)))
    shown.click()
    qtbot.waitUntil(lambda: shown.dialog.answer() is not None)
    assert "Python code" in shown.label("sentence")


def test_that_a_test_is_stopped_by_its_button_and_by_closing(qtbot: QtBot, bound: Bind) -> None:
    shown = bound(answering(FOUND, wait_s=60.0))
    shown.click()
    assert shown.label("verdict") == "Trying learning rates…"
    qtbot.waitUntil(lambda: bool(child_processes()))
    shown.button("cancel").click()
    qtbot.waitUntil(lambda: not child_processes())
    assert shown.label("verdict") == "Not tried yet"
    shown.button("again").click()
    qtbot.waitUntil(lambda: bool(child_processes()))
    shown.dialog.close()
    qtbot.waitUntil(lambda: not child_processes())
    assert shown.dialog.answer() is None
