"""Doing what a driver may hold up in threads that nobody waits for long."""

import threading
import time
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from typing_extensions import override

PATIENCE_S: Final = 0.2
"""What takes longer than this is slow: the others go on without it."""


@dataclass(frozen=True, slots=True)
class SlowCall:
    """A piece of work that a driver may hold up.

    Attributes:
        key: What holds it up when it is slow. One key is in one thread at a time only.
        work: Keeps its results itself and raises nothing.
    """

    key: Hashable
    work: Callable[[], None]


def one_after_the_other(calls: Sequence[SlowCall]) -> None:
    """Make all calls in this thread, however long they take."""
    for call in calls:
        call.work()


class SlowCallThreads:
    """Makes calls one after the other in one thread, and each that is slow in one of its own.

    The thread that is held up by a call is left to that call, and another one goes on with the
    rest; next time the slow call begins in a thread of its own, until it is quick again. So one
    slow device never holds up the others, and a call that never returns costs a thread that
    sleeps. While every call is quick there is one thread. All threads are daemons:
    one that never comes back keeps no program from ending.
    """

    def __init__(
        self, patience_s: float = PATIENCE_S, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Starts no thread yet.

        Args:
            patience_s: How long a call may hold up the others.
            clock: Seconds that only grow.
        """
        self._patience_s = patience_s
        self._shared = _Shared(patience_s, clock)
        self._clock = clock
        self._idle: _CallThread | None = None

    @property
    def thread_count(self) -> int:
        """Threads that are there now: one, and another for each call that is held up."""
        return len(self._shared.threads)

    def is_busy(self, key: Hashable) -> bool:
        """Whether a call of that key is under way."""
        return key in self._shared.busy

    def make_calls(self, calls: Sequence[SlowCall]) -> None:
        """Make these calls and wait for none of them longer than the patience.

        A call whose key is still under way is left out, one whose key was slow last time begins
        in a thread of its own. May be called in several threads, and by a call.
        """
        shared = self._shared
        with shared.changed:
            calls = [call for call in calls if call.key not in shared.busy]
            rest = [call for call in calls if call.key not in shared.slow]
            for call in calls:
                if call.key in shared.slow:
                    self._begin_apart(call)
            while rest and not shared.is_closed:
                rest = self._make_in_one_thread(rest)

    def wait_until(self, holds: Callable[[], bool], timeout_s: float) -> bool:
        """Wait until something holds that calls change; ``False`` when that takes too long.

        Args:
            holds: Asked again whenever a call came to its end, and at :meth:`wake`; must answer
                at once.
            timeout_s: The longest time to wait.
        """
        with self._shared.changed:
            return self._shared.changed.wait_for(
                lambda: self._shared.is_closed or holds(), timeout_s
            )

    def wake(self) -> None:
        """Have those who wait check again whether what they wait for holds."""
        with self._shared.changed:
            self._shared.changed.notify_all()

    def close(self, timeout_s: float) -> bool:
        """End all threads; ``False`` when one is still held up after ``timeout_s``.

        Nothing begins any more, and what is under way is let go on to its end.
        """
        deadline = self._clock() + timeout_s
        with self._shared.changed:
            self._shared.is_closed = True
            self._idle = None
            threads = list(self._shared.threads)
            for thread in threads:
                thread.leave()
            self._shared.changed.notify_all()
        for thread in threads:
            thread.join(max(0.0, deadline - self._clock()))
        return not any(thread.is_alive() for thread in threads)

    def _begin_apart(self, call: SlowCall) -> None:
        if not self._shared.is_closed:
            self._new_thread([call]).is_leaving = True

    def _make_in_one_thread(self, calls: list[SlowCall]) -> list[SlowCall]:
        """Make calls in one thread; answers what is left of them when one holds it up."""
        thread, self._idle = self._idle, None
        if thread is None:
            thread = self._new_thread(calls)
        else:
            thread.take(calls)
        while thread.has_calls:
            left_s = self._patience_s - (self._clock() - thread.began_s)
            if left_s <= 0.0 and thread.is_at_work:
                return thread.leave()
            # A thread that a busy machine has not woken yet is waited for.
            self._shared.changed.wait(max(left_s, 0.01))
        self._rest(thread)
        return []

    def _rest(self, thread: "_CallThread") -> None:
        """Keep one thread for the next calls; a second was needed by a call that made others."""
        if self._idle is None and not self._shared.is_closed and not thread.is_leaving:
            self._idle = thread
        else:
            thread.leave()

    def _new_thread(self, calls: list[SlowCall]) -> "_CallThread":
        thread = _CallThread(self._shared)
        self._shared.threads.add(thread)
        thread.take(calls)
        thread.start()
        return thread


class _Shared:
    """What all threads of a :class:`SlowCallThreads` share; changed while ``changed`` is held."""

    def __init__(self, patience_s: float, clock: Callable[[], float]) -> None:
        self.patience_s = patience_s
        self.clock = clock
        self.changed = threading.Condition()
        self.threads: set[_CallThread] = set()
        self.busy: set[Hashable] = set()
        self.slow: set[Hashable] = set()
        self.is_closed = False


class _CallThread(threading.Thread):
    """A thread that makes calls, until it is to leave after the one that it is at."""

    def __init__(self, shared: _Shared) -> None:
        super().__init__(name="gpupanel-devices", daemon=True)
        self._shared = shared
        self._calls: deque[SlowCall] = deque()
        self.is_at_work = False
        self.is_leaving = False
        self.began_s = 0.0

    @property
    def has_calls(self) -> bool:
        """Whether it has calls to make, or is at one."""
        return self.is_at_work or bool(self._calls)

    def take(self, calls: Iterable[SlowCall]) -> None:
        """Make these calls next."""
        self._calls.extend(calls)
        self.began_s = self._shared.clock()
        # From now on and not from its beginning, which a busy machine may delay.
        self._shared.busy.add(self._calls[0].key)
        self._shared.changed.notify_all()

    def leave(self) -> list[SlowCall]:
        """End after the call that it is at; answers the calls that it did not begin."""
        self.is_leaving = True
        rest = list(self._calls)
        self._calls.clear()
        if not self.is_at_work and rest:
            # It was not woken yet: nobody else has begun the first one.
            self._shared.busy.discard(rest[0].key)
        self._shared.changed.notify_all()
        return rest

    @override
    def run(self) -> None:
        try:
            while (call := self._next()) is not None:
                try:
                    call.work()
                except BaseException:
                    # This thread ends, and makes no more calls.
                    with self._shared.changed:
                        self.is_leaving = True
                    raise
                finally:
                    self._end(call)
        finally:
            with self._shared.changed:
                self.leave()
                self._shared.threads.discard(self)

    def _next(self) -> SlowCall | None:
        with self._shared.changed:
            while not self._calls:
                if self.is_leaving:
                    return None
                self._shared.changed.wait()
            call = self._calls.popleft()
            self._shared.busy.add(call.key)
            self.is_at_work = True
            self.began_s = self._shared.clock()
            return call

    def _end(self, call: SlowCall) -> None:
        with self._shared.changed:
            self.is_at_work = False
            self._shared.busy.discard(call.key)
            if self._shared.clock() - self.began_s > self._shared.patience_s:
                self._shared.slow.add(call.key)
            else:
                self._shared.slow.discard(call.key)
            if not self._calls:
                # Not after each call: that would wake the one who waits for all of them.
                self._shared.changed.notify_all()
