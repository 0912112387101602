"""Processes by name, measured shares and placed layers of the run that is shown."""

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QLabel, QPushButton, QWidget

from gpupanel.domain.event_details import PlacedLayer, ReplicaSpeed
from gpupanel.domain.events import (
    LayersPlaced,
    RunRestarted,
    SharesChosen,
    TrainerStarted,
    TrainingEnded,
)
from gpupanel.domain.outcome import Outcome
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.problem import Problem
from gpupanel.domain.profile import Profile
from gpupanel.domain.strategy import StrategySettings
from gpupanel.planning.prepare import prepare
from gpupanel.runs.following.status import RunStatus
from gpupanel.ui import theme
from gpupanel.ui.panels.run_parts import RunPartsPanel
from gpupanel.ui.widgets.share_bar import ShareBar
from tests.ui.values import TWO_GPUS

MEASURED = SharesChosen(
    time_s=1,
    step=0,
    shares=(46, 18),
    speeds=(
        ReplicaSpeed(replica=0, examples_per_second=11_800),
        ReplicaSpeed(replica=1, examples_per_second=4_620, largest_share=24),
    ),
    reason="measured",
)
ADJUSTED = MEASURED.model_copy(update={"step": 1200, "shares": (40, 24), "reason": "adjusted"})


def plan(**strategy: object) -> LaunchPlan:
    made = prepare(Profile(strategy=StrategySettings.model_validate(strategy)), TWO_GPUS).plan
    assert made is not None
    return made


@pytest.fixture
def panel(qtbot) -> RunPartsPanel:
    panel = RunPartsPanel()
    qtbot.addWidget(panel)
    panel.setInventory(TWO_GPUS)
    return panel


def show(panel: RunPartsPanel, made: LaunchPlan, *events: object) -> None:
    panel.setRun(made)
    status = RunStatus()
    for event in events:
        status = status.after(event)
    panel.setStatus(status)


def texts(panel: QWidget) -> list[str]:
    return [label.text() for label in panel.findChildren(QLabel) if label.isVisibleTo(panel)]


def processes(panel: QWidget) -> list[str]:
    row = panel.findChild(QWidget, "gang_row")
    return texts(row) if row.isVisibleTo(panel) else []


def started(place: int) -> TrainerStarted:
    return TrainerStarted(time_s=1, pid=4000 + place, process=place, name=f"worker {place}")


def test_that_of_one_process_with_equal_shares_there_is_only_what_tensorflow_answers(panel):
    show(panel, plan(kind="mirrored"), started(0))
    assert texts(panel) == ["No report yet: the run is starting."]


def test_that_nothing_is_shown_without_a_run(panel):
    panel.setRun(None)
    assert panel.isHidden()


def test_that_processes_are_named_while_they_start(panel):
    show(panel, plan(kind="multi_worker"), started(0))
    assert processes(panel) == ["● worker 0 running", "○ worker 1 waits"]
    show(panel, plan(kind="multi_worker"), started(0), started(1))
    assert processes(panel) == ["● worker 0 running", "● worker 1 running"]


def test_that_the_process_that_failed_is_named_with_its_reason(panel):
    problem = Problem(code="out_of_memory", message="The GPU's memory ran out.")
    failed = TrainingEnded(time_s=2, process=1, outcome=Outcome.FAILED, problem=problem)
    show(panel, plan(kind="multi_worker"), started(0), started(1), failed)
    assert texts(panel)[1] == "✕ worker 1 failed"
    label = next(each for each in panel.findChildren(QLabel) if "failed" in each.text())
    assert "memory ran out" in label.toolTip()
    assert "4001" in label.toolTip()


def test_that_after_a_restart_all_processes_wait_again(panel):
    restarted = RunRestarted(time_s=3, attempt=1)
    show(panel, plan(kind="multi_worker"), started(0), started(1), restarted)
    assert processes(panel) == ["○ worker 0 waits", "○ worker 1 waits"]


