"""The doctor in the window: what it shows, and that the window stays alive meanwhile."""

import sys
import threading
import time

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QObject, QSettings, Signal
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QLabel,
    QPlainTextEdit,
    QPushButton,
    QWidget,
)

from gpupanel.devices.child_process import ChildEnd, ask_child
from gpupanel.devices.doctor.examination import report_of
from gpupanel.domain.gpu_support import GpuFault, GpuSupport
from gpupanel.domain.problem import Problem
from gpupanel.domain.telemetry import DeviceReading, DeviceState, TelemetrySample
from gpupanel.ui.bindings import doctor_binding
from gpupanel.ui.bindings.doctor_binding import DoctorBinding
from gpupanel.ui.dialogs.doctor_dialog import DoctorDialog
from gpupanel.ui.dialogs.doctor_dialog.report_view import FactGroupView, FindingRow
from gpupanel.ui.session import Session
from gpupanel.ui.widgets.buttons import FoldButton
from gpupanel.ui.widgets.command_line import CommandLine
from gpupanel.ui.widgets.labels import ProseLabel
from gpupanel.ui.widgets.severity_icon import SeverityIcon
from gpupanel.ui.workers import gpu_support_worker
from gpupanel.ui.workers.doctor_worker import DoctorExaminer
from gpupanel.ui.workers.gpu_support_worker import GpuSupportLoader
from tests.fakes.devices import TWO_UNEQUAL
from tests.fakes.examined import (
    CUDNN,
    DRIVER_LIBRARY,
    NO_GPU,
    WELL,
    with_host,
    with_tensorflow,
)
from tests.fakes.person import Person
from tests.ui.new_window import new_window

pytestmark = pytest.mark.usefixtures("preview_without_process", "undressed")


def _report(examined):
    return report_of(examined)


def _without_cudnn():
    lost = CUDNN.model_copy(update={"path": None, "error": "libcudnn.so.9: not found"})
    return with_tensorflow(WELL, gpus=(), libraries=(lost,))


@pytest.fixture
def dialog(qtbot):
    made = DoctorDialog()
    qtbot.addWidget(made)
    made.show()
    return made


def _verdict(dialog):
    return dialog.findChild(QLabel, "doctor_verdict").text()


def _button(dialog, name):
    return dialog.findChild(QPushButton, name)


def test_that_a_machine_that_is_well_is_shown_as_such_with_its_facts(dialog):
    dialog.setReport(_report(WELL))

    assert _verdict(dialog) == "No problems found"
    assert dialog.findChildren(FindingRow) == []
    titles = [view.findChild(QLabel).text() for view in dialog.findChildren(FactGroupView)]
    assert titles == [
        "Driver and system",
        "NVIDIA GeForce RTX 4090",
        "TensorFlow",
        "Libraries that TensorFlow loads",
        "Python and packages",
    ]


def test_that_a_hint_is_no_illness(dialog):
    dialog.setReport(_report(NO_GPU))

    assert _verdict(dialog) == "No problems found"
    assert len(dialog.findChildren(FindingRow)) == 1


def test_that_a_problem_stands_above_the_facts_with_a_command_to_copy(dialog, qtbot):
    dialog.setReport(_report(_without_cudnn()))
    QApplication.processEvents()

    (row,) = dialog.findChildren(FindingRow)
    first_facts = dialog.findChildren(FactGroupView)[0]
    assert _verdict(dialog) == "1 problem found"
    assert row.y() < first_facts.y()
    (line,) = dialog.findChildren(CommandLine)
    line.copy()
    assert "tensorflow[and-cuda]==2.21.0" in QApplication.clipboard().text()


def test_that_several_commands_are_offered_as_one_too(dialog):
    nodes = tuple(
        node.model_copy(update={"is_usable": False, "group": "render"}) for node in WELL.host.nodes
    )

    dialog.setReport(_report(with_host(_without_cudnn(), nodes=nodes)))

    commands = [line.command() for line in dialog.findChildren(CommandLine)]
    assert _verdict(dialog) == "2 problems found"
    assert commands[0] == " && ".join(commands[1:])


def test_that_words_fill_their_row_whether_there_is_a_command_or_not(dialog):
    lost = DRIVER_LIBRARY.model_copy(update={"path": None, "error": "libcuda.so.1: not found"})
    blind = with_tensorflow(WELL, gpus=(), cuda=None, libraries=(lost,))
    dialog.setReport(_report(with_host(blind, container="Docker")))
    QApplication.processEvents()

    (row,) = dialog.findChildren(FindingRow)
    (icon,) = row.findChildren(SeverityIcon)
    assert row.findChildren(CommandLine) == []
    assert all(label.width() > 0.9 * row.width() for label in row.findChildren(ProseLabel))
    assert icon.x() < 24


