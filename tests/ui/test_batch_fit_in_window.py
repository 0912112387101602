"""A batch is found in the window: asked for by a click, tried, shown, used."""

import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QPushButton, QTableView, QWidget
from pytestqt.qtbot import QtBot

from gpupanel.domain.batch_fit import BatchFit, BatchSpeed, DeviceBatch
from gpupanel.domain.batch_search import BatchTrial, SearchEnd
from gpupanel.domain.memory import LimitedMemory
from gpupanel.domain.model_summary import ModelSummary, summary_request
from gpupanel.domain.problem import Problem
from gpupanel.domain.step_memory import MeasuredStep, MemoryPeak, StepMemory
from gpupanel.domain.training import TrainingSettings
from gpupanel.runs.questions.model_summary import summarize_model
from gpupanel.runs.tools.batch_search.search import find_batches, try_batches
from gpupanel.ui.tools.batch_search.binding import BatchFitBinding
from gpupanel.ui.tools.batch_search.dialog import BatchFitDialog
from gpupanel.ui.widgets.problem_row import ProblemRow
from tests.fakes.batch_child import CHILD, Reader
from tests.fakes.questions import answering, asked_of
from tests.forked.processes import child_processes
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
FIRST, SECOND = (device.key for device in TWO_GPUS.gpus)
"""What answers: the first GPU holds more than the second."""
CODE = f"""
first = {FIRST!r} in request["plan"]["environment"]["CUDA_VISIBLE_DEVICES"]
fits(200, 900.0); fits(800 if first else 400, 2000.0); end("found")
"""


class Batches(ToolPage):
    """A page with two GPUs, and what answers for the trials."""

    def __init__(self, qtbot: QtBot, folder: Path, code: str) -> None:
        command = (sys.executable, "-c", CHILD + code, str(folder))
        find = partial(
            find_batches,
            question=replace(try_batches, command=command),
            summarize=asked_of(summarize_model, answering(ModelSummary(step=STEP))),
            # No GPU is there whose memory could be read.
            make_reader=lambda _: Reader(),
        )
        bind = partial(BatchFitBinding, find=find)
        super().__init__(qtbot, "batch_fit", "find_batch", bind, mirrored())
        self.estimates: list[None] = []
        self.page.plan.estimate.requested.connect(lambda: self.estimates.append(None))


Bind = Callable[[str], Batches]


@pytest.fixture
def bound(qtbot: QtBot, tmp_path: Path) -> Iterator[Bind]:
    with closing(partial(Batches, qtbot, tmp_path)) as made:
        yield made


def test_that_a_batch_is_found_and_used(qtbot: QtBot, bound: Bind) -> None:
    shown = bound(CODE)
    shown.click()
    assert shown.label("verdict") == "Trying batches…"
    assert not shown.button("use").isEnabled()
    qtbot.waitUntil(lambda: shown.dialog.answer() is not None, timeout=60_000)
    assert "A global batch of 800 fits." in shown.label("sentence")
    assert "With shares of 800 + 400 even 1,200 fit." in shown.label("sentence")
    table = shown.dialog.findChild(QTableView, "batch_trials")
    cells = [
        [table.model().index(row, column).data() for column in range(5)]
        for row in range(table.model().rowCount())
    ]
    assert cells[1] == ["RTX 4090", "800", "1,000 ex/s", "2.0 GiB", "largest"]
    assert len(cells) == 4
    # The estimate is made again, with what was held.
    assert shown.estimates
    shown.button("copy").click()
    assert "RTX 4090\t200\tyes\t1000.0\t900.0" in QGuiApplication.clipboard().text()
    # Another batch makes nothing outdated, another optimizer does.
    larger = shown.session.profile.training.model_copy(update={"global_batch_size": 128})
    shown.session.edit(shown.session.profile.model_copy(update={"training": larger}))
    assert shown.label("verdict") == "Find the batch"
    other = TrainingSettings(mixed_precision=True)
    shown.session.edit(shown.session.profile.model_copy(update={"training": other}))
    assert shown.label("verdict") == "Outdated"
    assert shown.button("use").text() == "&Use 800"
    shown.button("use").click()
    assert shown.session.profile.training.global_batch_size == 800
    assert not shown.dialog.isVisible()


