"""How fast examples are read, in the window: asked for by a click, shown, stopped, copied."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QPushButton, QWidget
from pytestqt.qtbot import QtBot

from gpupanel.domain.problem import Problem
from gpupanel.domain.profile import Profile
from gpupanel.domain.read_speed import ReadSpeed
from gpupanel.runs.questions.read_speed import measure_reading
from gpupanel.ui.tools.session_tool_binding import SessionToolBinding
from gpupanel.ui.tools.session_tools.read_speed import TOOL as READ_SPEED
from gpupanel.ui.widgets.facts_card import FactsCard
from gpupanel.ui.widgets.problem_row import ProblemRow
from tests.fakes.questions import answering, asked_of
from tests.forked.processes import child_processes
from tests.ui.tool_page import ToolPage, closing

pytestmark = pytest.mark.usefixtures("undressed")

FOUND = ReadSpeed(
    examples=60_000, example_bytes=3 * 2**20, read_examples=30, read_seconds=4.0, opening_seconds=2
)
Bind = Callable[[str], ToolPage]


@pytest.fixture
def bound(qtbot: QtBot) -> Iterator[Bind]:
    def make(code: str) -> ToolPage:
        tool = replace(READ_SPEED, question=asked_of(measure_reading, code))
        bind = partial(SessionToolBinding, tool=tool)
        return ToolPage(qtbot, "read_speed", "read_speed_button", bind)

    with closing(make) as made:
        yield made


def answered(qtbot: QtBot, bound: Bind, found: ReadSpeed) -> ToolPage:
    shown = bound(answering(found))
    shown.click()
    qtbot.waitUntil(lambda: shown.dialog.answer() is not None)
    return shown


def test_that_the_speed_is_said_with_what_it_follows_from_and_can_be_copied(
    qtbot: QtBot, bound: Bind
) -> None:
    shown = answered(qtbot, bound, FOUND)
    assert shown.label("verdict") == "Reading speed"
    assert shown.label("sentence").startswith("7.5 examples a second can be read")
    assert shown.dialog.findChild(FactsCard) is not None
    shown.button("copy").click()
    copied = QGuiApplication.clipboard().text()
    assert copied.startswith(shown.label("sentence"))
    assert "Read\t30 examples in 4.0 s\nTraining examples\t60,000\n" in copied
    assert "One example\t3.0 MiB in memory\nOpening the data\t2.0 s" in copied


def test_that_it_is_outdated_by_another_batch_but_not_by_another_rate(
    qtbot: QtBot, bound: Bind
) -> None:
    shown = answered(qtbot, bound, FOUND)
    for update, verdict in (
        ({"learning_rate": 0.5}, "Reading speed"),
        ({"global_batch_size": 7}, "Outdated"),
    ):
        profile = shown.session.profile
        training = profile.training.model_copy(update=update)
        shown.session.edit(profile.model_copy(update={"training": training}))
        assert shown.label("verdict") == verdict
    shown.dialog.close()
    shown.click()
    assert shown.dialog.answer() is None, "what was known is of another batch"


@pytest.mark.parametrize(
    ("found", "verdict", "words"),
    [
        (ReadSpeed(needs_download=True), "Nothing was read", "download it first"),
        (ReadSpeed(needs_start=True), "Nothing was read", "executed by a run only"),
        (ReadSpeed(examples=9, is_in_memory=True), "Reading speed", "no step waits for them"),
    ],
)
def test_that_what_needs_no_reading_or_cannot_be_read_is_said(
    qtbot: QtBot, bound: Bind, found: ReadSpeed, verdict: str, words: str
) -> None:
    shown = answered(qtbot, bound, found)
    assert shown.label("verdict") == verdict
    assert words in shown.label("sentence")
    assert shown.button("copy").isEnabled() == bool(found.examples)


def test_that_why_nothing_could_be_read_is_shown(qtbot: QtBot, bound: Bind) -> None:
    problem = Problem(code="data_folder_missing", message="There is no such folder.")
    shown = answered(qtbot, bound, ReadSpeed(problems=(problem,)))
    assert shown.label("verdict") == "Nothing was read"
    assert shown.dialog.findChild(ProblemRow).problem() == problem
    assert not shown.button("copy").isEnabled()
    shown = bound("import os; os.abort()")
    shown.click()
    qtbot.waitUntil(lambda: shown.dialog.answer() is not None)
    assert "was killed" in shown.dialog.findChild(ProblemRow).problem().message


@pytest.mark.parametrize("how", ["its button", "Escape"])
def test_that_reading_is_ended_by_its_button_and_by_escape(
    qtbot: QtBot, bound: Bind, how: str
) -> None:
    shown = bound(answering(FOUND, wait_s=60.0))
    shown.click()
    assert shown.label("verdict") == "Reading examples…"
    assert not shown.button("again").isEnabled()
    qtbot.waitUntil(lambda: bool(child_processes()))
    if how == "Escape":
        qtbot.keyClick(shown.dialog, Qt.Key.Key_Escape)
        assert not shown.dialog.isVisible()
    else:
        shown.button("cancel").click()
        assert shown.label("verdict") == "Not measured yet"
    qtbot.waitUntil(lambda: not child_processes())
    assert shown.dialog.answer() is None


def test_that_only_a_training_offers_it(bound: Bind) -> None:
    shown = bound("")
    button = shown.page.findChild(QPushButton, "read_speed_button")
    data: QWidget = shown.page.data
    assert button.isVisibleTo(data)
    shown.session.edit(Profile(task="evaluate"))
    assert not button.isVisibleTo(data)
    shown.session.edit(Profile())
    assert button.isVisibleTo(data)
