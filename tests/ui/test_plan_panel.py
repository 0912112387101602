import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QApplication,
    QLabel,
    QPlainTextEdit,
    QPushButton,
    QToolButton,
    QVBoxLayout,
    QWidget,
)
from pytestqt.qtbot import QtBot

from gpupanel.domain.fine_tuning import FineTuning
from gpupanel.domain.memory import (
    AllMemory,
    Allocator,
    GrowingMemory,
    LimitedMemory,
    SplitMemory,
)
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.preview import DataPreview
from gpupanel.domain.problem import Change, Fix, Problem, Severity
from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.planning.prepare import Preparation, prepare
from gpupanel.planning.tensorflow_calls import tensorflow_calls
from gpupanel.ui.panels.plan_panel import PlanPanel
from gpupanel.ui.panels.plan_panel.calls_box import CallsBox
from gpupanel.ui.panels.plan_panel.plan_tables import MemoryList
from gpupanel.ui.widgets.command_line import CommandLine
from gpupanel.ui.widgets.problem_row import ProblemRow
from gpupanel.ui.widgets.replica_table import ReplicaTable
from gpupanel.ui.widgets.share_bar import ShareBar
from tests.fakes.devices import CPU_ONLY
from tests.ui.values import TWO_GPUS, mirrored

_FIX = Fix(label="Use 46 + 18", changes=(Change(path=("strategy", "shares"), value=[46, 18]),))
_ERROR = Problem(
    code="shares_do_not_fit",
    field="strategy.shares",
    message="The shares sum to 56.",
    hint="Give 2 numbers that sum to 64.",
    detail="more about it",
    fix=_FIX,
)
_HINT = Problem(code="a_hint", severity=Severity.HINT, message="By the way.")


@pytest.fixture
def panel(qtbot: QtBot) -> PlanPanel:
    panel = PlanPanel()
    qtbot.addWidget(panel)
    panel.setInventory(TWO_GPUS)
    return panel


def _plan(profile: Profile) -> LaunchPlan:
    plan = prepare(profile, TWO_GPUS).plan
    assert plan is not None
    return plan


def _summary(panel: PlanPanel) -> str:
    return panel.findChild(QLabel, "plan_summary").text()


def _words(widget: QWidget) -> list[str]:
    return [label.text() for label in widget.findChildren(QLabel) if not label.isHidden()]


def test_that_a_plan_without_problems_is_said_to_be_ready(panel):
    panel.setPreparation(prepare(mirrored((48, 16)), TWO_GPUS))
    assert _summary(panel) == (
        "Ready: 2 replicas on RTX 4090 and RTX 3060 train on 64 examples a step, 48 + 16."
    )


def test_that_errors_are_counted_before_anything_else(panel):
    panel.setPreparation(Preparation(problems=(_ERROR, _HINT)))
    assert _summary(panel) == "Not ready: 1 problem to fix."


def test_that_warnings_leave_it_ready_and_are_announced(panel):
    warning = _HINT.model_copy(update={"severity": Severity.WARNING})
    plan = _plan(mirrored())
    panel.setPreparation(Preparation(problems=(warning, warning), plan=plan))
    assert _summary(panel).startswith("Ready: ")
    assert _summary(panel).endswith(" 2 warnings below.")


def test_that_a_problem_shows_its_severity_in_words_and_its_hint(panel):
    panel.setPreparation(Preparation(problems=(_ERROR, _HINT)))
    words = _words(panel.findChild(QWidget, "problem_list"))
    assert "Error: The shares sum to 56." in words
    assert "Give 2 numbers that sum to 64." in words
    assert "Hint: By the way." in words


def test_that_the_button_of_a_fix_asks_for_it_once(panel, qtbot):
    panel.setPreparation(Preparation(problems=(_ERROR,)))
    heard = []
    panel.problems.fixRequested.connect(heard.append)
    button = next(each for each in panel.findChildren(QPushButton) if each.text() == "Use 46 + 18")
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    assert heard == [_FIX]


def test_that_a_problem_without_a_fix_has_no_button(panel):
    panel.setPreparation(Preparation(problems=(_HINT,)))
    assert all(
        button.isHidden() for button in panel.findChild(ProblemRow).findChildren(QPushButton)
    )