def test_that_balanced_shares_say_that_they_are_measured_first(panel):
    show(panel, plan(kind="mirrored", shares="balanced"))
    assert any("Measured when training starts" in text for text in texts(panel))
    assert not panel.findChild(QPushButton, "keep_shares").isEnabled()


def test_that_measured_shares_are_shown_with_their_speeds_and_where_memory_ends(panel):
    show(panel, plan(kind="mirrored", shares="balanced"), MEASURED)
    bar = panel.findChild(ShareBar)
    assert bar.shares() == (46, 18)
    assert "46 of 64 examples, 11,800 ex/s" in bar.accessibleDescription()
    words = " ".join(texts(panel))
    assert "Measured before the first step." in words
    assert "Memory of RTX 3060: at most 24 examples." in words
    assert "computing alone" in panel.findChild(QLabel, "share_words").toolTip()


def test_that_an_adjustment_is_shown_in_words(panel):
    show(panel, plan(kind="mirrored", shares="balanced"), MEASURED, ADJUSTED)
    assert any("Adjusted at step 1,200: 46 + 18 became 40 + 24." in text for text in texts(panel))
    assert panel.findChild(ShareBar).shares() == (40, 24)


def test_that_the_shares_of_a_run_cannot_be_dragged(panel, qtbot):
    show(panel, plan(kind="mirrored", shares="balanced"), MEASURED)
    bar = panel.findChild(ShareBar)
    assert bar.focusPolicy() is Qt.FocusPolicy.NoFocus
    bar.resize(400, 44)
    x = round(bar.border_positions()[0])
    qtbot.mousePress(bar, Qt.MouseButton.LeftButton, pos=QPoint(x, 20))
    qtbot.mouseMove(bar, QPoint(x - 80, 20))
    qtbot.mouseRelease(bar, Qt.MouseButton.LeftButton, pos=QPoint(x - 80, 20))
    assert bar.shares() == (46, 18)


def test_that_a_click_keeps_the_shares_once(panel, qtbot):
    show(panel, plan(kind="mirrored", shares="balanced"), MEASURED)
    keep = panel.findChild(QPushButton, "keep_shares")
    with qtbot.waitSignal(panel.shares.keepRequested) as kept:
        qtbot.mouseClick(keep, Qt.MouseButton.LeftButton)
    assert kept.args == [(46, 18)]
    assert (keep.isEnabled(), keep.text()) == (False, "Kept in the profile")
    panel.setStatus(RunStatus().after(MEASURED).after(ADJUSTED))
    assert keep.isEnabled()


def test_that_the_bar_has_the_colours_of_the_devices(panel, qtbot):
    show(panel, plan(kind="mirrored", shares="balanced"), MEASURED)
    bar = panel.findChild(ShareBar)
    bar.resize(400, 44)
    image = bar.grab().toImage()
    assert image.pixelColor(20, 10) == QColor(theme.device_color(0))
    assert image.pixelColor(380, 10) == QColor(theme.device_color(1))


def test_that_layers_stand_beside_their_devices_with_their_parameters(panel):
    layers = tuple(
        PlacedLayer(
            name=name,
            place=place,
            device_key=f"GPU-{place}",
            logical_device=f"/device:GPU:{place}",
            parameters=parameters,
        )
        for name, place, parameters in (
            ("dense_1", 0, 1000),
            ("dense_1_relu", 0, 0),
            ("dense_2", 1, 200),
            ("outputs", 1, 34),
        )
    )
    show(panel, plan(kind="model_parallel"), LayersPlaced(time_s=1, layers=layers))
    shown = texts(panel)
    assert {"RTX 4090  /device:GPU:0", "1,000 parameters", "dense_1"} <= set(shown)
    assert {"RTX 3060  /device:GPU:1", "234 parameters", "dense_2, outputs"} <= set(shown)
