import pytest
from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QToolButton

from gpupanel.domain.telemetry import DeviceProcess
from gpupanel.ui.formatting import DASH
from gpupanel.ui.widgets.process_list import ProcessList, run_words

MINE = DeviceProcess(
    pid=501,
    name="python3",
    user="ana",
    command="python3 train.py --epochs 300 --a-long-option <b>value</b>",
    memory_used_mib=4096,
    started_s=1_700_000_000.0,
    is_mine=True,
)
DESKTOP = DeviceProcess(
    pid=502, name="Xorg", user="root", command="/usr/bin/Xorg :0", memory_used_mib=300
)
UNSEEN = DeviceProcess(pid=503)


@pytest.fixture
def processes(qtbot) -> ProcessList:
    widget = ProcessList()
    qtbot.addWidget(widget)
    widget.resize(272, 300)
    widget.show()
    return widget


def buttons(widget) -> list[QToolButton]:
    QCoreApplication.processEvents()
    return [each for each in widget.findChildren(QToolButton) if each.isVisible()]


def words(widget) -> str:
    QCoreApplication.processEvents()
    return "\n".join(each.text() for each in widget.findChildren(QLabel) if each.isVisible())


def test_that_a_device_without_processes_says_so(processes):
    processes.setProcesses(())
    assert "No process" in words(processes)
    processes.setProcesses((MINE,))
    assert "No process" not in words(processes)


def test_that_a_row_names_program_user_memory_and_command(processes):
    processes.setProcesses((MINE,))
    shown = words(processes)
    for word in ("python3", "ana", "4.0 GiB", "train.py --epochs"):
        assert word in shown


def test_that_a_row_has_pid_and_use_and_a_dash_where_the_use_is_not_known(processes):
    processes.setProcesses((MINE.model_copy(update={"utilization_percent": 87.0}), DESKTOP))
    shown = words(processes)
    assert "501 · ana · python3 train.py" in shown
    assert "87 %" in shown
    assert DASH in shown.splitlines()


def test_that_the_training_of_another_run_is_named_by_its_folder(processes):
    command = "/usr/bin/python -P -m gpupanel.trainer /home/ana/my runs/digits-3"
    processes.setProcesses((MINE.model_copy(update={"command": command}),))
    assert "Run digits-3 · 501 · ana" in words(processes)
    processes.setRunProcesses(frozenset({501}))
    assert "This run · 501 · ana" in words(processes)
    assert run_words("python -m gpupanel.trainer") == run_words(None) == ""


def test_that_the_tooltip_has_the_whole_command_as_plain_text(processes):
    processes.setProcesses((MINE,))
    tip = processes.findChildren(QToolButton)[0].parentWidget().toolTip()
    assert "--a-long-option &lt;b&gt;value&lt;/b&gt;" in tip
    assert "501" in tip


def test_that_rows_keep_their_place_while_values_change_and_new_ones_come_last(processes):
    processes.setProcesses((DESKTOP, MINE))
    assert processes.processes() == (MINE, DESKTOP)
    risen = DESKTOP.model_copy(update={"memory_used_mib": 9_000})
    newest = UNSEEN.model_copy(update={"memory_used_mib": 20_000})
    processes.setProcesses((newest, risen, MINE))
    assert processes.processes() == (MINE, risen, newest)
    processes.setProcesses((newest, risen))
    assert processes.processes() == (risen, newest)


def test_that_a_pid_given_out_again_is_another_row(processes):
    processes.setProcesses((MINE, DESKTOP))
    again = MINE.model_copy(update={"started_s": MINE.started_s + 60.0, "name": "blender"})
    processes.setProcesses((again, DESKTOP))
    assert processes.processes() == (DESKTOP, again)


def test_that_values_change_without_building_a_row_anew(processes):
    processes.setProcesses((MINE,))
    (before,) = buttons(processes)
    processes.setProcesses((MINE.model_copy(update={"memory_used_mib": 5120}),))
    (after,) = buttons(processes)
    assert after is before
    assert "5.0 GiB" in words(processes)


def test_that_only_a_process_of_ones_own_can_be_ended(processes):
    processes.setProcesses((MINE, DESKTOP, UNSEEN))
    (button,) = buttons(processes)
    asked = []
    processes.endRequested.connect(asked.append)
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    assert asked == [MINE]


def test_that_a_process_of_somebody_else_says_why_it_cannot_be_ended(processes):
    processes.setProcesses((DESKTOP, UNSEEN))
    tips = [each.parentWidget().toolTip() for each in processes.findChildren(QToolButton)]
    assert "belongs to root" in tips[0]
    assert "Whose it is cannot be known here" in tips[1]


def test_that_a_process_of_the_run_is_ended_with_the_run_only(processes):
    processes.setProcesses((MINE,))
    processes.setRunProcesses(frozenset({MINE.pid}))
    assert buttons(processes) == []
    tip = processes.findChildren(QToolButton)[0].parentWidget().toolTip()
    assert "stop the run" in tip
    processes.setRunProcesses(frozenset())
    assert len(buttons(processes)) == 1


def test_that_the_numbers_stand_below_one_another_with_and_without_a_button(processes):
    processes.setProcesses((MINE, DESKTOP))
    assert len(buttons(processes)) == 1
    rights = {
        label.mapTo(processes, label.rect().topRight()).x()
        for label in processes.findChildren(QLabel)
        if label.text().endswith("iB")
    }
    assert len(rights) == 1
