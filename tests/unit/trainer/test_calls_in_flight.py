"""Calls are launched in their order, and come back as they end."""

import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest

from gpupanel.trainer.loop.calls_in_flight import CallsInFlight, FinishedCall, GivenCall
from tests.patience import PATIENCE_S

ROOM = 2


@pytest.fixture(params=[1, 2], ids=["one device", "two workers"])
def calls(request: pytest.FixtureRequest) -> Iterator[CallsInFlight]:
    with CallsInFlight(ROOM, workers=request.param) as one:
        yield one
    for thread in (one._launching, *one._waiting):
        assert not thread.is_alive()


class Call:
    """A call that ends when it is asked to."""

    def __init__(self, loss_sum: float) -> None:
        self.is_launched, self.ends = threading.Event(), threading.Event()
        self.idle_s = -1.0
        self._sums: Any = SimpleNamespace(loss_sum=loss_sum)

    def __call__(self, idle_s: float) -> Callable[[], Any]:
        self.idle_s = idle_s
        self.is_launched.set()
        return self._wait

    def _wait(self) -> Any:
        assert self.ends.wait(PATIENCE_S)
        return self._sums


def taken(calls: CallsInFlight) -> FinishedCall:
    """The next call that comes back."""
    while True:
        finished = calls.next_finished()
        if finished is not None:
            return finished


def loss_of(finished: FinishedCall) -> float:
    return finished.sums.loss_sum


def begun(calls: CallsInFlight, loss_sum: float, steps: int = 1) -> Call:
    call = Call(loss_sum)
    calls.begin(call, GivenCall(steps, 10, (10,)))
    assert call.is_launched.wait(PATIENCE_S)
    return call


def test_that_a_call_is_launched_before_the_one_before_it_has_ended(calls: CallsInFlight) -> None:
    first = begun(calls, 1.0)
    second = begun(calls, 2.0, steps=3)
    assert calls.is_full
    second.ends.set()
    first.ends.set()
    found = sorted([taken(calls), taken(calls)], key=loss_of)
    assert calls.is_empty
    assert [each.given.examples for each in found] == [10, 30]


def test_that_of_workers_whichever_call_ends_first_comes_back_first() -> None:
    with CallsInFlight(ROOM, workers=2) as calls:
        slow, fast = begun(calls, 1.0), begun(calls, 2.0)
        fast.ends.set()
        assert loss_of(taken(calls)) == 2.0
        assert not calls.is_full
        assert not calls.is_empty
        slow.ends.set()
        assert loss_of(taken(calls)) == 1.0


def test_that_what_is_computed_in_turn_is_counted_once() -> None:
    with CallsInFlight(ROOM) as calls:
        start_s = time.monotonic()
        first, second = begun(calls, 1.0), begun(calls, 2.0)
        assert first.idle_s == float("inf")
        assert second.idle_s == 0.0, "the first one is computed"
        time.sleep(0.05)
        first.ends.set()
        one = taken(calls)
        second.ends.set()
        other = taken(calls)
        passed_s = time.monotonic() - start_s
        assert one.computed_s >= 0.05
        assert one.ended_s <= other.ended_s
        assert one.computed_s + other.computed_s <= passed_s
        time.sleep(0.02)
        third = begun(calls, 3.0)
        third.ends.set()
        assert third.idle_s >= 0.02, "nothing was computed meanwhile"


def test_that_nobody_waits_long_for_calls_that_do_not_come_back(calls: CallsInFlight) -> None:
    call = begun(calls, 1.0)

    assert calls.next_finished() is None
    assert not calls.is_empty
    call.ends.set()
    assert loss_of(taken(calls)) == 1.0


def test_that_nothing_comes_back_where_nothing_is_under_way(calls: CallsInFlight) -> None:
    assert calls.next_finished() is None


@pytest.mark.parametrize("launches", [False, True], ids=["launched", "waited for"])
def test_that_what_a_call_fails_with_is_raised_and_nothing_comes_after_it(
    calls: CallsInFlight, launches: bool
) -> None:
    def fail(*_: float) -> Any:
        raise OSError("no space")

    calls.begin((lambda _: fail) if launches else fail, GivenCall(1, 10, (10,)))
    with pytest.raises(OSError, match="no space"):
        taken(calls)
    if not launches:
        after = Call(1.0)
        calls.begin(after, GivenCall(1, 10, (10,)))
        assert not after.is_launched.wait(0.05)


def test_that_what_a_call_took_is_let_go_when_it_is_launched(calls: CallsInFlight) -> None:
    class Examples:
        is_held = True

        def __del__(self) -> None:
            Examples.is_held = False

    def launch(_: Examples, idle_s: float) -> Callable[[], Any]:
        return call(idle_s)

    call = Call(1.0)
    calls.begin(partial(launch, Examples()), GivenCall(1, 10, (10,)))
    call.ends.set()
    taken(calls)
    end_s = time.monotonic() + PATIENCE_S
    while Examples.is_held:
        assert time.monotonic() < end_s
