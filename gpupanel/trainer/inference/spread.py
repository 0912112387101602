"""Spreads examples over the replicas and gives back what they make of them, in input order."""

from collections import deque
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Generic, TypeVar

from gpupanel.trainer.datasets.examples import Array
from gpupanel.trainer.parts.batch_division import divide_batch
from gpupanel.trainer.parts.output_meaning import Floats

_THREADS = 2
"""Of each replica: while its device computes one part the next one is read and handed over."""
_BATCHES_AHEAD = 4

Forward = Callable[[Array], Floats]
Read = Callable[[int, int], Array]
Result = TypeVar("Result")
Digest = Callable[[Floats, int], Result]
"""Reduces a part's outputs, given the row of its first example, to a result."""
Others = Callable[[int, int], Floats]
"""From a replica of another process and a number of rows to its next outputs, as many of them."""


class Spread(Generic[Result]):
    """Takes batches one after the other and each replica's share of them, all at the same time.

    Devices do not wait for each other: a fast one goes up to some batches ahead.

    Args:
        replicas: In the plan's order; ``None``: that one is in another process.
        shares: Of a full batch, one a replica.
        read: Gives the features of rows.
        digest: What is made of a part's outputs.
        others: Gives the outputs of replicas in other processes, in input order; ``None``: their
            parts are left out.
    """

    def __init__(
        self,
        replicas: Sequence[Forward | None],
        shares: Sequence[int],
        read: Read,
        digest: Digest[Result],
        others: Others | None = None,
    ) -> None:
        self._replicas = replicas
        self._shares = shares
        self._read = read
        self._digest = digest
        self._others = others

    def batches(self, examples: int) -> Generator[tuple[int, list[Result]]]:
        """Yield the number of examples and the results of each batch, in input order.

        Whoever stops asking before the end must close the generator, so that nothing goes on.

        Args:
            examples: How many there are: rows 0 to ``examples - 1``.
        """
        size = sum(self._shares)
        pools = [ThreadPoolExecutor(_THREADS, thread_name_prefix="replica") for _ in self._replicas]
        waiting: deque[tuple[int, list[_Part[Result]]]] = deque()
        try:
            for first in range(0, examples, size):
                count = min(size, examples - first)
                waiting.append((count, self._submit(pools, first, count)))
                if len(waiting) > _BATCHES_AHEAD:
                    yield self._results(*waiting.popleft())
            while waiting:
                yield self._results(*waiting.popleft())
        finally:
            for pool in pools:
                pool.shutdown(wait=True, cancel_futures=True)

    def _submit(
        self, pools: Sequence[ThreadPoolExecutor], first: int, count: int
    ) -> "list[_Part[Result]]":
        parts = divide_batch(self._shares, count)
        # A batch too small to be divided is one that the first replica takes alone.
        bounds = parts.bounds if parts.copies == 1 else parts.bounds[:1]
        found: list[_Part[Result]] = []
        for replica, (begin, end) in enumerate(bounds):
            forward, rows = self._replicas[replica], (first + int(begin), first + int(end))
            future = None if forward is None else pools[replica].submit(self._do, forward, *rows)
            found.append(_Part(replica, *rows, future))
        return found

    def _do(self, forward: Forward, first: int, end: int) -> Result:
        return self._digest(forward(self._read(first, end)), first)

    def _results(self, count: int, parts: "list[_Part[Result]]") -> tuple[int, list[Result]]:
        results = []
        for part in parts:
            if part.future is not None:
                results.append(part.future.result())
            elif self._others is not None:
                outputs = self._others(part.replica, part.end - part.first)
                results.append(self._digest(outputs, part.first))
        return count, results


@dataclass(frozen=True, slots=True)
class _Part(Generic[Result]):
    """Some rows of a batch, and what comes of them; ``None``: in another process."""

    replica: int
    first: int
    end: int
    future: Future[Result] | None
