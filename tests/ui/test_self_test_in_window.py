"""The devices are tested in the window: asked for by a click, shown, fixed, remembered."""

import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QProgressBar, QPushButton, QTableView
from pytestqt.qtbot import QtBot

from gpupanel.domain.problem import Severity
from gpupanel.domain.self_test import CaseOutcome, CaseResult, SelfTestKind
from gpupanel.domain.strategy import AllReduce
from gpupanel.domain.telemetry import DeviceReading, TelemetrySample
from gpupanel.planning import self_test as planned
from gpupanel.planning.context import planning_context
from gpupanel.planning.self_test import self_test_request
from gpupanel.runs.readiness import Machine
from gpupanel.runs.self_test_memory import recall_self_test, remember_self_test
from gpupanel.runs.tools.self_test.testing import run_self_test, try_devices
from gpupanel.ui.tools.self_test.binding import SelfTestBinding
from gpupanel.ui.widgets.problem_row import ProblemRow
from tests.fakes.self_test_child import CHILD
from tests.forked.processes import child_processes
from tests.ui.tool_page import ToolPage, closing
from tests.ui.values import TWO_GPUS, mirrored

pytestmark = pytest.mark.usefixtures("undressed")

WRONG = "run(lambda case: 'wrong' if is_sum(case, 'auto') else None)"


class Tests(ToolPage):
    """A page with two GPUs, and what answers for the tests."""

    __test__ = False

    def __init__(self, qtbot: QtBot, folder: Path, code: str = "run()") -> None:
        self.folder = folder
        self.free: TelemetrySample | None = None
        command = (sys.executable, "-c", CHILD + code, str(folder))
        bind = partial(
            SelfTestBinding,
            test=partial(run_self_test, question=replace(try_devices, command=command)),
            read=lambda: Machine(TWO_GPUS, self.free),
        )
        super().__init__(qtbot, "self_test", "test_machine", bind, mirrored())

    @property
    def started(self) -> int:
        file = self.folder / "started"
        return int(file.read_text()) if file.exists() else 0

    def warned(self) -> list[str]:
        problems = self.session.prepare_now().problems
        return [each.message for each in problems if each.code == "self_test_all_reduce"]


Bind = Callable[..., Tests]


@pytest.fixture
def bound(qtbot: QtBot, tmp_path: Path) -> Iterator[Bind]:
    with closing(partial(Tests, qtbot, tmp_path)) as made:
        yield made
    assert not child_processes()


def rows(table: QTableView) -> list[list[str]]:
    model = table.model()
    return [
        [model.index(row, column).data() for column in range(model.columnCount())]
        for row in range(model.rowCount())
    ]


def test_that_a_machine_is_tested_shown_and_remembered(qtbot: QtBot, bound: Bind) -> None:
    shown = bound("run()")
    shown.click()
    assert shown.label("verdict") == "Testing…"
    assert not shown.button("all").isEnabled()
    qtbot.waitUntil(lambda: shown.dialog.answer() is not None, timeout=60_000)
    assert shown.label("verdict") == "All tests passed"
    table = shown.dialog.findChild(QTableView, "self_test_cases")
    first, second = "RTX 4090", "RTX 3060"
    assert rows(table)[0][:4] == [
        f"{first} and {second}",
        "All-reduce: Automatic",
        "OK",
        "12,346 MiB/s",
    ]
    shown.button("copy").click()
    copied = QGuiApplication.clipboard().text()
    assert "tests passed. Tested on" in copied
    assert f"{second}\tMemory\tOK" in copied
    # Another window, or this one later, asks nobody.
    shown.dialog.close()
    shown.click()
    qtbot.waitUntil(lambda: "the same driver" in shown.label("sentence"), timeout=60_000)
    assert shown.started == 1
    shown.button("all").click()
    qtbot.waitUntil(lambda: shown.started == 2, timeout=60_000)
    qtbot.waitUntil(lambda: "the same driver" not in shown.label("sentence"), timeout=60_000)