def test_that_the_detail_is_folded_until_it_is_wanted(dialog):
    dialog.setReport(_report(_without_cudnn()))
    (row,) = dialog.findChildren(FindingRow)
    text = row.findChild(QPlainTextEdit)

    assert not text.isVisible()
    row.findChild(FoldButton).click()
    assert text.isVisible()
    assert text.toPlainText() == "libcudnn.so.9: not found"


def test_that_everything_can_be_copied_as_text(dialog):
    dialog.setReport(_report(_without_cudnn()))

    _button(dialog, "doctor_copy").click()

    text = QApplication.clipboard().text()
    assert text.startswith("Error: TensorFlow does not find libcudnn.so.9.")
    assert "(cuda_libraries_missing)" in text
    assert "To fix it:" in text
    assert "NVIDIA driver" in text
    assert "570.86.15" in text


def test_that_while_it_is_busy_nothing_can_be_asked_twice_and_the_report_stays(dialog):
    dialog.setReport(_report(WELL))

    dialog.setBusy(True)

    assert "Checking" in _verdict(dialog)
    assert not _button(dialog, "doctor_again").isEnabled()
    assert len(dialog.findChildren(FactGroupView)) == 5
    dialog.setBusy(False)
    assert _verdict(dialog) == "No problems found"
    assert _button(dialog, "doctor_again").isEnabled()


def test_that_the_devices_can_be_tested_from_here(dialog, qtbot):
    with qtbot.waitSignal(dialog.selfTestRequested):
        dialog.findChild(QPushButton, "doctor_self_test").click()


def test_that_before_the_first_report_there_is_nothing_to_copy(dialog):
    assert not _button(dialog, "doctor_copy").isEnabled()
    assert dialog.report() is None


def test_that_a_second_report_takes_the_place_of_the_first(dialog):
    dialog.setReport(_report(_without_cudnn()))
    dialog.setReport(_report(WELL))
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)

    assert dialog.findChildren(FindingRow) == []


def test_that_every_control_says_what_it_does(dialog):
    dialog.setReport(_report(_without_cudnn()))

    for button in dialog.findChildren(QPushButton):
        assert button.toolTip() or button.text() == "Close"


def test_that_the_window_stays_alive_during_an_examination(qtbot):
    go_on = threading.Event()

    def slow(cancelled):
        go_on.wait(10.0)
        return _report(WELL)

    examiner = DoctorExaminer(slow)
    with qtbot.waitSignal(examiner.busyChanged):
        examiner.begin()
    started = time.monotonic()
    QApplication.processEvents()
    assert time.monotonic() - started < 0.2
    assert examiner.is_busy()
    with qtbot.waitSignal(examiner.examined):
        go_on.set()
    assert not examiner.is_busy()
    examiner.stop()


def test_that_an_examination_that_goes_on_is_not_begun_again(qtbot):
    times = []
    go_on = threading.Event()

    def slow(cancelled):
        times.append(cancelled)
        go_on.wait(10.0)
        return _report(WELL)

    examiner = DoctorExaminer(slow)
    with qtbot.waitSignal(examiner.examined):
        examiner.begin()
        examiner.begin()
        go_on.set()
    examiner.stop()

    assert len(times) == 1


def test_that_nothing_comes_of_an_examination_that_was_cancelled(qtbot):
    def until_cancelled(cancelled):
        cancelled.wait(10.0)
        return _report(WELL)

    examiner = DoctorExaminer(until_cancelled)
    examiner.begin()
    qtbot.wait(50)
    with qtbot.assertNotEmitted(examiner.examined, wait=300):
        examiner.cancel()
    examiner.stop()

    assert not examiner.is_busy()


def test_that_closing_ends_the_processes_that_were_asked(qtbot):
    ends = []

    def asks(cancelled):
        answer = ask_child((sys.executable, "-c", "import time; time.sleep(60)"), 50.0, cancelled)
        ends.append(answer.end)
        return _report(WELL)

    examiner = DoctorExaminer(asks)
    examiner.begin()
    qtbot.wait(300)
    started = time.monotonic()
    examiner.stop()

    assert time.monotonic() - started < 4.0
    assert ends == [ChildEnd.CANCELLED]


