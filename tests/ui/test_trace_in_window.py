"""A trace of the shown run by mouse: asked for, shown device by device, read again later."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from threading import Event

import pytest
from PySide6.QtCore import QSettings
from PySide6.QtGui import QAction, QGuiApplication
from PySide6.QtWidgets import QComboBox, QLabel, QPushButton, QSpinBox
from pytestqt.qtbot import QtBot

from gpupanel.domain.problem import Problem, ProblemError, Severity
from gpupanel.domain.run_layout import RunLayout
from gpupanel.domain.trace import TracedDevice, TracedOperation, TraceRecord
from gpupanel.files.plan_file import plan_if_readable
from gpupanel.files.trace_files import new_trace_folder, write_trace_record
from gpupanel.runs.tools.tracing import tracing as run_tracing
from gpupanel.runs.tools.tracing.tracing import RunTraces, Trace, TraceStage
from gpupanel.ui.main_window import MainWindow
from gpupanel.ui.tools.trace.binding import TraceBinding
from gpupanel.ui.tools.trace.dialog import TraceDialog
from gpupanel.ui.tools.trace.operations import TracedOperationsTable
from gpupanel.ui.widgets.problem_row import ProblemRow
from tests.fakes.person import Person
from tests.fakes.run_directory import WrittenRun
from tests.ui.new_window import new_window

pytestmark = pytest.mark.usefixtures("preview_without_process", "undressed")

RECORD = TraceRecord(time_s=1.8e9, first_step=120, steps=10, seconds=0.5)
DEVICES = tuple(
    TracedDevice(
        name=name,
        seconds=2.0,
        operation_count=40,
        operations=(
            TracedOperation(name="conv/Conv2D", kind="Conv2D", seconds=1.0, count=10),
            TracedOperation(name="dense/MatMul", kind="MatMul", seconds=0.5, count=20),
        ),
    )
    for name in ("/device:GPU:0", "/host:CPU")
)
Taken = Callable[..., Trace]


class Tracing:
    """What answers in place of TensorFlow: each request, and what comes of it."""

    def __init__(self) -> None:
        self.asked: list[tuple[int, int | None]] = []
        self.read: list[int] = []
        self.holds: Event | None = None
        self.withdrawn = Event()
        self.problem: Problem | None = None

    def take(self, layout, steps, process, cancelled, on_progress) -> Trace:
        self.asked.append((steps, process))
        on_progress(TraceStage.TRACING)
        if self.problem is not None:
            raise ProblemError(self.problem)
        if self.holds is not None:
            while not self.holds.wait(0.01):
                if cancelled.is_set():
                    self.withdrawn.set()
                    return Trace(layout)
        write_trace_record(new_trace_folder(layout), RECORD, layout)
        return self.found(layout)

    def of(self, layout, number, cancelled) -> Trace:
        del cancelled
        self.read.append(number)
        return self.found(layout)

    @staticmethod
    def found(layout: RunLayout) -> Trace:
        plan = plan_if_readable(layout)
        return Trace(layout, plan, layout.trace(1), RECORD, DEVICES, ("no rights",))


@pytest.fixture
def tracing(monkeypatch: pytest.MonkeyPatch) -> Tracing:
    tracing = Tracing()
    monkeypatch.setattr(run_tracing, "take_trace", tracing.take)
    monkeypatch.setattr(run_tracing, "read_trace", tracing.of)
    return tracing


@pytest.fixture
def window(qtbot: QtBot, tmp_path: Path, runs_dir: Path) -> Iterator[MainWindow]:
    settings = QSettings(str(tmp_path / "s.ini"), QSettings.Format.IniFormat)
    window = new_window(settings, runs_dir, Person())
    qtbot.addWidget(window)
    yield window
    window.close()


@pytest.fixture
def run(runs_dir: Path) -> Iterator[WrittenRun]:
    """A training that goes on."""
    with WrittenRun(runs_dir) as run:
        run.begin()
        run.step(3)
        yield run


def show(qtbot: QtBot, window: MainWindow, run: WrittenRun) -> None:
    window.show()
    window.open_target(run.layout.root)
    qtbot.waitUntil(lambda: window.control.shown_status is not None, timeout=10_000)
    qtbot.waitUntil(lambda: window.control.shown_status.step == 3, timeout=10_000)


def opened(qtbot: QtBot, window: MainWindow) -> TraceDialog:
    window.findChild(QAction, "run_trace").trigger()
    dialog = window.findChild(TraceDialog)
    qtbot.waitUntil(lambda: not window.parts[TraceBinding].worker.is_busy(), timeout=10_000)
    return dialog


def button(dialog: TraceDialog, name: str) -> QPushButton:
    return dialog.findChild(QPushButton, f"trace_{name}")


def words(dialog: TraceDialog, name: str) -> str:
    return dialog.findChild(QLabel, f"trace_{name}").text()


def taken(qtbot: QtBot, window: MainWindow) -> TraceDialog:
    dialog = opened(qtbot, window)
    button(dialog, "take").click()
    qtbot.waitUntil(lambda: dialog.trace() is not None, timeout=10_000)
    qtbot.waitUntil(lambda: not window.parts[TraceBinding].worker.is_busy(), timeout=10_000)
    return dialog


def test_that_the_next_steps_are_traced_and_shown_for_each_device(
    qtbot: QtBot, window: MainWindow, run: WrittenRun, tracing: Tracing
) -> None:
    show(qtbot, window, run)
    dialog = opened(qtbot, window)
    assert words(dialog, "verdict") == "No trace yet"
    dialog.findChild(QSpinBox, "trace_steps").setValue(25)
    with qtbot.waitSignal(window.parts[TraceBinding].worker.answered):
        button(dialog, "take").click()
    assert tracing.asked == [(25, None)]
    tables = dialog.findChildren(TracedOperationsTable)
    assert len(tables) == len(DEVICES)
    first = tables[0].content
    shown = [first.index(0, column).data() for column in range(first.columnCount())]
    assert shown == ["50 %", "100.000", "10", "Conv2D", "conv/Conv2D"]
    assert "121 to 130" in words(dialog, "sentence")
    assert any("no rights" in label.text() for label in dialog.findChildren(QLabel))
    assert any(label.text() == "CPU, beside the GPUs" for label in dialog.findChildren(QLabel))


def test_that_the_whole_report_can_be_copied(
    qtbot: QtBot, window: MainWindow, run: WrittenRun, tracing: Tracing
) -> None:
    show(qtbot, window, run)
    dialog = taken(qtbot, window)
    button(dialog, "copy").click()
    copied = QGuiApplication.clipboard().text()
    assert "GPU:0\nShare\tms a step\tTimes\tOperation\tName\n50 %\t100.000\t10\tConv2D" in copied


def test_that_a_trace_is_listed_and_read_again(
    qtbot: QtBot, window: MainWindow, run: WrittenRun, tracing: Tracing
) -> None:
    later = RECORD.model_copy(update={"first_step": 500})
    for record in (RECORD, later):
        write_trace_record(new_trace_folder(run.layout), record, run.layout)
    show(qtbot, window, run)
    dialog = opened(qtbot, window)
    qtbot.waitUntil(lambda: dialog.trace() is not None, timeout=10_000)
    assert tracing.read == [2]
    qtbot.waitUntil(lambda: not window.parts[TraceBinding].worker.is_busy(), timeout=10_000)
    chooser = dialog.findChild(QComboBox, "trace_earlier")
    listed = [chooser.itemText(place) for place in range(chooser.count())]
    assert listed == ["Trace 2: steps 501 to 510", "Trace 1: steps 121 to 130"]
    assert not tracing.asked


def test_that_closing_withdraws_what_is_not_wanted_any_more(
    qtbot: QtBot, window: MainWindow, run: WrittenRun, tracing: Tracing
) -> None:
    tracing.holds = Event()
    show(qtbot, window, run)
    dialog = opened(qtbot, window)
    button(dialog, "take").click()
    qtbot.waitUntil(lambda: "Waiting" in words(dialog, "sentence"), timeout=10_000)
    assert not button(dialog, "take").isEnabled()
    dialog.close()
    assert tracing.withdrawn.wait(10.0)


def test_that_what_keeps_a_run_from_being_traced_is_said(
    qtbot: QtBot, window: MainWindow, run: WrittenRun, tracing: Tracing
) -> None:
    tracing.problem = Problem(code="trace_goes_on", message="It goes on.", hint="Wait.")
    show(qtbot, window, run)
    dialog = taken(qtbot, window)
    assert words(dialog, "verdict") == "Not traced"
    (row,) = dialog.findChildren(ProblemRow)
    assert any("It goes on." in label.text() for label in row.findChildren(QLabel))
    assert button(dialog, "take").isEnabled()


def test_that_only_a_training_that_goes_on_can_be_traced(
    qtbot: QtBot, window: MainWindow, run: WrittenRun, tracing: Tracing
) -> None:
    show(qtbot, window, run)
    assert window.findChild(QAction, "trace_run").isVisible()
    dialog = opened(qtbot, window)
    assert button(dialog, "take").isEnabled()
    run.end()
    run.vanish()
    qtbot.waitUntil(lambda: window.control.shown_status.has_ended, timeout=10_000)
    assert not button(dialog, "take").isEnabled()
    assert "running" in button(dialog, "take").toolTip()
    assert not window.findChild(QAction, "trace_run").isVisible()


def test_that_a_worker_can_be_chosen_where_there_are_several(qtbot: QtBot, tmp_path: Path) -> None:
    dialog = TraceDialog(has_page=False)
    qtbot.addWidget(dialog)
    layout = RunLayout(tmp_path)
    dialog.setRun(layout, "a run")
    dialog.setRunning(True)
    names = {1: "worker 0", 2: "worker 1"}
    dialog.setAnswer(RunTraces(layout, {}, names))
    chooser = dialog.findChild(QComboBox, "trace_worker")
    chooser.setCurrentIndex(1)
    with qtbot.waitSignal(dialog.takeRequested) as wanted:
        button(dialog, "take").click()
    assert wanted.args == [10, 2]
    # What is known of another run's workers is forgotten.
    dialog.setRun(RunLayout(tmp_path / "b"), "another")
    with qtbot.waitSignal(dialog.takeRequested) as wanted:
        button(dialog, "take").click()
    assert wanted.args == [10, None]


def test_that_gpus_that_were_not_traced_are_a_warning_in_window_and_copy(
    qtbot: QtBot, tmp_path: Path
) -> None:
    dialog = TraceDialog(has_page=True)
    qtbot.addWidget(dialog)
    dialog.setRun(RunLayout(tmp_path), "a run")
    lacking = Problem(
        code="gpus_not_traced",
        severity=Severity.WARNING,
        message="The GPUs were not traced.",
        command="pip install it",
    )
    layout = RunLayout(tmp_path)
    trace = replace(Tracing.found(layout), warning=lacking)
    dialog.setAnswer(RunTraces(layout, trace=trace))
    (row,) = dialog.findChildren(ProblemRow)
    assert any("The GPUs were not traced." in each.text() for each in row.findChildren(QLabel))
    assert words(dialog, "verdict") == "Most expensive operations"
    assert "The GPUs were not traced." in dialog.text()


def test_that_a_trace_of_another_run_is_not_shown(qtbot: QtBot, tmp_path: Path) -> None:
    dialog = TraceDialog(has_page=True)
    qtbot.addWidget(dialog)
    dialog.setRun(RunLayout(tmp_path / "a"), "a")
    other = RunLayout(tmp_path / "b")
    dialog.setAnswer(RunTraces(other, trace=Tracing.found(other)))
    assert dialog.trace() is None