def test_that_a_fix_is_applied_and_what_it_leads_to_is_known(qtbot: QtBot, bound: Bind) -> None:
    shown = bound(WRONG)
    shown.click()
    qtbot.waitUntil(lambda: shown.dialog.answer() is not None, timeout=60_000)
    assert shown.label("verdict") == "1 test failed"
    (row,) = shown.dialog.findChildren(ProblemRow)
    assert row.problem().severity is Severity.ERROR
    # It is said before the start, too.
    qtbot.waitUntil(lambda: bool(shown.warned()), timeout=60_000)
    button = next(each for each in row.findChildren(QPushButton) if "NCCL" in each.text())
    assert "Use NCCL" in button.text()
    button.click()
    assert shown.session.profile.strategy.all_reduce is AllReduce.NCCL
    qtbot.waitUntil(lambda: not shown.worker.is_busy(), timeout=60_000)
    assert shown.warned() == []
    assert shown.started == 1


def test_that_what_was_remembered_before_is_a_problem_before_the_start(
    qtbot: QtBot, bound: Bind
) -> None:
    request = self_test_request(planning_context(mirrored(), TWO_GPUS))
    assert request is not None
    hung = CaseOutcome(case=request.cases[0], result=CaseResult.HANGS, tested_s=1.8e9)
    remember_self_test(TWO_GPUS, (hung,))
    shown = bound("run()")
    qtbot.waitUntil(lambda: bool(shown.warned()), timeout=60_000)
    assert "does not answer over" in shown.warned()[0]
    assert shown.session.preparation.is_startable
    # It is forgotten with another driver.
    shown.session.set_inventory(TWO_GPUS.model_copy(update={"driver": "590.1"}))
    qtbot.waitUntil(lambda: not shown.warned(), timeout=60_000)
    assert shown.started == 0


def test_that_a_test_is_cancelled_and_nothing_is_left(
    qtbot: QtBot, bound: Bind, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(planned._SECONDS, SelfTestKind.STEP, 600.0)
    shown = bound("run(lambda case: 'hang' if case['kind'] == 'step' else None)")
    shown.click()
    qtbot.waitUntil(lambda: "Training step on" in shown.label("sentence"), timeout=60_000)
    bar = shown.dialog.findChild(QProgressBar)
    assert (bar.value(), bar.maximum()) == (4, 11)
    for _ in range(2):
        shown.button("cancel").click()
    assert shown.label("verdict") == "Not tested yet"
    qtbot.waitUntil(lambda: not child_processes(), timeout=30_000)
    assert recall_self_test(TWO_GPUS) is None
    # Closing the window in the middle of one leaves nothing either.
    shown.click()
    qtbot.waitUntil(lambda: "Training step on" in shown.label("sentence"), timeout=60_000)
    shown.dialog.close()
    qtbot.waitUntil(lambda: not child_processes(), timeout=30_000)


def test_that_settings_that_a_test_depends_on_make_it_outdated(qtbot: QtBot, bound: Bind) -> None:
    shown = bound("run()")
    shown.click()
    qtbot.waitUntil(lambda: shown.dialog.answer() is not None, timeout=60_000)
    assert not shown.button("again").isEnabled()
    profile = shown.session.profile
    longer = profile.training.model_copy(update={"epochs": 99})
    shown.session.edit(profile.model_copy(update={"training": longer}))
    assert shown.label("verdict") == "All tests passed"
    mixed = profile.training.model_copy(update={"mixed_precision": True})
    shown.session.edit(profile.model_copy(update={"training": mixed}))
    assert shown.label("verdict") == "Outdated"
    shown.button("again").click()
    qtbot.waitUntil(lambda: shown.label("verdict") == "All tests passed", timeout=60_000)
    assert shown.started == 2


def test_that_no_more_is_tested_than_is_free_now(qtbot: QtBot, bound: Bind) -> None:
    shown = bound("run()")
    # A run has taken nearly all since the session heard of it.
    first = TWO_GPUS.gpus[0]
    reading = DeviceReading(key=first.key, memory_used_mib=24_000, memory_free_mib=200)
    shown.free = TelemetrySample(time_s=0.0, readings=(reading,))
    shown.click()
    qtbot.waitUntil(lambda: shown.dialog.answer() is not None, timeout=60_000)
    assert shown.label("verdict") == "Nothing could be tested"
    (row,) = shown.dialog.findChildren(ProblemRow)
    assert row.problem().code == "self_test_without_room"
    assert shown.started == 0