def test_that_a_click_and_the_return_key_lead_to_the_setting(panel, qtbot):
    panel.setPreparation(Preparation(problems=(_ERROR, _HINT)))
    heard = []
    panel.problems.fieldActivated.connect(heard.append)
    first, second = panel.findChildren(ProblemRow)
    qtbot.mouseClick(first, Qt.MouseButton.LeftButton)
    qtbot.keyClick(first, Qt.Key.Key_Return)
    qtbot.mouseClick(second, Qt.MouseButton.LeftButton)
    assert heard == ["strategy.shares", "strategy.shares"]


def test_that_a_problem_can_be_copied_whole(panel, qtbot):
    panel.setPreparation(Preparation(problems=(_ERROR,)))
    qtbot.mouseClick(panel.findChild(ProblemRow).findChild(QToolButton), Qt.MouseButton.LeftButton)
    assert QGuiApplication.clipboard().text() == (
        "Error: The shares sum to 56.\nGive 2 numbers that sum to 64.\n"
        "(shares_do_not_fit, strategy.shares)\nmore about it"
    )


def test_that_rows_stay_the_same_widgets_while_problems_change(panel):
    panel.setPreparation(Preparation(problems=(_ERROR, _HINT)))
    first = panel.findChildren(ProblemRow)[0]
    other = _ERROR.model_copy(update={"message": "The shares sum to 57."})
    panel.setPreparation(Preparation(problems=(other,)))
    assert first.problem() == other
    assert not first.isHidden()


def test_that_moving_a_border_of_the_share_bar_chooses_shares(panel, qtbot):
    panel.setPreparation(prepare(mirrored(), TWO_GPUS))
    heard = []
    panel.shares.sharesChosen.connect(heard.append)
    qtbot.keyClick(panel.findChild(ShareBar), Qt.Key.Key_Right)
    assert heard == [(33, 31)]


def test_that_each_replica_is_listed_with_its_devices_and_share(panel):
    panel.setPreparation(prepare(mirrored((48, 16)), TWO_GPUS))
    words = _words(panel.findChild(ReplicaTable))
    assert words[4:] == [
        "0",
        "RTX 4090",
        "/device:GPU:0",
        "48",
        "1",
        "RTX 3060",
        "/device:GPU:1",
        "16",
    ]


def test_that_memory_is_shown_per_device_in_words(panel):
    profile = mirrored().model_copy(
        update={"memory": {"GPU-0": LimitedMemory(limit_mib=8192, growth=True)}}
    )
    panel.setPreparation(prepare(profile, TWO_GPUS))
    assert _words(panel.findChild(MemoryList)) == [
        "RTX 4090",
        "up to 8.0 GiB of its 24.0 GiB",
        "RTX 3060",
        "grows as needed, up to 9.8 GiB of its 12.0 GiB",
    ]


def test_that_the_plan_says_up_to_what_the_parts_of_a_split_grow(panel):
    memory = {"GPU-0": SplitMemory(split_mib=(2048, 1024), growth=True)}
    panel.setPreparation(prepare(mirrored().model_copy(update={"memory": memory}), TWO_GPUS))
    words = _words(panel.findChild(MemoryList))
    assert words[1] == "split into 2 logical devices: grow up to 2.0 GiB + 1.0 GiB of its 24.0 GiB"


def test_that_the_plan_says_what_can_be_had_and_not_what_is_asked_for(panel):
    memory = {"GPU-1": LimitedMemory(limit_mib=12_100)}
    one = mirrored().model_copy(
        update={"memory": memory, "devices": DeviceSettings(visible=("GPU-1",))}
    )
    panel.setPreparation(prepare(one, TWO_GPUS))
    assert _words(panel.findChild(MemoryList))[1] == (
        "up to 11.5 GiB of its 12.0 GiB, less than its limit of 11.8 GiB"
    )


