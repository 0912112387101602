"""Spreads examples over the replicas and gives back what they make of them, in input order."""

from collections import deque
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Generic, TypeVar

from gpupanel.trainer.datasets.examples import Array
from gpupanel.trainer.inference.meaning import Floats
from gpupanel.trainer.steps.order import divide_batch

_THREADS = 2
"""Of each replica: while its device computes one part the next one is read and handed over."""
_BATCHES_AHEAD = 4

Forward = Callable[[Array], Floats]
Read = Callable[[int, int], Array]
Result = TypeVar("Result")
Digest = Callable[[Floats, int], Result]
"""From a part's outputs and the row of its first example to what is kept of them."""


class Spread(Generic[Result]):
    """Takes batches one after the other and each replica's share of them, all at the same time.

    Devices do not wait for each other: a fast one goes up to some batches ahead.
    """

    def __init__(
        self, replicas: Sequence[Forward], shares: Sequence[int], read: Read, digest: Digest[Result]
    ) -> None:
        self._replicas = replicas
        self._shares = shares
        self._read = read
        self._digest = digest

    def batches(self, examples: int) -> Generator[tuple[int, list[Result]]]:
        """For each batch its number of examples and what its parts gave, in input order.

        Whoever stops asking before the end must close the generator, so that nothing goes on.

        Args:
            examples: How many there are: rows 0 to ``examples - 1``.
        """
        size = sum(self._shares)
        pools = [ThreadPoolExecutor(_THREADS, thread_name_prefix="replica") for _ in self._replicas]
        waiting: deque[tuple[int, list[Future[Result]]]] = deque()
        try:
            for first in range(0, examples, size):
                count = min(size, examples - first)
                waiting.append((count, self._submit(pools, first, count)))
                if len(waiting) > _BATCHES_AHEAD:
                    yield _results(*waiting.popleft())
            while waiting:
                yield _results(*waiting.popleft())
        finally:
            for pool in pools:
                pool.shutdown(wait=True, cancel_futures=True)

    def _submit(
        self, pools: Sequence[ThreadPoolExecutor], first: int, count: int
    ) -> list[Future[Result]]:
        parts = divide_batch(self._shares, count)
        # A batch too small to be divided is one that the first replica takes alone.
        bounds = parts.bounds if parts.copies == 1 else parts.bounds[:1]
        return [
            pools[replica].submit(self._do, replica, first + int(begin), first + int(end))
            for replica, (begin, end) in enumerate(bounds)
        ]

    def _do(self, replica: int, first: int, end: int) -> Result:
        return self._digest(self._replicas[replica](self._read(first, end)), first)


def _results(count: int, futures: list[Future[Result]]) -> tuple[int, list[Result]]:
    return count, [future.result() for future in futures]
