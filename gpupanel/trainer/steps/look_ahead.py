"""Examples that stay on disk are read while the steps before theirs are computed."""

from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor

import numpy as np

from gpupanel.trainer.datasets.examples import Array, Examples, Indices, rows_at_once

_THREADS = 2
"""Sources that decode do it on threads of their own; two keep these busy between two readings."""
_AHEAD_BYTES = 64 * 2**20
_CHUNK_BYTES = 256 * 2**10
_CHUNK_ROWS = 16
"""At least, so that those who decode have something to do side by side."""


class LookAhead:
    """Reads examples ahead, in the order in which they are going to be asked for.

    What is asked for in another order is read when it is asked for, so that who asks always gets
    what was asked for. What is read ahead takes up to 64 MiB, or twice what is asked for at once
    where that is more.
    """

    def __init__(self, examples: Examples) -> None:
        """Nothing is read, and no thread begun, before something is expected."""
        self._examples = examples
        row_bytes = examples.example_bytes
        self._ahead_rows = max(1, _AHEAD_BYTES // max(1, row_bytes))
        # Large rows: some chunks must fit into what may be read ahead.
        most_rows = max(1, self._ahead_rows // 4)
        usual = max(_CHUNK_ROWS, _CHUNK_BYTES // max(1, row_bytes))
        self._chunk_rows = min(most_rows, max(usual, rows_at_once(examples.features)))
        self._pool = ThreadPoolExecutor(_THREADS, thread_name_prefix="look-ahead")
        self._expected = np.empty(0, np.int32)
        self._taken = 0
        self._begun = 0
        self._chunks: deque[Future[Array]] = deque()
        self._rows_left = np.empty((0, *examples.feature_shape), examples.features.dtype)

    def expect(self, indices: Indices) -> None:
        """Read ahead what is going to be asked for now, instead of what was expected before.

        What was read ahead already is kept where it is what comes now.

        Args:
            indices: Of the examples, in the order in which they will be asked for.
        """
        begun = self._expected[self._taken : self._begun]
        if not np.array_equal(begun, indices[: len(begun)]):
            for chunk in self._chunks:
                chunk.cancel()
            self._chunks.clear()
            self._rows_left = self._rows_left[:0]
            begun = begun[:0]
        self._expected, self._taken, self._begun = indices, 0, len(begun)
        self._read_on()

    def take(self, indices: Indices) -> Array:
        """The features of these examples, in this order; waits for them.

        Raises:
            ProblemError: One of them cannot be read.
        """
        rows = len(indices)
        if not np.array_equal(self._expected[self._taken : self._taken + rows], indices):
            return self._examples.read(indices)
        self._ahead_rows = max(self._ahead_rows, 2 * rows)
        pieces = [self._rows_left]
        while (missing := rows - sum(map(len, pieces))) > 0:
            self._read_on()
            pieces.append(self._chunks.popleft().result())
        *whole, last = pieces
        used = len(last) + min(0, missing)
        self._rows_left = last[used:]
        self._taken += rows
        self._read_on()
        return np.concatenate([*whole, last[:used]])

    def close(self) -> None:
        """Read no more; what is being read just now comes to its end by itself."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _read_on(self) -> None:
        end = min(len(self._expected), self._taken + self._ahead_rows)
        while self._begun < end:
            chunk = self._expected[self._begun : self._begun + self._chunk_rows]
            self._chunks.append(self._pool.submit(self._examples.read, chunk))
            self._begun += len(chunk)