def test_that_cudas_allocator_takes_nothing_in_advance_in_the_plan_either(panel):
    devices = DeviceSettings(visible=("GPU-1",), allocator=Allocator.CUDA_MALLOC_ASYNC)
    one = mirrored().model_copy(update={"memory": {"GPU-1": AllMemory()}, "devices": devices})
    panel.setPreparation(prepare(one, TWO_GPUS))
    words = _words(panel.findChild(MemoryList))
    assert words[1] == "grows as needed, up to 11.5 GiB of its 12.0 GiB"


def test_that_the_plan_lets_nothing_grow_where_a_fixed_limit_keeps_it_from_growing(panel):
    memory = {"GPU-0": LimitedMemory(limit_mib=8192), "GPU-1": GrowingMemory()}
    panel.setPreparation(prepare(mirrored().model_copy(update={"memory": memory}), TWO_GPUS))
    assert any("cannot grow" in each for each in _words(panel.findChild(QWidget, "problem_list")))
    assert _words(panel.findChild(MemoryList)) == [
        "RTX 4090",
        "takes 8.0 GiB of its 24.0 GiB at start",
        "RTX 3060",
        "takes 9.8 GiB of its 12.0 GiB at start",
    ]


def test_that_the_exact_calls_are_folded_away_and_can_be_copied(panel, qtbot):
    plan = _plan(mirrored())
    panel.setPreparation(Preparation(plan=plan))
    box = panel.findChild(CallsBox)
    text = box.findChild(QPlainTextEdit)
    assert text.isHidden()
    qtbot.mouseClick(box.findChild(QToolButton), Qt.MouseButton.LeftButton)
    assert not text.isHidden()
    assert text.isReadOnly()
    qtbot.mouseClick(box.findChild(QPushButton), Qt.MouseButton.LeftButton)
    assert QGuiApplication.clipboard().text() == tensorflow_calls(plan)


def test_that_without_a_plan_the_last_one_stays_and_is_said_to_be_old(panel):
    panel.setPreparation(prepare(mirrored(), TWO_GPUS))
    panel.setPreparation(Preparation(problems=(_ERROR,)))
    bar = panel.findChild(ShareBar)
    assert not bar.isHidden()
    assert not bar.isEnabled()
    assert any("the last valid plan" in words for words in _words(panel))
    panel.setPreparation(prepare(mirrored(), TWO_GPUS))
    assert bar.isEnabled()
    assert not any("the last valid plan" in words for words in _words(panel))


def test_that_an_empty_panel_says_what_will_appear(panel):
    assert "appears here" in _summary(panel)
    assert not any("the last valid plan" in words for words in _words(panel))


def test_that_a_long_name_does_not_make_a_problem_wider_than_its_column(panel, qtbot):
    name = "a" * 300
    panel.setPreparation(
        Preparation(problems=(_HINT.model_copy(update={"message": f"No {name}."}),))
    )
    panel.resize(400, 600)
    panel.show()
    qtbot.waitExposed(panel)
    row = panel.findChild(ProblemRow)
    message = next(label for label in row.findChildren(QLabel) if "aaa" in label.text())
    assert message.height() >= 4 * message.fontMetrics().lineSpacing()
    row.copy()
    assert f"No {name}." in QGuiApplication.clipboard().text()


_UNUSABLE = Problem(
    code="gpu_not_usable",
    field="devices.visible",
    message="TensorFlow cannot use RTX 4090: it does not find cuDNN.",
    hint="Install NVIDIA's packages.",
    command="python -m pip install 'tensorflow[and-cuda]'",
    fix=Fix(
        label="Train on the CPU", changes=(Change(path=("devices", "visible"), value=["cpu"]),)
    ),
)


def test_that_a_command_is_shown_and_can_be_copied(panel, qtbot):
    panel.setPreparation(Preparation(problems=(_UNUSABLE,)))
    panel.show()
    line = panel.findChild(ProblemRow).findChild(CommandLine)
    assert line.isVisible()

    qtbot.mouseClick(line.findChild(QPushButton), Qt.MouseButton.LeftButton)

    assert QGuiApplication.clipboard().text() == _UNUSABLE.command


def test_that_a_problem_without_a_command_shows_none(panel):
    panel.setPreparation(Preparation(problems=(_UNUSABLE,)))
    panel.setPreparation(Preparation(problems=(_ERROR,)))
    panel.show()

    assert not panel.findChild(ProblemRow).findChild(CommandLine).isVisible()


