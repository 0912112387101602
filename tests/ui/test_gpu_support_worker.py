"""Learning which GPUs TensorFlow can use while the window is open."""

import sys
import threading
import time

import pytest
from PySide6.QtWidgets import QWidget

from gpupanel.devices.probes.tensorflow_probe import ask_tensorflow
from gpupanel.domain.gpu_support import GpuFault, GpuSupport
from gpupanel.domain.problem import Problem, Severity
from gpupanel.domain.tensorflow_facts import TensorFlowBuild
from gpupanel.ui.bindings.doctor_binding import DoctorBinding
from gpupanel.ui.session import Session
from gpupanel.ui.workers import gpu_support_worker
from gpupanel.ui.workers.device_worker import DeviceWatch
from gpupanel.ui.workers.gpu_support_worker import GpuSupportLoader
from tests.fakes.devices import CPU_ONLY, RTX_4090, TWO_UNEQUAL

USABLE = GpuSupport(build=TensorFlowBuild(version="2.21.0", is_cuda_build=True))
UNUSABLE = GpuSupport(
    faults=(GpuFault(keys=("GPU-4090",), problem=Problem(code="broken", message="It is.")),)
)
GPUS, DRIVER = TWO_UNEQUAL.gpus, TWO_UNEQUAL.driver


@pytest.fixture(autouse=True)
def _no_delay(monkeypatch):
    monkeypatch.setattr(gpu_support_worker, "DELAY_MS", 0)


class _Source:
    """Answers what the test says, and counts."""

    def __init__(self, answer=USABLE, remembered=None):
        self.answer = answer
        self.remembered = remembered
        self.asked = []
        self.recalled = []
        self.may_answer = threading.Event()
        self.may_answer.set()

    def ask(self, question, cancelled):
        self.may_answer.wait(10.0)
        self.asked.append(question)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer

    def recall(self, question):
        self.recalled.append(question)
        return None if question.anew else self.remembered


@pytest.fixture
def source():
    return _Source()


@pytest.fixture
def loader(qtbot, source):
    made = GpuSupportLoader(source.ask, source.recall)
    yield made
    source.may_answer.set()
    made.stop()


def test_that_tensorflow_is_asked_once_however_often_the_same_gpus_are_listed(
    qtbot, loader, source
):
    with qtbot.waitSignal(loader.answered) as answered:
        loader.set_gpus(GPUS, DRIVER)
        loader.set_gpus(GPUS, DRIVER)
    loader.set_gpus(GPUS[::-1], DRIVER)
    loader.stop()

    assert answered.args == [USABLE]
    assert len(source.asked) == 1


def test_that_without_a_gpu_tensorflow_is_not_asked(qtbot, loader, source):
    loader.set_gpus((), None)
    loader.ask_again()
    loader.check_again()
    loader.stop()

    assert source.asked == source.recalled == []


def test_that_what_was_usable_before_comes_without_asking(qtbot, loader, source):
    source.remembered = USABLE
    busy = []
    loader.busyChanged.connect(busy.append)

    with qtbot.waitSignal(loader.busyChanged, check_params_cb=lambda is_busy: not is_busy):
        loader.set_gpus(GPUS, DRIVER)
    loader.stop()

    assert busy == [True, False]
    assert source.asked == []


def test_that_what_could_not_be_used_is_shown_at_once_and_asked_again(qtbot, loader, source):
    source.remembered = UNUSABLE
    reported = []
    loader.answered.connect(reported.append)

    loader.set_gpus(GPUS, DRIVER)
    qtbot.waitUntil(lambda: len(reported) == 2)

    assert reported == [UNUSABLE, USABLE]


def test_that_other_gpus_and_another_driver_are_asked_about_anew(qtbot, loader, source):
    for gpus, driver in ((GPUS, DRIVER), ((RTX_4090,), DRIVER), ((RTX_4090,), "590.1")):
        with qtbot.waitSignal(loader.answered):
            loader.set_gpus(gpus, driver)

    assert len(source.asked) == 3