def test_that_shares_that_fit_unequal_gpus_are_used(qtbot: QtBot, bound: Bind) -> None:
    shown = bound(CODE)
    shown.click()
    qtbot.waitUntil(lambda: shown.dialog.answer() is not None, timeout=60_000)
    assert shown.button("use_shares").text() == "Use s&hares of 1,200"
    shown.button("use_shares").click()
    profile = shown.session.profile
    assert (profile.training.global_batch_size, profile.strategy.shares) == (1_200, (800, 400))


def test_that_the_fastest_batch_is_used(qtbot: QtBot) -> None:
    dialog = BatchFitDialog()
    qtbot.addWidget(dialog)
    chosen: list[int] = []
    dialog.batchChosen.connect(chosen.append)
    trials = (BatchTrial(examples=64, fits=True), BatchTrial(examples=96, fits=False))
    device = DeviceBatch(device="cpu", room_mib=1, trials=trials, stopped=SearchEnd.TIME)
    speeds = tuple(BatchSpeed(global_batch_size=each, examples_per_second=9.0) for each in (32, 64))
    dialog.setAnswer(
        BatchFit(
            devices=(device,), largest_batch=64, shares=(32, 32), fastest_batch=32, speeds=speeds
        )
    )
    button = dialog.findChild(QPushButton, "batch_fit_use_fastest")
    assert button.isVisibleTo(dialog)
    assert dialog.findChild(QTableView, "batch_speeds").model().rowCount() == 2
    button.click()
    assert chosen == [32]
    dialog.setAnswer(BatchFit(needs_start=True))
    assert not button.isVisibleTo(dialog)


def test_that_why_nothing_could_be_tried_is_shown(qtbot: QtBot, bound: Bind) -> None:
    shown = bound("raise SystemExit(3)")
    shown.click()
    qtbot.waitUntil(lambda: shown.dialog.answer() is not None, timeout=60_000)
    rows = shown.dialog.findChildren(ProblemRow)
    assert [row.problem().code for row in rows] == ["fit_batch_died"] * 2
    assert not shown.button("use").isEnabled()
    assert not shown.button("copy").isEnabled()
    problem = Problem(code="a", message="<b>No</b>")
    shown.dialog.setAnswer(BatchFit(problems=(problem,)))
    assert shown.dialog.findChild(ProblemRow) is not None


def test_that_a_search_is_stopped_by_its_button_and_by_closing(qtbot: QtBot, bound: Bind) -> None:
    shown = bound("say(begun={'examples': 64}); time.sleep(600)")
    shown.click()
    qtbot.waitUntil(lambda: "Trying 64 examples" in shown.label("sentence"), timeout=60_000)
    shown.button("cancel").click()
    qtbot.waitUntil(lambda: not child_processes())
    assert shown.label("verdict") == "Not tried yet"
    shown.button("again").click()
    qtbot.waitUntil(lambda: bool(child_processes()))
    shown.dialog.close()
    qtbot.waitUntil(lambda: not child_processes())
    assert shown.dialog.answer() is None


def test_that_the_button_is_there_where_something_can_be_tried(bound: Bind) -> None:
    shown = bound(CODE)
    button = shown.page.plan.findChild(QPushButton, "find_batch")
    assert button.isVisibleTo(shown.page.plan)


def test_that_a_measured_estimate_says_so(bound: Bind) -> None:
    shown = bound(CODE)
    measured = tuple(MeasuredStep(device=key, ratio=1.5) for key in (FIRST, SECOND))
    memory = {"default": LimitedMemory(limit_mib=9_000, growth=True)}
    shown.session.edit(mirrored().model_copy(update={"memory": memory}))
    request = summary_request(shown.session.profile)
    shown.session.set_built(
        request, ModelSummary(step=STEP.model_copy(update={"measured": measured}))
    )
    shown.session.prepare_now()
    bars = shown.page.plan.estimate.findChild(QWidget, "memory_bars")
    assert bars.accessibleDescription().count("measured here") == 2
    assert "Measured with this model" in bars.toolTip()
