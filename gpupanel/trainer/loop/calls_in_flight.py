"""Calls that are under way, several at the same time."""

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    # Its module needs TensorFlow, which waiting does not.
    from gpupanel.trainer.steps.step_calls import CallSums

_LOOK_S = 0.1
"""How long nobody checks for requests while all calls are under way."""


@dataclass(frozen=True, slots=True)
class FinishedCall:
    """A call that came back.

    Attributes:
        examples: That it was given.
    """

    sums: "CallSums"
    examples: int


class CallsInFlight:
    """Waits for calls, each on a thread of its own, and gives them out as they come back.

    The threads do not keep the process: one that waits for a worker which is gone waits for
    ever.
    """

    def __init__(self, room: int) -> None:
        """Nothing is under way.

        Args:
            room: Calls at the same time.
        """
        self._room = room
        self._under_way = 0
        self._begun: SimpleQueue[tuple[Callable[[], CallSums], int] | None] = SimpleQueue()
        self._back: SimpleQueue[FinishedCall | Exception] = SimpleQueue()
        self._threads = [
            threading.Thread(target=self._wait, name=f"call {number}", daemon=True)
            for number in range(room)
        ]

    @property
    def is_full(self) -> bool:
        """Whether another call has to wait until one has come back."""
        return self._under_way >= self._room

    @property
    def under_way(self) -> int:
        """How many calls have begun and have not been given out."""
        return self._under_way

    @property
    def is_empty(self) -> bool:
        """Whether no call is under way."""
        return self._under_way == 0

    def begin(self, wait: Callable[[], "CallSums"], examples: int) -> None:
        """Take in a call that has begun.

        Args:
            wait: Waits for it.
            examples: That it was given.
        """
        self._under_way += 1
        self._begun.put((wait, examples))

    def finished(self) -> Iterator[FinishedCall]:
        """The calls that have come back since; after a tenth of a second without any, none.

        Raises:
            Exception: Whatever a call ended with.
        """
        wait_s = _LOOK_S
        while self._under_way:
            try:
                finished = self._back.get(timeout=wait_s)
            except Empty:
                return
            self._under_way -= 1
            if isinstance(finished, Exception):
                raise finished
            yield finished
            wait_s = 0.0

    def _wait(self) -> None:
        while (begun := self._begun.get()) is not None:
            wait, examples = begun
            try:
                self._back.put(FinishedCall(wait(), examples))
            except Exception as error:  # noqa: BLE001 - raised where somebody hears it
                self._back.put(error)

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        for _ in self._threads:
            self._begun.put(None)
