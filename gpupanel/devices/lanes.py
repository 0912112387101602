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
class Step:
    """A piece of work that a driver may hold up.

    Attributes:
        key: What holds it up when it is slow. One key is in one thread at a time only.
        work: Keeps its results itself and raises nothing.
    """

    key: Hashable
    work: Callable[[], None]


class Lanes:
    """Takes steps one after the other in one thread, and each that is slow in a lane of its own.

    The thread that is held up by a step is left to that step, and another one goes on with the
    rest; next time the slow step begins in a thread of its own, until it is quick again. So one
    slow device never holds up the others, and a call that never returns costs a thread that
    sleeps. While every step is quick there is one thread and no lane. All threads are daemons:
    one that never comes back keeps no program from ending.
    """

    def __init__(
        self, patience_s: float = PATIENCE_S, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Starts no thread yet.

        Args:
            patience_s: How long a step may hold up the others.
            clock: Seconds that only grow.
        """
        self._patience_s = patience_s
        self._road = _Road(patience_s, clock)
        self._clock = clock
        self._idle: _Walker | None = None

    @property
    def thread_count(self) -> int:
        """Threads that are there now: one, and a lane for each step that is held up."""
        return len(self._road.walkers)

    def is_busy(self, key: Hashable) -> bool:
        """Whether a step of that key is under way."""
        return key in self._road.busy

    def walk(self, steps: Sequence[Step]) -> None:
        """Take these steps and wait for none of them longer than the patience.

        A step whose key is still under way is left out, one whose key was slow last time begins
        in a lane. May be called in several threads, and by a step.
        """
        road = self._road
        with road.changed:
            steps = [step for step in steps if step.key not in road.busy]
            rest = [step for step in steps if step.key not in road.slow]
            for step in steps:
                if step.key in road.slow:
                    self._begin_lane(step)
            while rest and not road.is_closed:
                rest = self._walk_on(rest)

    def wait_until(self, holds: Callable[[], bool], timeout_s: float) -> bool:
        """Wait until something holds that steps bring about; ``False`` when that takes too long.

        Args:
            holds: Asked again whenever a step came to its end, and at :meth:`wake`; must answer
                at once.
            timeout_s: The longest time to wait.
        """
        with self._road.changed:
            return self._road.changed.wait_for(lambda: self._road.is_closed or holds(), timeout_s)

    def wake(self) -> None:
        """Have those who wait look again whether what they wait for holds."""
        with self._road.changed:
            self._road.changed.notify_all()

    def close(self, timeout_s: float) -> bool:
        """End all threads; ``False`` when one is still held up after ``timeout_s``.

        Nothing begins any more, and what is under way is let go on to its end.
        """
        deadline = self._clock() + timeout_s
        with self._road.changed:
            self._road.is_closed = True
            self._idle = None
            walkers = list(self._road.walkers)
            for walker in walkers:
                walker.leave()
            self._road.changed.notify_all()
        for walker in walkers:
            walker.join(max(0.0, deadline - self._clock()))
        return not any(walker.is_alive() for walker in walkers)

    def _begin_lane(self, step: Step) -> None:
        if not self._road.is_closed:
            self._new_walker([step]).is_leaving = True

    def _walk_on(self, steps: list[Step]) -> list[Step]:
        """Take steps in one thread; answers what is left of them when one holds it up."""
        walker, self._idle = self._idle, None
        if walker is None:
            walker = self._new_walker(steps)
        else:
            walker.take(steps)
        while walker.is_walking:
            left_s = self._patience_s - (self._clock() - walker.began_s)
            if left_s <= 0.0 and walker.is_at_work:
                return walker.leave()
            # A thread that a busy machine has not woken yet is waited for.
            self._road.changed.wait(max(left_s, 0.01))
        self._rest(walker)
        return []

    def _rest(self, walker: "_Walker") -> None:
        """Keep one thread for the next walk; a second was needed only by a step that walks."""
        if self._idle is None and not self._road.is_closed and not walker.is_leaving:
            self._idle = walker
        else:
            walker.leave()

    def _new_walker(self, steps: list[Step]) -> "_Walker":
        walker = _Walker(self._road)
        self._road.walkers.add(walker)
        walker.take(steps)
        walker.start()
        return walker


class _Road:
    """What all walkers of one :class:`Lanes` share; changed only while ``changed`` is held."""

    def __init__(self, patience_s: float, clock: Callable[[], float]) -> None:
        self.patience_s = patience_s
        self.clock = clock
        self.changed = threading.Condition()
        self.walkers: set[_Walker] = set()
        self.busy: set[Hashable] = set()
        self.slow: set[Hashable] = set()
        self.is_closed = False


class _Walker(threading.Thread):
    """A thread that takes steps, until it is told to leave after the one that it is at."""

    def __init__(self, road: _Road) -> None:
        super().__init__(name="gpupanel-devices", daemon=True)
        self._road = road
        self._steps: deque[Step] = deque()
        self.is_at_work = False
        self.is_leaving = False
        self.began_s = 0.0

    @property
    def is_walking(self) -> bool:
        """Whether it has steps to take, or is at one."""
        return self.is_at_work or bool(self._steps)

    def take(self, steps: Iterable[Step]) -> None:
        """Take these steps next."""
        self._steps.extend(steps)
        self.began_s = self._road.clock()
        # From now on and not from its beginning, which a busy machine may delay.
        self._road.busy.add(self._steps[0].key)
        self._road.changed.notify_all()

    def leave(self) -> list[Step]:
        """End after the step that it is at; answers the steps that it did not begin."""
        self.is_leaving = True
        rest = list(self._steps)
        self._steps.clear()
        if not self.is_at_work and rest:
            # It was not woken yet: nobody else has begun the first one.
            self._road.busy.discard(rest[0].key)
        self._road.changed.notify_all()
        return rest

    @override
    def run(self) -> None:
        try:
            while (step := self._next()) is not None:
                try:
                    step.work()
                except BaseException:
                    # This thread ends, and takes no more steps.
                    with self._road.changed:
                        self.is_leaving = True
                    raise
                finally:
                    self._end(step)
        finally:
            with self._road.changed:
                self.leave()
                self._road.walkers.discard(self)

    def _next(self) -> Step | None:
        with self._road.changed:
            while not self._steps:
                if self.is_leaving:
                    return None
                self._road.changed.wait()
            step = self._steps.popleft()
            self._road.busy.add(step.key)
            self.is_at_work = True
            self.began_s = self._road.clock()
            return step

    def _end(self, step: Step) -> None:
        with self._road.changed:
            self.is_at_work = False
            self._road.busy.discard(step.key)
            if self._road.clock() - self.began_s > self._road.patience_s:
                self._road.slow.add(step.key)
            else:
                self._road.slow.discard(step.key)
            if not self._steps:
                # Not after each step: that would wake the one who waits for all of them.
                self._road.changed.notify_all()
