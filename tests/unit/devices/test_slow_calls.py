"""What is slow is left to a thread of its own, and the rest goes on."""

import threading
import time
from collections.abc import Callable, Iterator
from functools import partial

import pytest

from gpupanel.devices.slow_calls import SlowCall, SlowCallThreads

PATIENCE_S = 0.15
LONG_S = 20.0


class Driver:
    """Work that a test may hold up, and in which threads it was done."""

    def __init__(self) -> None:
        self.done: list[str] = []
        self.threads: dict[str, int] = {}
        self.events: dict[str, threading.Event] = {}
        self.pauses_s: dict[str, float] = {}

    def hold_up(self, name: str) -> threading.Event:
        self.events[name] = threading.Event()
        return self.events[name]

    def call(self, name: str) -> SlowCall:
        return SlowCall(name, partial(self._work, name))

    def calls(self, names: str) -> list[SlowCall]:
        return [self.call(name) for name in names]

    def _work(self, name: str) -> None:
        self.threads[name] = threading.get_ident()
        if name in self.events:
            self.events[name].wait(LONG_S)
        time.sleep(self.pauses_s.get(name, 0.0))
        self.done.append(name)


@pytest.fixture
def driver() -> Iterator[Driver]:
    driver = Driver()
    yield driver
    for event in driver.events.values():
        event.set()


@pytest.fixture
def threads(driver: Driver, request: pytest.FixtureRequest) -> Iterator[SlowCallThreads]:
    threads = SlowCallThreads(getattr(request, "param", PATIENCE_S))
    yield threads
    for event in driver.events.values():
        event.set()
    assert threads.close(LONG_S)
    assert threads.thread_count == 0


def settled(threads: SlowCallThreads, timeout_s: float) -> bool:
    return threads.wait_until(lambda: not any(map(threads.is_busy, "abcdexyz")), timeout_s)


def eventually(holds: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + LONG_S
    while not holds() and time.monotonic() < deadline:
        time.sleep(0.005)
    return holds()


# So patient that no call is slow that only waits for a processor.
@pytest.mark.parametrize("threads", [LONG_S], indirect=True)
def test_that_quick_calls_are_taken_in_order_by_one_thread_that_stays(
    threads: SlowCallThreads, driver: Driver
) -> None:
    for _ in range(3):
        threads.make_calls(driver.calls("abc"))

    assert driver.done == list("abcabcabc")
    assert len(set(driver.threads.values())) == 1
    assert threading.get_ident() not in driver.threads.values()
    assert threads.thread_count == 1


def test_that_a_call_that_is_held_up_does_not_hold_up_the_others(
    threads: SlowCallThreads, driver: Driver
) -> None:
    driver.hold_up("b")
    began = time.monotonic()
    threads.make_calls(driver.calls("abc"))

    assert driver.done == ["a", "c"]
    assert PATIENCE_S <= time.monotonic() - began < LONG_S / 4
    assert threads.is_busy("b")
    assert not threads.is_busy("c")


def test_that_a_call_under_way_is_not_begun_again(threads: SlowCallThreads, driver: Driver) -> None:
    event = driver.hold_up("b")
    for _ in range(3):
        threads.make_calls(driver.calls("abc"))
    assert driver.done == list("ac") * 3
    assert threads.thread_count == 2

    event.set()
    assert settled(threads, LONG_S)
    assert driver.done.count("b") == 1


def test_that_a_slow_call_is_not_waited_for_again_until_it_is_quick(
    threads: SlowCallThreads, driver: Driver
) -> None:
    driver.pauses_s["b"] = 2 * PATIENCE_S
    threads.make_calls(driver.calls("ab"))
    assert settled(threads, LONG_S)

    # Now in a thread of its own: only the quick one is waited for.
    event = driver.hold_up("b")
    threads.make_calls(driver.calls("ba"))
    assert driver.done == ["a", "b", "a"]
    assert threads.is_busy("b")

    driver.pauses_s.clear()
    driver.events.clear()
    event.set()
    assert settled(threads, LONG_S)
    threads.make_calls(driver.calls("ba"))
    assert settled(threads, LONG_S)
    threads.make_calls(driver.calls("ba"))
    assert driver.done[-2:] == ["b", "a"]
    assert eventually(lambda: threads.thread_count == 1)


def test_that_several_slow_calls_are_held_up_side_by_side(
    threads: SlowCallThreads, driver: Driver
) -> None:
    for name in "abcd":
        driver.hold_up(name)
    threads.make_calls(driver.calls("abcde"))

    assert driver.done == ["e"]
    assert threads.thread_count == 5
    assert not settled(threads, 0.01)
    for event in driver.events.values():
        event.set()
    assert settled(threads, LONG_S)
    assert sorted(driver.done) == list("abcde")


def test_that_a_call_may_make_calls_itself(threads: SlowCallThreads, driver: Driver) -> None:
    driver.hold_up("y")
    threads.make_calls(
        [SlowCall("x", lambda: threads.make_calls(driver.calls("yz"))), driver.call("a")]
    )
    assert not settled(threads, 0.0)
    assert eventually(lambda: sorted(driver.done) == ["a", "z"])


def test_that_a_call_that_fails_holds_up_no_later_calls(
    threads: SlowCallThreads, driver: Driver, monkeypatch: pytest.MonkeyPatch
) -> None:
    failures: list[object] = []
    monkeypatch.setattr(threading, "excepthook", failures.append)

    def fail() -> None:
        raise OSError(107, "Transport endpoint is not connected")

    for _ in range(3):
        threads.make_calls([SlowCall("folder", fail)])
    threads.make_calls(driver.calls("ab"))

    assert driver.done == ["a", "b"]
    assert len(failures) == 3


def test_that_after_closing_nothing_begins_and_no_thread_stays(driver: Driver) -> None:
    threads = SlowCallThreads(PATIENCE_S)
    event = driver.hold_up("b")
    threads.make_calls(driver.calls("abc"))

    assert not threads.close(timeout_s=0.02)
    threads.make_calls(driver.calls("ad"))
    assert driver.done == ["a", "c"]
    event.set()
    assert threads.close(LONG_S)
    assert threads.thread_count == 0


def test_that_closing_drops_what_waits_behind_a_call_in_hand(driver: Driver) -> None:
    threads = SlowCallThreads(LONG_S)
    event = driver.hold_up("a")
    run = threading.Thread(target=threads.make_calls, args=(driver.calls("ab"),))
    run.start()
    assert eventually(lambda: "a" in driver.threads)

    threads.close(timeout_s=0.0)
    event.set()
    run.join(LONG_S)

    assert threads.close(LONG_S)
    assert driver.done == ["a"]
