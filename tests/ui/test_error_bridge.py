"""Exceptions that nothing caught reach the person."""

import sys
import threading

import pytest

from gpupanel.ui.error_bridge import ErrorBridge


@pytest.fixture
def bridge(qapp, monkeypatch):
    # What pytest-qt hangs in there would make the test fail for the very thing that it is about.
    monkeypatch.setattr(sys, "excepthook", lambda *_: None)
    monkeypatch.setattr(threading, "excepthook", lambda _: None)
    bridge = ErrorBridge()
    bridge.install()
    yield bridge
    bridge.uninstall()


def _fail(words):
    raise ValueError(words)


def _raise(words):
    try:
        _fail(words)
    except ValueError as error:
        sys.excepthook(type(error), error, error.__traceback__)


def test_that_an_exception_becomes_a_sentence_with_a_trace(qtbot, bridge):
    with qtbot.waitSignal(bridge.raised) as raised:
        _raise("the cat is gone")

    problem = raised.args[0]
    assert "the cat is gone" in problem.message
    assert "Runs are not affected" in problem.hint
    assert "Traceback" in problem.detail


def test_that_the_same_error_is_shown_once(qtbot, bridge):
    reported = []
    bridge.raised.connect(reported.append)
    for _ in range(3):
        _raise("again")

    assert len(reported) == 1


def test_that_an_error_of_a_thread_is_shown_too(qtbot, bridge):
    def fail():
        raise RuntimeError("in a thread")

    with qtbot.waitSignal(bridge.raised) as raised:
        thread = threading.Thread(target=fail)
        thread.start()
        thread.join()

    assert "in a thread" in raised.args[0].message


def test_that_an_interrupt_is_no_error(bridge):
    reported = []
    bridge.raised.connect(reported.append)

    sys.excepthook(KeyboardInterrupt, KeyboardInterrupt(), None)

    assert reported == []


def test_that_the_hooks_are_given_back(qapp):
    before = (sys.excepthook, threading.excepthook)
    bridge = ErrorBridge()
    bridge.install()
    assert sys.excepthook != before[0]
    bridge.uninstall()

    assert (sys.excepthook, threading.excepthook) == before
