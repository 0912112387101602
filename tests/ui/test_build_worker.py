"""Learning what TensorFlow was built for while the window is open."""

import sys
import time

import pytest

from gpupanel.devices.probes.tensorflow_probe import ask_tensorflow
from gpupanel.domain.tensorflow_facts import TensorFlowBuild
from gpupanel.ui.workers import build_worker
from gpupanel.ui.workers.build_worker import BuildLoader
from tests.fakes.devices import CPU_ONLY, TWO_UNEQUAL

BUILD = TensorFlowBuild(version="2.21.0", is_cuda_build=True, cuda_version="12.5.1")


@pytest.fixture(autouse=True)
def _no_delay(monkeypatch):
    monkeypatch.setattr(build_worker, "DELAY_MS", 0)


def test_that_the_build_is_told_once_however_often_gpus_are_listed(qtbot):
    asked = []

    def source(cancelled):
        asked.append(cancelled)
        return BUILD

    loader = BuildLoader(source)
    with qtbot.waitSignal(loader.known) as known:
        loader.set_inventory(TWO_UNEQUAL)
        loader.set_inventory(TWO_UNEQUAL)
    loader.set_inventory(TWO_UNEQUAL)
    loader.stop()

    assert known.args == [BUILD]
    assert len(asked) == 1


def test_that_without_a_gpu_tensorflow_is_not_asked(qtbot):
    asked = []
    loader = BuildLoader(asked.append)

    loader.set_inventory(CPU_ONLY)
    qtbot.wait(50)
    loader.stop()

    assert asked == []


def test_that_closing_the_window_does_not_wait_for_tensorflow(qtbot):
    ended = []

    def source(cancelled):
        answer = ask_tensorflow(
            (sys.executable, "-c", "import time; time.sleep(60)"), 50.0, cancelled
        )
        ended.append(answer.problem.code)

    loader = BuildLoader(source)
    loader.set_inventory(TWO_UNEQUAL)
    qtbot.wait(300)
    started = time.monotonic()
    loader.stop()

    assert time.monotonic() - started < 3.0
    assert ended == ["tensorflow_probe_cancelled"]
