"""The list of parts: what they refuse is shown, and they end in one order."""

import pytest
from PySide6.QtCore import QObject, Signal

from gpupanel.domain.problem import Problem
from gpupanel.ui.window_parts import NOT_DONE, UNEXPECTED, StopRank, WindowParts
from tests.fakes.person import Person

PROBLEM = Problem(code="disk_full", message="The disk is full.")


class _Reader(QObject):
    refused = Signal(object)

    def __init__(self, ended, parent):
        super().__init__(parent)
        self.ended = ended

    def stop(self):
        self.ended.append("reader")


class _Painter(QObject):
    """Begins nothing, and refuses nothing."""


class _Steering(QObject):
    """Its method ``stop`` is a button's."""

    def stop(self):
        pytest.fail("the run was stopped")


@pytest.fixture
def window(qapp):
    window = QObject()
    yield window
    window.deleteLater()


@pytest.mark.parametrize("sentence", [UNEXPECTED, NOT_DONE])
def test_that_what_a_part_refuses_is_shown_below_its_sentence(window, sentence):
    person = Person()
    reader = WindowParts(person, window).add(_Reader([], window), refusal=sentence)

    reader.refused.emit((PROBLEM,))

    assert person.problems == [(sentence, (PROBLEM,))]


def test_that_parts_end_by_their_rank_and_then_in_the_order_of_the_list(window):
    parts, ended = WindowParts(Person(), window), []
    parts.add(_Steering(window), ending=StopRank.RUN, stop=lambda: ended.append("run"))
    parts.add(_Reader(ended, window))
    parts.add(_Painter(window), stop=lambda: ended.append("painter"))
    parts.add(QObject(window), ending=StopRank.SESSION, stop=lambda: ended.append("session"))
    parts.add(QObject(window), ending=StopRank.MEMORY, stop=lambda: ended.append("memory"))

    for stop in parts.stops():
        stop()

    assert ended == ["memory", "session", "reader", "painter", "run"]


def test_that_a_part_is_found_by_its_class(window):
    parts = WindowParts(Person(), window)
    painter = parts.add(_Painter(window))

    assert parts[_Painter] is painter
    assert parts.stops() == ()
    with pytest.raises(KeyError):
        parts[_Reader]
