"""Calls that are under way, several at the same time."""

import math
import threading
import time
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    # Its module needs TensorFlow, which waiting does not.
    from gpupanel.trainer.steps.step_calls import CallSums, Launch, Wait

_LOOK_S = 0.1
"""How long nobody checks for requests while all calls are under way."""
_END_S = 5.0
"""How long what is under way is waited for where the training ends with an error."""


@dataclass(frozen=True, slots=True)
class GivenCall:
    """What a call is given to do.

    Attributes:
        steps: How many.
        batch_size: Examples of each of them.
        shares: Of a full batch, by which they are divided.
    """

    steps: int
    batch_size: int
    shares: tuple[int, ...]

    @property
    def examples(self) -> int:
        """Of all its steps."""
        return self.steps * self.batch_size


@dataclass(frozen=True, slots=True)
class FinishedCall:
    """A call that came back.

    Attributes:
        given: What it was given.
        sums: What it did.
        computed_s: From its launch, or the end of the call before it where that is later, to its
            end; of no meaning where several are computed at the same time.
        ended_s: When that was, by :func:`time.monotonic`.
    """

    given: GivenCall
    sums: "CallSums"
    computed_s: float
    ended_s: float


class CallsInFlight:
    """Launches calls on one thread, in their order, waits for them on others, and gives them out.

    Launching is not waiting: a GPU has the steps of the next call before it ends those of this one.
    The threads do not keep the process: one that waits for a worker which is gone waits for
    ever.
    """

    def __init__(self, room: int, *, workers: int = 1) -> None:
        """Nothing is under way.

        Args:
            room: Calls at the same time.
            workers: How many of them are computed at the same time: of one, calls come back in
                their order.
        """
        self._room = room
        self._workers = workers
        self._under_way = 0
        self._computing = 0
        self._ended_s = -math.inf
        self._prepared: SimpleQueue[tuple[Launch, GivenCall] | None] = SimpleQueue()
        self._launched: SimpleQueue[tuple[Wait, GivenCall, float] | None] = SimpleQueue()
        self._back: SimpleQueue[FinishedCall | BaseException] = SimpleQueue()
        self._lock = threading.Lock()
        waiting = room if workers > 1 else 1
        self._waiting = [
            threading.Thread(target=self._wait, name=f"call {number}", daemon=True)
            for number in range(waiting)
        ]
        self._launching = threading.Thread(target=self._launch, name="launch calls", daemon=True)

    @property
    def is_full(self) -> bool:
        """Whether another call has to wait until one has come back."""
        return self._under_way >= self._room

    @property
    def is_empty(self) -> bool:
        """Whether no call is under way."""
        return self._under_way == 0

    def begin(self, launch: "Launch", given: GivenCall) -> None:
        """Launch a call after those before it.

        Args:
            launch: Does it; what it holds is forgotten then.
            given: What it was given.
        """
        self._under_way += 1
        self._prepared.put((launch, given))

    def next_finished(self) -> FinishedCall | None:
        """A call that has come back; ``None`` if none has within a tenth of a second.

        Raises:
            Exception: Whatever a call ended with.
        """
        try:
            finished = self._back.get(timeout=_LOOK_S)
        except Empty:
            return None
        if isinstance(finished, BaseException):
            raise finished
        self._under_way -= 1
        return finished

    def _launch(self) -> None:
        while (prepared := self._prepared.get()) is not None:
            launch, given = prepared
            with self._lock:
                is_busy = self._computing >= self._workers
                idle_s = 0.0 if is_busy else time.monotonic() - self._ended_s
                self._computing += 1
            launched_s = time.monotonic()
            try:
                wait = launch(idle_s)
            except Exception as error:  # noqa: BLE001 - raised where somebody hears it
                # What comes after a call that failed is not computed.
                self._back.put(error)
                return
            # They hold its examples.
            del prepared, launch
            self._launched.put((wait, given, launched_s))

    def _wait(self) -> None:
        while (launched := self._launched.get()) is not None:
            wait, given, launched_s = launched
            try:
                sums = wait()
            except Exception as error:  # noqa: BLE001 - raised where somebody hears it
                self._back.put(error)
                return
            with self._lock:
                ended_s = time.monotonic()
                begun_s, self._ended_s = max(launched_s, self._ended_s), ended_s
                self._computing -= 1
            self._back.put(FinishedCall(given, sums, ended_s - begun_s, ended_s))

    def __enter__(self) -> Self:
        for thread in (self._launching, *self._waiting):
            thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._prepared.put(None)
        for _ in self._waiting:
            self._launched.put(None)
        end_s = time.monotonic() + _END_S
        for thread in (self._launching, *self._waiting):
            thread.join(max(0.0, end_s - time.monotonic()))
