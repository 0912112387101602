"""Calls that are under way come back as they end, in whichever order."""

import threading
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from gpupanel.trainer.loop.calls_in_flight import CallsInFlight

ROOM = 2


@pytest.fixture
def calls() -> Iterator[CallsInFlight]:
    with CallsInFlight(ROOM) as one:
        yield one
    for thread in one._threads:
        thread.join(10.0)
        assert not thread.is_alive()


class Call:
    """A call that ends when it is asked to."""

    def __init__(self, loss_sum: float) -> None:
        self.ends = threading.Event()
        self._sums: Any = SimpleNamespace(loss_sum=loss_sum)

    def __call__(self) -> Any:
        assert self.ends.wait(10.0)
        return self._sums


def take(calls: CallsInFlight, count: int) -> list[tuple[float, int]]:
    """So many calls that came back: loss and examples."""
    taken: list[tuple[float, int]] = []
    while len(taken) < count:
        taken += [(finished.sums.loss_sum, finished.examples) for finished in calls.finished()]
    return taken


def begun(calls: CallsInFlight, loss_sum: float, examples: int) -> Call:
    call = Call(loss_sum)
    calls.begin(call, examples)
    return call


def test_that_whichever_call_ends_first_comes_back_first(calls: CallsInFlight) -> None:
    slow, fast = begun(calls, 1.0, 10), begun(calls, 2.0, 20)
    assert calls.is_full
    fast.ends.set()
    assert take(calls, 1) == [(2.0, 20)]
    assert not calls.is_full
    assert not calls.is_empty
    slow.ends.set()
    assert take(calls, 1) == [(1.0, 10)]
    assert calls.is_empty


def test_that_nobody_waits_long_for_calls_that_do_not_come_back(calls: CallsInFlight) -> None:
    call = begun(calls, 1.0, 10)

    assert list(calls.finished()) == []
    assert not calls.is_empty
    call.ends.set()
    assert take(calls, 1) == [(1.0, 10)]


def test_that_nothing_comes_back_where_nothing_is_under_way(calls: CallsInFlight) -> None:
    assert list(calls.finished()) == []


def test_that_what_a_call_fails_with_is_raised_by_the_one_who_asks(calls: CallsInFlight) -> None:
    calls.begin(failing(OSError("no space")), 10)

    with pytest.raises(OSError, match="no space"):
        take(calls, 1)
    assert calls.is_empty


def failing(error: Exception) -> Callable[[], Any]:
    def fail() -> Any:
        raise error

    return fail
