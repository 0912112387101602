"""Calls that are under way come back as they end, in whichever order."""

import threading
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from gpupanel.trainer.loop.calls_in_flight import CallsInFlight

ROOM = 2


@pytest.fixture
def flight() -> Iterator[CallsInFlight]:
    with CallsInFlight(ROOM) as one:
        yield one
    for thread in one._threads:
        thread.join(10.0)
        assert not thread.is_alive()


class Call:
    """A call that ends when it is told to."""

    def __init__(self, loss_sum: float) -> None:
        self.ends = threading.Event()
        self._sums: Any = SimpleNamespace(loss_sum=loss_sum)

    def __call__(self) -> Any:
        assert self.ends.wait(10.0)
        return self._sums


def take(flight: CallsInFlight, count: int) -> list[tuple[float, int]]:
    """So many calls that came back: loss and examples."""
    taken: list[tuple[float, int]] = []
    while len(taken) < count:
        taken += [(finished.sums.loss_sum, finished.examples) for finished in flight.finished()]
    return taken


def begun(flight: CallsInFlight, loss_sum: float, examples: int) -> Call:
    call = Call(loss_sum)
    flight.begin(call, examples)
    return call


def test_that_whichever_call_ends_first_comes_back_first(flight: CallsInFlight) -> None:
    slow, fast = begun(flight, 1.0, 10), begun(flight, 2.0, 20)
    assert flight.is_full
    fast.ends.set()
    assert take(flight, 1) == [(2.0, 20)]
    assert not flight.is_full
    assert not flight.is_empty
    slow.ends.set()
    assert take(flight, 1) == [(1.0, 10)]
    assert flight.is_empty


def test_that_nobody_waits_long_for_calls_that_do_not_come_back(flight: CallsInFlight) -> None:
    call = begun(flight, 1.0, 10)

    assert list(flight.finished()) == []
    assert not flight.is_empty
    call.ends.set()
    assert take(flight, 1) == [(1.0, 10)]


def test_that_nothing_comes_back_where_nothing_is_under_way(flight: CallsInFlight) -> None:
    assert list(flight.finished()) == []


def test_that_what_a_call_fails_with_is_raised_by_the_one_who_asks(flight: CallsInFlight) -> None:
    flight.begin(failing(OSError("no space")), 10)

    with pytest.raises(OSError, match="no space"):
        take(flight, 1)
    assert flight.is_empty


def failing(error: Exception) -> Callable[[], Any]:
    def fail() -> Any:
        raise error

    return fail