def test_that_an_answer_about_other_gpus_than_are_there_now_is_not_reported(qtbot, loader, source):
    reported = []
    source.may_answer.clear()
    loader.set_gpus(GPUS, DRIVER)
    qtbot.waitUntil(lambda: len(source.recalled) == 1)
    qtbot.waitUntil(lambda: not loader._timer.isActive())
    loader.answered.connect(reported.append)

    loader.set_gpus((RTX_4090,), DRIVER)
    source.may_answer.set()
    qtbot.waitUntil(lambda: len(reported) == 1)
    loader.stop()

    assert [len(question.gpus) for question in source.asked][-1] == 1
    assert reported == [USABLE]


def test_that_the_doctor_lets_everything_be_asked_anew(qtbot, loader, source):
    source.remembered = USABLE
    with qtbot.waitSignal(loader.answered):
        loader.set_gpus(GPUS, DRIVER)
    source.answer = UNUSABLE

    with qtbot.waitSignal(loader.answered) as answered:
        loader.ask_again()

    assert answered.args == [UNUSABLE]
    assert source.recalled[-1].anew


def test_that_coming_back_to_the_window_asks_only_where_packages_have_changed(
    qtbot, loader, source, monkeypatch
):
    basis = ["before"]
    monkeypatch.setattr(gpu_support_worker, "_basis", lambda question: basis[0])
    source.answer = UNUSABLE
    with qtbot.waitSignal(loader.busyChanged, check_params_cb=lambda is_busy: not is_busy):
        loader.set_gpus(GPUS, DRIVER)
    with qtbot.assertNotEmitted(loader.busyChanged, wait=200):
        loader.check_again()

    basis[0], source.answer = "pip installed something", USABLE
    with qtbot.waitSignal(loader.answered) as answered:
        loader.check_again()

    assert answered.args == [USABLE]


def test_that_what_can_be_used_is_not_compared_again(qtbot, loader, source, monkeypatch):
    with qtbot.waitSignal(loader.answered):
        loader.set_gpus(GPUS, DRIVER)
    monkeypatch.setattr(gpu_support_worker, "_basis", lambda question: "something else")

    with qtbot.assertNotEmitted(loader.busyChanged, wait=200):
        loader.check_again()


def test_that_an_error_of_the_question_does_not_leave_it_busy(qtbot, loader, source):
    source.answer = OSError(12, "Cannot allocate memory")

    with (
        qtbot.waitSignal(loader.refused) as refused,
        qtbot.waitSignal(loader.busyChanged, check_params_cb=lambda is_busy: not is_busy),
    ):
        loader.set_gpus(GPUS, DRIVER)
    source.answer = USABLE
    with qtbot.waitSignal(loader.answered):
        loader.ask_again()

    (problem,) = refused.args[0]
    assert "memory" in problem.message


def test_that_closing_the_window_does_not_wait_for_tensorflow(qtbot):
    ended = []
    asked = threading.Event()

    def ask(question, cancelled):
        asked.set()
        answer = ask_tensorflow(
            (sys.executable, "-c", "import time; time.sleep(60)"), 50.0, cancelled
        )
        ended.append(answer.problem.code)

    loader = GpuSupportLoader(ask, lambda question: None)
    loader.set_gpus(GPUS, DRIVER)
    qtbot.waitUntil(asked.is_set)
    started = time.monotonic()
    loader.stop()

    assert time.monotonic() - started < 3.0
    assert ended == ["tensorflow_probe_cancelled"]


def test_that_a_session_without_gpus_knows_what_keeps_tensorflow_from_being_imported(
    qtbot, monkeypatch
):
    spoiled = Problem(code="environment_spoils_import", message="It cannot be imported.")
    doubt = Problem(code="packages_of_elsewhere", severity=Severity.WARNING, message="Not ours.")
    tried = []
    monkeypatch.setattr(
        gpu_support_worker, "_try_import", lambda _cancelled: tried.append(True) or spoiled
    )
    session, window = Session(), QWidget()
    qtbot.addWidget(window)
    watch = DeviceWatch(window)
    binding = DoctorBinding(session, watch, window)
    doubtful = CPU_ONLY.model_copy(update={"environment_problems": (doubt,)})
    for inventory in (CPU_ONLY, doubtful, doubtful):
        session.set_inventory(inventory)
        watch.inventoryChanged.emit(inventory)
    qtbot.waitUntil(lambda: spoiled in session.prepare_now().problems)
    assert tried == [True]
    assert not session.preparation.is_startable
    binding.stop()
    watch.stop()
    session.close()