class _Watch(QObject):
    inventoryChanged = Signal(object)
    sampled = Signal(object)


@pytest.fixture
def care(qtbot, monkeypatch):
    reports, answers = [], []

    def examiner(parent):
        return DoctorExaminer(lambda _: reports[0], parent)

    def loader(parent):
        return GpuSupportLoader(
            lambda question, cancelled: answers[0], lambda question: None, parent
        )

    monkeypatch.setattr(gpu_support_worker, "DELAY_MS", 0)
    monkeypatch.setattr(doctor_binding, "DoctorExaminer", examiner)
    monkeypatch.setattr(doctor_binding, "GpuSupportLoader", loader)
    window = QWidget()
    qtbot.addWidget(window)
    session = Session()
    session.set_inventory(TWO_UNEQUAL)
    watch = _Watch(window)
    made = DoctorBinding(session, watch, window)
    made.reports, made.answers, made.watch = reports, answers, watch
    made.session_of_test = session
    yield made
    made.stop()
    session.close()


def test_that_opening_the_doctor_examines_at_once_and_closing_with_the_window(care, qtbot):
    care.reports.append(_report(_without_cudnn()))

    care.open_doctor()
    dialog = care.parent().findChild(DoctorDialog)
    qtbot.waitUntil(lambda: _verdict(dialog) == "1 problem found")
    care.reports[0] = _report(WELL)
    _button(dialog, "doctor_again").click()
    qtbot.waitUntil(lambda: _verdict(dialog) == "No problems found")
    care.stop()

    assert not dialog.isVisible()


def _codes(session):
    return {problem.code for problem in session.preparation.problems}


_BROKEN = GpuSupport(
    faults=(
        GpuFault(
            keys=tuple(gpu.key for gpu in TWO_UNEQUAL.gpus),
            problem=Problem(code="cuda_libraries_missing", message="It does not find cuDNN."),
        ),
    )
)


def test_that_gpus_that_tensorflow_cannot_use_become_a_problem_of_the_session(care, qtbot):
    care.answers.append(_BROKEN)
    session = care.session_of_test
    session.prepare_now()
    assert session.buttons.start

    care.watch.inventoryChanged.emit(TWO_UNEQUAL)
    assert session.state_text == "Checking whether TensorFlow can use the GPUs…"
    assert session.buttons.start, "a start is possible while it is not known"
    assert session.buttons.start_is_unchecked
    qtbot.waitUntil(lambda: "gpu_not_usable" in _codes(session))

    assert session.state_text == "1 problem to fix"
    assert not session.buttons.start


def test_that_what_was_mended_is_asked_anew_after_the_doctor_was_run_by_hand(care, qtbot):
    care.answers.append(_BROKEN)
    care.reports.append(_report(WELL))
    session = care.session_of_test
    care.watch.inventoryChanged.emit(TWO_UNEQUAL)
    qtbot.waitUntil(lambda: "gpu_not_usable" in _codes(session))

    care.answers[0] = GpuSupport()
    care.open_doctor()

    qtbot.waitUntil(lambda: "gpu_not_usable" not in _codes(session))
    assert session.state_text == "Ready"


def test_that_a_gpu_that_stopped_answering_is_not_asked_about(care, qtbot):
    care.answers.append(GpuSupport())
    first, second = TWO_UNEQUAL.gpus
    sample = TelemetrySample(
        time_s=0.0, readings=(DeviceReading(key=first.key, state=DeviceState.LOST),)
    )
    care.watch.inventoryChanged.emit(TWO_UNEQUAL)

    care.watch.sampled.emit(sample)
    qtbot.waitUntil(lambda: not care._support_loader._is_busy)

    assert care._support_loader._question.gpus == (second,)


def test_that_the_button_beside_the_devices_opens_the_doctor(qtbot, monkeypatch, tmp_path):
    def examiner(parent):
        return DoctorExaminer(lambda _: _report(WELL), parent)

    monkeypatch.setattr(doctor_binding, "DoctorExaminer", examiner)
    settings = QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat)
    window = new_window(settings, tmp_path / "runs", Person())
    qtbot.addWidget(window)
    window.show()

    window.findChild(QAbstractButton, "doctor_button").click()
    dialog = window.findChild(DoctorDialog, "doctor_dialog")
    qtbot.waitUntil(lambda: dialog.report() is not None)
    assert dialog.isVisible()
    window.close()

    assert not dialog.isVisible()
