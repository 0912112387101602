"""The trap of PySide6 6.12 on Python 3.11: lost references to None and True end the interpreter.

There each call that returns None drops a reference to None, and each emitted signal one to True.
On Pythons where these are immortal their counts do not move and the tests hold trivially.
"""

import sys

import pytest
from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtWidgets import QLabel, QWidget

CALLS = 5_000
NOISE = 500
"""Other code makes and drops references meanwhile; the trap would drop all of ``CALLS``."""


class _Sender(QObject):
    fired = Signal()
    reported = Signal(object)


class _Receiver(QObject):
    def __init__(self):
        super().__init__()
        self.count = 0

    @Slot()
    def take(self):
        self.count += 1

    @Slot(object)
    def take_value(self, value):
        self.count += 1


def _counts():
    return {value: sys.getrefcount(value) for value in (None, True, False)}


def _assert_kept(before):
    after = _counts()
    for value, count in before.items():
        assert after[value] > count - NOISE, f"{value} lost {count - after[value]} references"


def test_that_calls_that_return_none_keep_it(qtbot):
    widget = QWidget()
    qtbot.addWidget(widget)
    label = QLabel(widget)
    before = _counts()
    for _ in range(CALLS):
        widget.setToolTip("a")
        label.setText("b")
        widget.setEnabled(True)

    _assert_kept(before)


@pytest.mark.parametrize("value", [None, True, 7])
def test_that_emitted_signals_keep_none_and_true(qapp, value):
    sender, receiver = _Sender(), _Receiver()
    sender.fired.connect(receiver.take)
    sender.reported.connect(receiver.take_value)
    before = _counts()
    for _ in range(CALLS):
        sender.fired.emit()
        sender.reported.emit(value)

    _assert_kept(before)
    assert receiver.count == 2 * CALLS


def test_that_a_lost_reference_would_be_seen():
    before = {None: sys.getrefcount(None) + CALLS}

    with pytest.raises(AssertionError, match="None lost"):
        _assert_kept(before)