def test_that_the_doctor_is_offered_where_it_knows_more(panel, qtbot):
    panel.setPreparation(Preparation(problems=(_UNUSABLE, _ERROR)))
    panel.show()
    offers = [
        button
        for button in panel.findChildren(QPushButton)
        if button.text() == "Open Doctor" and button.isVisible()
    ]

    assert len(offers) == 1
    with qtbot.waitSignal(panel.problems.doctorRequested):
        qtbot.mouseClick(offers[0], Qt.MouseButton.LeftButton)


def test_that_it_is_not_said_to_be_ready_while_the_gpus_are_checked(panel):
    panel.setPreparation(prepare(mirrored((48, 16)), TWO_GPUS))
    panel.setChecking(True)
    assert _summary(panel).startswith("Checking the GPUs: 2 replicas on RTX 4090 and RTX 3060")

    panel.setChecking(False)
    assert _summary(panel).startswith("Ready: ")


def test_that_examples_and_steps_of_the_training_are_said_once_they_are_known(panel):
    shown = panel.findChild(QLabel, "plan_epochs")
    panel.setPreparation(prepare(Profile(devices=DeviceSettings(visible=("cpu",))), CPU_ONLY))
    panel.setEpochs(3)
    assert not shown.isVisibleTo(panel)

    panel.setData(DataPreview(example_count=1797, trained_count=1438, held_out_count=359))
    assert shown.text() == (
        "Trains on 1,438 examples, validates on 359: 23 steps an epoch, 69 in all."
    )
    panel.setEpochs(1)
    panel.setData(DataPreview(example_count=1, trained_count=1))
    assert shown.text() == "Trains on 1 example: 1 step an epoch."
    panel.setRunsFolder("/home/a/runs\x1b")
    assert shown.text() == (
        "Trains on 1 example: 1 step an epoch. The model is saved in a new folder of "
        "/home/a/runs\\x1b."
    )
    panel.setFineTuning(FineTuning(from_epoch=2))
    assert shown.text().endswith(" from epoch 2 on all layers of the base do, too.")
    panel.setFineTuning(None)
    panel.setRunsFolder("")
    panel.setEpochs(0)
    assert not shown.isVisibleTo(panel)


def test_that_what_keeps_a_run_from_starting_comes_before_the_plan(panel, qtbot):
    """What is only worth knowing stays below: it moves no share from under the mouse."""
    panel.resize(400, 900)
    panel.show()
    ready = prepare(mirrored((48, 16)), TWO_GPUS)
    bar, problems = panel.findChild(ShareBar), panel.findChild(QWidget, "problem_list")

    def is_first() -> bool:
        return problems.mapTo(panel, problems.pos()).y() < bar.mapTo(panel, bar.pos()).y()

    for problem, first in ((_HINT, False), (_ERROR, True), (_HINT, False)):
        panel.setPreparation(Preparation(plan=ready.plan, problems=(problem,)))
        qtbot.waitUntil(lambda wanted=first: is_first() is wanted, timeout=5_000)


@pytest.mark.parametrize("left", [(), (_HINT,)])
def test_that_the_focus_stays_here_when_the_button_of_a_fix_goes_with_its_problem(qtbot, left):
    window, panel = QWidget(), PlanPanel()
    qtbot.addWidget(window)
    panel.setInventory(TWO_GPUS)
    first = QPushButton("First of the window")
    column = QVBoxLayout(window)
    column.addWidget(first)
    column.addWidget(panel)
    with qtbot.waitExposed(window):
        window.show()
    window.activateWindow()
    panel.setPreparation(Preparation(problems=(_HINT, _ERROR)))
    (fix,) = (each for each in panel.findChildren(QPushButton) if each.text() == _FIX.label)
    fix.setFocus()
    qtbot.waitUntil(fix.hasFocus, timeout=5_000)
    panel.setPreparation(Preparation(problems=left))
    focused = QApplication.focusWidget()
    assert focused is panel or panel.isAncestorOf(focused)
