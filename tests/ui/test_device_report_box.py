"""What TensorFlow answered: in a line, device by device, and as text to be pasted elsewhere."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QLabel, QPushButton, QWidget

from gpupanel.domain.event_details import LogicalDeviceAnswer
from gpupanel.domain.events import DevicesReady, RunEnded, RunRestarted, TrainerStarted
from gpupanel.domain.outcome import Outcome
from gpupanel.domain.problem import Severity
from gpupanel.runs.following.status import RunStatus
from gpupanel.ui.device_labels import DeviceLabels
from gpupanel.ui.panels.plan_panel import PlanPanel
from gpupanel.ui.widgets.buttons import FoldButton
from gpupanel.ui.widgets.color_dot import ColorDot
from gpupanel.ui.widgets.device_report_box import DeviceReportBox
from gpupanel.ui.widgets.severity_icon import SeverityIcon
from tests.ui.values import TWO_GPUS

LABELS = DeviceLabels(TWO_GPUS)
FIRST = LogicalDeviceAnswer(
    name="/device:GPU:0",
    device_key="GPU-0",
    memory_limit_mib=4096,
    memory_taken_mib=4096,
    pci_bus_id="0000:01:00.0",
    is_as_planned=True,
)
SECOND = LogicalDeviceAnswer(
    name="/device:GPU:1",
    device_key="GPU-1",
    memory_taken_mib=10_120,
    pci_bus_id="0000:02:00.0",
    is_as_planned=True,
)
SILENT = LogicalDeviceAnswer(name="/device:GPU:0", device_key="GPU-1")
ANOTHER = FIRST.model_copy(update={"is_as_planned": False})
CPU = LogicalDeviceAnswer(name="/device:CPU:0", device_key="cpu")
END = RunEnded(time_s=9.0, outcome=Outcome.FAILED)


def reported(*answers: LogicalDeviceAnswer, process: int = 0) -> DevicesReady:
    return DevicesReady(
        time_s=1.0, process=process, tensorflow_version="2.21.0", logical_devices=answers
    )


def status_of(*events: object) -> RunStatus:
    status = RunStatus()
    for event in events:
        status = status.after(event)
    return status


@pytest.fixture(params=[True, False], ids=["wide", "narrow"])
def box(request, qtbot) -> DeviceReportBox:
    box = DeviceReportBox(wide=request.param)
    qtbot.addWidget(box)
    return box


def fold(box: QWidget) -> FoldButton:
    return box.findChild(FoldButton)


def summary(box: QWidget) -> str:
    return box.findChild(QLabel, "answers_summary").text()


def rows(box: QWidget) -> list[str]:
    shown = box.findChild(QWidget, "answer_rows")
    return [label.text() for label in shown.findChildren(QLabel) if label.isVisibleTo(box)]


def severities(box: QWidget) -> list[Severity | None]:
    icons = box.findChildren(SeverityIcon)
    return [icon._severity for icon in icons if icon.isVisibleTo(box)]


def test_that_a_line_says_that_all_is_as_planned(box):
    box.setStatus(status_of(reported(FIRST, SECOND, CPU)), LABELS)
    assert summary(box) == "2 logical devices, each on the planned GPU."
    assert severities(box) == [None]
    assert rows(box) == []


def test_that_each_device_has_its_colour_name_limit_memory_and_place(box, qtbot):
    box.setStatus(status_of(reported(FIRST, SECOND, CPU)), LABELS)
    qtbot.mouseClick(fold(box), Qt.MouseButton.LeftButton)
    assert rows(box) == [
        "RTX 4090",
        "/device:GPU:0",
        "Limit 4.0 GiB, takes up to 4.0 GiB; as planned, by its PCI bus 0000:01:00.0.",
        "RTX 3060",
        "/device:GPU:1",
        "No limit, takes up to 9.9 GiB; as planned, by its PCI bus 0000:02:00.0.",
    ]
    dots = [dot for dot in box.findChildren(ColorDot) if dot.isVisibleTo(box)]
    assert [dot._number for dot in dots] == [0, 1]
    assert severities(box) == [None, None, None]


def test_that_every_process_is_named(box, qtbot):
    started = [
        TrainerStarted(time_s=0.5, pid=40 + place, process=place, name=f"worker {place}")
        for place in (0, 1)
    ]
    box.setStatus(
        status_of(*started, reported(FIRST, CPU), reported(SILENT, CPU, process=1)), LABELS
    )
    qtbot.mouseClick(fold(box), Qt.MouseButton.LeftButton)
    assert summary(box) == ("2 logical devices, 1 on the planned GPU, 1 not known.")
    assert [text for text in rows(box) if text.startswith("Worker")] == ["Worker 0", "Worker 1"]
    assert severities(box) == [Severity.HINT, None, Severity.HINT]
    assert rows(box)[-1].endswith("TensorFlow did not report which GPU it is.")


def test_that_another_gpu_than_planned_shows_itself_at_once(box, qtbot):
    box.setStatus(status_of(reported(ANOTHER, CPU)), LABELS)
    assert summary(box) == "The logical device is on another GPU than planned."
    assert severities(box) == [Severity.ERROR, Severity.ERROR]
    assert rows(box)[-1].endswith("another GPU than planned, at PCI bus 0000:01:00.0.")
    qtbot.mouseClick(fold(box), Qt.MouseButton.LeftButton)
    box.setStatus(status_of(reported(ANOTHER, CPU), END), LABELS)
    assert rows(box) == [], "what a person folded stays folded"


def test_that_a_run_on_the_processor_has_no_place_to_compare(box, qtbot):
    box.setStatus(status_of(reported(CPU)), LABELS)
    qtbot.mouseClick(fold(box), Qt.MouseButton.LeftButton)
    assert summary(box) == "1 logical device of the CPU."
    assert rows(box)[-1] == "Host memory, no limit; this machine's CPU."


def test_that_no_answer_yet_and_none_ever_are_distinguished(box):
    box.setStatus(RunStatus(), LABELS)
    assert summary(box) == "No report yet: the run is starting."
    assert not fold(box).isEnabled()
    box.setStatus(status_of(END), LABELS)
    assert summary(box) == "No report: the run ended before."
    box.setStatus(status_of(reported(FIRST), RunRestarted(time_s=3.0, attempt=1)), LABELS)
    assert summary(box) == "No report yet: the run is starting."


def test_that_nothing_moves_when_the_answer_comes(qtbot):
    box = DeviceReportBox(wide=True)
    qtbot.addWidget(box)
    box.setStatus(RunStatus(), LABELS)
    height = box.sizeHint().height()
    box.setStatus(status_of(reported(FIRST, SECOND)), LABELS)
    assert box.sizeHint().height() == height


def test_that_the_answer_can_be_copied_with_what_identifies_the_gpus(box, qtbot):
    box.setStatus(status_of(reported(FIRST, CPU)), LABELS)
    qtbot.mouseClick(box.findChild(QPushButton, "copy_answers"), Qt.MouseButton.LeftButton)
    assert QGuiApplication.clipboard().text() == (
        "TensorFlow 2.21.0: /device:GPU:0 for RTX 4090 (GPU-0): limit 4.0 GiB, takes up to "
        "4.0 GiB, as planned, by its PCI bus 0000:01:00.0.\n"
    )


def test_that_the_plan_shows_the_answer_beside_the_calls_and_says_whose_it_is(qtbot):
    panel = PlanPanel()
    qtbot.addWidget(panel)
    panel.setInventory(TWO_GPUS)
    shown = panel.findChild(DeviceReportBox)
    assert not shown.isVisibleTo(panel)
    panel.setRunStatus(status_of(reported(FIRST, SECOND)))
    assert summary(panel) == "The current run: 2 logical devices, each on the planned GPU."
    panel.setRunStatus(status_of(reported(FIRST, SECOND), END))
    assert summary(panel).startswith("The last run: 2 logical devices")
    panel.setRunStatus(None)
    assert not shown.isVisibleTo(panel)
